"""Bulk copies into shared memory (UBLKCP): a unit of each SM asks for their lines, copy after copy, past L1.

A copy may begin `shared.copy_latency` after its issue. A line leaves when the one before it has, at `shared.copy_bytes_per_cycle`, and the
port towards L2 has room; its answer crosses the port from L2 at that rate too, and then counts for the phase of the copy's barrier.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sim.gpus.path import cycles
from sim.lowering.memory import REQUEST_WEIGHT, TICKS
from sim.lowering.phases import lines_of_copy
from sim.reference.decode import Kind
from sim.reference.memory.network import Packet
from sim.reference.moments import latest
from sim.traces.trace import BYTES, PHASE, SOURCE

if TYPE_CHECKING:
    from sim.reference.memory.lsu import LoadStoreUnit
    from sim.reference.moments import Moment
    from sim.reference.wakeup import Warp


@dataclass
class Copy:
    """A bulk copy whose lines have not all been asked for."""

    warp: Warp
    lines: deque[tuple[int, int]]  # number, mask of sectors
    phase: int
    ready: Moment  # when the first may be


class CopyUnit:
    """The unit of one SM."""

    def __init__(self, lsu: LoadStoreUnit) -> None:
        self.lsu, self.copies = lsu, deque[Copy]()
        self.free = 0  # ticks
        self.sent = lsu.sm.machine.record.origin

    def start(self, warp: Warp, access: int) -> None:
        """Queue the copy of an access of the trace, which the warp issues now."""
        arrays = self.lsu.sm.machine.trace.arrays
        row = arrays.scattered[int(arrays.access_base[access])].tolist()
        ready = warp.issued.then(warp.issued.cycle + int(self.lsu.numbers.copy_latency), "shared.copy_latency")
        self.lsu.env.timeout(int(self.lsu.numbers.copy_latency))  # something is due: nobody may take the machine for stuck
        self.copies.append(Copy(warp, deque(lines_of_copy(row[SOURCE], row[BYTES])), row[PHASE], ready))

    def step(self) -> None:
        """Ask for what can be asked for now."""
        now, numbers = int(self.lsu.env.now), self.lsu.numbers
        while self.copies and max(self.copies[0].ready.cycle, self.free // TICKS) <= now and self.lsu.requests.room_for(REQUEST_WEIGHT):
            copy = self.copies[0]
            line, mask = copy.lines.popleft()
            sectors = {sector for sector in range(mask.bit_length()) if mask >> sector & 1}
            start = latest(copy.ready, self.sent, self.lsu.requests.left).then(now, work=copy.ready.work)
            block, deliver = copy.warp.block, partial(self._land, copy.phase)
            self.lsu.requests.send(Packet(self.lsu.sm.number, line, sectors, set(), Kind.LOAD, 1, deliver, block, start, copied=True))
            self.free = max(now * TICKS, self.free) + len(sectors) * int(numbers.copy_ticks)
            self.sent = start.then(cycles(self.free), "shared.copy_bytes_per_cycle")
            if not copy.lines:
                self.copies.popleft()

    def _land(self, phase: int, sectors: set[int], moment: Moment) -> None:
        """A line is in shared memory."""
        if phase:
            self.lsu.memory.barriers.count(phase, moment)
