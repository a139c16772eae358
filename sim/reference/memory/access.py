"""One memory instruction of one warp, from its issue to the end: what it needs, and what is told when its time is known."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from isa.vocabulary import Space
from sim.gpus.path import LINE
from sim.reference.clock import after
from sim.reference.decode import Kind
from sim.reference.memory import banks, coalescer, far
from sim.reference.memory.network import weight_of
from sim.result.causes import Tally
from sim.result.result import Timeline

if TYPE_CHECKING:
    from sim.reference.memory.lsu import LoadStoreUnit
    from sim.reference.moments import Moment
    from sim.reference.scoreboard import Pending
    from sim.reference.wakeup import Warp

READY = Timeline._fields.index("ready")
COUNTED = {  # requests and sectors, by what a global access does
    Kind.LOAD: (Tally.LOAD_REQUESTS, Tally.LOAD_SECTORS),
    Kind.STORE: (Tally.STORE_REQUESTS, Tally.STORE_SECTORS),
    Kind.ATOMIC: (Tally.ATOMIC_REQUESTS, Tally.ATOMIC_SECTORS),
    Kind.REDUCTION: (Tally.ATOMIC_REQUESTS, Tally.ATOMIC_SECTORS),
}


class Access:
    """A memory instruction that issues now."""

    def __init__(self, lsu: LoadStoreUnit, warp: Warp, pending: Pending, row: list[int] | None) -> None:
        decoded = warp.instruction.access
        assert decoded is not None
        self.lsu, self.warp, self.pending, self.row, self.decoded = lsu, warp, pending, row, decoded
        latency = int(lsu.memory.numbers.latency)
        self.source_read, self.pipe = warp.instruction.source_read, warp.instruction.pipe
        self.landing = warp.instruction.landing
        self.source_field = warp.instruction.source_field
        self.kind = decoded.kind
        self.issued = warp.issued.cycle
        self.arrived = False  # where the shared unit may take it
        self.arrival = warp.issued.then(self.issued + latency, "lsu.latency")  # the moment in which it is
        self.taken = self.arrival  # the moment in which the shared unit takes it, once it has
        self.requests: list[coalescer.Request] = []
        self.far = 0  # 32 bytes of other blocks' shared memory that it touches
        self.passes = self.conflicts = 0  # over the banks of shared memory, or of L1 (0: not modelled); of them, beyond those of its width
        self.store_passes = 0  # of a store, over the banks of L1
        self.hits = False  # the shared unit found all its data in L1, to be read in passes
        self.pieces = 0  # of a copy to shared memory: past L1 each of its lines in as many as it has lines there
        self.begins = self.taken  # the moment in which it begins to read them
        self.packets: list[int] = []  # of each request, if it is an atomic's
        self.turns: list[int] = []  # how many cycles after the first each line is looked up
        self.reading = 0  # cycles in which a load that had to wait looks them up again and reads them
        self.phase = lsu.memory.phase_of(warp.next_access) if decoded.phase else 0  # of a barrier in shared memory; 0 = none
        if warp.lanes:
            self._describe(lsu.memory.addresses(warp.next_access, warp.mask))
        if self.landing and warp.lanes:
            further = 0 if decoded.cached else lsu.memory.further_pieces(warp.next_access, warp.mask)
            self.pieces = len(self.requests) + further
        weights = (weight_of(self.kind, number, len(asked.words)) for number, asked in zip(self.packets, self.requests, strict=True))
        self.weight = sum(weights)  # places of the port that all its requests take
        warp.next_access += 1
        if decoded.space != Space.SHARED and self.kind.returns:
            lsu.sectors_in_flight += self.sectors

    def _describe(self, addresses: coalescer.Addresses) -> None:
        """Find what the addresses of its lanes need: passes over the banks, or requests."""
        gpu, width = self.lsu.memory.gpu, self.decoded.width
        if self.decoded.space == Space.SHARED:
            rule = gpu.shared.rule
            if self.warp.instruction.far:
                self.far = far.packets(addresses)
                addresses = {lane: address for lane, address in addresses.items() if not far.is_far(address)}
            if not addresses:
                return
            self.passes = banks.passes(rule, addresses, width, self.kind.updates)
            self.conflicts = max(0, self.passes - banks.passes_needed(rule, addresses, width))
        elif self.decoded.space == Space.LOCAL:
            slot = self.lsu.sm.number * int(self.lsu.numbers.local_slots) + self.lsu.sm.slot_of(self.warp)
            self.requests = coalescer.local(addresses, width, slot, gpu.core.warp_size)
        else:
            self.requests = coalescer.coalesce(gpu.lsu.coalescing, addresses, width)
        if self.requests and self.decoded.cached and self.lsu.l1.sets:
            if self.lsu.numbers.tags and self.kind is Kind.LOAD:
                self.passes = self._passes_of_l1(addresses)
                self.turns = self.lsu.l1.turns([request.line for request in self.requests])
                self.reading = max(self.passes, self.lookups, self._passes_of_turns(addresses))
            elif self.lsu.numbers.leaving_lines and self.kind is Kind.STORE:
                self.store_passes = self._passes_of_l1(addresses)
        self.packets = coalescer.packets(addresses, self.requests) if self.kind.updates else [0] * len(self.requests)

    @property
    def lookups(self) -> int:
        """The cycles in which its lines are looked up: of a load through L1 by banks of tags, else any lines together."""
        return max(self.turns) + 1 if self.turns else -(-len(self.requests) // max(int(self.lsu.numbers.tags), 1))

    @property
    def looked_up(self) -> str:
        """What its look-ups in L1 take time for, in words."""
        lines = f"{len(self.requests)} lines"
        return f"{lines}, {self.lookups} of one bank of tags" if self.turns else lines

    def _passes_of_turns(self, addresses: coalescer.Addresses) -> int:
        """Return the passes over L1's banks when the lines that are looked up in one cycle are read before those of the next."""
        if self.decoded.space == Space.LOCAL:
            return 0
        turn: dict[int, int] = {}  # of several requests of one line, the first's
        for request, cycle in zip(self.requests, self.turns, strict=True):
            turn.setdefault(request.line, cycle)
        of_turns = [{k: at for k, at in addresses.items() if turn[at // LINE] == now} for now in range(self.lookups)]
        return sum(self._passes_of_l1(lanes) for lanes in of_turns if lanes)

    def _passes_of_l1(self, addresses: coalescer.Addresses) -> int:
        """Return the passes over L1's banks; a word of local memory has a bank for each lane."""
        rule, width = self.lsu.memory.gpu.shared.rule, self.decoded.width
        if self.decoded.space == Space.LOCAL:
            return banks.passes_needed(rule, addresses, width)
        return banks.passes(rule, addresses, width, atomic=False)

    @property
    def data_cycles(self) -> int:
        """The cycles of a whole warp's data at l1.bytes_per_cycle, which is given in sixteenths."""
        return -(-self.decoded.width * 32 * 16 // int(self.lsu.numbers.l1_bytes))

    @property
    def stores(self) -> bool:
        """Whether it writes lines: a store to global or local memory."""
        return self.kind is Kind.STORE and bool(self.requests)

    @property
    def is_store(self) -> bool:
        """Whether it goes to memory and nobody waits for an answer: a store or a reduction."""
        return self.decoded.space != Space.SHARED and not self.kind.returns

    @property
    def sectors(self) -> int:
        """Sectors of all its requests."""
        return sum(len(request.sectors) for request in self.requests)

    def arrive(self) -> None:
        """It has come to where the shared unit may take it."""
        self.arrived = True

    def count(self, tallies: Counter[Tally]) -> None:
        """Count its requests and sectors."""
        local = (Tally.LOCAL_REQUESTS, Tally.LOCAL_SECTORS)
        requests, sectors = local if self.decoded.space == Space.LOCAL else COUNTED[self.kind]
        tallies[requests] += bool(self.requests)
        tallies[sectors] += self.sectors
        if self.kind is Kind.LOAD and not (self.decoded.cached and self.lsu.l1.sets):
            tallies[Tally.L1_PASSED] += self.sectors

    def stored_at(self, moment: Moment) -> None:
        """The warp need wait for it no longer from that moment on."""
        self.warp.scoreboard.settle(self.pending, moment)

    def sources_read_at(self, moment: Moment) -> None:
        """Its sources have been read by that moment."""
        if self.pending.reading:
            self.warp.scoreboard.settle(self.pending.reading, moment)

    def results_at(self, moment: Moment) -> None:
        """Its results may be read from that moment on."""
        self.warp.scoreboard.settle(self.pending, moment)
        if self.row:
            self.row[READY] = moment.cycle

    def loaded_at(self, moment: Moment) -> None:
        """The same, of one that went beyond shared memory."""
        cycle, tallies = moment.cycle, self.lsu.tallies
        waited = cycle - self.issued
        tallies.update({Tally.LOADS: 1, Tally.LOAD_CYCLES: waited, Tally.LOAD_SECTOR_CYCLES: waited * self.sectors})
        after(self.lsu.env, cycle - int(self.lsu.env.now), self._land)
        self.results_at(moment.then(cycle + self.landing, "memory.shared_load") if self.landing else moment)

    def _land(self) -> None:
        self.lsu.sectors_in_flight -= self.sectors
