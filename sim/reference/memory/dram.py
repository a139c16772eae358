"""DRAM channel: moves sectors one after another at the channel's share of the bandwidth; a bounded queue before it.

Peak rate: dram.bandwidth * dram.efficiency / dram.channels. Left out: rows, refresh, turnarounds (they are in `dram.efficiency`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.gpus.path import cycles
from sim.reference.memory.queues import Queue
from sim.vocabulary import Tally

if TYPE_CHECKING:
    from sim.reference.memory.system import MemorySystem


class Channel:
    """One channel. Its L2 slice is its only customer."""

    def __init__(self, memory: MemorySystem) -> None:
        self.tallies, self.numbers = memory.tallies, memory.numbers
        self.queue = Queue(int(memory.numbers.slice_depth))

    def transfer(self, at: int, read: int, written: int) -> tuple[int, int]:
        """Move so many sectors, asked for at tick `at`; return (tick in which the queue has room, cycle in which those read are at L2)."""
        self.tallies[Tally.DRAM_READ] += read
        self.tallies[Tally.DRAM_WRITTEN] += written
        admitted = self.queue.join(at, read * int(self.numbers.dram_ticks) + written * int(self.numbers.write_ticks))
        self.tallies[Tally.CHANNEL_FULL] += admitted > at
        return admitted, cycles(self.queue.end) + int(self.numbers.dram_latency)
