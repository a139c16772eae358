"""The cores of this machine, and how many of them one run gains from."""

import os
from pathlib import Path

from isa.errors import UserError

QUOTA = Path("/sys/fs/cgroup/cpu.max")  # microseconds in each period of so many, or "max"
VARIABLE = "SIMTLAB_THREADS"
# More threads than one are taken by default from here on. The first three are chosen, not measured.
LEAST_INSTRUCTIONS = 200_000  # of warps, which take under a tenth of a second: less gains nothing that a user would notice
LEAST_WINDOW = 16  # cycles between two meetings of the threads
LEAST_UNITS = 4  # SMs or blocks for each thread: with fewer they wait for each other
MOST = 8  # threads; measured on 16 cores: kernels that load and store gain nothing from more, as one thread serves L2 for all


def cores() -> int:
    """Return the cores that this process may use: those it may run on, or fewer where a container has a quota (Linux)."""
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(found, _quota(QUOTA) or found))


def _quota(file: Path) -> int | None:
    """Return the cores that a control group may keep busy, None when it may all."""
    try:
        allowed, period = file.read_text(encoding="ascii").split()
        return -(-int(allowed) // int(period))
    except (OSError, ValueError):  # no such file; "max"
        return None


def threads_for(instructions: int, units: int, wanted: int | None, window: int = LEAST_WINDOW) -> int:
    """Return how many threads share so many SMs, or blocks, that execute so many warp instructions.

    wanted: None = what the environment's SIMTLAB_THREADS says; if nothing, as many as gain. window: cycles after which threads meet that
    time a launch; those that execute blocks do not meet. Raises UserError for what is no number.
    """
    if wanted is None:
        wanted = from_environment()
    if wanted is None:
        wanted = min(cores(), units // LEAST_UNITS, MOST) if instructions >= LEAST_INSTRUCTIONS and window >= LEAST_WINDOW else 1
    return max(1, min(wanted, units))


def check_threads(threads: object) -> None:
    """Raise UserError for what is no number of threads."""
    if threads is not None and (type(threads) is not int or threads < 1):
        raise UserError(f"threads = {threads!r} is not a number of threads", hint="a whole number from 1 on, or None for as many as gain")


def from_environment() -> int | None:
    """Return the number of threads that SIMTLAB_THREADS asks for, None when it is not set. Raises UserError for what is no number."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) == 0:
        raise UserError(f"{VARIABLE}={text} is not a number of threads", hint="a number from 1 on; unset it for as many as gain")
    return int(text)
