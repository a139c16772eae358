"""The coverage report of the random tests: how many cases exercised each rule."""

from collections import Counter

import pytest

COVERAGE = pytest.StashKey[Counter[str]]()


@pytest.fixture(scope="session")
def coverage(pytestconfig: pytest.Config) -> Counter[str]:
    """Return the counts that the end of the test run prints."""
    return pytestconfig.stash.setdefault(COVERAGE, Counter())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    counts = config.stash.get(COVERAGE, Counter())
    if counts:
        terminalreporter.section(f"differential cases by what they exercised, of {counts['cases']}")
        for name in sorted(counts.keys() - {"cases"}):
            terminalreporter.write_line(f"{counts[name]:8}  {name}")
