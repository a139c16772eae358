"""What the random tests exercised is printed at the end, by a run on several processes too."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COUNTING = """
import pytest

@pytest.mark.parametrize("barriers", [0, 1, 1])
def test_counting(exercised, barriers):
    exercised.update({"cases": 1, "barrier": barriers, "never": 0})
"""


@pytest.mark.parametrize("processes", [0, 2])
def test_the_end_of_a_run_says_how_many_cases_exercised_what(tmp_path: Path, processes: int) -> None:
    file = tmp_path / "test_counting.py"
    file.write_text(COUNTING)
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", "-n", str(processes), str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "differential cases by what they exercised, of 3" in done.stdout
    assert "       2  barrier\n       0  never\n" in done.stdout


def test_a_rule_that_many_cases_miss_fails_the_run(tmp_path: Path) -> None:
    file = tmp_path / "test_counting.py"
    file.write_text(COUNTING.replace('"cases": 1', '"cases": 500'))
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", "-n", "2", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FAILED: no case exercised never\n" in done.stdout
