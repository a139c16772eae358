"""Compile what a first run needs before it needs it: the executor in this process and, at the same time, the timing engine in another.

`python -m sim.warming` is that other process: it prints a line for each function that it has compiled.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

import isa
from sim.compiled import cache
from sim.compiled.cores import cores
from sim.functional import execute
from sim.functional.warp import run as executor
from sim.gpus.loader import load
from sim.launch.launch import Launch
from sim.policies.block_scores import score_of
from sim.policies.builtin import choose
from sim.policies.replacement import replaced_of
from sim.timing import simulate
from sim.timing.engine import run as engine
from sim.traces.trace import Trace, TraceArrays

KERNELS: dict[str, Any] = {"executor": executor, "timing engine": engine}
Report = Callable[[str, int, int], None]  # which of KERNELS; functions compiled so far, of how many


def missing() -> list[str]:
    """Return those of KERNELS that must be compiled before they can run."""
    return [name for name, kernel in KERNELS.items() if isinstance(kernel, cache.Kernel) and not kernel._cache.is_kept()]


def folders() -> dict[Path, str]:
    """Return the folders in which the kernels of these sources are kept, or would be."""
    every: dict[str, Any] = {
        **KERNELS,
        "policies": choose,
        "policies of blocks": score_of,
        "policies of caches": replaced_of,
    }  # within the timing engine; alone for the engine in SimPy
    return {Path(kernel._cache.cache_path): name for name, kernel in every.items() if isinstance(kernel, cache.Kernel)}


def silently(name: str, done: int, total: int) -> None:
    """Report nothing."""


def compile_kernels(report: Report = silently) -> None:
    """Compile or load what every run needs; in two processes where there are two cores and what one compiles the other can load."""
    absent = missing()
    if len(absent) == len(KERNELS) and cores() > 1 and cache.is_writable():
        with _elsewhere("timing engine", report):
            compile_one("executor", report)
        compile_one("timing engine", report)  # loads it; compiles it where the other process could not
        return
    for name in KERNELS:
        compile_one(name, report)


def compile_one(name: str, report: Report) -> None:
    """Compile or load one of KERNELS, by running it on a program that does nothing."""
    kernel = KERNELS[name]
    with kernel._cache.watched(partial(report, name)) if isinstance(kernel, cache.Kernel) else nullcontext():
        if name == "executor":
            execute(_nothing())
        else:
            simulate(_trace(), load("textbook"))


@contextmanager
def _elsewhere(name: str, report: Report) -> Iterator[None]:
    """Compile one of KERNELS in another process meanwhile; wait for its end, or end it when something goes wrong here."""
    command = [sys.executable, "-m", "sim.warming", name]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment) as process:
        assert process.stdout is not None
        reader = Thread(target=_pass_on, args=(process.stdout, report), daemon=True)
        reader.start()
        try:
            yield
            reader.join()
        except BaseException:
            process.terminate()
            raise


def _pass_on(lines: Iterator[str], report: Report) -> None:
    for line in lines:
        name, done, total = line.rstrip("\n").split("\t")
        report(name, int(done), int(total))


def _nothing() -> Launch:
    return Launch(isa.parse(".kernel nothing\nEXIT"), grid=(1,), block=(32,))


def _trace() -> Trace:
    """Return what the executor returns for `_nothing`, without it: it may not be compiled. A test compares the two."""
    arrays = TraceArrays(
        path_start=np.array([0, 1], np.int64),
        instruction=np.zeros(1, np.int32),
        mask=np.array([0xFFFFFFFF], np.uint32),
        warp_path=np.zeros(1, np.int32),
        access_start=np.zeros(2, np.int64),
        access_base=np.zeros(0, np.int64),
        access_stride=np.zeros(0, np.int64),
        scattered=np.zeros((0, 32), np.uint32),
    )
    return Trace(_nothing(), arrays, np.ones(1, np.int64), np.full(1, 32, np.int64), np.full(1, 32, np.int64))


def _print_progress(name: str, done: int, total: int) -> None:
    sys.stdout.write(f"{name}\t{done}\t{total}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    compile_one(sys.argv[1], _print_progress)
