"""Each change that CONTRIBUTING.md shows applies to a copy of the repository, and does there what the page says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
SECTION = re.compile(r"^## (.+?)\n.*?```diff\n(.*?)```\n.*?```console\n(.*?)```", re.DOTALL | re.MULTILINE)
CHANGES = {name: (diff, console) for name, diff, console in SECTION.findall(PAGE.read_text(encoding="utf-8"))}
ASKED = {"A GPU", "An opcode", "A scheduling policy", "A counter", "A stall cause", "A command", "A lesson"}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of what the repository holds now."""
    kept = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in kept.stdout.splitlines():
        if name.startswith("programs/measurements/") or not (ROOT / name).is_file():
            continue
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_every_kind_of_change_is_shown() -> None:
    assert set(CHANGES) == ASKED


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_would_apply(name: str) -> None:
    checked = subprocess.run(
        ["git", "apply", "--check", "-"], cwd=ROOT, input=CHANGES[name][0], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_applies_and_works(name: str, copy: Path) -> None:
    diff, console = CHANGES[name]
    applied = subprocess.run(["git", "apply", "-"], cwd=copy, input=diff, capture_output=True, text=True, check=False)
    assert applied.returncode == 0, applied.stderr
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PYTHONPATH": str(copy), "PATH": path, "NUMBA_DISABLE_JIT": "1", "COLUMNS": "120"}
    commands = [line[2:] for line in console.splitlines() if line.startswith("$ ")]
    expected = [line for line in console.splitlines() if not line.startswith("$ ")]
    done = subprocess.run(["bash", "-c", "\n".join(commands)], cwd=copy, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == expected, done.stdout + done.stderr
