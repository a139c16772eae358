"""What blocks need while they are executed: a machine, memory, a log, and how far they are."""

from typing import NamedTuple

import numpy as np

from sim.functional import setup
from sim.functional.families import Family
from sim.functional.state import Code, Log, Machine, Memory, Progress
from sim.launch.launch import Launch


class Place(NamedTuple):
    """What one block needs while it is executed."""

    machine: Machine
    memory: Memory
    log: Log
    progress: Progress


class Order(NamedTuple):
    """What blocks share that start one after another: the fields of Progress of these names."""

    next: np.ndarray
    clock: np.ndarray
    patient: np.ndarray


class Maker:
    """Makes one place after another for the blocks of a launch."""

    def __init__(
        self, launch: Launch, code: Code, memory: Memory, rows: tuple[np.ndarray, np.ndarray], limit: int, chosen: np.ndarray | None
    ) -> None:
        """memory: of the launch. rows: those of literals, uint32 [n, 32], and what each warp starts with. chosen: int64, the blocks to
        execute, None = all.
        """
        self.launch, self.code, self.latest, self.rows, self.limit = launch, code, memory, rows, limit
        self.chosen = np.zeros(0, np.int64) if chosen is None else np.ascontiguousarray(chosen, np.int64)
        self.count = launch.blocks if chosen is None else len(chosen)
        self.families = np.zeros(len(Family), np.int64)
        self.order = self._order()

    def first(self) -> Place:
        """Return the place of the first block, with the launch's memory."""
        return self._place(self.latest, self.order, self.chosen)

    def another(self) -> Place:
        """Return that of the block that starts next; those of a cluster share memory."""
        rank = int(self.order.next[0]) % self.launch.ranks
        self.latest = setup.of_another_block(self.launch, self.latest, rank, self.latest if rank else None)
        return self._place(self.latest, self.order, self.chosen)

    def apart(self, blocks: np.ndarray, marks: np.ndarray) -> Place:
        """Return a place for some of the blocks, int64, which a thread executes without the others. marks: of that thread."""
        memory = setup.of_another_block(self.launch, self.latest, 0, None)._replace(begun=np.zeros(1, np.int64), marks=marks)
        return self._place(memory, self._order(), self.chosen[blocks] if self.chosen.size else blocks)

    def _order(self) -> Order:
        return Order(np.zeros(1, np.int64), np.zeros(1, np.int64), np.full(1, self.launch.ranks > 1, np.int64))

    def _place(self, memory: Memory, order: Order, chosen: np.ndarray) -> Place:
        warps = self.launch.warps_per_block
        log = setup.allocate_log(warps, self.limit)
        shared = {"clock": order.clock, "families": self.families, "chosen": chosen}
        machine = setup.allocate_machine(self.launch, self.code, *self.rows, log, shared)
        return Place(machine, memory, log, setup.allocate_progress(warps, *order))
