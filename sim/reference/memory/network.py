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
from sim.reference.clock import Process, after
from sim.reference.decode import Kind
from sim.reference.memory.l1 import words_of
from sim.vocabulary import Tally

if TYPE_CHECKING:
    from sim.reference.blocks import Block
    from sim.reference.memory.system import MemorySystem

Deliver = Callable[[set[int], int], None] | None  # takes the sectors that have come and the cycle from which they may be read


@dataclass(eq=False)
class Packet:
    """A request on its way to L2, or the answer to it on its way back."""

    sm: int
    line: int
    sectors: set[int]
    words: set[int]  # that it writes
    kind: Kind
    repeat: int  # most lanes on one word, which an atomic updates one after another
    deliver: Deliver  # what to do with an answer; None: it is a store's
    block: Block  # that sent it
    arrived: bool = False  # at L2


class RequestPort:
    """From one SM. Packets stay in order; the one in front may find its slice's queue full and keep those behind waiting."""

    def __init__(self, memory: MemorySystem, responses: ResponsePort) -> None:
        self.memory, self.env, self.numbers, self.responses = memory, memory.env, memory.numbers, responses
        self.free = 0  # ticks
        self.packets: deque[Packet] = deque()  # on their way
        self.blocked = False

    def room_for(self, packets: int) -> bool:
        """Return whether so many more may be on their way."""
        return not self.packets or len(self.packets) + packets <= int(self.numbers.request_depth)

    def send(self, packet: Packet, start: int) -> None:
        """Send a packet, which may leave from cycle `start` on: its header, and its sectors unless it is a load."""
        size = int(self.numbers.request_ticks)
        if packet.kind is not Kind.LOAD:
            written = [len(packet.words & words_of(sector)) for sector in packet.sectors]
            size += sum(max(count, int(self.numbers.least_words)) for count in written) * int(self.numbers.data_ticks)
        self.free = max(start * TICKS, self.free) + size
        self.packets.append(packet)
        self.memory.tallies[Tally.PORT_PEAK] = max(self.memory.tallies[Tally.PORT_PEAK], len(self.packets))
        self.env.process(self._travel(packet, cycles(self.free) + int(self.numbers.network)))

    def _travel(self, packet: Packet, arrival: int) -> Process:
        """Bring a packet to L2 (a SimPy process)."""
        yield self.env.timeout(arrival - int(self.env.now))
        packet.arrived = True

    def enter_l2(self) -> None:
        """Let the packets that have reached L2 enter its queues, in order."""
        now = int(self.env.now)
        while self.packets and self.packets[0].arrived and not self.blocked:
            packet = self.packets.popleft()
            admitted, leaves = self.memory.slice_of(packet.line).serve(packet)
            if packet.deliver is None:
                packet.block.store_answered(leaves + int(self.numbers.network))
            else:
                self.env.process(self.responses.travel(packet, leaves + int(self.numbers.network), self.memory.next_answer()))
            if admitted > now:
                self.blocked = True
                after(self.env, admitted - now, self._unblock)

    def _unblock(self) -> None:
        self.blocked = False


class ResponsePort:
    """To one SM."""

    def __init__(self, memory: MemorySystem) -> None:
        self.env, self.numbers = memory.env, memory.numbers
        self.free = 0  # ticks
        self.arrived: list[tuple[int, int, Packet]] = []  # a heap: cycle of arrival, order of service at L2

    def travel(self, packet: Packet, arrival: int, order: int) -> Process:
        """Bring an answer to the SM (a SimPy process)."""
        yield self.env.timeout(arrival - int(self.env.now))
        heappush(self.arrived, (arrival, order, packet))

    def step(self) -> None:
        """Start the transfer of the answers for which the port is free in this cycle; the end of each is known then."""
        now = int(self.env.now)
        while self.arrived and self.free // TICKS <= now:
            packet = heappop(self.arrived)[-1]
            self.free = max(now * TICKS, self.free) + len(packet.sectors) * int(self.numbers.response_ticks)
            assert packet.deliver is not None
            packet.deliver(packet.sectors, cycles(self.free) + FILL)
