"""UBLKCP: bytes in a row from global to shared memory, which complete at a barrier there, or back (PTX `cp.async.bulk`); and tiles.

UBLKRED reduces them into what is there (`sim.functional.reductions`).

They are moved at once: whoever reads them before the barrier says so reads what a GPU may not have there yet, and is not told.
"""

import numpy as np

from isa.vocabulary import Space
from sim.compiled.kernel import first_bit, outlined
from sim.functional.flags import CLUSTER, EVERY
from sim.functional.marks import LOADED, STORED, mark_bytes
from sim.functional.mbarriers import CURRENT, Shared, change, further, shared_of
from sim.functional.memory import find, keep_access, room_for_access
from sim.functional.operands import row_of
from sim.functional.reductions import element_of, reduce_words
from sim.functional.stack import fault
from sim.functional.state import (
    FIRST,
    IN_BLOCK,
    RANK_BITS,
    SECOND,
    THIRD,
    Code,
    Fault,
    Log,
    Machine,
    Memory,
    Progress,
    Report,
    Status,
    Store,
)
from sim.functional.tiles import bytes_of_tile, move_tile, read_map
from sim.functional.translation import translate
from sim.functional.watch import READ, WRITE, Seen, touch
from sim.traces.trace import (
    APART,
    BLOCK,
    BYTES,
    COPY_LANES,
    COUNTS,
    DIMENSIONS,
    PHASE,
    PHASES,
    RANKS,
    SCATTERED,
    SOURCE,
    TARGET,
    TILED,
)

UNIT, MOST = np.int64(16), np.int64(0xFFFF)  # bytes; units of one copy


@outlined
def copy_bulk(i: int, w: int, mask: int, code: Code, machine: Machine, memory: Memory, log: Log, store: Store, progress: Progress) -> int:
    """Execute i, a bulk copy or a tile, once for the warp, with the uniform registers of the first lane of `mask`; return a Status."""
    room = room_for_access(w, log, store)
    if room != Status.RUNNING:
        return room
    if mask == 0:
        keep_access(w, mask, np.int64(0), np.int64(0), machine, log, store)
        return Status.RUNNING
    k, problem = first_bit(mask), np.int64(-1)
    machine.target[:] = 0  # the trace keeps all of it
    if code.function[i] > 1:
        problem = copy_tile(i, w, k, code, machine, memory, progress)
    elif code.function[i] == 0 and code.flags[i] & CLUSTER:
        problem = copy_near(i, w, k, code, machine, memory, progress)
    else:
        problem = copy_bytes(i, w, k, code, machine, memory, progress)
    if problem >= 0:
        return fault(problem, w, k, i, progress)
    keep_access(w, np.int64(COPY_LANES), np.int64(0), SCATTERED, machine, log, store)
    return Status.RUNNING


@outlined
def copy_tile(i: int, w: int, k: int, code: Code, machine: Machine, memory: Memory, progress: Progress) -> int:
    """Execute UTMALDG, UTMASTG or UTMAREDG with the uniform registers of lane k; return the Fault, -1 for none."""
    problem, stores = read_map(i, w, k, code, machine, memory, progress), code.function[i] & 1
    if problem >= 0:
        return problem
    near = row_of(code.operand[i, FIRST], w, code, machine)
    inside, phase = np.int64(machine.rows[near, k]) & IN_BLOCK, np.int64(0)
    seen = Seen(np.int64(i), np.int64(w), np.int64(k), np.int64(READ if stores else WRITE))
    if code.flags[i] & EVERY:
        ranks = np.int64(machine.rows[row_of(code.operand[i, THIRD], w, code, machine), k]) >> 16
        problem = load_for_ranks(inside, np.int64(machine.rows[near + 1, k]) & IN_BLOCK, ranks, seen, machine, memory, progress)
        machine.target[TARGET], machine.target[PHASE], machine.target[TILED] = inside, 0, 1
        return problem
    machine.target[RANKS] = 0
    problem = move_tile(inside, stores, memory.shared, seen, machine, memory, progress)
    if problem < 0 and not stores:
        barrier = np.int64(machine.rows[near + 1, k]) & IN_BLOCK
        problem = wrong_place(Space.SHARED, barrier, np.int64(8), np.int64(8), memory, progress)
        if problem < 0:
            phase = complete(barrier, bytes_of_tile(machine), shared_of(machine.rank[0], memory), progress)
    machine.target[TARGET], machine.target[PHASE], machine.target[TILED] = inside, phase, 1
    return problem


