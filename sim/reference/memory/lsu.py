"""Load/store unit of an SM: a queue and an address unit per issue port, behind them one unit that takes an instruction at a time.

    issue -> queue -> address unit -> shared unit -> banks                      -> registers
                                                  -> L1 -> requests ... answers -> registers

Peak rate: one instruction per `lsu.interval` cycles, one pass over the banks per `shared.pass_cycles`, one line per `l1.line_cycles`.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from isa.vocabulary import Space
from sim.gpus.path import L1_LOOKUP, cycles
from sim.reference.clock import after
from sim.reference.decode import Kind
from sim.reference.memory.access import Access
from sim.reference.memory.l1 import L1
from sim.reference.memory.network import Deliver, Packet, RequestPort, ResponsePort
from sim.reference.memory.table import Load, PendingTable
from sim.reference.pipes import Ports
from sim.vocabulary import Tally

if TYPE_CHECKING:
    from sim.reference.memory.coalescer import Request
    from sim.reference.scoreboard import Pending
    from sim.reference.sm import SM
    from sim.reference.wakeup import Warp


class Queue:
    """Memory instructions of one issue port, in order, and the port's address unit."""

    def __init__(self, sm: SM, depth: int) -> None:
        self.env, self.depth = sm.machine.env, depth
        self.accesses: deque[Access] = deque()
        self.address_unit = Ports(self.env)
        self.open = True  # the port may issue

    def put(self, access: Access, latency: int) -> None:
        """Take in an instruction that issues now; the shared unit may take it after so many cycles."""
        self.accesses.append(access)
        after(self.env, latency, access.arrive)
        if len(self.accesses) == self.depth:
            self.open = False

    def head(self) -> Access | None:
        """Return the oldest instruction if its address unit has done with it."""
        ready = self.accesses and self.accesses[0].arrived and self.address_unit.free
        return self.accesses[0] if ready else None

    def pop(self, address_cycles: int) -> None:
        """Let the oldest instruction go; the next may follow in so many cycles. A full queue opens in the next cycle."""
        self.accesses.popleft()
        self.address_unit.hold(address_cycles)
        if not self.open:
            after(self.env, 1, self._reopen)

    def _reopen(self) -> None:
        self.open = True


