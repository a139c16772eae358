"""Decode: what the timing of each static instruction needs to know, read from the program and the GPU."""

from enum import Enum
from typing import NamedTuple

import numpy as np

from isa.cfg import BRANCHES
from isa.dependences import source_registers, word_slots
from isa.matrices import WarpgroupFlag
from isa.program import SOURCES, Program
from isa.vocabulary import RZ, Cache, Flag, Operation, Space, Special, Unit
from isa.vocabulary import Kind as OperandKind
from sim.gpus.model import Gpu
from sim.lowering.accesses import pauses
from sim.lowering.clusters import may_leave
from sim.lowering.control_words import (
    PORTED,
    Groups,
    collectors,
    counters_of,
    distances,
    groups,
    landing,
    last_pass,
    obeys_control_words,
    port_cycles,
    read_cycles,
    waited_counters,
)
from sim.lowering.listing import listing
from sim.lowering.phases import COPY_OUT, NO_COPY, answers_nothing, copies, phase_use, reduces, result_cause
from sim.lowering.ports import unit_of, unit_timing
from sim.lowering.warpgroups import ported, turn
from sim.result.causes import PORT_CAUSE, StallCause
from sim.traces.trace import logged

CLOCKS = (Special.CLOCKLO, Special.CLOCKHI)
MEMORY = (Operation.LOAD, Operation.STORE, Operation.ATOM, Operation.MBARRIER)
GLOBAL_SPACES = (Space.GLOBAL, Space.GENERIC)


class Kind(Enum):
    """What a memory instruction does; a reduction is an atomic without a result."""

    LOAD = Operation.LOAD
    STORE = Operation.STORE
    ATOMIC = Operation.ATOM
    REDUCTION = -1
    BULK_REDUCTION = -2  # of a line that a bulk copy sends

    @property
    def returns(self) -> bool:
        """Whether something comes back."""
        return self in (Kind.LOAD, Kind.ATOMIC)

    @property
    def updates(self) -> bool:
        """Whether memory is read and written."""
        return self in (Kind.ATOMIC, Kind.REDUCTION, Kind.BULK_REDUCTION)


class Access(NamedTuple):
    """A memory instruction as the load/store unit sees it."""

    space: Space  # GLOBAL, SHARED or LOCAL
    kind: Kind
    width: int  # bytes per lane
    cached: bool  # goes through L1
    address_cycles: int  # of its port's address unit
    phase: int  # what it has to do with a phase of a barrier in shared memory (sim.lowering.phases)


class Constant(NamedTuple):
    """A line of constants that an instruction names."""

    line: int
    late: bool  # the instruction's result waits for it, not its issue
    lanes: bool  # with an address from a register, from that line's first byte on


class Instruction(NamedTuple):
    """One static instruction on one GPU. Cycles are ALU-clock cycles."""

    number: int  # its place in the listing
    text: str
    pipe: str | None  # None: it needs no port (NOP)
    port_cycles: int  # that it holds its port
    latency: int  # issue to the issue of a dependent instruction, or of a store to its end
    latency_field: str  # of the GPU, that says so
    needs: tuple[int, ...]  # dependences that must be ready: those read (RAW), then those written (WAW)
    writes: tuple[int, ...]
    is_arithmetic: bool  # has results and is no memory instruction
    result_cause: StallCause  # of waiting for its result
    port_cause: StallCause  # of waiting for its port
    is_branch: bool
    is_clock: bool
    is_store: bool
    barrier: tuple[int, int] | None  # of a BAR its number, and for how many warps it is: 0 = all of the block
    passes: bool  # BAR.ARV: it does not wait
    request: str | None  # the counter that its memory access adds to, with fixed latencies
    access: Access | None  # None: it has a fixed latency
    distance: int  # smallest distance to the warp's next issue
    sync: int  # cycles more to it, after distance or branch: of a BSYNC
    indirect: int  # the same of a branch that is taken to where a register says
    pairs: bool  # the next instruction may issue together with it
    write_counter: int | None = None  # dependence counter that is released with its result
    read_counter: int | None = None  # that is released when its sources have been read
    source_read: int = 0  # cycles until then: from its issue, of a memory access from where the load/store unit takes it
    source_field: str = ""  # of the GPU, that says so
    reads: int = 0  # cycles until the next instruction begins to read through the ports of the banks; 0 = it does not read through them
    sources: tuple[tuple[int, ...], ...] = ()  # registers of each source slot that go through the ports of the banks
    further: int = 0  # cycles of its further passes through its pipe, in which its scheduler stands still
    yields: bool = True  # lets other warps go first, as its control word says, or because it has none
    reuse: int = 0  # mask of the source slots whose registers are kept
    collector: int = 0  # which reuse cache keeps them
    constant: Constant | None = None  # that it names
    logged: bool = False  # the trace has its addresses
    copies: int = NO_COPY  # a bulk copy: sim.lowering.phases
    reduces: bool = False  # a bulk copy that the atomic units of L2 reduce
    ported: bool = False  # reads registers, and so waits for what products of warpgroups take of their ports
    turn: int = 0  # cycles of the tensor core that a product of a warpgroup takes, from source_read after its issue on at the earliest
    far: bool = False  # may access shared memory of another block of the cluster
    pause: tuple[int, StallCause] = (0, StallCause.WAIT)  # cycles that it holds its warp: a fence of the whole GPU, NANOSLEEP
    joins: bool = False  # LDGSTS, product: belongs to the next increment of its write counter
    landing: int = 0  # cycles from where its data would be ready until LDGSTS has them in shared memory
    part: tuple[int, int] | None = None  # counter that a DEPBAR waits for in part, and how many increments it leaves

    @property
    def stores_bulk(self) -> bool:
        """Whether it is a bulk copy from shared memory, whose end nobody knows when it issues."""
        return self.copies == COPY_OUT

    @property
    def loads(self) -> bool:
        """Whether its result comes from beyond shared memory."""
        return self.result_cause is StallCause.LONG_SCOREBOARD and (bool(self.writes) or self.joins)


