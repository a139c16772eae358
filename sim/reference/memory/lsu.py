"""Load/store unit of an SM: a queue and an address unit per issue port, behind them one unit that takes an instruction at a time.

    issue -> queue -> address unit -> shared unit -> banks                      -> registers
                                                  -> L1 -> requests ... answers -> registers

Peak rate: one instruction per `lsu.interval` cycles, one pass over the banks per `shared.pass_cycles`, one line per `l1.line_cycles`; where
loads pass over the banks of L1, `l1.tags_per_cycle` lines of different banks and one pass of theirs per cycle.
"""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING

from isa.vocabulary import Space
from sim.gpus.path import L1_LOOKUP
from sim.lowering.phases import WAITS
from sim.policies.stateful import Hook
from sim.reference.decode import Kind
from sim.reference.memory.access import Access
from sim.reference.memory.coalescer import WORD
from sim.reference.memory.copies import CopyUnit
from sim.reference.memory.far import FarPort
from sim.reference.memory.issue_queue import Queue, StoreTurns
from sim.reference.memory.l1 import L1, readable
from sim.reference.memory.leaving import Leaving
from sim.reference.memory.mshr import Load, MshrFile
from sim.reference.memory.network import Deliver, Packet, RequestPort, ResponsePort
from sim.reference.memory.write_combining import WriteCombiningBuffer
from sim.reference.moments import Moment, latest
from sim.reference.pipes import Ports
from sim.result.causes import Tally

if TYPE_CHECKING:
    from sim.reference.memory.coalescer import Request
    from sim.reference.scoreboard import Pending
    from sim.reference.sm import SM
    from sim.reference.wakeup import Warp

BANKS = "the banks of L1"


