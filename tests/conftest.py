"""Options and settings shared by all tests."""

import pytest
from hypothesis import settings

# The first example of a test may compile kernels; examples are the same in every run.
settings.register_profile("simtlab", deadline=None, derandomize=True)
settings.load_profile("simtlab")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden/ from what the code prints now")
