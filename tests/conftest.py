"""Options and settings shared by all tests."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

GOLDEN = Path(__file__).parent / "golden"
# Files that take longest come first, for two processes to end together: pytest-xdist hands out whole files, in this order.
LONGEST = (
    "differential/test_random.py",
    "differential/test_programs.py",
    "test_reproductions.py",
    "differential/test_mutations.py",
    "test_notebooks.py",
    "test_programs.py",
)
EXERCISED = pytest.StashKey[Counter[str]]()

# The first example of a test may compile kernels; examples are the same in every run.
settings.register_profile("simtlab", deadline=None, derandomize=True)
settings.load_profile("simtlab")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden/ from what the code prints now")
    parser.addoption("--examples", type=int, default=2000, help="random cases that tests/differential runs on both engines (default 2000)")
    parser.addoption("--fuzz", type=int, default=600, help="mutated inputs that tests/fuzz runs (default 600)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(LONGEST)))


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Return a check that a text equals tests/golden/NAME.txt; `pytest --update-golden` rewrites the file instead."""

    def check(name: str, text: str) -> None:
        file = GOLDEN / f"{name}.txt"
        if request.config.getoption("--update-golden"):
            file.parent.mkdir(exist_ok=True)
            file.write_text(text + "\n", encoding="utf-8")
        assert file.exists(), f"{file} is missing; pytest --update-golden writes it, for you to read"
        assert text + "\n" == file.read_text(encoding="utf-8"), f"not what {file} holds; if it should be: pytest --update-golden"

    return check


@pytest.fixture(scope="session")
def exercised(pytestconfig: pytest.Config) -> Counter[str]:
    """Return the counts of what the random tests exercised, and of their "cases", which the end of the test run prints."""
    return pytestconfig.stash.setdefault(EXERCISED, Counter())


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):  # a worker of pytest-xdist: it prints nothing itself
        session.config.workeroutput["exercised"] = dict(session.config.stash.get(EXERCISED, {}))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash.setdefault(EXERCISED, Counter()).update(getattr(node, "workeroutput", {}).get("exercised", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    counts = config.stash.get(EXERCISED, Counter())
    if counts:
        terminalreporter.section(f"differential cases by what they exercised, of {counts['cases']}")
        for name in sorted(counts.keys() - {"cases"}):
            terminalreporter.write_line(f"{counts[name]:8}  {name}")