class LoadStoreUnit:
    """The unit, with the L1 cache, the MSHRs and the ports of its SM."""

    def __init__(self, sm: SM) -> None:
        memory = sm.machine.memory
        assert memory is not None
        self.sm, self.memory, self.env = sm, memory, memory.env
        self.numbers, self.tallies = memory.numbers, memory.tallies
        self.queues = [Queue(sm, int(self.numbers.depth)) for _ in sm.pipes.memory_ports]
        for ports, queue in zip(sm.pipes.memory_ports, self.queues, strict=True):
            ports.queue = queue
        self.waiting = 0  # instructions in them
        self.last = 0  # queue served last; at the start as if the first one had been
        self.unit = Ports(self.env)
        self.turns = StoreTurns(self.queues, self.numbers, self.env)
        self.l1 = L1(self.numbers, memory.gpu.l1.stores if memory.gpu.l1 else "")
        self.l1.replaced = sm.tell_evicted
        self.table = MshrFile(int(self.numbers.pending), self.tallies)
        self.responses = ResponsePort(memory)
        self.requests = RequestPort(memory, self.responses)
        self.stores = WriteCombiningBuffer(int(self.numbers.store_lines), int(self.numbers.store_wait), self.requests, self.tallies)
        self.leaving = Leaving(self.numbers)
        self.copies = CopyUnit(self)
        self.far = FarPort(self)
        self.banks = sm.machine.record.origin  # the moment from which another load may read data from the banks of L1
        self.sectors_in_flight: int = 0  # that loads have asked for and not got

    def put(self, warp: Warp, scheduler: int, pending: Pending, row: list[int] | None) -> None:
        """Take in the warp's instruction, which issues now. row: of the timeline."""
        queue = self.sm.pipes.queue(warp.instruction, scheduler)
        access = Access(self, warp, pending, row)
        warp.block.to_take += access.is_store
        self.waiting += 1
        queue.put(access)

    def step(self) -> None:
        """Start the transfers of answers, then take the ready instruction that was issued first, of those for which there is room.

        Of instructions issued together the next in turn.
        """
        if self.responses.arrived:
            self.responses.step()
        if self.waiting and self.unit.free:
            turns = [(self.last + turn) % len(self.queues) for turn in range(1, len(self.queues) + 1)]
            heads = [(number, access) for number in turns if (access := self.queues[number].head()) and self._room_for(access)]
            heads = [(number, access) for number, access in heads if self.turns.may_go(access, self.queues[number])]
            if heads:
                self.last, access = min(heads, key=lambda head: head[1].issued)
                self._take(self.queues[self.last], access)
        if self.copies.copies:
            self.copies.step()

    def _room_for(self, access: Access) -> bool:
        """Return whether the port, and for a load the table, has room for all its lines, whether they will be needed or not."""
        lines = len(access.requests)
        if access.far and not self.far.ready:
            return False
        return not lines or (self.requests.room_for(access.weight) and (not access.kind.returns or self.table.room_for(lines)))

    def _take(self, queue: Queue, access: Access) -> None:
        taken = access.taken = self._free_for(queue, access).then(int(self.env.now), work=access.arrival.work)
        self.waiting -= 1
        access.hits = self._hits(access)
        access.begins = latest(taken, self.banks) if access.hits else taken
        replays = int(self.numbers.replay) * access.passes if access.hits or access.decoded.space == Space.SHARED else 0
        replayed = access.begins.then(access.begins.cycle + replays, "lsu.replay", taken.work)
        queue.pop(latest(taken.then(taken.cycle + access.decoded.address_cycles, f"pipes.{access.pipe}.lanes"), replayed))
        done = self._done(access)
        self.unit.hold(done)
        access.sources_read_at(taken.then(taken.cycle + access.source_read, access.source_field))
        if access.decoded.space == Space.SHARED:
            self._share(access)
        elif access.kind.returns:
            self._load(access)
        else:
            self._store(queue, access, done)

    def _free_for(self, queue: Queue, access: Access) -> Moment:
        """Return the moment from which nothing kept an instruction that is taken now."""
        freed = [moment for moment in (queue.address_unit.freed, self.unit.freed) if moment]
        port = [self.far.left] if access.far else []
        written = self.turns.freed(queue) if access.stores else []
        return latest(access.arrival, *freed, *port, *written, self.requests.left, self.responses.begun)

    def _done(self, access: Access) -> Moment:
        """Return until when an instruction keeps the unit: its passes, its lines, or its data between L1 and the registers.

        With `l1.tags_per_cycle` a store keeps it only while its lines are looked up.
        """
        numbers, lines = self.numbers, len(access.requests)
        sent = sum(access.packets) if access.kind.updates else lines
        if access.decoded.space == Space.SHARED:
            busy = [(access.passes * int(numbers.pass_cycles), "shared.pass_cycles", f"{access.passes} passes over the banks")]
        elif access.passes or (access.kind is Kind.STORE and numbers.tags):
            busy = [
                (access.lookups, "l1.tags_per_cycle", access.looked_up),
                (access.pieces * int(numbers.line_cycles), "l1.line_cycles", f"{access.pieces} pieces of lines"),
            ]
        else:
            busy = [
                (sent * int(numbers.line_cycles), "l1.line_cycles", f"{sent} lines"),
                (access.pieces * int(numbers.line_cycles), "l1.line_cycles", f"{access.pieces} pieces of lines"),
                (access.data_cycles, "l1.bytes_per_cycle", ""),
            ]
        held, resource, note = max((int(numbers.interval), "lsu.interval", ""), *busy, key=itemgetter(0))
        done = access.taken.then(access.taken.cycle + held, resource, note=note)
        if access.hits:
            begins = access.begins
            self.banks = begins.then(begins.cycle + access.passes, BANKS, access.taken.work, f"{access.passes} passes")
            done = latest(done, self.banks)
        return done

    def _hits(self, access: Access) -> bool:
        """Return whether a load that passes over the banks of L1 finds all its data there now."""
        if not access.passes or access.decoded.space == Space.SHARED:
            return False
        lines = ((request, self.l1.peek(request.line)) for request in access.requests)
        return all(line is not None and not line.lacks(request) for request, line in lines)

    def _share(self, access: Access) -> None:
        """Access shared memory: the time is known."""
        taken, numbers = access.taken, self.numbers
        if access.passes:
            self.tallies.update(
                {Tally.SHARED_REQUESTS: 1, Tally.SHARED_WAVEFRONTS: access.passes, Tally.SHARED_CONFLICTS: access.conflicts}
            )
        needed, each = access.passes - access.conflicts, int(numbers.pass_cycles)
        last = access.passes * each - min(needed * each, max(int(numbers.interval), each))  # those that the interval covers take no longer
        note = f"{access.passes} passes over the banks"
        first = taken.then(taken.cycle + int(numbers.shared_latency), "memory.shared_load")
        ready = first.then(first.cycle + last, "shared.pass_cycles", note=note)
        if access.kind is Kind.LOAD and (slow := int(numbers.shared_pass_latency) * (access.passes - 1)) > last:
            ready = first.then(first.cycle + slow, "shared.pass_latency", note=note)
        if access.far:
            sent = self.far.send(access)
            ready = sent.then(sent.cycle + int(numbers.shared_latency), "memory.shared_load")
        if access.far and access.phase:
            self.memory.barriers.count(access.phase, ready)
            access.stored_at(taken.then(taken.cycle + 1, "shared.pass_cycles"))
            return
        if access.decoded.phase == WAITS:
            self.memory.barriers.wait(access, ready)
            return
        if access.phase:
            self.memory.barriers.count(access.phase, ready)
        if access.kind.returns:
            access.results_at(ready)
        else:
            access.stored_at(taken.then(taken.cycle + 1 + last, "shared.pass_cycles", note=note))

    def _store(self, queue: Queue, access: Access, done: Moment) -> None:
        """Send a store or a reduction to L2; over when it has left the SM, or where lines are looked up by tags passed L1 as a hit does."""
        access.count(self.tallies)
        before = len(self.requests.packets)
        if access.stores:
            self.turns.take(access, queue)
        if access.kind is Kind.STORE:
            self.stores.store_taken(access.taken.cycle, self._looked_up(access))
            self.leaving.enter(access)
        for k, request in enumerate(access.requests):
            if access.decoded.cached and self.l1.sets:
                whole_words, self.l1.asks = access.decoded.width >= WORD, self.sm.slot_of(access.warp)
                found = self.l1.store(request, whole_words)
                self.tallies.update({Tally.L1_SECTORS: len(request.sectors), Tally.L1_HITS: len(request.sectors) * found})
                self.leaving.write(self.l1.peek(request.line), readable(request.words, whole_words), access, k)
            self._send(access, k, request.sectors, None)
        passed = done.then(done.cycle + int(self.numbers.l1_latency), "l1.latency")
        sent = latest(done, self.requests.sent) if len(self.requests.packets) > before else done
        access.warp.block.to_take -= 1
        self.stores.release(access.warp.block, self._looked_up(access))
        access.stored_at(passed if self.numbers.tags else sent)

    def _load(self, access: Access) -> None:
        """Look a load or an atomic up, line by line; what is not there becomes MSHRs that it waits for."""
        access.count(self.tallies)
        load = Load(self._hit_at(access), access.loaded_at, partial(self._replay, access))
        for k, request in enumerate(access.requests):
            if access.decoded.cached and self.l1.sets:
                self._look_up(access, load, k, request)
            else:
                self._go_past(access, load, k, request)
        load.finish_if_complete()

    def _hit_at(self, access: Access) -> Moment:
        """Return the moment in which a load's result may be read if nothing is missing."""
        numbers, lines = self.numbers, len(access.requests)
        first = access.begins.then(access.begins.cycle + max(int(numbers.l1_latency), 1), "l1.latency", access.taken.work)
        if access.passes:
            found = first.then(first.cycle + access.lookups - 1, "l1.tags_per_cycle", note=access.looked_up)
            return found.then(
                found.cycle + int(numbers.pass_latency) * (access.passes - 1), "l1.pass_latency", note=f"{access.passes} passes"
            )
        extras = [
            (int(numbers.word_cycles) * (max(access.decoded.width // 4, 1) - 1), "lsu.word_cycles", ""),
            (lines * int(numbers.line_cycles) - 1, "l1.line_cycles", f"{lines} lines"),
            (access.data_cycles - 1, "l1.bytes_per_cycle", ""),
        ]
        extra, resource, note = max(extras, key=itemgetter(0))
        return first.then(first.cycle + extra, resource, note=note)

    def _replay(self, access: Access, there: Moment) -> Moment:
        """Return the moment in which a load has read its data, which are in L1 from `there` on, after those that waited before it."""
        if not access.passes:
            return there
        begins, work, note = latest(there, self.banks), access.arrival.work, f"{len(access.requests)} lines, {access.passes} passes"
        self.banks = begins.then(begins.cycle + access.reading, BANKS, work, note)
        return begins.then(begins.cycle + access.reading - 1, BANKS, work, note)

    def _look_up(self, access: Access, load: Load, k: int, request: Request) -> None:
        """Look line k of a load up in L1; wait for what is missing, and fetch what nobody else is fetching."""
        self.tallies.update({Tally.L1_SECTORS: len(request.sectors), Tally.L1_LOAD_SECTORS: len(request.sectors)})
        self.l1.asks, found = self.sm.slot_of(access.warp), self.l1.peek(request.line)
        access.warp.tell(Hook.LOOKUP, request.line, int(found is not None and not found.lacks(request)))
        line = self.l1.for_load(request)
        if line is None:
            self._go_past(access, load, k, request)
            return
        waits = line.lacks(request)
        self.tallies.update({Tally.L1_HITS: len(request.sectors - waits), Tally.L1_LOAD_HITS: len(request.sectors - waits)})
        self.tallies[Tally.L1_MERGED] += len(waits & line.pending)
        if waits:
            line.waiting.append(self.table.add(load, waits))
        if missing := waits - line.pending:
            missing = self.l1.to_fetch(line, missing)
            line.pending |= missing
            self._send(access, k, missing, line.fill)

    def _go_past(self, access: Access, load: Load, k: int, request: Request) -> None:
        """Fetch line k of a load, or send an atomic, past L1."""
        self._send(access, k, request.sectors, self.table.add(load, request.sectors).receive)

    def _send(self, access: Access, k: int, sectors: set[int], deliver: Deliver) -> None:
        """Send sectors of line k to L2, or ask for them."""
        request, looked_up = access.requests[k], self._looked_up(access)
        if access.passes:
            turn = access.turns[k]
            start = looked_up.then(looked_up.cycle + turn, "l1.tags_per_cycle", note=f"{turn} lines of its bank before")
        else:
            ahead = sum(access.packets[:k]) if access.kind.updates else k
            start = looked_up.then(looked_up.cycle + ahead * int(self.numbers.line_cycles), "l1.line_cycles", note=f"{ahead} lines before")
        words = set() if access.kind is Kind.LOAD else request.words
        block = access.warp.block
        packet = Packet(self.sm.number, request.line, sectors, words, access.kind, access.packets[k], deliver, block, start)
        if access.kind is Kind.STORE:
            self.stores.put(packet, access.taken.cycle)
        else:
            self.stores.make_way(packet)
            block.stores += deliver is None
            self.requests.send(packet)

    def _looked_up(self, access: Access) -> Moment:
        return access.taken.then(access.taken.cycle + L1_LOOKUP, "the look-up in L1")
