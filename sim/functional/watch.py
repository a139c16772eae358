"""What `check=` watches while a program runs: who wrote and read each byte of shared memory, and which bytes of arrays anything wrote.

Two accesses of a byte, one of them a store, race when nothing orders them: no barrier between their warps; of one warp, lanes that neither
executed the first access together nor anything since. What lanes execute together is executed in the listing's order, so a
converged warp needs no more: where the compiler knows that a warp is together it makes no instruction of __syncwarp().
A store of what was stored there already does not race with the store before, nor one atomic with another.
A time is the number of instructions that the warp has executed. All of this is called only when `asked` says so.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from isa.operations import Form
from isa.vocabulary import Space
from sim.compiled.kernel import outlined
from sim.functional.operands import row_of
from sim.functional.state import FIRST, FULL, LANES, ZERO, Code, Machine, Memory, Watch

RACE, INIT = np.int64(1), np.int64(2)  # bits of Watch.asked
READ, WRITE, ATOMIC = np.int64(0), np.int64(1), np.int64(2)
WRITER, READER, OTHER = np.int64(0), np.int64(2), np.int64(4)  # columns of Watch.shadow: who, and when (-1 = never). OTHER: of another warp
LANE_BITS, WARP_BITS = 5, 5
IS_ATOMIC = np.int64(1) << (LANE_BITS + WARP_BITS)
MOST_FOUND = 256


class Kind(IntEnum):
    """What is found."""

    RACE_AFTER_WRITE = 0  # the first access was a store, or an atomic
    RACE_AFTER_READ = 1
    RACE_AT_ONCE = 2  # lanes of one instruction store different values
    UNSET_SHARED = 3
    UNSET_GLOBAL = 4


class Found(IntEnum):
    """Columns of Watch.found. FIRST_: of the earlier access."""

    KIND = 0
    INSTRUCTION = 1
    WARP = 2
    LANE = 3
    FIRST_INSTRUCTION = 4
    FIRST_WARP = 5
    FIRST_LANE = 6
    BLOCK = 7
    ADDRESS = 8
    COUNT = 9
    HOW = 10  # READ, WRITE or ATOMIC


class Seen(NamedTuple):
    """An access being looked at."""

    instruction: int
    warp: int
    lane: int
    how: int


@outlined
def start_watch(watch: Watch) -> None:
    """Forget the block before: nothing has been written or read."""
    for byte in range(watch.shadow.shape[0]):
        for column in range(6):
            watch.shadow[byte, column] = -1
    for w in range(watch.now.size):
        watch.now[w], watch.group[w] = 0, 0
        for v in range(watch.now.size):
            watch.known[w, v] = 0
        for a in range(LANES):
            for b in range(LANES):
                watch.together[w, a, b] = -1


@outlined
def note_group(w: int, active: int, watch: Watch) -> None:
    """Note which lanes of warp w execute its next instruction."""
    group = watch.group[w]
    if active != group:
        for a in range(LANES):
            if (group >> a) & 1:
                for b in range(LANES):
                    if (group >> b) & 1:
                        watch.together[w, a, b] = watch.now[w]
        watch.group[w] = active
    watch.now[w] += 1


@outlined
def meet(members: int, watch: Watch) -> None:
    """Order what these warps of the block, a bit each, have done before what they do from now on: they passed a barrier."""
    for v in range(watch.now.size):
        latest = watch.now[v] + 1 if (members >> v) & 1 else np.int64(0)
        for u in range(watch.now.size):
            if (members >> u) & 1:
                latest = max(latest, watch.known[u, v])
        for u in range(watch.now.size):
            if (members >> u) & 1:
                watch.known[u, v] = latest


@outlined
def come_after_all(w: int, watch: Watch) -> None:
    """Order what any warp has done before what warp w does from now on: it passed a phase, whose arrivals are not kept apart."""
    for v in range(watch.now.size):
        watch.known[w, v] = watch.now[v] + 1


@outlined
def observe(i: int, w: int, mask: int, space: int, code: Code, machine: Machine, memory: Memory) -> None:
    """Look at an access, whose addresses have been checked, before it is carried out. mask: the lanes that load, or store, or both."""
    form, width = code.form[i], code.width[i]
    how = READ if form == Form.LOAD else WRITE if form == Form.STORE else ATOMIC
    first = code.operand[i, FIRST]
    for k in range(machine.lanes[0]):
        if not (mask >> k) & 1:
            continue
        seen = Seen(np.int64(i), np.int64(w), np.int64(k), np.int64(how))
        for byte in range(width):
            if space == Space.SHARED:
                value = np.int64(-1)
                if how == WRITE:
                    row = row_of(first, w, code, machine) + (byte >> 2) if first >= 0 else ZERO
                    value = np.int64(machine.rows[row, k]) >> (8 * (byte & 3)) & 255
                touch(machine.target[k] + byte, value, seen, machine, memory.watch)
            elif space != Space.LOCAL:
                touch_global(machine.target[k] + byte - memory.base, seen, machine, memory)


@outlined
def touch(address: int, value: int, seen: Seen, machine: Machine, watch: Watch) -> None:
    """Look at the access of one byte of shared memory; value: the byte that is stored, -1 when it is not known."""
    shadow = watch.shadow[address]
    alone = machine.cluster_shape[0] * machine.cluster_shape[1] * machine.cluster_shape[2] == 1  # else other blocks may have stored
    if alone and seen.how != WRITE and shadow[WRITER + 1] < 0 and watch.asked[0] & INIT:
        add(Kind.UNSET_SHARED, shadow[WRITER], address, seen, machine, watch)
    if watch.asked[0] & RACE:
        differs = seen.how != WRITE or watch.value[address] != value or value < 0
        if differs and is_race(WRITER, shadow, seen, watch):
            add(Kind.RACE_AFTER_WRITE, shadow[WRITER], address, seen, machine, watch)
        elif seen.how == WRITE and differs and is_at_once(shadow, seen, watch):
            add(Kind.RACE_AT_ONCE, shadow[WRITER], address, seen, machine, watch)
        elif seen.how != READ and is_race(READER, shadow, seen, watch):
            add(Kind.RACE_AFTER_READ, shadow[READER], address, seen, machine, watch)
        elif seen.how != READ and is_race(OTHER, shadow, seen, watch):
            add(Kind.RACE_AFTER_READ, shadow[OTHER], address, seen, machine, watch)
    who = (seen.instruction << (LANE_BITS + WARP_BITS + 1)) | (seen.warp << LANE_BITS) | seen.lane
    if seen.how == READ:
        if shadow[READER + 1] >= 0 and warp_of(shadow[READER]) != seen.warp:
            shadow[OTHER], shadow[OTHER + 1] = shadow[READER], shadow[READER + 1]
        shadow[READER], shadow[READER + 1] = who, watch.now[seen.warp]
    else:
        shadow[WRITER], shadow[WRITER + 1] = who | (IS_ATOMIC if seen.how == ATOMIC else 0), watch.now[seen.warp]
        watch.value[address] = value


@outlined
def warp_of(who: int) -> int:
    """Return the warp of an access."""
    return (who >> LANE_BITS) & ((1 << WARP_BITS) - 1)


@outlined
def is_race(column: int, shadow: np.ndarray, seen: Seen, watch: Watch) -> bool:
    """Return whether nothing orders the access in a column of the shadow before the one that is seen."""
    who, at = shadow[column], shadow[column + 1]
    if at < 0 or (seen.how == ATOMIC and who & IS_ATOMIC and column == WRITER):
        return False
    v, a = warp_of(who), who & (LANES - 1)
    if v != seen.warp:
        return watch.known[seen.warp, v] <= at
    return a != seen.lane and not (watch.group[v] >> a) & 1 and watch.together[v, a, seen.lane] < at


@outlined
def is_at_once(shadow: np.ndarray, seen: Seen, watch: Watch) -> bool:
    """Return whether the last store of the byte was another lane's, of the same instruction, executed together."""
    return shadow[WRITER + 1] == watch.now[seen.warp] and warp_of(shadow[WRITER]) == seen.warp and shadow[WRITER] & (LANES - 1) != seen.lane


