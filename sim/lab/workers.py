"""Processes that simulate, kept warm: a request has a time and a memory, and one that its client has overtaken is given up.

A client is a page: it numbers its requests, and only the latest counts. A request that waits for a worker is dropped when a later one
comes, which takes its turn: whoever types on a busy server waits no longer than others. One that runs is ended, with its process, when it
is overtaken or takes too long. Another process takes its place, and gets no request before it is warm: those who wait go to the others.
"""

import asyncio
import multiprocessing
import os
import signal
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from isa.errors import UserError

SECONDS = 10.0  # that a request may take
GRACE = 1.0  # seconds that an overtaken request may go on, at least; most end by themselves
BYTES = 2 << 30  # that a worker may take beyond what it has when it is warm
MOST_CLIENTS = 1000  # whose latest request is remembered
MOST_WAITING = 400  # clients, with a request each of at most server.MOST_BODY
POLL = 0.02  # seconds between two looks at a worker
START = 300.0  # seconds until a worker must be warm: it may have to compile

Known = Callable[[], dict[str, Any] | None]


class OvertakenError(Exception):
    """A later request of the same client came."""


class Limits(NamedTuple):
    """seconds: of one request. memory: bytes beyond those of a warm worker. processes: that simulate at the same time."""

    seconds: float = SECONDS
    memory: int = BYTES
    processes: int = 2


