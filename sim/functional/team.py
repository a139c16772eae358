"""Blocks of one launch executed by several threads, where that leaves what one thread leaves, to the bit.

Blocks tell each other something only in device memory. The first of them run alone, which says how much there is to do. Of the others
each thread takes parts, each of consecutive blocks; a part has registers, shared memory and a trace of its own, and a thread
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
from sim.compiled.cores import threads_for
from sim.functional.flags import EVERY
from sim.functional.growth import MOST_SCATTERED
from sim.functional.joined import NotParallelError, joined
from sim.functional.making import Place
from sim.functional.marks import allocate_marks, are_apart
from sim.functional.setup import allocate_store
from sim.functional.state import LANES, Code, Status, Store
from sim.functional.turns import Turns
from sim.launch.launch import Launch

CLOCKS = (Special.CLOCKLO, Special.CLOCKHI, Special.GLOBALTIMERLO, Special.GLOBALTIMERHI)
ALONE, PARTS = 64, 8  # one block in so many runs before the others; parts for each thread. Chosen, not measured
MOST_THREADS = 64
MOST_ROWS = MOST_SCATTERED // (4 * LANES)  # of scattered addresses: more one thread refuses, and says so


def may_be_shared(launch: Launch, code: Code) -> bool:
    """Return False where the order of blocks is known to count.

    It is for atomics, clocks, clusters, bulk copies that reduce or go to several blocks, and functions that a driver brings.
    """
    if launch.ranks > 1 or launch.program.driver_functions:
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
    """A launch whose blocks several threads execute. Its `execute` raises NotParallelError when one thread must execute it instead."""

    def __init__(self, *given: Any, threads: int | None, apart: Callable[[np.ndarray, np.ndarray], Place]) -> None:
        """threads: wanted, None = as many as gain. apart: `Maker.apart`."""
        super().__init__(*given)
        self.threads, self.apart = threads, apart

    def execute(self, place: Place | None, another: Callable[[], Place]) -> None:
        assert place is not None
        every, first = self.store.warp_path, -(-self.blocks // ALONE)
        self.store = self.store._replace(warp_path=every[: first * self.launch.warps_per_block])
        status, place = self._run(place)
        self.store = self.store._replace(warp_path=every)
        if status != Status.DONE:
            super().execute(self._after(status, place, another), another)
            return
        left = self.blocks - first
        threads = threads_for(int(self.store.executed.sum()) * left // first, min(left, MOST_THREADS), self.threads)
        if threads > 1:
            self._share(first, threads, place)
        else:
            super().execute(place, another)

    def _share(self, first: int, threads: int, place: Place) -> None:
        """Let threads execute all blocks from `first` on. place: of those before. Raises NotParallelError."""
        count = first * self.launch.warps_per_block
        done = self.store._replace(warp_path=self.store.warp_path[:count], access_start=self.store.access_start[: count + 1])
        parts = [Part(done, int(place.memory.begun[0]), 0)]
        try:
            marks = [allocate_marks(place.memory) for _ in range(threads)]
            parts += self._parts(np.unique(np.linspace(first, self.blocks, PARTS * threads + 1).astype(np.int64)).tolist(), marks)
            if not are_apart(marks, place.memory):
                raise NotParallelError
            del marks
            place.progress.clock[0] += sum(part.clock for part in parts)
            stores, phases = [part.store for part in parts], [part.phases for part in parts]
            parts.clear()
            self.store = joined(stores, phases, self.launch)
        except MemoryError:
            raise NotParallelError from None  # one thread needs less

    def _parts(self, edges: list[int], marks: list[np.ndarray]) -> list[Part]:
        """Execute the blocks between each two edges, by as many threads as there are marks."""
        tasks, failed, alone = iter(list(enumerate(pairwise(edges)))), Event(), int(self.store.scattered_rows[0])
        parts: list[Any] = [None] * (len(edges) - 1)

        def work(mine: np.ndarray) -> None:
            try:
                for k, (start, end) in tasks:  # a list's iterator gives each to one thread
                    if failed.is_set():
                        break
                    parts[k] = self._executed(np.arange(start, end), mine)
                    if alone + sum(int(part.store.scattered_rows[0]) for part in parts if part) >= MOST_ROWS:
                        raise NotParallelError
            except BaseException:
                failed.set()
                raise

        with ThreadPoolExecutor(len(marks) - 1) as pool:
            others = []
            try:
                for one in marks[1:]:
                    others.append(pool.submit(work, one))
            except RuntimeError:  # no more threads can be had: those there are take all parts
                pass
            try:
                work(marks[0])
                while others:
                    others.pop(0).result()
            finally:
                others.clear()  # what they raised would keep the attempt in memory
        return parts

    def _executed(self, blocks: np.ndarray, marks: np.ndarray) -> Part:
        """Execute blocks, which must not wait for others."""
        store = allocate_store(len(blocks) * self.launch.warps_per_block, len(self.code.operation))
        turns, place = Turns(self.launch, self.places, self.code, store, self.limit), self.apart(blocks, marks)
        try:
            status, place = turns._run(place)
        except UserError as error:  # a mistake, or what it looks like when others stored in between
            raise NotParallelError from error
        if status != Status.DONE:
            raise NotParallelError
        return Part(turns.store, int(place.memory.begun[0]), int(place.progress.clock[0]))
