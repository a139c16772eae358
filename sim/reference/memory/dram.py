"""DRAM channel: moves sectors one after another at the channel's share of the bandwidth; a bounded queue before it.

Peak rate: dram.bandwidth * dram.efficiency / dram.channels. With `dram.turnaround` reads go first: what is to be written waits until there
is a batch of it and nothing to read, or too much of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.gpus.path import TICKS, cycles
from sim.lowering.memory import SECTORS
from sim.reference.memory.queues import Queue
from sim.result.causes import Tally

if TYPE_CHECKING:
    from sim.reference.memory.system import MemorySystem
    from sim.reference.moments import Moment


class Channel:
    """One channel. Its L2 slice, and that which serves the same lines to SMs of the other part, are its only customers."""

    def __init__(self, memory: MemorySystem, number: int) -> None:
        self.tallies, self.numbers = memory.tallies, memory.numbers
        self.number, self.rows = number, memory.rows
        self.queue = Queue(int(memory.numbers.channel_depth), f"DRAM channel {number}", "dram.bandwidth")
        self.turn = int(memory.numbers.turnaround_ticks)
        self.waiting = 0  # sectors to be written
        self.batch = 0, memory.machine.record.origin  # tick and moment since which they are enough
        self.written: tuple[int, Moment] | None = None  # when the batch that it wrote last ended; None: it has read since

    def transfer(self, at: int, read: int, written: int, by: Moment, line: int) -> tuple[tuple[int, Moment], Moment]:
        """Move so many sectors, asked for at tick `at`; return (when the queue has room, when those read are at L2).

        by: the moment in which the slice turns to it, and whose request it is. line: whose sectors, -1 = nobody's.
        """
        self.tallies[Tally.DRAM_READ] += read
        self.tallies[Tally.DRAM_WRITTEN] += written
        room, served = (at, by), by
        ticks = read * int(self.numbers.dram_ticks)
        if self.turn:
            self._write_if_idle(at)
        else:
            ticks += written * int(self.numbers.write_ticks)
        if read or not self.turn:
            away = [moment for moment in (self._back(), self.rows.activated(line, self.number, at, by)) if moment]
            room = self.queue.join(at, ticks, by, max(away, key=lambda when: when[0], default=None))
            self.rows.stay_open(line, self.queue.end + int(self.numbers.dram_latency) * TICKS)
            served, self.written = self.queue.served, None
        if written and self.turn:
            room = max(room, self._gather(at, written, by, line), key=lambda when: when[0])
            served = served if read else room[1]
        self.tallies[Tally.CHANNEL_FULL] += room[0] > at
        return room, served.then(served.cycle + int(self.numbers.dram_latency), "dram.latency")

    def _back(self) -> tuple[int, Moment] | None:
        """Return when it will have turned from writing to reading, None if it reads."""
        if self.written is None:
            return None
        tick, moment = self.written
        return tick + self.turn, moment.then(cycles(tick + self.turn), "dram.turnaround")

    def _free(self) -> tuple[int, Moment] | None:
        """Return when it has done what it has begun, None if it never began anything."""
        last = self.queue.last[1]
        return self.written or ((self.queue.end, last) if last else None)

    def _write_if_idle(self, now: int) -> None:
        """Write what waits, if that is enough and there was nothing to read before now."""
        begins = max(self._free() or self.batch, self.batch, key=lambda when: when[0])
        if self.waiting >= int(self.numbers.write_batch) and begins[0] < now:
            self._write(*begins)

    def _write(self, tick: int, moment: Moment) -> None:
        """Write all that waits, from that tick on."""
        if self.written is None:
            tick += self.turn
            moment = moment.then(cycles(tick), "dram.turnaround")
        moving, activating = self.waiting * int(self.numbers.write_ticks), self.rows.write(self.number)
        tick += max(moving, activating)
        why = "dram.bandwidth" if moving >= activating else "dram.activate_cycles"
        self.written, self.waiting = (tick, moment.then(cycles(tick), why, note=self.queue.name)), 0

    def _gather(self, now: int, sectors: int, by: Moment, line: int) -> tuple[int, Moment]:
        """Let sectors wait to be written; return when there is room for them: when too many wait, as these begin to be written."""
        room, least = (now, by), int(self.numbers.write_batch)
        if self.waiting + sectors > SECTORS * int(self.numbers.channel_depth):
            room = max(room, self._free() or room, key=lambda when: when[0])
            self._write(*room)
        if self.waiting < least <= self.waiting + sectors:
            self.batch = now, by
        self.waiting += sectors
        self.rows.wait(line, self.number)
        return room
