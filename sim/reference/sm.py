"""SM: places for blocks, pipes, and schedulers among which the warp slots are dealt: slot s to scheduler s mod schedulers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.policies.stateful import Hook
from sim.reference.constants import Constants
from sim.reference.fetch import InstructionCache
from sim.reference.issue import Scheduler
from sim.reference.memory.lsu import LoadStoreUnit
from sim.reference.pipes import Pipes

if TYPE_CHECKING:
    from sim.reference.blocks import Block
    from sim.reference.machine import Machine
    from sim.reference.moments import Moment
    from sim.reference.wakeup import Warp


class SM:
    """One streaming multiprocessor."""

    def __init__(self, machine: Machine, number: int) -> None:
        self.machine, self.number = machine, number
        self.pipes = Pipes(machine.env, machine.gpu)
        self.constants, self.code = Constants(machine, number), InstructionCache(machine, number)
        self.fetched: Moment | None = None  # when its first instruction has come; None: nobody has asked for it
        self.schedulers = [Scheduler(self, q) for q in range(machine.gpu.core.schedulers)]
        self.lsu = LoadStoreUnit(self) if machine.memory else None
        self.free_places = set(range(machine.occupancy.blocks))
        self.freed = dict.fromkeys(self.free_places, machine.record.origin)  # moments from which places are free
        self.takes_blocks = True  # the dispatcher may start one on it
        self.taking = machine.record.origin  # the moment from which it may
        self.blocks: list[Block] = []  # resident: from their start to the end of their last warp
        self.active_cycles = 0  # with a resident block
        self.issued = 0  # cycle of the last issue so far

    def slot_of(self, warp: Warp) -> int:
        """Return the warp slot: a block in place p takes the slots from p * warps per block on."""
        return warp.block.place * len(warp.block.warps) + warp.number

    def scheduler_of(self, warp: Warp) -> Scheduler:
        """Return the scheduler that the warp belongs to."""
        return self.schedulers[self.slot_of(warp) % len(self.schedulers)]

    def tell_evicted(self, slot: int, line: int) -> None:
        """Tell the policy of the warp in a slot that its line of L1 was replaced."""
        self.schedulers[slot % len(self.schedulers)].tell_slot(Hook.EVICT, slot // len(self.schedulers), line)

    def step(self) -> None:
        """Advance by one cycle. The first of them is that in which its first block starts."""
        if not self.active_cycles:
            for scheduler in self.schedulers:
                scheduler.slots.idle = int(self.machine.env.now)
        self.active_cycles += bool(self.blocks)
        self.code.step()
        if self.lsu:
            self.lsu.step()
        for scheduler in self.schedulers:
            scheduler.step()