def decode(program: Program, gpu: Gpu) -> list[Instruction]:
    """Return the program as the schedulers see it: with control words where they are obeyed, else for the scoreboard."""
    obeyed = obeys_control_words(gpu, program)
    parts = groups(gpu, program, obeyed)
    plain = [
        _with_turn(_with_part(_instruction(program, gpu, i), parts, i, landing(gpu, program, i)), gpu, program, i)
        for i in range(len(program))
    ]
    named = listing(program).constants
    for i in (named.line >= 0).nonzero()[0]:
        line = int(named.line[i])
        plain[i] = plain[i]._replace(constant=Constant(line, bool(named.late[i]), bool(named.lanes[i])))
    waits = ported(program).tolist()
    held = [(int(cycles), StallCause(cause)) for cycles, cause in zip(*pauses(gpu, program), strict=True)]
    plain = [one._replace(far=may_leave(program, k), pause=held[k], ported=waits[k]) for k, one in enumerate(plain)]
    for i in logged(program).nonzero()[0]:
        plain[i] = plain[i]._replace(logged=True, copies=copies(program, int(i)), reduces=reduces(program, int(i)))
    if not obeyed:
        return plain
    words = np.column_stack([*counters_of(program, parts), distances(program), collectors(program)]).tolist()
    return [_with_control(program, gpu, one, word) for one, word in zip(plain, words, strict=True)]


def _with_part(plain: Instruction, parts: Groups, i: int, landing: int) -> Instruction:
    """Return an instruction with what it has to do with parts of a counter."""
    part = (int(parts.waits[i]), int(parts.most[i])) if parts.waits[i] >= 0 else None
    counter = int(parts.counter[i]) if parts.counter[i] >= 0 else None
    return plain._replace(write_counter=counter, joins=bool(parts.joins[i]), landing=landing, part=part)


def _with_turn(plain: Instruction, gpu: Gpu, program: Program, i: int) -> Instruction:
    """Return an instruction with the time of a product of a warpgroup."""
    start, cycles, made = turn(gpu, program, i)
    if not cycles:
        return plain
    field = "start_registers" if program.encoded.function[i] & int(WarpgroupFlag.REGISTERS) else "start_shared"
    return plain._replace(turn=cycles, latency=plain.latency + made, source_read=start, source_field=f"warpgroup.{field}")


def _with_control(program: Program, gpu: Gpu, plain: Instruction, word: list[int]) -> Instruction:
    """Return an instruction with what its control word says. word: the counters that it holds, -1 = none, a distance, its reuse cache."""
    control, i, (write, read, distance, kept_by) = program.control, plain.number, word
    assert control is not None
    source_read, source_field = _source_read(gpu, program, i, plain.access)
    return plain._replace(
        needs=waited_counters(program, i),
        distance=last_pass(gpu, program, i) + distance,
        pairs=bool(control.dual[i]),
        write_counter=None if write < 0 else write,
        read_counter=None if read < 0 else read,
        source_read=plain.source_read if plain.turn else source_read,
        source_field=plain.source_field if plain.turn else source_field,
        reads=read_cycles(gpu, program, i),
        sources=_sources(program, i),
        further=last_pass(gpu, program, i),
        yields=bool(control.yield_[i]),
        reuse=int(control.reuse[i]),
        collector=kept_by,
    )


