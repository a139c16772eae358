"""Blocks in turns: when every warp of a block spins or waits for one that does, the next block starts; when none is left, all take turns.

Where nothing spins, one call of the kernel executes block after block, in launch order (where several threads do, each its own: `team`).
A block that waits keeps its place: registers, shared and local memory, the paths of its warps. Paths go to the trace in launch order
whatever the order of execution. Everything here depends on the launch alone, so results are the same on every machine.
"""

from collections.abc import Callable

import numpy as np

from sim.functional.checks import explain, no_end
from sim.functional.driver import Driver
from sim.functional.growth import ROOM, grow_log, grow_store
from sim.functional.hazards import with_found
from sim.functional.making import Place
from sim.functional.setup import allocate_log, allocate_progress
from sim.functional.state import Code, Log, Status, Store
from sim.functional.stuck import no_progress
from sim.functional.warp import run
from sim.launch.launch import Launch
from sim.launch.placement import Places

LOG_STATUSES = (Status.LOG_FULL, Status.ROWS_FULL, Status.WARP_ACCESSES_FULL)
STOPS = (Status.DONE, Status.WAITS, Status.BLOCK_ENDED)
MOST_WAITING = 4224  # blocks: 32 on each of 132 SMs
MOST_BYTES = 1 << 30  # of blocks that wait, and again of paths whose turn has not come


def size(*tuples: tuple[object, ...]) -> int:
    """Return the bytes of the arrays of named tuples."""
    return sum(array.nbytes for values in tuples for array in values if isinstance(array, np.ndarray))


