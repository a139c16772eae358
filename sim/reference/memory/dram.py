"""DRAM channel: moves sectors one after another at the channel's share of the bandwidth; a bounded queue before it.

Peak rate: dram.bandwidth * dram.efficiency / dram.channels. Left out: rows, refresh, turnarounds (they are in `dram.efficiency`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.reference.memory.queues import Queue
from sim.vocabulary import Tally

if TYPE_CHECKING:
    from sim.reference.memory.system import MemorySystem
    from sim.reference.moments import Moment


class Channel:
    """One channel. Its L2 slice is its only customer."""

    def __init__(self, memory: MemorySystem, number: int) -> None:
        self.tallies, self.numbers = memory.tallies, memory.numbers
        self.queue = Queue(int(memory.numbers.slice_depth), f"DRAM channel {number}", "dram.bandwidth")

    def transfer(self, at: int, read: int, written: int, by: Moment) -> tuple[tuple[int, Moment], Moment]:
        """Move so many sectors, asked for at tick `at`; return (when the queue has room, when those read are at L2).

        by: the moment in which the slice turns to it, and whose request it is.
        """
        self.tallies[Tally.DRAM_READ] += read
        self.tallies[Tally.DRAM_WRITTEN] += written
        ticks = read * int(self.numbers.dram_ticks) + written * int(self.numbers.write_ticks)
        room = self.queue.join(at, ticks, by)
        self.tallies[Tally.CHANNEL_FULL] += room[0] > at
        served = self.queue.served
        return room, served.then(served.cycle + int(self.numbers.dram_latency), "dram.latency")