@outlined
def copy_bytes(i: int, w: int, k: int, code: Code, machine: Machine, memory: Memory, progress: Progress) -> int:
    """Execute UBLKCP or UBLKRED with the uniform registers of lane k; return the Fault, -1 for none."""
    stores = code.function[i]
    to, source = row_of(code.operand[i, FIRST], w, code, machine), row_of(code.operand[i, SECOND], w, code, machine)
    far, near = (to, source) if stores else (source, to)
    inside = np.int64(machine.rows[near, k]) & IN_BLOCK
    size = (np.int64(machine.rows[row_of(code.operand[i, THIRD], w, code, machine), k]) & MOST) * UNIT
    machine.target[0] = np.int64(machine.rows[far, k]) | np.int64(machine.rows[far + 1, k]) << 32
    if memory.seen.size:
        translate(np.int64(1), machine.target, memory.seen, memory.start, memory.end, memory.latest)
    address, phase = machine.target[0], np.int64(0)
    problem = wrong_place(Space.GLOBAL, address, size, UNIT, memory, progress)
    if problem < 0:
        problem = wrong_place(Space.SHARED, inside, size, UNIT, memory, progress)
    if problem < 0 and stores:
        problem = store_bulk(i, address, inside, size, code, memory, progress)
    elif problem < 0 and code.flags[i] & EVERY:
        return bytes_for_ranks(i, w, k, inside, code, machine, memory, progress)
    elif problem < 0:
        barrier = np.int64(machine.rows[near + 1, k]) & IN_BLOCK
        problem = wrong_place(Space.SHARED, barrier, np.int64(8), np.int64(8), memory, progress)
        if problem < 0:
            phase = load_bulk(address, inside, size, barrier, machine.rank[0], memory, progress)
    if problem < 0 and memory.watch.asked[0]:
        seen = Seen(np.int64(i), np.int64(w), np.int64(k), np.int64(READ if stores else WRITE))
        for byte in range(size):
            touch(inside + byte, np.int64(-1), seen, machine, memory.watch)
    machine.target[SOURCE], machine.target[BYTES], machine.target[TARGET], machine.target[PHASE] = address, size, inside, phase
    machine.target[TILED], machine.target[RANKS] = 0, 0
    for d in range(DIMENSIONS):
        machine.target[COUNTS + d], machine.target[APART + d] = 1, 0
    return problem


@outlined
def load_for_ranks(inside: int, barrier: int, ranks: int, seen: Seen, machine: Machine, memory: Memory, progress: Progress) -> int:
    """Load the tile that has been read for the blocks of a mask, each at the same place, and complete it at the same barrier of each."""
    base, problem, target = machine.target[0], np.int64(-1), machine.target
    if ranks >> memory.ranks or not ranks:
        progress.report[Report.ADDRESS] = ranks
        return np.int64(Fault.NO_BLOCK)
    target[PHASES:BLOCK] = 0
    for rank in range(memory.ranks):
        if (ranks >> rank) & 1 and problem < 0:
            target[0], shared = base, shared_of(rank, memory)
            problem = move_tile(inside, np.int64(0), shared.words, seen, machine, memory, progress)
            if problem < 0:
                problem = wrong_place(Space.SHARED, barrier, np.int64(8), np.int64(8), memory, progress)
            if problem < 0:
                target[PHASES + rank] = complete(barrier, bytes_of_tile(machine), shared, progress)
    target[RANKS], target[BLOCK] = ranks, progress.block[0]
    return problem


@outlined
def bytes_for_ranks(i: int, w: int, k: int, inside: int, code: Code, machine: Machine, memory: Memory, progress: Progress) -> int:
    """Copy bytes, from machine.target[0] on, to the blocks of the mask above their number; return the Fault, -1 for none."""
    address = machine.target[0]
    given = np.int64(machine.rows[row_of(code.operand[i, THIRD], w, code, machine), k])
    size, ranks = (given & MOST) * UNIT, given >> 16
    barrier = np.int64(machine.rows[row_of(code.operand[i, FIRST], w, code, machine) + 1, k]) & IN_BLOCK
    problem, target = wrong_place(Space.SHARED, barrier, np.int64(8), np.int64(8), memory, progress), machine.target
    if ranks >> memory.ranks or not ranks:
        progress.report[Report.ADDRESS] = ranks
        return np.int64(Fault.NO_BLOCK)
    if problem >= 0:
        return problem
    target[PHASES:BLOCK] = 0
    for rank in range(memory.ranks):
        if (ranks >> rank) & 1:
            target[PHASES + rank] = load_bulk(address, inside, size, barrier, rank, memory, progress)
    target[SOURCE], target[BYTES], target[TARGET], target[PHASE], target[TILED] = address, size, inside, 0, 0
    target[RANKS], target[BLOCK] = ranks, progress.block[0]
    for d in range(DIMENSIONS):
        target[COUNTS + d], target[APART + d] = 1, 0
    return np.int64(-1)


