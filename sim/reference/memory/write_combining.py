"""What an SM keeps of its stores: up to `lsu.store_lines` lines, which further stores join.

A line leaves for L2 when all of it has been written, when a load or an atomic goes to L2 for it, when another needs its place (the
oldest goes), when the load/store unit takes a store and none has joined the line for `lsu.store_wait` cycles, or when its block has
ended: its last warp has issued its last instruction, and the unit has taken all stores of the block.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sim.lowering.memory import SECTORS
from sim.reference.memory.l1 import whole_sectors
from sim.result.causes import Tally

if TYPE_CHECKING:
    from sim.reference.blocks import Block
    from sim.reference.memory.network import Packet, RequestPort
    from sim.reference.moments import Moment


class WriteCombiningBuffer:
    """The lines kept, by number, the oldest first, each as the packet that it will leave in."""

    def __init__(self, places: int, wait: int, port: RequestPort, tallies: Counter[Tally]) -> None:
        self.places, self.wait, self.port, self.tallies = places, wait, port, tallies
        self.lines: dict[int, Packet] = {}
        self.written: dict[int, int] = {}  # line -> cycle in which the unit took the latest store of it

    def store_taken(self, cycle: int, looked_up: Moment) -> None:
        """The unit takes a store in this cycle: what waited too long for it leaves."""
        for line in [line for line in self.lines if self.written[line] + self.wait < cycle]:
            self._leave(line, looked_up)

    def put(self, packet: Packet, cycle: int) -> None:
        """Take in what a store of this cycle writes of a line; its block waits for the answer to what leaves, not twice for one line."""
        kept = self.lines.get(packet.line)
        if kept:
            self.tallies[Tally.STORES_JOINED] += 1
            kept.sectors, kept.words = kept.sectors | packet.sectors, kept.words | packet.words
        else:
            packet.block.stores += 1
            if len(whole_sectors(packet.words)) == SECTORS or not self.places:
                self.port.send(packet)
                return
            if len(self.lines) == self.places:
                self._leave(next(iter(self.lines)), packet.moment)
            kept = self.lines[packet.line] = packet
        self.written[kept.line] = cycle
        if len(whole_sectors(kept.words)) == SECTORS:
            self._leave(kept.line, packet.moment)

    def make_way(self, packet: Packet) -> None:
        """Send the packet's line, if it is kept, before the packet."""
        if packet.line in self.lines:
            self._leave(packet.line, packet.moment)

    def release(self, block: Block, moment: Moment) -> None:
        """Send the lines of a block if it has ended."""
        if block.alive or block.to_take:
            return
        for packet in [packet for packet in self.lines.values() if packet.block is block]:
            self._leave(packet.line, moment)

    def _leave(self, line: int, moment: Moment) -> None:
        packet = self.lines.pop(line)
        del self.written[line]
        packet.moment = moment
        self.port.send(packet)
