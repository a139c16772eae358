"""Barrier: warps of a block wait until all that have not ended are there, or as many as it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.policies.stateful import BARRIER, Hook
from sim.result.causes import StallCause

if TYPE_CHECKING:
    from sim.reference.blocks import Block
    from sim.reference.clock import Process
    from sim.reference.moments import Moment
    from sim.reference.wakeup import Warp


class Barrier:
    """One named barrier of one block."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.waiting: list[Warp] = []
        self.expected = 0  # warps that it is for, 0 = every one of the block that has not issued its last instruction
        self.passed = 0  # warps that came and did not wait

    def arrive(self, warp: Warp, waits: bool) -> None:
        """The warp has issued its BAR."""
        if waits:
            warp.tell(Hook.STALL, BARRIER)
            warp.hold_at_barrier()
            self.waiting.append(warp)
        else:
            self.passed += 1
        self.open_if_complete(warp)

    def open_if_complete(self, last: Warp) -> None:
        """Let the warps go on if all that it is for are here. last: who came, or ended."""
        here = len(self.waiting) + self.passed
        if here and here == (self.expected or self.block.alive):
            waiting, self.waiting, self.passed = self.waiting, [], 0
            self.block.machine.seen("barrier")
            self.block.machine.env.process(self._open(waiting, last.issued))

    def _open(self, waiting: list[Warp], complete: Moment) -> Process:
        """Let the warps go on after the barrier latency (a SimPy process)."""
        latency, env = self.block.machine.gpu.core.barrier_latency, self.block.machine.env
        constants = []
        for warp in waiting:
            constant = self.block.sm.constants.operand(warp)
            constants.append(constant)
            warp.held_until = int(env.now) + max(latency, constant)
            if constant <= latency:
                warp.allowed = complete.then(warp.held_until, "core.barrier_latency")
            else:
                warp.allowed = self.block.sm.constants.told(complete, warp.held_until, warp.work)
        yield env.timeout(latency)
        for warp, constant in zip(waiting, constants, strict=True):
            if constant > latency:
                warp.hold_on(constant - latency, StallCause.IMC_MISS)
            else:
                warp.allow()