class LoadStoreUnit:
    """The unit, with the L1 cache, the pending request table and the ports of its SM."""

    def __init__(self, sm: SM) -> None:
        memory = sm.machine.memory
        assert memory is not None
        self.sm, self.memory, self.env = sm, memory, memory.env
        self.numbers, self.tallies = memory.numbers, memory.tallies
        self.queues = [Queue(sm, int(self.numbers.depth)) for _ in sm.pipes.memory_ports]
        for ports, queue in zip(sm.pipes.memory_ports, self.queues, strict=True):
            ports.queue = queue
        self.last = 0  # queue served last; at the start as if the first one had been
        self.unit = Ports(self.env)
        self.l1 = L1(self.numbers, memory.gpu.l1.stores if memory.gpu.l1 else "")
        self.table = PendingTable(int(self.numbers.pending), self.tallies)
        self.responses = ResponsePort(memory)
        self.requests = RequestPort(memory, self.responses)
        self.sectors_in_flight: int = 0  # that loads have asked for and not got

    def put(self, warp: Warp, scheduler: int, pending: Pending, row: list[int] | None) -> None:
        """Take in the warp's instruction, which issues now. row: of the timeline."""
        queue = self.sm.pipes.queue(warp.instruction, scheduler)
        queue.put(Access(self, warp, pending, row), int(self.numbers.latency))

    def step(self) -> None:
        """Start the transfers of answers, then take the next ready instruction, of the queues in turn, for which there is room."""
        self.responses.step()
        for turn in range(1, len(self.queues) + 1):
            number = (self.last + turn) % len(self.queues)
            access = self.queues[number].head()
            if self.unit.free and access and self._room_for(access):
                self.last = number
                self._take(self.queues[number], access)

    def _room_for(self, access: Access) -> bool:
        """Return whether the port, and for a load the table, has room for all its lines, whether they will be needed or not."""
        lines = len(access.requests)
        return not lines or (self.requests.room_for(lines) and (not access.kind.returns or self.table.room_for(lines)))

    def _take(self, queue: Queue, access: Access) -> None:
        queue.pop(max(access.decoded.address_cycles, int(self.numbers.replay) * access.passes))
        self.unit.hold(self._busy(access))
        access.sources_read_at(int(self.env.now) + access.source_read)
        if access.decoded.space == Space.SHARED:
            self._share(access)
        elif access.kind.returns:
            self._load(access)
        else:
            self._store(access)

    def _busy(self, access: Access) -> int:
        """Return how long an instruction keeps the unit: its passes, its lines, or its data between L1 and the registers."""
        numbers = self.numbers
        if access.decoded.space == Space.SHARED:
            return max(int(numbers.interval), access.passes * int(numbers.pass_cycles))
        return max(int(numbers.interval), len(access.requests) * int(numbers.line_cycles), self._data_cycles(access))

    def _data_cycles(self, access: Access) -> int:
        """Return the cycles of a whole warp's data at l1.bytes_per_cycle, which is given in sixteenths."""
        return -(-access.decoded.width * 32 * 16 // int(self.numbers.l1_bytes))

    def _share(self, access: Access) -> None:
        """Access shared memory: the time is known."""
        now, numbers = int(self.env.now), self.numbers
        if access.passes:
            self.tallies.update(
                {Tally.SHARED_REQUESTS: 1, Tally.SHARED_WAVEFRONTS: access.passes, Tally.SHARED_CONFLICTS: access.conflicts}
            )
        last = max(access.passes - 1, 0) * int(numbers.pass_cycles)
        if access.kind.returns:
            access.results_at(now + int(numbers.shared_latency) + last)
        else:
            access.stored_at(now + 1 + last)

    def _store(self, access: Access) -> None:
        """Send a store or a reduction to L2, line by line; it is over for its warp when it has left the SM."""
        access.count(self.tallies)
        for k, request in enumerate(access.requests):
            if access.decoded.cached and self.l1.sets:
                self.tallies[Tally.L1_SECTORS] += len(request.sectors)
                self.tallies[Tally.L1_HITS] += len(request.sectors) * self.l1.store(request)
            self._send(access, k, request.sectors, None)
        left = cycles(self.requests.free) if access.requests else 0
        access.stored_at(max(int(self.env.now) + self._busy(access), left))

    def _load(self, access: Access) -> None:
        """Look a load or an atomic up, line by line; what is not there becomes pieces that it waits for."""
        access.count(self.tallies)
        load = Load(self._hit_at(access), access.loaded_at)
        for k, request in enumerate(access.requests):
            if access.decoded.cached and self.l1.sets:
                self._look_up(access, load, k, request)
            else:
                self._go_past(access, load, k, request)
        load.finish_if_complete()

    def _hit_at(self, access: Access) -> int:
        """Return the cycle in which a load's result may be read if nothing is missing."""
        numbers = self.numbers
        words = int(numbers.word_cycles) * (max(access.decoded.width // 4, 1) - 1)
        extra = max(len(access.requests) * int(numbers.line_cycles) - 1, self._data_cycles(access) - 1, words)
        return int(self.env.now) + max(int(numbers.l1_latency), 1) + extra

    def _look_up(self, access: Access, load: Load, k: int, request: Request) -> None:
        """Look line k of a load up in L1; wait for what is missing, and fetch what nobody else is fetching."""
        self.tallies[Tally.L1_SECTORS] += len(request.sectors)
        line = self.l1.find(request.line) or self.l1.allocate(request.line)
        if line is None:
            self._go_past(access, load, k, request)
            return
        waits = request.sectors - line.valid
        self.tallies[Tally.L1_HITS] += len(request.sectors & line.valid)
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
        request, start = access.requests[k], int(self.env.now) + L1_LOOKUP + k * int(self.numbers.line_cycles)
        access.warp.block.stores += deliver is None
        words = set() if access.kind is Kind.LOAD else request.words
        self.requests.send(
            Packet(self.sm.number, request.line, sectors, words, access.kind, access.repeat, deliver, access.warp.block), start
        )
