"""L2 slice: looks requests up as they arrive and serves them in order; write-back, with a DRAM channel of its own.

A load waits for the sectors that are not there. A store does not: the words that it wrote are remembered, and a sector written in
part is completed from DRAM when its line is evicted. Peak rate: l2.bytes_per_cycle * SMs / slices.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sim.gpus.path import TICKS
from sim.lowering.memory import LOCAL_LINE, SECTORS
from sim.lowering.refresh import away
from sim.lowering.slices import across, opposite, place_of
from sim.policies import Replacement
from sim.reference.decode import Kind
from sim.reference.memory.dram import Channel
from sim.reference.memory.fills import Fill
from sim.reference.memory.l1 import WORDS_OF_SECTOR, whole_sectors
from sim.reference.memory.queues import Queue
from sim.reference.memory.replacement import Ways
from sim.reference.moments import Moment, SetTime, latest
from sim.result.causes import Tally

if TYPE_CHECKING:
    from sim.reference.memory.network import Leave, Packet
    from sim.reference.memory.request_coalescer import Read
    from sim.reference.memory.system import MemorySystem


@dataclass
class Line:
    """One line of the cache."""

    there: dict[int, Moment] = field(default_factory=dict)  # sector -> moment from which it is there; those not fetched are absent
    written: set[int] = field(default_factory=set)  # words that DRAM does not have yet
    copied: dict[int, Moment] = field(default_factory=dict)  # sector -> moment from which the other part of L2 has it too
    stores: int = 0  # and atomics, to it
    number: int = -1  # nobody's


class Slice:
    """One slice. Its sets keep their lines in the order of their last use."""

    def __init__(self, memory: MemorySystem, number: int) -> None:
        self.memory, self.origin = memory, memory.machine.record.origin
        self.env, self.tallies, self.numbers = memory.env, memory.tallies, memory.numbers
        self.queue = Queue(int(self.numbers.slice_depth), f"L2 slice {number}", "l2.bytes_per_cycle")
        self.channel, self.number_of = Channel(memory, number), memory.number_of
        self.number, self.count = number, int(self.numbers.l2_sets)  # of sets; 0: there is no L2
        self.sets: dict[int, tuple[OrderedDict[int, Line], Ways | None]] = {}  # those asked for so far: few of a large cache
        self.is_dirty = False  # before cycle 0 it was full of lines of nobody's, not written back

    def set_of(self, line: int) -> OrderedDict[int, Line]:
        """Return the set of a line of this slice."""
        return self._set_at(self._place_of(line))[0]

    def _ways(self, line: int) -> Ways | None:
        """Return the ways of a line's set, with another policy than LRU."""
        return self._set_at(self._place_of(line))[1]

    def _place_of(self, line: int) -> int:
        place = self.number_of(line) // int(self.numbers.channels)
        return place_of(place, self.count) if line >= LOCAL_LINE else place % self.count

    def _set_at(self, place: int) -> tuple[OrderedDict[int, Line], Ways | None]:
        """Return a set, and its ways; one that nobody has asked for is as it was before cycle 0."""
        if place not in self.sets:
            lines: OrderedDict[int, Line] = OrderedDict()
            policy, count = int(self.numbers.l2_replacement), int(self.numbers.l2_ways)
            ways = Ways(policy, count, (self.number * self.count + place) * count) if policy != Replacement.LRU else None
            for other in range(count) if self.is_dirty else ():
                if ways:
                    ways.put(~other)
                lines[~other] = Line(dict.fromkeys(range(SECTORS), self.origin), set(range(SECTORS * WORDS_OF_SECTOR)))
            self.sets[place] = lines, ways
        return self.sets[place]

    def serve(self, packet: Packet, leave: Leave) -> Moment:
        """Serve a request for a line of this slice that arrives now; a load may ask the other part's, in whose queue it is then.

        Return the moment in which the queue has room for it. leave: takes the moment in which its answer leaves, when that is known.
        """
        if read := self._join_read(packet):
            self.tallies[Tally.L2_JOINED] += len(packet.sectors)
            room = packet.moment  # which is that of the answer when it has left
            self._join(packet, read, leave)
            return room
        arrival = int(self.env.now) * TICKS
        queue = self.other.queue if packet.kind is Kind.LOAD and self._far(packet) else self.queue
        writes = packet.kind is Kind.STORE and bool(self.numbers.write_port)
        ticks = self._ticks(packet)
        why = "l2.lookup_cycles" if ticks == int(self.numbers.lookup_ticks) else ""
        waits = packet.kind is not Kind.LOAD
        admitted, room = queue.join(arrival, ticks, packet.moment, port=int(writes), why=why, needs_place=waits)
        self.tallies[Tally.SLICE_FULL] += admitted > arrival
        self.tallies[Tally.L2_READS if packet.kind is Kind.LOAD else Tally.L2_WRITES] += len(packet.sectors)
        there, fetched, moved = self._look_up(packet, queue) if self.count else (self._pass_on(packet, queue), 0, 0)
        far = int(self.numbers.far) if moved else 0
        if packet.kind is not Kind.LOAD and self._far(packet):
            self._pass_through(self._passed(packet), packet.moment)
        if self.count and self.memory.coalescer.may_join(packet):
            self.memory.coalescer.note(packet, self.set_of(packet.line)[packet.line], queue.served, there, far)
        if self._is_late(packet, there) or (moved and packet.kind is Kind.LOAD):
            come = there if there.cycle > int(self.env.now) else queue.served
            self.memory.fills.expect(Fill(self, come, queue.served, fetched, moved, far, lambda at: leave(self._leaves(at, packet))))
        else:
            ready = latest(queue.served, there)
            leave(self._leaves(ready.then(ready.cycle + far, "l2.far") if far else ready, packet))
        return room

    def _is_late(self, packet: Packet, there: Moment) -> bool:
        """Return whether a load waits for what DRAM sends, which takes a port of its slice when it comes."""
        return packet.kind is Kind.LOAD and bool(self.numbers.write_port) and there.cycle > int(self.env.now)

    def _join(self, packet: Packet, read: Read, leave: Leave) -> None:
        """Answer a load with a read by another SM: when that has its data, or now if it had them."""
        if self._is_late(packet, read.there):
            self.memory.fills.expect(Fill(self, read.there, packet.moment, 0, 0, read.far, lambda at: leave(self._leaves(at, packet))))
        else:
            there = read.there.then(read.there.cycle + read.far, "l2.far") if read.far else read.there
            leave(self._leaves(latest(packet.moment, there), packet))

    @property
    def other(self) -> Slice:
        """The slice of the other part of L2 that serves the same lines to the SMs near it."""
        return self.memory.slices[opposite(self.number, int(self.numbers.channels))]

    def _leaves(self, there: Moment, packet: Packet) -> Moment:
        """Return the moment in which the answer to a request leaves L2 that is there, and served, at a moment."""
        numbers, gpc = self.numbers, self.memory.gpcs[packet.sm]
        way = across(self.number, gpc, int(numbers.channels), int(numbers.across)) if numbers.across else 0
        return there.then(there.cycle + int(numbers.l2_latency) + way, "l2.latency", packet.moment.work)

    def _join_read(self, packet: Packet) -> Read | None:
        """Join a load to a read of its line by an SM of its GPC, and return that; None if it cannot."""
        line = self.set_of(packet.line).get(packet.line) if self.count else None
        if not line or not self.memory.coalescer.may_join(packet):
            return None
        joined = self.memory.coalescer.join(packet, line)
        if joined:
            self._place(packet.line)
        return joined

    def _far(self, packet: Packet) -> bool:
        """Return whether the other part of L2 keeps a request's line."""
        count = int(self.numbers.channels)
        return bool(self.numbers.far) and count > 1 and self.memory.sides[packet.sm] != (self.number >= count // 2)

    def _ticks(self, packet: Packet) -> int:
        """Return how long a request holds the slice: a look-up at least; else its sectors, and updates of one word one after another."""
        moved = self._passed(packet)
        if not packet.kind.updates:
            return moved
        is_whole = packet.kind is not Kind.BULK_REDUCTION and packet.sectors == whole_sectors(packet.words)
        updated = max(moved, packet.packets * int(self.numbers.whole_atomic_ticks if is_whole else self.numbers.atomic_ticks))
        return updated + (moved if packet.kind.returns else 0)

    def _passed(self, packet: Packet) -> int:
        """Return how long a request holds a slice that only hands it on: a look-up at least, else its sectors."""
        whole = packet.sectors & whole_sectors(packet.words) if packet.kind is Kind.STORE else packet.sectors
        partial = len(packet.sectors - whole)
        return max(int(self.numbers.lookup_ticks), len(whole) * int(self.numbers.l2_ticks) + partial * int(self.numbers.partial_ticks))

    def _pass_through(self, ticks: int, by: Moment) -> None:
        """Hold the slice of the SM's own part through which a request goes to the other part."""
        self.other.queue.occupy(int(self.numbers.write_port), int(self.env.now) * TICKS, ticks, by)

    def _pass_on(self, packet: Packet, queue: Queue) -> Moment:
        """Send a request to DRAM; return the moment in which its sectors are there."""
        count = len(packet.sectors)
        sent = self._transfer(packet.line, count * (packet.kind is not Kind.STORE), count * (packet.kind is not Kind.LOAD), queue)
        return self._late(packet.line, sent)

    def _late(self, line: int, sent: Moment) -> Moment:
        """Return the moment in which a line is there that DRAM would have sent by then, were its bank there."""
        at, refresh = sent.cycle - int(self.numbers.dram_latency), int(self.numbers.refresh)
        late = away(line, at, refresh, int(self.numbers.refresh_interval)) if refresh else 0
        if not late:
            return sent
        there = SetTime(at + late - refresh, (sent.before or sent).then(at + late, "dram.refresh"))
        return there.then(sent.cycle + late, "dram.latency")

    def _look_up(self, packet: Packet, queue: Queue) -> tuple[Moment, int, int]:
        """Find or fetch a request's sectors. queue: of the slice that serves it.

        Return the moment in which they are there, how many were fetched, how many must come from the other part of L2.
        """
        line, evicted = self._place(packet.line)
        missing, there, fetched, moved = set(), self.origin, 0, 0
        if packet.kind is not Kind.STORE:
            missing = packet.sectors - line.there.keys() - whole_sectors(line.written)
            fetched = self._fetch(packet, line, missing, queue)
            there = latest(*(line.there.get(sector, self.origin) for sector in packet.sectors))
            if self._far(packet):
                there, moved = self._copied(packet, line, there)
        if packet.kind is not Kind.LOAD:
            line.written |= packet.words
            line.copied = {sector: moment for sector, moment in line.copied.items() if sector not in packet.sectors}
            line.stores += 1
        self.tallies[Tally.L2_HITS] += len(packet.sectors) - len(missing)
        self._write_back(evicted, queue)
        return there, fetched, moved

    def _copied(self, packet: Packet, line: Line, there: Moment) -> tuple[Moment, int]:
        """Find what of a load or an atomic must come from the other part; what a load gets stays in both.

        there: when its sectors are in the part that keeps them. Return when they are there, or their copies where all are copied, and how
        many sectors must come.
        """
        missing = packet.sectors - line.copied.keys()
        if packet.kind is not Kind.LOAD:
            return there, len(missing)
        if not missing:
            return latest(there, *(line.copied[sector] for sector in packet.sectors)), 0
        moved = self._accesses_of(missing) & (missing | line.there.keys() | whole_sectors(line.written)) - line.copied.keys()
        come = latest(packet.moment, there)
        line.copied |= dict.fromkeys(moved, come.then(max(there.cycle, int(self.env.now)) + int(self.numbers.far), "l2.far"))
        return there, len(moved)

    def _place(self, number: int) -> tuple[Line, Line]:
        """Return (a line, empty unless it was there; the line that had to go, empty if none)."""
        lines, ways, evicted = self.set_of(number), self._ways(number), Line()
        if number not in lines:
            full = len(lines) == self.numbers.l2_ways
            gone = ways.fill(number, ()) if ways else next(iter(lines)) if full else None
            if gone is not None:
                evicted = lines.pop(gone)
            lines[number] = Line(number=number)
        elif ways:
            ways.use(number)
        lines.move_to_end(number)
        return lines[number], evicted

    def _fetch(self, packet: Packet, line: Line, missing: set[int], queue: Queue) -> int:
        """Fetch sectors, whole accesses of DRAM less what is there; return how many a load must wait for a port for."""
        wanted = self._accesses_of(missing) - line.there.keys()
        if wanted:
            if self.numbers.write_port and packet.kind is not Kind.LOAD:
                self.queue.occupy(1, queue.end, len(wanted) * int(self.numbers.l2_ticks), queue.served)
            line.there |= dict.fromkeys(wanted, self._late(packet.line, self._transfer(packet.line, len(wanted), 0, queue)))
        return len(wanted) if self.numbers.write_port else 0

    def _accesses_of(self, sectors: set[int]) -> set[int]:
        """Return the sectors of the accesses of DRAM that some sectors are part of."""
        size = int(self.numbers.access_sectors)
        accesses = {sector // size for sector in sectors}
        return {sector for sector in range(SECTORS) if sector // size in accesses}

    def _write_back(self, line: Line, queue: Queue) -> None:
        """Write an evicted line's sectors; those written in part, and not there otherwise, are read first."""
        dirty = {word // WORDS_OF_SECTOR for word in line.written}
        part = dirty - whole_sectors(line.written) - line.there.keys()
        if dirty:
            self._transfer(line.number, len(part), len(dirty), queue)

    def _transfer(self, line: int, read: int, written: int, queue: Queue) -> Moment:
        """Move sectors over the channel; the slice of that queue waits while the channel's is full. Return when those read are there."""
        room, there = self.channel.transfer(queue.end, read, written, queue.served, line)
        queue.prolong(*room)
        return there

    def warm(self, number: int, both: bool) -> None:
        """Put in a line before cycle 0 if its set has room. both: each part of L2 has it."""
        if self.count and len(self.set_of(number)) < self.numbers.l2_ways:
            there = dict.fromkeys(range(SECTORS), self.origin)
            self.set_of(number)[number] = Line(there, copied=dict(there) if both else {}, number=number)
            if ways := self._ways(number):
                ways.put(number)
