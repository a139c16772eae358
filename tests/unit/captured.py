"""Captures made without a GPU: a driver of a few functions in C, the preloaded library, and a program that launches one kernel."""

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data" / "captures"
CUBIN = DATA / "scale_rows.sm_90.cubin"
COMPILER = shutil.which("cc")
needs_compiler = pytest.mark.skipif(COMPILER is None or sys.platform != "linux", reason="needs a C compiler, on Linux")


@functools.cache
def built() -> Path:
    """Return a folder with the driver, libcuda.so.1, and the program, also as a library, libprogram.so."""
    assert COMPILER
    folder = Path(tempfile.mkdtemp(prefix="simtlab-captured-"))
    flags = ["-std=gnu11", "-w"]
    driver = folder / "libcuda.so.1"
    subprocess.run([COMPILER, *flags, "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", driver, DATA / "driver.c"], check=True)
    subprocess.run([COMPILER, *flags, "-o", folder / "program", DATA / "program.c", driver, "-lpthread", "-ldl"], check=True)
    library = ["-shared", "-fPIC", "-Dmain=program"]
    subprocess.run(
        [COMPILER, *flags, *library, "-o", folder / "libprogram.so", DATA / "program.c", driver, "-lpthread", "-ldl"], check=True
    )
    return folder


def capture(
    *options: object, program: tuple[object, ...] = ("dlsym", "fine", CUBIN), driver: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run `simtlab capture OPTIONS -- program ...` beside that driver."""
    command = [sys.executable, "-c", "from sim.cli import main; main()", "capture", *map(str, options), "--"]
    what = program if isinstance(program[0], Path) else (built() / "program", *program)
    environment = os.environ | {"LD_LIBRARY_PATH": str(built()) if driver else ""}
    return subprocess.run([*command, *map(str, what)], env=environment, capture_output=True, text=True, check=False)
