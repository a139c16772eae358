"""Compile what a run needs before it needs it: each kernel in whichever process is free, as many at once as there are cores.

`python -m sim.warming` is such a process: it reads names of kernels, and prints a line for each function that it has compiled.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import cache as once
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

import numpy as np

import isa
from sim import timing
from sim.compiled import cache
from sim.compiled.apart import Apart
from sim.compiled.cores import cores
from sim.functional import execute, families
from sim.functional.families import Family
from sim.functional.making import Place
from sim.functional.turns import Turns
from sim.functional.warp import run as executor
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.launch.launch import Launch
from sim.policies.block_scores import score_of
from sim.policies.builtin import choose
from sim.policies.replacement import replaced_of
from sim.timing.apart import PARTS, Part
from sim.timing.engine import run as engine
from sim.traces.trace import Trace, TraceArrays

KERNELS: dict[str, Any] = {"timing engine": engine, "executor": executor}  # that every run needs; what takes longest comes first
OF_EXECUTOR = {f"executor: {family.name.lower()}": family for family in families.PARTS}
OF_ENGINE = {f"timing engine: {part.name.lower()}": part for part in PARTS}
APART: dict[str, Apart] = {name: families.PARTS[family] for name, family in OF_EXECUTOR.items()}
APART |= {name: PARTS[part] for name, part in OF_ENGINE.items()}
EVERY = (*KERNELS, *APART)
EXCHANGES = (Family.BARRIERS, Family.COPIES)  # programs that need these of the executor need EXCHANGE of the engine
Report = Callable[[str, int, int], None]  # which of EVERY; functions compiled so far, of how many


def needed(launch: Launch, gpu: Gpu | None = None) -> list[str]:
    """Return those of EVERY that a launch needs; gpu: on which it is timed. `check=` and what else an option asks for may need more."""
    found = families.needed(families.families_of(launch, is_checked=False))
    parts = {Part.FURTHER: gpu is not None and gpu.core.issue_width > 1, Part.EXCHANGE: any(family in EXCHANGES for family in found)}
    wanted = [*KERNELS, *(name for name, family in OF_EXECUTOR.items() if family in found)]
    return [*wanted, *(name for name, part in OF_ENGINE.items() if parts[part])]


def missing(names: Iterable[str] = tuple(KERNELS)) -> list[str]:
    """Return those of EVERY among `names` that must be compiled before they can run."""
    return [name for name in names if not (APART[name].is_kept() if name in APART else _is_kept(KERNELS[name]))]


def _is_kept(kernel: Any) -> bool:
    return not isinstance(kernel, cache.Kernel) or kernel._cache.is_kept()


def folders() -> dict[Path, str]:
    """Return the folders in which the kernels of these sources are kept, or would be."""
    every: dict[str, Any] = {
        **KERNELS,
        "policies": choose,
        "policies of blocks": score_of,
        "policies of caches": replaced_of,
    }  # within the timing engine; alone for the engine in SimPy
    caches = {name: kernel._cache for name, kernel in every.items() if isinstance(kernel, cache.Kernel)}
    caches |= {name: part.cache for name, part in APART.items() if caches}
    return {Path(one.cache_path): name for name, one in caches.items()}


def silently(name: str, done: int, total: int) -> None:
    """Report nothing."""


def compile_kernels(report: Report = silently, names: Sequence[str] = tuple(KERNELS)) -> None:
    """Compile or load kernels, those of EVERY that are named; in several processes where one can load what another compiles."""
    absent = missing(names)
    others = min(cores(), len(absent)) - 1 if cache.is_writable() else 0
    if others > 0:
        tasks: SimpleQueue[str] = SimpleQueue()
        for name in absent:
            tasks.put(name)
        with ExitStack() as running:
            for _ in range(others):
                running.enter_context(_elsewhere(tasks, report))
            for name in _left(tasks):
                compile_one(name, report)
    for name in names:  # loads the rest; compiles what another process could not
        compile_one(name, report)


def _left(tasks: "SimpleQueue[str]") -> Iterator[str]:
    """Take what nobody has taken, one after another."""
    while True:
        try:
            yield tasks.get_nowait()
        except Empty:
            return


def compile_one(name: str, report: Report) -> None:
    """Compile or load one of EVERY."""
    if name in APART:
        with APART[name].watched(partial(report, name)):
            if name in OF_EXECUTOR:
                families.link([OF_EXECUTOR[name]], *_given_to_executor())
            else:
                timing.link([OF_ENGINE[name]], *_given_to_engine())
        return
    kernel = KERNELS[name]
    with kernel._cache.watched(partial(report, name)) if isinstance(kernel, cache.Kernel) else nullcontext():
        if name == "executor":
            execute(_nothing())
        else:
            timing.simulate(_trace(), load("textbook"))


@once
def _given_to_executor() -> tuple[Any, ...]:
    """Return what the executor's kernel is given for `_nothing`, which is not executed."""
    found: list[tuple[Any, ...]] = []

    class Kept(Turns):
        def execute(self, place: Place | None, another: Callable[[], Place]) -> None:
            assert place is not None
            found.append((self.code, *place[:3], self.store, place.progress))

    execute(_nothing(), runner=Kept)
    return found[0]


@once
def _given_to_engine() -> tuple[Any, ...]:
    """Return what the engine's kernel is given for the same."""
    _, hw, code, sm = timing.machine_of(_trace(), load("textbook"), None)
    return hw, code, sm, _trace().arrays


@contextmanager
def _elsewhere(tasks: "SimpleQueue[str]", report: Report) -> Iterator[None]:
    """Compile tasks in another process meanwhile; wait for its end, or end it when something goes wrong here."""
    command = [sys.executable, "-m", "sim.warming"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, env=environment, **pipes) as process:
        feeder = Thread(target=_hand_over, args=(process, tasks, report), daemon=True)
        feeder.start()
        try:
            yield
            feeder.join()
        except BaseException:
            process.terminate()
            raise


def _hand_over(process: "subprocess.Popen[str]", tasks: "SimpleQueue[str]", report: Report) -> None:
    """Give a process one task after another, and pass on what it reports; one that ends before its task is done gets no more."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(OSError), process.stdin as names:
        for name in _left(tasks):
            names.write(f"{name}\n")
            names.flush()
            if not _reported(process.stdout, report):
                return


def _reported(lines: Iterable[str], report: Report) -> bool:
    """Pass on what a process reports of its task; return whether it comes to an end."""
    for line in lines:
        name, *numbers = line.rstrip("\n").split("\t")
        if not numbers:
            return True
        report(name, int(numbers[0]), int(numbers[1]))
    return False


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


def _print_progress(name: str, *numbers: int) -> None:
    sys.stdout.write("\t".join([name, *map(str, numbers)]) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    for task in sys.stdin:
        compile_one(task.rstrip("\n"), _print_progress)
        _print_progress(task.rstrip("\n"))