def _source_read(gpu: Gpu, program: Program, i: int, access: Access | None) -> tuple[int, str]:
    """Return how long an instruction reads its sources, cycles, and the field that says so.

    Stores by the number of registers, LDGSTS two addresses, LDC its latency, without what a missing line adds.
    """
    encoded, lsu = program.encoded, gpu.lsu
    if access is None and encoded.operation[i] == Operation.LDC and encoded.address_register[i] >= 0:
        return gpu.memory.constant_load, "memory.constant_load"
    if access is None:
        return gpu.core.source_read, "core.source_read"
    if access.kind is Kind.LOAD:
        return lsu.load_read + (lsu.word_cycles if encoded.flags[i] & int(Flag.ASYNC) else 0), "lsu.load_read"
    shared = access.space == Space.SHARED
    first, field = (lsu.shared_store_read, "lsu.shared_store_read") if shared else (lsu.store_read, "lsu.store_read")
    return first + lsu.word_cycles * (max(access.width // 4, 1) - 1), field


def _sources(program: Program, i: int) -> tuple[tuple[int, ...], ...]:
    """Return the registers in each field of instruction i's word; none of a unit that does not read through the ports."""
    encoded = program.encoded
    if Unit(encoded.unit[i]) not in PORTED:
        return ((),) * SOURCES
    kinds, values = encoded.source_kind[i], encoded.source_value[i]
    operation, flags, width = int(encoded.operation[i]), int(encoded.flags[i]), int(encoded.width[i])
    slots = word_slots(operation, kinds)
    real = {slot for slot in slots if kinds[slot] == OperandKind.REGISTER and values[slot] < RZ}
    counts = [source_registers(operation, flags, slot, width) if slot in real else 0 for slot in slots]
    return tuple(tuple(range(int(values[slot]), int(values[slot]) + count))[:2] for slot, count in zip(slots, counts, strict=True))


def _instruction(program: Program, gpu: Gpu, i: int) -> Instruction:
    encoded = program.encoded
    unit, operation = unit_of(gpu, program, i), Operation(encoded.operation[i])
    reads = [int(name) for name in encoded.reads[i] if name >= 0]
    writes = [int(name) for name in encoded.writes[i] if name >= 0]
    function = int(encoded.function[i])
    served = unit_timing(gpu, program, i)
    held = port_cycles(gpu, program, i)
    is_store = operation == Operation.STORE or (operation == Operation.ATOM and not writes) or answers_nothing(program, i)
    access = _access(program, gpu, i, held, bool(writes)) if gpu.memory.kind == "hierarchy" else None
    return Instruction(
        number=i,
        text=program.instructions[i].text,
        pipe=served.pipe if served else None,
        port_cycles=1 if access else held,  # a memory instruction goes to its queue in one cycle
        latency=gpu.memory.global_store if is_store else gpu.latency(unit),
        latency_field="memory.global_store" if is_store else gpu.latency_field(unit),
        needs=tuple(dict.fromkeys(reads + writes)),
        writes=tuple(writes),
        is_arithmetic=bool(writes) and operation not in MEMORY,
        result_cause=result_cause(program, i),
        port_cause=PORT_CAUSE[unit],
        is_branch=operation in BRANCHES,
        is_clock=operation == Operation.S2R and function in CLOCKS,
        is_store=is_store,
        barrier=(function, int(encoded.address_offset[i]) // gpu.core.warp_size) if operation == Operation.BAR else None,
        passes=operation == Operation.BAR and bool(encoded.flags[i] & Flag.ASYNC),
        request=_request(operation, Space(encoded.space[i])),
        access=access,
        distance=gpu.core.reissue_distance,
        sync=gpu.core.sync_latency if operation == Operation.BSYNC else 0,
        indirect=gpu.core.indirect_latency if operation == Operation.BRX else 0,
        pairs=True,
    )


def _access(program: Program, gpu: Gpu, i: int, address_cycles: int, writes: bool) -> Access | None:
    """Return what the load/store unit does for an instruction, None when it has nothing to do with it."""
    encoded, operation = program.encoded, Operation(program.encoded.operation[i])
    if operation not in MEMORY:
        return None
    if operation == Operation.MBARRIER:
        kind = Kind.STORE if answers_nothing(program, i) else Kind.LOAD
    else:
        kind = Kind.REDUCTION if operation == Operation.ATOM and not writes else Kind(operation)
    space = Space(encoded.space[i])
    space = Space.GLOBAL if space == Space.GENERIC else space
    cached = not kind.updates and _is_cached(gpu, space, Cache(encoded.cache[i]))
    return Access(space, kind, int(encoded.width[i]), cached, address_cycles, phase_use(program, i))


def _is_cached(gpu: Gpu, space: Space, operator: Cache) -> bool:
    """Return whether loads and stores go through L1: local ones always, others as their operator says, or else the GPU."""
    if gpu.l1 is None:
        return False
    if space == Space.LOCAL or operator in (Cache.ALL, Cache.READ_ONLY):
        return True
    return gpu.l1.global_loads and operator not in (Cache.GLOBAL, Cache.VOLATILE)


def _request(operation: Operation, space: Space) -> str | None:
    """Return the counter of a global load or store."""
    if space not in GLOBAL_SPACES:
        return None
    return {Operation.LOAD: "global_load_requests", Operation.STORE: "global_store_requests"}.get(operation)
