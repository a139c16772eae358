"""The request coalescer of each GPC, before L2: loads of a whole line join a read of it that an SM of their GPC has asked for.

Counted on an H100 (h100/coalescing.csv): which SMs share one, how many loads a read serves, how long others may join.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.lowering.memory import SECTORS, joined_place
from sim.reference.decode import Kind
from sim.reference.moments import latest

if TYPE_CHECKING:
    from sim.reference.memory.l2 import Line
    from sim.reference.memory.network import Packet
    from sim.reference.memory.system import MemorySystem
    from sim.reference.moments import Moment


@dataclass
class Read:
    """The latest read of a line for a GPC."""

    gpc: int
    line: Line  # in L2, as long as it has not been replaced
    stores: int  # to the line before it
    until: int  # cycle before which others may join
    there: Moment
    far: int  # cycles that its data take from the other part of L2
    loads: int = 1  # that it serves


class RequestCoalescer:
    """Those of all GPCs."""

    def __init__(self, memory: MemorySystem) -> None:
        self.memory, self.numbers = memory, memory.numbers
        self.reads: dict[int, Read] = {}  # of those with the same place in a table the latest

    def may_join(self, packet: Packet) -> bool:
        """Return whether a request is one that others may join, or that joins another."""
        return int(self.numbers.coalesced) > 1 and packet.kind is Kind.LOAD and len(packet.sectors) == SECTORS

    def join(self, packet: Packet, line: Line) -> Read | None:
        """Join a load to the latest read of its line, and return that; None if there is no such read."""
        gpc = self.memory.gpcs[packet.sm]
        read = self.reads.get(joined_place(packet.line, gpc))
        if not read or read.line is not line or read.gpc != gpc or read.stores != line.stores:
            return None
        if read.until <= packet.moment.cycle or read.loads >= int(self.numbers.coalesced):
            return None
        read.loads += 1
        return read

    def note(self, packet: Packet, line: Line, served: Moment, there: Moment, far: int) -> None:
        """Let loads join a read that is served, and whose data are there, at those moments. far: cycles more from the other part of L2."""
        gpc = self.memory.gpcs[packet.sm]
        until = served.cycle + int(self.numbers.joins) + far
        self.reads[joined_place(packet.line, gpc)] = Read(gpc, line, line.stores, until, latest(served, there), far)
