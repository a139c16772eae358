"""Options and settings shared by all tests."""

import gc
import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

GOLDEN = Path(__file__).parent / "golden"
# Files that take longest come first, for two processes to end together: they are handed out whole, in this order.
LONGEST = (
    *("unit/test_unread.py", "differential/test_mutations.py", "unit/test_features.py", "unit/test_fields.py"),
    *("differential/test_programs.py", "test_reproductions.py", "unit/test_sampling.py", "differential/test_asynchronous.py"),
    *("test_notebooks.py", "property/test_monotonicity.py", "unit/test_warpgroups.py", "unit/test_clusters.py", "unit/test_checks.py"),
    *("unit/test_contact_sheet.py", "test_programs.py", "unit/test_compiler.py", "unit/test_cli.py", "unit/test_stateful.py"),
    *("unit/test_cache.py", "unit/test_schedule.py", "unit/test_captures.py", "unit/test_replacement.py", "unit/test_conformance.py"),
    *("unit/test_generic_addresses.py", "timing/test_ga102.py", "unit/test_block_policies.py", "unit/test_h200_tensor.py"),
)
LAST = ("differential/test_random.py",)  # many shards that take a few seconds each: whoever is ready first takes the next
# Long files of which each test is handed out by itself: tests share little there.
APART = (
    *LAST,
    *("differential/test_programs.py", "test_notebooks.py", "unit/test_features.py", "unit/test_fields.py", "unit/test_unread.py"),
)
# Left out of `pytest` without arguments, in `pytest -m slow`, and in any run that names a file. Beside them: tests marked slow themselves.
SLOW = (
    *("test_reproductions.py", "test_tesla.py", "differential/test_mutations.py", "differential/test_programs.py", "fuzz/*.py"),
    *("unit/test_h[12]00_*.py", "unit/test_validation_kernels.py", "unit/test_population*.py"),
)
EXERCISED = pytest.StashKey[Counter[str]]()

ENOUGH = 1000  # random cases that reach every rule
# What a shell or a service has set would change widths, colours and threads of what is printed and run: tests start from nothing.
FOREIGN = ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "PY_COLORS", "CLICOLOR_FORCE", "GITHUB_ACTIONS", "SIMTLAB_THREADS")
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"  # many containers set it: each of some hundred processes would parse all sources anew
# The first example of a test may compile kernels, and a busy machine is slow; examples are the same in every run, on a service (CI) or not.
settings.register_profile("simtlab", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("simtlab")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite tests/golden/ and the outputs of notebooks from what the code prints now"
    )
    parser.addoption("--examples", type=int, help="random cases of both engines (default 300, and 2,000 slow)")
    parser.addoption("--fuzz", type=int, default=600, help="mutated inputs that tests/fuzz runs (default 600)")


def pytest_configure(config: pytest.Config) -> None:
    for name in (*FOREIGN, NO_BYTECODE):
        os.environ.pop(name, None)
    if hasattr(config, "workerinput"):  # a process of pytest-xdist: the others have the other cores
        os.environ["SIMTLAB_THREADS"] = "1"
    sys.dont_write_bytecode = False
    config.addinivalue_line("markers", "slow: not in `pytest` without arguments, but in `pytest -m slow` and where a file is named")
    if not config.option.markexpr and config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.option.markexpr = "not slow"  # pytest-xdist hands it to its workers


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow files; the longest come first."""
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    places |= {Path(__file__).parent / name: len(LONGEST) + 1 for name in LAST}
    items.sort(key=lambda item: places.get(item.path, len(LONGEST)))
    folder = Path(__file__).parent.name
    slow = {path for path in {item.path for item in items} if any(path.match(f"{folder}/{pattern}") for pattern in SLOW)}
    for item in items:
        if item.path in slow:
            item.add_marker("slow")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Return what keeps a file together on one worker, as its tests share what they execute, but for files whose tests go one by one.

    Not `--dist loadgroup`: pytest 9.2 ignores the names of groups that pytest-xdist 3.8 sets, and all tests went one by one.
    """
    from xdist.scheduler import LoadScopeScheduling

    if config.getvalue("dist") != "loadscope":
        return None  # what the command line asks for

    class Files(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return nodeid if file.endswith(APART) else file

    return Files(config, log)


def pytest_collection_finish() -> None:
    """Let Python's collector pass over what lives to the end: thousands of tests, and all modules; and seldom over what tests keep."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(5000, 10, 100)


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
    counts = session.config.stash.get(EXERCISED, Counter())
    if hasattr(session.config, "workeroutput"):  # a worker of pytest-xdist: it judges and prints nothing itself
        session.config.workeroutput["exercised"] = dict(counts)
    elif unreached(counts) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def unreached(counts: Counter[str]) -> list[str]:
    """Return what none of the random cases exercised, of so many that some should have."""
    return sorted(name for name, cases in counts.items() if not cases) if counts["cases"] >= ENOUGH else []


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash.setdefault(EXERCISED, Counter()).update(getattr(node, "workeroutput", {}).get("exercised", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    counts = config.stash.get(EXERCISED, Counter())
    if counts:
        terminalreporter.section(f"differential cases by what they exercised, of {counts['cases']}")
        for name in sorted(counts.keys() - {"cases"}):
            terminalreporter.write_line(f"{counts[name]:8}  {name}")
        if unreached(counts):
            terminalreporter.write_line(f"FAILED: no case exercised {', '.join(unreached(counts))}")