class Turns:
    """A launch being executed."""

    def __init__(self, launch: Launch, places: Places, code: Code, store: Store, limit: int) -> None:
        self.launch, self.places, self.code, self.store, self.limit = launch, places, code, store, limit
        self.blocks = store.warp_path.size // launch.warps_per_block  # that are executed
        self.driver = Driver(launch, places, code)
        self.waiting: list[Place] = []
        self._ended: dict[int, Place] = {}  # by block: those whose paths cannot go to the trace yet
        self._without_end = 0  # instructions since a block last made progress

    def execute(self, place: Place | None, another: Callable[[], Place]) -> None:
        """Execute all blocks. place: for the first one; another: makes one more. Raises UserError for mistakes of the program."""
        with np.errstate(all="ignore"):  # only the uncompiled kernels warn: infinities and wrap-around are results, not mistakes
            while place is not None or self.waiting:
                if place is None:
                    place = self._turn(another)
                    continue
                status, place = self._run(place)
                place = self._after(status, place, another)

    def _after(self, status: int, place: Place, another: Callable[[], Place]) -> Place | None:
        """Blocks have stopped: return the place of one that has not started, if one may start now."""
        if status == Status.WAITS:
            self.waiting.append(place)
            return another() if self._may_start(place) else None
        if self.launch.ranks > 1:
            return self._next_of_cluster(place, status, another)
        return self._without(place) if status == Status.BLOCK_ENDED else None

    def _may_start(self, place: Place) -> bool:
        """Return whether one more block may start; place: of one that waits."""
        own = size(place.machine, (place.memory.shared, place.memory.local), place.log)
        most = min(MOST_WAITING, max(2, MOST_BYTES // own))
        kept = sum(size(ended.log) for ended in self._ended.values())
        room = len(self.waiting) < most and kept < MOST_BYTES
        return int(place.progress.next[0]) < self.blocks and (room if self.launch.ranks == 1 else self._cluster_begun(place))

    def _cluster_begun(self, place: Place) -> bool:
        """Return whether blocks of the cluster are still to start."""
        return int(place.progress.next[0]) % self.launch.ranks > 0

    def _next_of_cluster(self, place: Place, status: int, another: Callable[[], Place]) -> Place | None:
        """A block of a cluster has ended: return the place of one that has not started, of its own cluster or when nobody waits."""
        if status == Status.BLOCK_ENDED:
            self._without(place)
        more = int(place.progress.next[0]) < self.blocks and (self._cluster_begun(place) or not self.waiting)
        return another() if more else None

    def _turn(self, another: Callable[[], Place]) -> Place | None:
        """Give each block that waits a turn, up to one that ends; return the place of that, for the next block. Raises UserError."""
        clock = int(self.waiting[0].progress.clock[0])
        moved = changed = False
        for k, place in enumerate(self.waiting):
            moves, changes = int(place.progress.moves[0]), int(place.progress.changes[0])
            place.progress.seen[0] = -1
            status, self.waiting[k] = self._run(place)
            if status != Status.WAITS:
                self._without_end = 0
                latest = self.waiting.pop(k)
                latest.progress.patient[0] = self.launch.ranks > 1
                if self.launch.ranks > 1:
                    return self._next_of_cluster(latest, status, another)
                return self._without(latest) if status == Status.BLOCK_ENDED else None
            moved, changed = moved or int(place.progress.moves[0]) != moves, changed or int(place.progress.changes[0]) != changes
        patient, first = self.waiting[0].progress.patient, self.waiting[0]
        if patient[0] and not moved and not changed:
            patient[0] = 0  # let those that wait for a phase look in vain, once
            return None
        if not moved and self.launch.ranks > 1 and int(first.progress.next[0]) < self.blocks and len(self.waiting) < MOST_WAITING:
            patient[0] = 1
            return another()
        patient[0] = self.launch.ranks > 1 and moved
        self._without_end = 0 if moved else self._without_end + int(self.waiting[0].progress.clock[0]) - clock
        if not moved and (not changed or self._without_end > self.limit):
            raise no_progress(self.launch, self.places, self.waiting, self._without_end if changed else 0, self.blocks)
        return None

    def _run(self, place: Place) -> tuple[int, Place]:
        """Execute a block, and those after it, until they stop; return why, and the place with its latest log."""
        while (status := run(self.code, *place[:3], self.store, place.progress)) not in STOPS:
            place = self._with_room(status, place)
        while int(self.store.blocks[0]) in self._ended:
            self._run(self._ended.pop(int(self.store.blocks[0])))
        return status, place

    def _with_room(self, status: int, place: Place) -> Place:
        """Return the place with the room that the kernel asks for; the trace may get it. Raises UserError for mistakes of the program."""
        if status == Status.ERROR:
            error = explain(self.launch, self.places.allocations, place.memory, place.machine, place.progress)
            raise with_found(error, self.launch, self.places, place.memory)
        if status == Status.LOG_FULL and place.log.instruction.shape[1] >= self.limit + ROOM:
            raise no_end(self.launch, place.machine, place.log, place.progress, self.limit)
        if status == Status.CALLS:
            self.driver.call(place)
            return place
        if status in LOG_STATUSES:
            return place._replace(log=grow_log(status, place.log, self.limit))
        self.store = grow_store(status, self.store, place.log, self._done())
        return place

    def _without(self, place: Place) -> Place:
        """Keep the paths of a block that has ended before its turn in the trace; return its place for another block."""
        none_left = np.array([self.blocks], np.int64)
        ended = place.machine._replace(ended=np.ones_like(place.machine.ended))
        self._ended[int(place.progress.block[0])] = place._replace(
            machine=ended, log=compact(place.log), progress=place.progress._replace(next=none_left)
        )
        log = allocate_log(self.launch.warps_per_block, self.limit)
        progress = allocate_progress(self.launch.warps_per_block, place.progress.next, place.progress.clock, place.progress.patient)
        return Place(place.machine._replace(length=log.length), place.memory, log, progress)

    def _done(self) -> float:
        """Return the share of the warps that are in the trace, one more included: the trace needs room for it."""
        warps = self.launch.warps_per_block
        return min(int(self.store.blocks[0]) * warps + 1, self.blocks * warps) / (self.blocks * warps)


def compact(log: Log) -> Log:
    """Return a log of warps that have ended without the room that was kept for growing."""
    rows = np.where(log.row < 0, 0, log.row)
    entries, accesses = int(log.length.max()), int(log.accesses.max())
    return log._replace(
        row=np.where(log.row < 0, -1, np.arange(log.row.size)),
        instruction=log.instruction[rows, :entries],
        mask=log.mask[rows, :entries],
        access_base=log.access_base[rows, :accesses],
        access_stride=log.access_stride[rows, :accesses],
    )
