"""Launches of the running Python program, captured between two of its lines.

A library of ours takes the driver's name, `libcuda.so.1`, before the program asks for it: the loader gives a name that it knows to whoever
asks next, so PyTorch, CuPy, Triton and CUDA's runtime come to the driver through it. It has to be there first, hence `prepare`.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from isa.errors import UserError
from sim.captures import running
from sim.captures.file import write
from sim.captures.table import MOST_BYTES

WHERE = f"import ctypes; ctypes.CDLL('{running.DRIVER}'); print(open('/proc/self/maps').read())"  # a process of its own: its loader forgets
EARLIER = "call sim.captures.prepare() before the program first uses the GPU; or start the program by `simtlab capture`"

_prepared: list[ctypes.CDLL] = []
_windows: list[Path] = []


def prepare() -> None:
    """Make ready to capture launches of this process; to be called before anything here uses the GPU. A second call does nothing.

    Needs Linux, a C compiler and NVIDIA's driver. Raises UserError without them, where the driver is in use already, and in a program that
    `simtlab capture` runs.
    """
    if _prepared:
        return
    if os.environ.get("SIMTLAB_CAPTURE_FOLDER"):
        raise UserError(
            "this program runs under `simtlab capture` already", hint="start it without, or capture there what is captured here"
        )
    if not sys.platform.startswith("linux"):
        raise UserError("launches are captured on Linux only")
    if _driver_in(Path("/proc/self/maps").read_text()):
        raise UserError("this process uses the CUDA driver already: what it loaded and allocated was not seen", hint=EARLIER)
    done = subprocess.run([sys.executable, "-I", "-S", "-c", WHERE], capture_output=True, text=True, check=False)
    driver = _driver_in(done.stdout)
    if driver is None:
        raise UserError(f"there is no {running.DRIVER} here", hint="capture where a GPU and its driver are")
    _prepared.append(ctypes.CDLL(str(running.library(driver)), mode=ctypes.RTLD_GLOBAL))


@contextmanager
def capture(
    kernel: str = "", skip: int = 0, count: int = 1, folder: str | Path = ".", max_bytes: int = 1 << 30, repeat: bool = False
) -> Iterator[list[Path]]:
    """Capture launches of this process while the block runs; the list that it gives holds the files when the block has ended.

    kernel: POSIX extended regular expression, searched for in the (mangled) name. skip, count: of the launches of the block that match.
    max_bytes: a launch that reaches more memory is left out, with a warning. repeat: launch twice from the same memory, and keep whether
    the GPU repeats its result. A file that is there already stays: the new one has a number more in its name. Calls `prepare`, and
    raises what that raises. Raises UserError when no launch was captured, unless the block raises something itself.
    """
    prepare()
    wanted, output = _checked(kernel, skip, count, max_bytes, repeat), Path(folder)
    if _windows:
        raise UserError("launches are being captured already", hint="end that block first")
    output.mkdir(parents=True, exist_ok=True)
    found: list[Path] = []
    with tempfile.TemporaryDirectory(prefix="simtlab-", dir=output) as made:
        at = Path(made).resolve()
        settings = running.settings(wanted, at)
        failed = True
        try:
            _windows.append(at)
            os.environ.update(settings)
            _prepared[0].simtlab_capture_settings()
            yield found
            failed = False
        finally:
            for name in settings:
                os.environ.pop(name, None)
            _prepared[0].simtlab_capture_settings()
            _windows.clear()
            ran = running.recorded(at)
            kept = running.captures(ran, sys.orig_argv)
            for one, path in zip(kept, running.paths(kept, output, keep=True), strict=True):
                write(one, path)
                found.append(path)
            if not found and not failed:
                raise running.why_none(ran, wanted)
            for line in running.passed_over(ran):
                warnings.warn(line, RuntimeWarning, stacklevel=3)


def _checked(kernel: str, skip: int, count: int, most: int, repeat: bool) -> running.Wanted:
    if not isinstance(kernel, str):
        raise UserError(f"kernel = {kernel!r}", hint="write a regular expression, or leave it out for every kernel")
    if not all(isinstance(number, int) for number in (skip, count, most)) or skip < 0 or count < 1 or not 0 < most <= MOST_BYTES:
        raise UserError(
            f"skip = {skip!r}, count = {count!r}, max_bytes = {most!r}",
            hint=f"write whole numbers: skip from 0, count from 1, max_bytes up to {MOST_BYTES:,}",
        )
    return running.Wanted(kernel, skip, count, most, repeat)


def _driver_in(maps: str) -> Path | None:
    """Return the path of the driver among the files that a process has mapped."""
    names = (line.split(maxsplit=5)[5] for line in maps.splitlines() if len(line.split(maxsplit=5)) == 6)
    return next((Path(name) for name in names if Path(name).name.startswith("libcuda.so")), None)
