"""Barrier: warps of a block wait until all that have not ended are there."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

    def arrive(self, warp: Warp) -> None:
        """The warp has issued its BAR."""
        warp.hold_at_barrier()
        self.waiting.append(warp)
        self.open_if_complete(warp)

    def open_if_complete(self, last: Warp) -> None:
        """Let the warps go on if every warp of the block that has not issued its last instruction is here. last: who came, or ended."""
        if self.waiting and len(self.waiting) == self.block.alive:
            waiting, self.waiting = self.waiting, []
            self.block.machine.seen("barrier")
            self.block.machine.env.process(self._open(waiting, last.issued))

    def _open(self, waiting: list[Warp], complete: Moment) -> Process:
        """Let the warps go on after the barrier latency (a SimPy process)."""
        latency, env = self.block.machine.gpu.core.barrier_latency, self.block.machine.env
        for warp in waiting:
            warp.held_until = int(env.now) + latency
            warp.allowed = complete.then(warp.held_until, "core.barrier_latency")
        yield env.timeout(latency)
        for warp in waiting:
            warp.allow()
