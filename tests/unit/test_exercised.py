"""What the random tests exercised is printed at the end, by a run on several processes too, which share files, not tests."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
COUNTING = """
import pytest

@pytest.mark.parametrize("barriers", [0, 1, 1])
def test_counting(exercised, barriers, worker_id):
    exercised.update({"cases": 1, "barrier": barriers, "never": 0, f"on {worker_id}": 1})
"""


def finished(tmp_path: Path, counting: str, processes: int) -> subprocess.CompletedProcess[str]:
    """Run a file of tests that count."""
    file = tmp_path / "test_counting.py"
    file.write_text(counting)
    options = f"-p tests.conftest -p no:cacheprovider -n {processes} --dist loadscope".split()
    command = [sys.executable, "-m", "pytest", *options, str(file)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_end_of_a_run_says_how_many_cases_exercised_what(tmp_path: Path) -> None:
    done = finished(tmp_path, COUNTING, 0)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "differential cases by what they exercised, of 3" in done.stdout
    assert "       2  barrier\n       0  never\n" in done.stdout


def test_a_rule_that_many_cases_miss_fails_the_run_of_two_processes_too(tmp_path: Path) -> None:
    """That few do not is seen at the end of the fast tier, which two processes run."""
    done = finished(tmp_path, COUNTING.replace('"cases": 1', '"cases": 500'), 2)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "differential cases by what they exercised, of 1500" in done.stdout
    assert "       2  barrier\n       0  never\n" in done.stdout
    assert "FAILED: no case exercised never\n" in done.stdout
    assert re.findall(r"(\d+)  on gw\d\n", done.stdout) == ["3"]  # a file stays together on one of them
