"""Rows of DRAM: a channel activates one per `dram.activate_cycles`; the 256 bytes of a row share an activation while it is open.

It is open while some of its sectors are on their way, or wait to be written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.gpus.path import cycles
from sim.lowering.memory import row_place

if TYPE_CHECKING:
    from sim.reference.memory.system import MemorySystem
    from sim.reference.moments import Moment


@dataclass
class Row:
    """The number of its even line, halved. Of one that is read: when it is activated, and the tick to which it is open."""

    number: int
    since: tuple[int, Moment]
    until: int = 0


class Rows:
    """The rows that all channels read and write, as far as they are known: of those with the same place in a table the latest."""

    def __init__(self, memory: MemorySystem) -> None:
        self.ticks = int(memory.numbers.activate_ticks)
        self.channels = int(memory.numbers.channels)
        self.reading: dict[int, Row] = {}
        self.free = [(0, memory.machine.record.origin)] * self.channels  # from when on each can activate another
        self.writing: dict[int, tuple[int, int]] = {}  # (row, batch of its channel)
        self.waiting = [0] * self.channels  # of each channel
        self.batches = [0] * self.channels  # that each has written

    def activated(self, line: int, channel: int, at: int, by: Moment) -> tuple[int, Moment] | None:
        """Return when a channel has the row of a line that is to be moved at once, asked for at a tick and moment.

        None: rows are not modelled, or the line, -1, is nobody's.
        """
        if not self.ticks or line < 0:
            return None
        row = self.reading.get(row_place(line))
        if row is None or row.number != line >> 1 or row.until <= at:
            tick, moment = max((at, by), self.free[channel], key=lambda when: when[0])
            self.free[channel] = tick + self.ticks, moment.then(cycles(tick + self.ticks), "dram.activate_cycles", by.work)
            row = self.reading[row_place(line)] = Row(line >> 1, (tick, moment))
        return row.since

    def stay_open(self, line: int, until: int) -> None:
        """Keep the row of a line open to be read until a tick."""
        if self.ticks and line >= 0:
            row = self.reading[row_place(line)]
            row.until = max(row.until, until)

    def wait(self, line: int, channel: int) -> None:
        """Let the row of a line that is to be written, -1: of nobody's, wait with its channel's batch, once."""
        if self.ticks and line >= 0 and self.writing.get(row_place(line)) != (line >> 1, self.batches[channel]):
            self.writing[row_place(line)] = line >> 1, self.batches[channel]
            self.waiting[channel] += 1

    def write(self, channel: int) -> int:
        """Activate the rows that wait; return how long that takes (ticks)."""
        count, self.waiting[channel] = self.waiting[channel], 0
        self.batches[channel] += 1
        return count * self.ticks