@outlined
def touch_global(byte: int, seen: Seen, machine: Machine, memory: Memory) -> None:
    """Look at the access of one byte of an array."""
    watch = memory.watch
    if watch.asked[0] & INIT:
        if seen.how != WRITE and not watch.defined[byte]:
            add(Kind.UNSET_GLOBAL, np.int64(-1), byte + memory.base, seen, machine, watch)
        if seen.how != READ:
            watch.defined[byte] = 1


@outlined
def add(kind: int, first: int, address: int, seen: Seen, machine: Machine, watch: Watch) -> None:
    """Note what was found: once for each pair of instructions, in either order, with how often. first: the earlier access, -1 = none."""
    instruction = first >> (LANE_BITS + WARP_BITS + 1)
    for k in range(watch.count[0]):
        row = watch.found[k]
        same = row[Found.KIND] == kind and row[Found.INSTRUCTION] == seen.instruction and row[Found.FIRST_INSTRUCTION] == instruction
        turned = row[Found.INSTRUCTION] == instruction and row[Found.FIRST_INSTRUCTION] == seen.instruction
        if same or (turned and kind < Kind.RACE_AT_ONCE and row[Found.KIND] < Kind.RACE_AT_ONCE):
            row[Found.COUNT] += 1
            return
    if watch.count[0] == MOST_FOUND:
        return
    row = watch.found[watch.count[0]]
    watch.count[0] += 1
    row[Found.KIND], row[Found.INSTRUCTION], row[Found.WARP], row[Found.LANE] = kind, seen.instruction, seen.warp, seen.lane
    row[Found.FIRST_INSTRUCTION], row[Found.FIRST_WARP], row[Found.FIRST_LANE] = instruction, warp_of(first), first & (LANES - 1)
    shape = machine.grid_shape
    row[Found.BLOCK] = (machine.block[2] * shape[1] + machine.block[1]) * shape[0] + machine.block[0]
    row[Found.ADDRESS], row[Found.COUNT], row[Found.HOW] = address, 1, seen.how


@outlined
def all_warps(machine: Machine) -> int:
    """Return every warp of the block, a bit each: a barrier of the block comes after what ended warps did, too."""
    return FULL >> (LANES - machine.pc.size)
