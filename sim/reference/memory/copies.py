"""Bulk copies (UBLKCP) and tiles (UTMALDG): a unit of each SM asks for their lines, or sends them, copy after copy, past L1.

A copy may begin `shared.copy_latency` after its issue, and the port towards L2 must have room for a line. A line is asked for when the
one before it has been, at `shared.copy_bytes_per_cycle`, one a cycle at most; its answer crosses the port from L2 at that rate, and then
counts for the phase of the copy's barrier. A line is sent when the one before it has left the port; with the last of them the copy has read
shared memory. What is reduced (UBLKRED, UTMAREDG) goes as an atomic without a result does, a packet for each sector. Tiles have a latency
and a rate of their own, and ask for the lines of each of their rows.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sim.lowering.memory import REQUEST_WEIGHT, SECTORS, TICKS
from sim.lowering.phases import lines_of_row
from sim.reference.decode import Kind
from sim.reference.memory.l1 import words_of
from sim.reference.memory.network import Packet
from sim.reference.moments import latest
from sim.result.causes import Tally
from sim.traces.trace import BLOCK, PHASE, PHASES, RANKS, TILED

if TYPE_CHECKING:
    from sim.reference.memory.lsu import LoadStoreUnit
    from sim.reference.moments import Moment
    from sim.reference.scoreboard import Pending
    from sim.reference.wakeup import Warp

TALLIES = {  # by what L2 does: lines, sectors
    Kind.LOAD: (Tally.BULK_LOADS, Tally.BULK_LOAD_SECTORS),
    Kind.STORE: (Tally.BULK_STORES, Tally.BULK_STORE_SECTORS),
    Kind.BULK_REDUCTION: (Tally.BULK_REDUCTIONS, Tally.BULK_REDUCTION_SECTORS),
}


@dataclass
class Copy:
    """A bulk copy whose lines have not all been asked for."""

    warp: Warp
    lines: deque[tuple[int, int]]  # number, mask of sectors
    phase: int
    ready: Moment  # when the first may be
    pending: Pending | None  # of a copy from shared memory
    ticks: int  # per sector
    rate: str  # what they are of
    row: list[int]  # of the trace
    reduces: bool  # what it sends is reduced into what L2 has

    @property
    def kind(self) -> Kind:
        """What L2 does for its lines."""
        return Kind.BULK_REDUCTION if self.reduces else Kind.STORE if self.pending else Kind.LOAD

    @property
    def weight(self) -> int:
        """The places of the port that a line takes."""
        return SECTORS if self.reduces or self.pending else REQUEST_WEIGHT


class CopyUnit:
    """The unit of one SM."""

    def __init__(self, lsu: LoadStoreUnit) -> None:
        self.lsu, self.copies = lsu, deque[Copy]()
        self.free = 0  # ticks
        self.sent = lsu.sm.machine.record.origin

    def start(self, warp: Warp, access: int, pending: Pending | None) -> None:
        """Queue the copy of an access of the trace, which the warp issues now."""
        arrays = self.lsu.sm.machine.trace.arrays
        row = arrays.scattered[int(arrays.access_base[access])].tolist()
        numbers, kind = self.lsu.numbers, "tile" if row[TILED] else "copy"
        latency, ticks = int(getattr(numbers, f"{kind}_latency")), int(getattr(numbers, f"{kind}_ticks"))
        ready = warp.issued.then(warp.issued.cycle + latency, f"shared.{kind}_latency")
        self.lsu.env.timeout(latency)  # something is due: nobody may take the machine for stuck
        lines, rate = deque(lines_of_row(row)), f"shared.{kind}_bytes_per_cycle"
        self.copies.append(Copy(warp, lines, row[PHASE], ready, pending, ticks, rate, row, warp.instruction.reduces))

    def step(self) -> None:
        """Ask for what can be asked for now."""
        while self.copies and max(self.copies[0].ready.cycle, self.free // TICKS) <= (now := int(self.lsu.env.now)):
            copy = self.copies[0]
            if not self.lsu.requests.room_for(copy.weight):
                return
            line, mask = copy.lines.popleft()
            sectors = {sector for sector in range(mask.bit_length()) if mask >> sector & 1}
            requests, moved = TALLIES[copy.kind]
            self.lsu.tallies.update({requests: 1, moved: len(sectors)})
            start = latest(copy.ready, self.sent, self.lsu.requests.left).then(now, work=copy.ready.work)
            if copy.pending:
                self._send(copy, line, sectors, start)
            else:
                self._ask(copy, line, sectors, start)
                ranks, rate, each = copy.row[RANKS].bit_count(), copy.rate, copy.ticks
                if ranks:
                    rate, each = "clusters.multicast_bytes_per_cycle", int(self.lsu.numbers.multicast_ticks) * ranks
                self.free = max(now * TICKS, self.free) + max(len(sectors) * each, TICKS)
                self.sent = start.then(self.free // TICKS, rate)
            if not copy.lines:
                self.copies.popleft()

    def _ask(self, copy: Copy, line: int, sectors: set[int], start: Moment) -> None:
        """Ask for sectors of a line."""
        deliver, block = partial(self._land, copy), copy.warp.block
        self.lsu.requests.send(Packet(self.lsu.sm.number, line, sectors, set(), Kind.LOAD, 1, deliver, block, start, copied=copy.ticks))

    def _send(self, copy: Copy, line: int, sectors: set[int], start: Moment) -> None:
        """Send sectors of a line; with the last one the copy has read them all."""
        requests, block = self.lsu.requests, copy.warp.block
        block.stores += 1
        packets = len(sectors) if copy.reduces else 1
        requests.send(Packet(self.lsu.sm.number, line, sectors, words_of(sectors), copy.kind, packets, None, block, start))
        self.free = requests.free
        self.sent = start.then(self.free // TICKS, "interconnect.request_bytes_per_cycle")
        if not copy.lines and copy.pending:
            copy.warp.scoreboard.settle(copy.pending, requests.sent)

    def _land(self, copy: Copy, sectors: set[int], moment: Moment) -> None:
        """A line is in shared memory, in that of other blocks of a cluster later."""
        barriers, launch = self.lsu.memory.barriers, self.lsu.sm.machine.trace.launch
        if not copy.row[RANKS] and copy.phase:
            barriers.count(copy.phase, moment)
        for rank in range(launch.ranks if copy.row[RANKS] else 0):
            phase, latency = copy.row[PHASES + rank], int(self.lsu.numbers.multicast_latency)
            if phase and rank == copy.row[BLOCK] % launch.ranks:
                barriers.count(phase, moment)
            elif phase:
                barriers.count(phase, moment.then(moment.cycle + latency, "clusters.multicast_latency"))
