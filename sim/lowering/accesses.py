"""Memory instructions as the timing engine sees them: where they go, what they do there, which caches they ask."""

import numpy as np

from isa.program import Program
from isa.vocabulary import Cache, Flag, Operation, Space
from sim.gpus.model import Gpu
from sim.lowering.phases import COPY_OUT, answers_nothing, copies, reduces
from sim.result.causes import StallCause

LONGEST_SLEEP = 1_000_000  # ns, of NANOSLEEP (PTX ISA, nanosleep)

# Where an instruction accesses memory (Op.memory): nowhere, or nowhere that is modelled; ...
NOWHERE, GLOBAL, SHARED, LOCAL = range(4)
# What it does there (Op.access); a reduction is an atomic without a result, a bulk reduction one of a line that a bulk copy sends.
LOAD, STORE, ATOMIC, REDUCTION, BULK_REDUCTION = range(5)

MEMORY = {Space.GLOBAL: GLOBAL, Space.GENERIC: GLOBAL, Space.SHARED: SHARED, Space.LOCAL: LOCAL}
ACCESS = {Operation.LOAD: LOAD, Operation.STORE: STORE, Operation.ATOM: ATOMIC, Operation.MBARRIER: LOAD}


def memory_place(gpu: Gpu, program: Program, i: int) -> int:
    """Return where instruction i accesses memory that is modelled: NOWHERE, GLOBAL, SHARED or LOCAL."""
    encoded = program.encoded
    if gpu.memory.kind == "fixed" or Operation(encoded.operation[i]) not in ACCESS:
        return NOWHERE
    return MEMORY[Space(encoded.space[i])]


def access_kind(program: Program, i: int) -> int:
    """Return what instruction i does in memory: LOAD, ..., BULK_REDUCTION; LOAD, too, of one that does nothing there.

    A bulk copy stores, or is reduced, where it goes to global memory.
    """
    encoded = program.encoded
    if copies(program, i) == COPY_OUT:
        return BULK_REDUCTION if reduces(program, i) else STORE
    access = ACCESS.get(Operation(encoded.operation[i]), LOAD)
    if access == ATOMIC and not (encoded.writes[i] >= 0).any():
        return REDUCTION
    return STORE if answers_nothing(program, i) else access


def is_cached(gpu: Gpu, program: Program, i: int) -> bool:
    """Return whether a memory instruction goes through L1: by its cache operator, else as the GPU does."""
    encoded = program.encoded
    if gpu.l1 is None or Operation(encoded.operation[i]) == Operation.ATOM:
        return False
    if Space(encoded.space[i]) == Space.LOCAL:
        return True
    operator = Cache(encoded.cache[i])
    if operator in (Cache.ALL, Cache.READ_ONLY):
        return True
    return gpu.l1.global_loads and operator not in (Cache.GLOBAL, Cache.VOLATILE)


def source_read(gpu: Gpu, program: Program, i: int, place: int) -> int:
    """Return how long instruction i reads its sources, cycles: from its issue, or from its take in the load/store unit."""
    operation = Operation(program.encoded.operation[i])
    if place == NOWHERE:
        return gpu.memory.constant_load if operation == Operation.LDC and program.encoded.address_register[i] >= 0 else gpu.core.source_read
    if operation == Operation.LOAD:  # LDGSTS reads a second address
        return gpu.lsu.load_read + (gpu.lsu.word_cycles if program.encoded.flags[i] & int(Flag.ASYNC) else 0)
    first = gpu.lsu.shared_store_read if place == SHARED else gpu.lsu.store_read
    return first + gpu.lsu.word_cycles * (max(int(program.encoded.width[i]) // 4, 1) - 1)


def pauses(gpu: Gpu, program: Program) -> tuple[np.ndarray, np.ndarray]:
    """Return int64 [n] twice: for how many cycles each instruction holds its warp, and by which StallCause.

    A fence of the whole GPU holds it, and NANOSLEEP with a number t: PTX promises 0 to 2t, at most 1 ms; here it is t.
    """
    encoded = program.encoded
    sleeps = (encoded.operation == Operation.NOP) & (encoded.address_register < 0)  # what else is done nothing for may name an address
    asleep = np.where(sleeps, encoded.address_offset, 0).clip(0, LONGEST_SLEEP)
    cycles = np.where(encoded.flags & Flag.DEVICE, gpu.lsu.fence_latency, asleep * gpu.clock.core_mhz // 1000)
    return cycles.astype(np.int64), np.where(asleep, StallCause.SLEEPING, StallCause.MEMBAR)
