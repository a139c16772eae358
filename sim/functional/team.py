"""Blocks of one launch executed by several threads, where that leaves what one thread leaves, to the bit.

Blocks tell each other something only in device memory. The first of them run alone, which says how much there is to do. Of the others
each thread takes parts, which follow each other in the launch; a part has registers, shared memory and a trace of its own, and a thread
marks the words that it touches (`marks`). A word that one thread stored to and another touched, a wait for another block and a mistake
of the program make the order of the blocks count: then one thread executes the launch anew.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from isa.errors import UserError
from isa.functions import Special
from isa.operations import Form
from isa.vocabulary import Space
from sim.compiled.cores import LEAST_WINDOW, threads_for
from sim.functional.flags import EVERY
from sim.functional.joined import AgainError, joined
from sim.functional.making import Place
from sim.functional.marks import allocate_marks, are_apart
from sim.functional.setup import allocate_store
from sim.functional.state import Code, Status, Store
from sim.functional.turns import Turns
from sim.launch.launch import Launch

CLOCKS = (Special.CLOCKLO, Special.CLOCKHI, Special.GLOBALTIMERLO, Special.GLOBALTIMERHI)
FIRST, PARTS = 64, 8  # one block in so many runs before the others; parts for each thread


def may_be_shared(launch: Launch, code: Code) -> bool:
    """Return whether the order of blocks is not known to count: by atomics, clocks, clusters or functions that a driver brings."""
    if launch.ranks > 1 or launch.program.driver_functions or launch.blocks < 2:
        return False
    copies = (code.form == Form.BULK_COPY) & ((code.combine != 0) | (code.flags & EVERY != 0))
    counts = copies | ((code.form == Form.ATOM) & (code.space != Space.SHARED))
    counts |= (code.form == Form.SPECIAL) & np.isin(code.function, CLOCKS)
    return not counts.any()


class Part(NamedTuple):
    """What blocks that follow each other have left."""

    store: Store
    phases: int  # of barriers in shared memory
    clock: int  # instructions executed, spins included


class Team(Turns):
    """A launch whose blocks several threads execute. Its `execute` raises AgainError when one should have."""

    def __init__(self, *given: Any, threads: int | None, apart: Callable[[np.ndarray, np.ndarray], Place]) -> None:
        """threads: wanted, None = as many as gain. apart: `Maker.apart`."""
        super().__init__(*given)
        self.threads, self.apart = threads, apart

    def execute(self, place: Place | None, another: Callable[[], Place]) -> None:
        assert place is not None
        every, first = self.store.warp_path, -(-self.blocks // FIRST)
        self.store = self.store._replace(warp_path=every[: first * self.launch.warps_per_block])
        status, place = self._run(place)
        self.store = self.store._replace(warp_path=every)
        if status != Status.DONE:
            super().execute(self._after(status, place, another), another)
            return
        left = self.blocks - first
        threads = threads_for(int(self.store.executed.sum()) * left // first, left, LEAST_WINDOW, self.threads)
        if threads > 1:
            self._share(first, threads, place)
        else:
            super().execute(place, another)

    def _share(self, first: int, threads: int, place: Place) -> None:
        """Let threads execute all blocks from `first` on. place: of those before."""
        edges = np.unique(np.linspace(first, self.blocks, PARTS * threads + 1).astype(np.int64))
        tasks, ended = iter(list(enumerate(pairwise(edges)))), Event()
        marks = [allocate_marks(place.memory) for _ in range(threads)]
        parts: list[Any] = [None] * (len(edges) - 1)

        def work(mine: np.ndarray) -> None:
            try:
                for k, (start, end) in tasks:  # a list's iterator gives each to one thread
                    if ended.is_set():
                        break
                    parts[k] = self._executed(np.arange(start, end), mine)
            finally:
                ended.set()  # nothing is left, or all of it is in vain

        with ThreadPoolExecutor(threads - 1) as pool:
            others = []
            try:
                for one in marks[1:]:
                    others.append(pool.submit(work, one))
            except RuntimeError:  # no more threads can be had: those there are take all parts
                pass
            work(marks[0])
            for other in others:
                other.result()
        if not are_apart(marks, place.memory):
            raise AgainError
        count = first * self.launch.warps_per_block
        done = self.store._replace(warp_path=self.store.warp_path[:count], access_start=self.store.access_start[: count + 1])
        phases = [int(place.memory.begun[0]), *(part.phases for part in parts)]
        place.progress.clock[0] += sum(part.clock for part in parts)
        stores = [done, *(part.store for part in parts)]
        parts.clear()
        self.store = joined(stores, phases, self.launch)

    def _executed(self, blocks: np.ndarray, marks: np.ndarray) -> Part:
        """Execute blocks, which must not wait for others."""
        store = allocate_store(len(blocks) * self.launch.warps_per_block, len(self.code.operation))
        turns, place = Turns(self.launch, self.places, self.code, store, self.limit), self.apart(blocks, marks)
        try:
            status, place = turns._run(place)
        except UserError as error:  # a mistake, or what it looks like when others stored in between
            raise AgainError from error
        if status != Status.DONE:
            raise AgainError
        return Part(turns.store, int(place.memory.begun[0]), int(place.progress.clock[0]))