@outlined
def copy_near(i: int, w: int, k: int, code: Code, machine: Machine, memory: Memory, progress: Progress) -> int:
    """Execute UBLKCP.S.S or UBLKRED.S.S: from shared memory of the block to that of one of the cluster; return the Fault, -1 for none."""
    to, source = row_of(code.operand[i, FIRST], w, code, machine), row_of(code.operand[i, SECOND], w, code, machine)
    far, barrier = np.int64(machine.rows[to, k]), np.int64(machine.rows[to + 1, k]) & IN_BLOCK
    near, rank = np.int64(machine.rows[source, k]) & IN_BLOCK, far >> RANK_BITS
    size = (np.int64(machine.rows[row_of(code.operand[i, THIRD], w, code, machine), k]) & MOST) * UNIT
    if rank >= memory.ranks:
        progress.report[Report.ADDRESS] = rank
        return np.int64(Fault.NO_BLOCK)
    far &= IN_BLOCK
    problem = wrong_place(Space.SHARED, near, size, UNIT, memory, progress)
    problem = wrong_place(Space.SHARED, far, size, UNIT, memory, progress) if problem < 0 else problem
    problem = wrong_place(Space.SHARED, barrier, np.int64(8), np.int64(8), memory, progress) if problem < 0 else problem
    if problem >= 0:
        return problem
    shared = shared_of(rank, memory)
    move_words(i, far >> 2, shared.words, near >> 2, memory.shared, size >> 2, code)
    target = machine.target
    target[SOURCE], target[BYTES], target[TARGET] = near, size, far | further(rank, machine, memory)
    target[PHASE], target[TILED] = complete(barrier, size, shared, progress), 0
    target[RANKS] = 0
    for d in range(DIMENSIONS):
        target[COUNTS + d], target[APART + d] = 1, 0
    return problem


@outlined
def load_bulk(address: int, inside: int, size: int, barrier: int, rank: int, memory: Memory, progress: Progress) -> int:
    """Move bytes to shared memory, and complete them at a barrier there; return the phase that they count for."""
    words = memory.cluster[rank]
    mark_bytes(address, size, LOADED, memory)
    for word in range(size >> 2):
        words[(inside >> 2) + word] = memory.words[((address - memory.base) >> 2) + word]
    return complete(barrier, size, shared_of(rank, memory), progress)


@outlined
def complete(barrier: int, size: int, shared: Shared, progress: Progress) -> int:
    """Complete bytes at a barrier; return the phase that they count for."""
    phase = shared.phases[barrier >> 3, CURRENT]
    change(barrier >> 2, np.int64(0), -size, np.int64(0), shared, progress)
    return phase


@outlined
def store_bulk(i: int, address: int, inside: int, size: int, code: Code, memory: Memory, progress: Progress) -> int:
    """Move bytes from shared memory; return the Fault of an array that is read-only, -1 for none."""
    array = find(Space.GLOBAL, address, address + size, memory)
    memory.written[array] = memory.writable[array]
    if not memory.writable[array]:
        progress.report[Report.ADDRESS] = address
        return np.int64(Fault.READ_ONLY)
    mark_bytes(address, size, STORED, memory)
    move_words(i, (address - memory.base) >> 2, memory.words, inside >> 2, memory.shared, size >> 2, code)
    return np.int64(-1)


@outlined
def move_words(i: int, at: int, words: np.ndarray, came_at: int, came: np.ndarray, count: int, code: Code) -> None:
    """Write `count` words of `came` over those of `words`, or reduce them, as instruction i does; at, came_at: the first."""
    if code.combine[i]:
        reduce_words(at, words, came_at, came, count, code.combine[i], element_of(code.width[i], code.flags[i]))
        return
    for k in range(count):
        words[at + k] = came[came_at + k]


@outlined
def wrong_place(space: int, address: int, size: int, alignment: int, memory: Memory, progress: Progress) -> int:
    """Return the Fault of bytes that are misaligned or outside every array, -1 for none; report the address."""
    progress.report[Report.ADDRESS], progress.report[Report.EXPECTED] = address, space
    if find(space, address, address + size, memory) < 0:
        return np.int64(Fault.OUT_OF_RANGE)
    return np.int64(Fault.MISALIGNED) if address & (alignment - 1) else np.int64(-1)