class Worker:
    """One process. `ask` is called from one thread at a time."""

    def __init__(self, gpus: dict[str, str], limits: Limits) -> None:
        self.gpus, self.limits = gpus, limits
        self.is_closed = False
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, self.gpus, self.limits.memory), daemon=True)
        with _uninterrupted():
            self.process.start()
        theirs.close()
        self.is_warm = False
        self.grace = GRACE

    def warm(self) -> None:
        """Wait until the process can take a job. Raises UserError when it does not come to that."""
        if self.is_warm:
            return
        with self._watched():
            if not self.pipe.poll(START):
                raise UserError(f"the simulator is not compiled after {START:g} s", hint="try again later")
            self.grace = min(max(GRACE, self.pipe.recv()), self.limits.seconds / 2)  # no sense to end what ends before another is warm
            self.is_warm = True

    def ask(self, job: tuple[Any, ...], is_overtaken: Callable[[], bool]) -> dict[str, Any]:
        """Return the answer to a job. Raises OvertakenError, and UserError for one that takes too long or ends its process."""
        self.warm()
        if is_overtaken():
            raise OvertakenError
        with self._watched():
            began = time.monotonic()
            self.pipe.send(job)
            while not self.pipe.poll(POLL):
                taken = time.monotonic() - began
                if taken > self.limits.seconds:
                    self.restart()
                    raise UserError(
                        f"this took over {self.limits.seconds:g} s and was ended", hint="make the program or the launch smaller"
                    )
                if taken > self.grace and is_overtaken():
                    self.restart()
                    raise OvertakenError
            answer: dict[str, Any] = self.pipe.recv()
            return answer

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Start another process where this one ends meanwhile. Raises UserError then."""
        try:
            yield
        except (EOFError, OSError):
            if self.is_closed:
                raise UserError("the lab has ended") from None
            self.restart()
            raise UserError("the process that simulated ended", hint="make the program or the launch smaller") from None

    def restart(self) -> None:
        self._end()
        self.pipe.close()
        if not self.is_closed:
            self.start()

    def close(self) -> None:
        """End the process; a thread that asks it gets a UserError, and closes nothing under itself."""
        self.is_closed = True
        self._end()

    def _end(self) -> None:
        self.process.kill()
        self.process.join()


class Pool:
    """The workers, who waits for one, and which request of each client is the latest."""

    def __init__(self, gpus: dict[str, str], limits: Limits) -> None:
        self.workers = [Worker(gpus, limits) for _ in range(limits.processes)]
        self.idle = list(self.workers)
        self.waiting: OrderedDict[str, asyncio.Future[Worker]] = OrderedDict()  # client -> its turn, the next one first
        self.latest: OrderedDict[str, int] = OrderedDict()
        self.threads = ThreadPoolExecutor(limits.processes)  # each worker is spoken to by one at a time
        self.replacing: set[asyncio.Task[None]] = set()

    async def ask(self, job: tuple[Any, ...], client: str, number: int, known: Known = lambda: None) -> dict[str, Any]:
        """Return the answer to a job of a client; known: gives it where another has asked the same. Raises OvertakenError and UserError."""

        def is_overtaken() -> bool:
            return self.latest.get(client, number) > number

        if is_overtaken():
            raise OvertakenError
        worker = await self._turn(client, number)
        found = known()  # by now: not before, since one of a class that asks the same at the same moment is simulated
        if found is not None:
            self._free(worker)
            return found
        running = asyncio.get_running_loop().run_in_executor(self.threads, worker.ask, job, is_overtaken)
        running.add_done_callback(lambda _: self._done(worker))
        return await asyncio.shield(running)  # a worker whose client has gone is free when it has answered, and not before

    def _done(self, worker: Worker) -> None:
        if worker.is_warm:
            return self._free(worker)
        task = asyncio.get_running_loop().create_task(self._replace(worker))
        self.replacing.add(task)
        task.add_done_callback(self.replacing.discard)

    async def _replace(self, worker: Worker) -> None:
        """Give a worker whose process was ended to nobody before its next one is warm, which takes seconds; meanwhile others serve."""
        with suppress(UserError):  # whoever asks it next is told
            await asyncio.get_running_loop().run_in_executor(self.threads, worker.warm)
        self._free(worker)

    async def _turn(self, client: str, number: int) -> Worker:
        """Return a worker when it is the client's turn. Raises OvertakenError, and UserError when too many wait."""
        before = self.waiting.get(client)
        if before is None and len(self.waiting) >= MOST_WAITING:
            raise UserError("too many requests wait", hint="try again in a moment")
        self.latest[client] = number
        self.latest.move_to_end(client)
        while len(self.latest) > MOST_CLIENTS:
            self.latest.popitem(last=False)
        if self.idle:
            return self.idle.pop()
        mine = self.waiting[client] = asyncio.get_running_loop().create_future()  # where the one before stood
        if before is not None and not before.done():
            before.set_exception(OvertakenError())
        try:
            return await mine
        except asyncio.CancelledError:
            if self.waiting.get(client) is mine:
                del self.waiting[client]
            elif not mine.cancelled() and mine.exception() is None:
                self._free(mine.result())
            raise

    def _free(self, worker: Worker) -> None:
        """Give a worker to whoever has waited longest."""
        while self.waiting:
            _, turn = self.waiting.popitem(last=False)
            if not turn.done():
                return turn.set_result(worker)
        self.idle.append(worker)

    def close(self) -> None:
        for worker in self.workers:
            worker.close()


def serve(pipe: Connection, gpus: dict[str, str], memory: int) -> None:
    """Tell how many seconds it took to get warm, then answer jobs until the other end is closed: what runs in a worker."""
    began = time.monotonic()
    from sim import warming
    from sim.lab import answers

    threading.Thread(target=_end_with_server, daemon=True).start()
    warming.compile_kernels(names=warming.EVERY)
    answers.warm(gpus)
    _bound(memory)
    pipe.send(time.monotonic() - began)
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        pipe.send(answers.answer(job, gpus))


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let what is started here never see Ctrl-C, which a terminal sends to every process: the server ends its workers."""
    if not hasattr(signal, "pthread_sigmask"):  # not on every system
        yield
        return
    resource_tracker.ensure_running()  # multiprocessing's, which would let the signal through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_server() -> None:
    """End this process when the server's ends in whatever way, in the middle of a simulation, too."""
    server = multiprocessing.parent_process()
    if server is not None:
        server.join()
        os._exit(1)


def _bound(memory: int) -> None:
    """Let this process take so many bytes more than it has, where the system can tell how many that is."""
    import resource  # not on every system

    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            has = int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (has + memory, has + memory))
