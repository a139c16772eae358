"""Network between an SM and L2: a port for each direction, through which packets go one after another, and a distance.

Peak rates: interconnect.request_bytes_per_cycle and response_bytes_per_cycle per SM. Left out: the switches in between.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from sim.gpus.path import FILL, TICKS, cycles
from sim.lowering.memory import REQUEST_WEIGHT, SECTORS
from sim.reference.clock import after
from sim.reference.decode import Kind
from sim.reference.memory.l1 import WORDS_OF_SECTOR, words_of
from sim.reference.moments import Moment, latest
from sim.result.causes import Tally

if TYPE_CHECKING:
    from sim.reference.blocks import Block
    from sim.reference.memory.system import MemorySystem

Leave = Callable[[Moment], None]
Deliver = Callable[[set[int], Moment], None] | None  # takes the sectors that have come and the moment from which they may be read


@dataclass(eq=False)
class Packet:
    """A request on its way to L2, or the answer to it on its way back."""

    sm: int
    line: int
    sectors: set[int]
    words: set[int]  # that it writes
    kind: Kind
    packets: int  # of an atomic, which L2 makes one after another
    deliver: Deliver  # what to do with an answer; None: it is a store's
    block: Block  # that sent it
    moment: Moment  # when it will have come to where it is on its way
    arrived: bool = False  # at L2
    copied: int = 0  # ticks per sector of a line of a bulk copy; 0: no such line
    weight: int = 0  # places of the port that it takes

    def arrive(self) -> None:
        """It has come to L2."""
        self.arrived = True


def weight_of(kind: Kind, packets: int, words: int) -> int:
    """Return the places of a port that a request takes: an atomic one for each packet, a store of a whole line one for each sector."""
    return packets if kind.updates else SECTORS if kind is Kind.STORE and words == SECTORS * WORDS_OF_SECTOR else REQUEST_WEIGHT


class RequestPort:
    """From one SM. Packets stay in order; in front a store or an atomic may find its slice's queue full and keep those behind waiting."""

    def __init__(self, memory: MemorySystem, responses: ResponsePort) -> None:
        self.memory, self.env, self.numbers, self.responses = memory, memory.env, memory.numbers, responses
        self.free = 0  # ticks
        self.packets: deque[Packet] = deque()  # on their way
        self.in_port = 0  # the places that they take
        self.blocked = False
        origin = memory.machine.record.origin
        self.sent = self.left = self.unblocked = origin  # moments: the last one has left the port, has left for L2's queues, L2 has room

    def room_for(self, more: int) -> bool:
        """Return whether so many places more may be taken."""
        return not self.packets or self.in_port + more <= int(self.numbers.request_depth)

    def send(self, packet: Packet) -> None:
        """Send a packet, which may leave from its moment on: its header, and its sectors unless it is a load."""
        start = packet.moment.cycle * TICKS
        size = int(self.numbers.request_ticks)
        if packet.kind is not Kind.LOAD:
            written = [len(packet.words & words_of({sector})) for sector in packet.sectors]
            size += sum(max(count, int(self.numbers.least_words)) for count in written) * int(self.numbers.data_ticks)
            if packet.kind is Kind.STORE and min(written) < WORDS_OF_SECTOR:
                size += int(self.numbers.mask_ticks)
        begins = packet.moment if start >= self.free else self.sent
        self.free = max(start, self.free) + size
        self.sent = begins.then(cycles(self.free), "interconnect.request_bytes_per_cycle", packet.moment.work)
        packet.moment = self.sent.then(self.sent.cycle + int(self.numbers.network), "interconnect.latency")
        self.packets.append(packet)
        packet.weight = weight_of(packet.kind, packet.packets, len(packet.words))
        self.in_port += packet.weight
        self.memory.tallies[Tally.PORT_PEAK] = max(self.memory.tallies[Tally.PORT_PEAK], -(-self.in_port // REQUEST_WEIGHT))
        after(self.env, packet.moment.cycle - int(self.env.now), packet.arrive)

    def enter_l2(self) -> None:
        """Let the packets that have reached L2 enter its queues, in order."""
        now = int(self.env.now)
        while self.packets and self.packets[0].arrived and not self.blocked:
            packet = self.packets.popleft()
            self.in_port -= packet.weight
            packet.moment = self.left = latest(packet.moment, self.unblocked).then(now, work=packet.moment.work)
            self.unblocked = self.memory.slice_of(packet.line).serve(packet, self._answer(packet))
            if self.unblocked.cycle > now:
                self.blocked = True
                after(self.env, self.unblocked.cycle - now, self._unblock)

    def _answer(self, packet: Packet) -> Leave:
        """Return what to do with the answer to a packet when it leaves L2 in a moment; those of one cycle go in the order of service."""
        order = self.memory.next_answer()

        def leave(leaves: Moment) -> None:
            packet.moment = leaves.then(leaves.cycle + int(self.numbers.network), "interconnect.latency")
            if packet.deliver:
                self.responses.expect(packet, order)
            else:
                packet.block.store_answered(packet.moment)

        return leave

    def _unblock(self) -> None:
        self.blocked = False


class ResponsePort:
    """To one SM."""

    def __init__(self, memory: MemorySystem) -> None:
        self.env, self.numbers = memory.env, memory.numbers
        self.free = 0  # ticks
        self.arrived: list[tuple[int, int, Packet]] = []  # a heap: cycle of arrival, order of service at L2
        self.begun = self.sent = memory.machine.record.origin  # moments: the last transfer begins, ends (of part cycles the first)

    def expect(self, packet: Packet, order: int) -> None:
        """An answer is on its way to the SM, where it comes in its moment."""
        come = packet.moment.cycle
        after(self.env, come - int(self.env.now), lambda: heappush(self.arrived, (come, order, packet)))

    def step(self) -> None:
        """Start the transfer of the answers for which the port is free in this cycle; the end of each is known then."""
        while self.arrived and self.free // TICKS <= (now := int(self.env.now)):
            packet = heappop(self.arrived)[-1]
            self.begun = packet.moment if packet.moment.cycle * TICKS >= self.free else self.sent
            ticks = packet.copied or self.numbers.response_ticks
            self.free = max(now * TICKS, self.free) + len(packet.sectors) * int(ticks)
            self.sent = self.begun.then(self.free // TICKS, "interconnect.response_bytes_per_cycle", packet.moment.work)
            assert packet.deliver is not None
            packet.deliver(packet.sectors, self.sent.then(cycles(self.free) + FILL, "the way from the SM's port to the registers"))
