"""What a newcomer waits for: from a clone of these sources and an empty cache to a first figure, and for pip and the tests before that."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from isa.errors import UserError

ROOT = Path(__file__).parents[1]
MAIN = ("reproduce", "volkov-tlp-ilp", "--gpu", "gtx480", "--figure", "curves.png")  # the README's main command
GOALS = {"main command": 40.0, "pip install": 60.0, "tests": 240.0}  # seconds on two cores that nothing else uses
SHOWN = 3  # last lines of what failed


class Wait(NamedTuple):
    """How long one step took."""

    what: str  # of GOALS
    seconds: float
    processor: float  # seconds of it, on all cores

    @property
    def goal(self) -> float:
        """Seconds that it should take at most."""
        return GOALS[self.what]


def waits(tests: bool = False) -> Iterator[Wait]:
    """Yield how long the README's steps take from nothing: pip without extras, its main command, and, if asked for, its tests.

    The clone and the cache are new and temporary; the main command and the tests run in this Python, whose packages pip has brought before.
    Raises UserError where these sources are no clone, and when a step fails.
    """
    if not (ROOT / ".git").exists():
        raise UserError("a fresh start is measured from a clone, and these sources are none", hint="git clone, and run it there")
    with tempfile.TemporaryDirectory() as folder:
        clone, work, python = Path(folder, "clone"), Path(folder, "work"), Path(folder, "venv", "bin", "python")
        work.mkdir()
        environment = os.environ | {"SIMTLAB_CACHE": str(Path(folder, "cache")), "PYTHONPATH": str(clone)}
        timed("clone", ["git", "clone", "-q", str(ROOT), str(clone)], work, dict(os.environ))
        timed("venv", [sys.executable, "-m", "venv", str(python.parents[1])], work, dict(os.environ))
        yield timed("pip install", [str(python), "-m", "pip", "install", "-q", "-e", str(clone)], work, dict(os.environ))
        command = [sys.executable, "-c", "from sim.cli import main; main()", *MAIN]
        yield timed("main command", command, work, environment)
        if tests:
            yield timed("tests", [sys.executable, "-m", "pytest", "-q"], clone, environment)


def timed(what: str, command: Sequence[str], folder: Path, environment: dict[str, str]) -> Wait:
    """Run a command to its end in a folder; return how long it took. Raises UserError, with its last lines, when it fails."""
    before, start = _processor(), time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    seconds = time.perf_counter() - start
    if done.returncode:
        last = "\n  ".join(done.stdout.strip().splitlines()[-SHOWN:]) or "it said nothing"
        raise UserError(f"{what}: status {done.returncode} after {seconds:.0f} s\n  {last}", hint=f"the command was: {' '.join(command)}")
    return Wait(what, seconds, _processor() - before)


def _processor() -> float:
    """Return the seconds of processor time of all child processes that have ended."""
    import resource  # not on every system; os.times counts hundredths, of which a short step loses two

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
