"""Points on the cores of this machine: a pool of processes; a trace that several of them need lies in a file."""

import functools
import multiprocessing
import os
import pickle
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from isa.errors import UserError
from sim.compiled.cache import say
from sim.gpus.model import Gpu
from sim.launch.launch import Launch
from sim.sweeps.driver import Group
from sim.sweeps.work import Failure, Job, Row, evaluated, executed
from sim.traces.trace import Trace
from sim.warming import compile_kernels, missing

Found = tuple[list[Row], float]
WATCH_SECONDS = 0.5


class Local:
    """A pool of processes; a context manager."""

    def __init__(self, workers: int, gpus: Mapping[str, Gpu], kernels: Sequence[str]) -> None:
        """Take what points need. kernels: of `sim.warming.EVERY`, those that they run."""
        if absent := missing(kernels):
            say(f"compiling the simulator's kernels, once: {', '.join(absent)}...")
        compile_kernels(names=kernels)  # once, before processes are made of this one or they wait for each other to compile the same
        # A forked process has the compiled kernels already, and runs no user's script again. Elsewhere than on Linux forking is not safe.
        context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        self.folder = tempfile.TemporaryDirectory(prefix="simtlab-")
        self.pool = ProcessPoolExecutor(workers, context, _settle, (os.getpid(), self.folder.name))
        self.gpus = dict(gpus)
        self.depth = 2 * workers

    def __enter__(self) -> "Local":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:  # an interrupt waits for no points under way: a second one while it did would leave the workers behind
            for process in list((self.pool._processes or {}).values()):
                process.terminate()
        self.pool.shutdown(cancel_futures=True)
        self.folder.cleanup()

    def begin(self, group: Group, jobs: list[Job]) -> Future[Found]:
        if group.jobs:
            group.handle = str(Path(self.folder.name, f"{id(group)}.trace"))
        return self.pool.submit(_begin, group.build(), group.handle, self.gpus, jobs)

    def go_on(self, group: Group, jobs: list[Job]) -> Future[Found]:
        return self.pool.submit(_go_on, group.handle, self.gpus, jobs)

    def wait(self, futures: Iterable[Future[Found]]) -> Iterable[Future[Found]]:
        return wait(futures, return_when=FIRST_COMPLETED).done

    def result(self, future: Future[Found]) -> Found:
        try:
            return future.result()
        except BrokenProcessPool:
            message = "a worker process ended before its points were done; perhaps memory ran out"
            raise UserError(message, hint="run again: what is in the output is kept; fewer workers need less memory") from None

    def end(self, group: Group) -> None:
        if group.handle:
            Path(group.handle).unlink(missing_ok=True)


def _settle(parent: int, folder: str) -> None:
    """Leave interrupts to the parent, and clean up and end when it is gone: nobody else would, where it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch, args=(parent, folder), daemon=True).start()


def _watch(parent: int, folder: str) -> None:
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _begin(launch: Launch | Failure, file: str | None, gpus: Mapping[str, Gpu], jobs: list[Job]) -> Found:
    """Execute a launch, keep its trace for other processes, and do the first points."""
    trace = executed(launch)
    if file:
        Path(file).write_bytes(pickle.dumps(trace, protocol=pickle.HIGHEST_PROTOCOL))
    return evaluated(trace, gpus, jobs)


def _go_on(file: str, gpus: Mapping[str, Gpu], jobs: list[Job]) -> Found:
    return evaluated(_trace(file), gpus, jobs)


@functools.lru_cache(maxsize=1)
def _trace(file: str) -> Trace | Failure:
    return pickle.loads(Path(file).read_bytes())
