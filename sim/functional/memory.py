"""LOAD, STORE, ATOM and LDC: addresses of 32 lanes, bounds and alignment, the move, and what the log keeps of it.

Stages: 1. addresses; 2. evenly spaced or scattered; 3. bounds and alignment of every lane; 4. words; 5. the log.
Where lanes store to the same word the highest lane wins. Device addresses lie below 4 GiB (see `sim.placement`), so that
programs with 32-bit and with 64-bit addresses find the same arrays.
"""

import numpy as np

from isa.vocabulary import PT, Operation, Space
from sim.functional.atomics import update
from sim.functional.bulk import copy_to_shared, fill_in, grant, load_matrices, spread_rows
from sim.functional.flags import ADDRESS64, ASYNC, INDEX64, MATRIX, SIGNED
from sim.functional.operands import predicate, row_of
from sim.functional.stack import fault
from sim.functional.state import (
    FIRST,
    FULL,
    LANES,
    LOCAL_BYTES,
    NO_INDEX,
    ZERO,
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
from sim.kernel import first_bit, inner
from sim.trace import SCATTERED

LOCAL_WORDS = LOCAL_BYTES // 4
ONE = np.int64(1)  # words from one part of a wide access to the next


@inner
def access(i: int, w: int, mask: int, code: Code, machine: Machine, memory: Memory, log: Log, store: Store, progress: Progress) -> int:
    """Execute LOAD, STORE or ATOM i for the lanes of `mask`; return a Status (a FULL one changes nothing)."""
    row = log.row[w]
    if log.accesses[w] == log.access_base.shape[1]:
        return Status.WARP_ACCESSES_FULL
    if store.scattered_rows[0] == store.scattered.shape[0]:
        return Status.SCATTERED_FULL
    base, stride = np.int64(0), np.int64(0)
    if mask:
        addresses(i, w, code, machine)
        reading = mask
        if code.flags[i] & (ASYNC | MATRIX):
            if code.flags[i] & MATRIX:
                lane = spread_rows(code.width[i], machine) if mask == FULL else np.int64(0)
                if lane >= 0:
                    progress.report[Report.ADDRESS] = machine.target[lane]
                    return fault(Fault.MISALIGNED if mask == FULL else Fault.MATRIX_IN_PART, w, lane, i, progress)
            else:
                reading = mask & predicate(i, FIRST, w, code, machine)
                fill_in(reading, machine)
        base, stride = spacing(mask, machine)
        writes = code.operation[i] != Operation.LOAD and code.space[i] <= Space.GLOBAL
        if reading and not locate(code.space[i], code.width[i], base, stride, reading, machine, memory):
            return lane_fault(i, w, reading, code, machine, memory, progress)
        lane = forbidden(code.width[i], mask, machine, memory) if writes else np.int64(-1)
        if lane >= 0:
            progress.report[Report.ADDRESS] = machine.target[lane]
            return fault(Fault.READ_ONLY, w, lane, i, progress)
        if code.operation[i] == Operation.ATOM:
            update(i, w, mask, code, machine, memory)
        elif code.flags[i] & ASYNC:
            if copy_to_shared(i, w, mask, reading, code, machine, memory, progress) != Status.RUNNING:
                return Status.ERROR
        elif code.flags[i] & MATRIX:
            load_matrices(i, w, code, machine, memory)
        else:
            move(i, w, mask, stride, code, machine, memory)
        if code.predicate_destination[i, 0] != PT:
            grant(i, w, mask, code, machine)
    if stride == SCATTERED:
        base = keep_scattered(mask, machine, store)
    entry = log.accesses[w]
    log.access_base[row, entry], log.access_stride[row, entry] = base, stride
    log.accesses[w] = entry + 1
    return Status.RUNNING


@inner
def addresses(i: int, w: int, code: Code, machine: Machine) -> None:
    """Write each lane's byte address."""
    row = row_of(code.address[i], w, code, machine)
    low, high, target, offset = machine.rows[row], machine.rows[row + 1], machine.target, code.offset[i]
    lanes = machine.lanes[0]
    if code.index[i] != NO_INDEX or code.scale[i] != 1:
        indexed_addresses(i, w, code, machine)
    elif code.flags[i] & ADDRESS64:
        for k in range(lanes):
            target[k] = (np.int64(low[k]) | (np.int64(high[k]) << 32)) + offset
    else:
        for k in range(lanes):
            target[k] = (np.int64(low[k]) + offset) & FULL


@inner
def indexed_addresses(i: int, w: int, code: Code, machine: Machine) -> None:
    """Write each lane's byte address of the forms [R2.X4+8], [R2+UR4], [R2.U32+UR4], [R2.64+UR4]."""
    base, flags, scale = row_of(code.address[i], w, code, machine), code.flags[i], code.scale[i]
    index = row_of(code.index[i], w, code, machine) if code.index[i] != NO_INDEX else ZERO
    wide = ADDRESS64 | INDEX64 if code.space[i] <= Space.GLOBAL else 0
    for k in range(machine.lanes[0]):
        address = np.int64(machine.rows[base, k]) * scale + np.int64(machine.rows[index, k]) + code.offset[i]
        if flags & ADDRESS64:
            address += np.int64(machine.rows[base + 1, k]) << 32
        if flags & INDEX64:
            address += np.int64(machine.rows[index + 1, k]) << 32
        machine.target[k] = address if flags & wide else address & FULL


@inner
def spacing(mask: int, machine: Machine) -> tuple[int, int]:
    """Return lane 0's address and the bytes between lanes, were they evenly spaced; the stride is SCATTERED when they are not."""
    target, lanes = machine.target, machine.lanes[0]
    first = first_bit(mask)
    rest = mask & (mask - 1)
    if rest == 0:
        return target[first], np.int64(0)
    second = first_bit(rest)
    stride = (target[second] - target[first]) // (second - first)
    base = target[first] - first * stride
    wrong = np.int64(0)
    for k in range(lanes):
        wrong |= ((mask >> k) & 1) * (target[k] ^ (base + k * stride))
    return base, stride if wrong == 0 else SCATTERED


@inner
def locate(space: int, width: int, base: int, stride: int, mask: int, machine: Machine, memory: Memory) -> bool:
    """Return whether every lane's access is aligned and lies in an array; evenly spaced ones are looked at by their ends."""
    if stride != SCATTERED and (base | stride) & (width - 1) == 0:
        a, b = base + first_bit(mask) * stride, base + last_bit(mask) * stride
        if find(space, min(a, b), max(a, b) + width, memory) >= 0:
            return True
    for k in range(machine.lanes[0]):
        if (mask >> k) & 1:
            array = find(space, machine.target[k], machine.target[k] + width, memory)
            if array < 0 or machine.target[k] & (width - 1):
                return False
    return True


@inner
def last_bit(mask: int) -> int:
    """Return the position of the highest bit set in a lane mask."""
    lane = np.int64(LANES - 1)
    while not (mask >> lane) & 1:
        lane -= 1
    return lane


@inner
def find(space: int, start: int, end: int, memory: Memory) -> int:
    """Return the array that holds the bytes [start, end), 0 for a space that is one array, or -1."""
    if space == Space.SHARED:
        return np.int64(0 if start >= 0 and end <= memory.shared_bytes else -1)
    if space == Space.LOCAL:
        return np.int64(0 if start >= 0 and end <= LOCAL_BYTES else -1)
    latest = memory.latest[0]
    if start >= memory.start[latest] and end <= memory.end[latest]:
        return latest
    for array in range(memory.start.size):
        if start >= memory.start[array] and end <= memory.end[array]:
            memory.latest[0] = array
            return np.int64(array)
    return np.int64(-1)


@inner
def forbidden(width: int, mask: int, machine: Machine, memory: Memory) -> int:
    """Note which arrays the lanes store to; return the first lane whose array is read-only, or -1."""
    for k in range(machine.lanes[0]):
        if (mask >> k) & 1:
            array = find(Space.GLOBAL, machine.target[k], machine.target[k] + width, memory)
            memory.written[array] = memory.writable[array]
            if not memory.writable[array]:
                return np.int64(k)
    return np.int64(-1)


@inner
def lane_fault(i: int, w: int, mask: int, code: Code, machine: Machine, memory: Memory, progress: Progress) -> int:
    """Report the first lane whose access is outside every array, or misaligned."""
    for k in range(machine.lanes[0]):
        if (mask >> k) & 1:
            address, width = machine.target[k], code.width[i]
            progress.report[Report.ADDRESS] = address
            if find(code.space[i], address, address + width, memory) < 0:
                return fault(Fault.OUT_OF_RANGE, w, k, i, progress)
            if address & (width - 1):
                return fault(Fault.MISALIGNED, w, k, i, progress)
    return Status.ERROR


@inner
def move(i: int, w: int, mask: int, stride: int, code: Code, machine: Machine, memory: Memory) -> None:
    """Load or store the words of every lane."""
    space, target, index, lanes = code.space[i], machine.target, machine.index, machine.lanes[0]
    if space == Space.SHARED:
        for k in range(lanes):
            index[k] = target[k] >> 2
        transfer(i, w, mask, stride, ONE, memory.shared, code, machine)
    elif space == Space.LOCAL:
        for k in range(lanes):
            index[k] = (w * LOCAL_WORDS + (target[k] >> 2)) * LANES + k
        transfer(i, w, mask, SCATTERED, np.int64(LANES), memory.local, code, machine)
    else:
        for k in range(lanes):
            index[k] = (target[k] - memory.base) >> 2
        transfer(i, w, mask, stride, ONE, memory.words, code, machine)


@inner
def transfer(i: int, w: int, mask: int, stride: int, step: int, words: np.ndarray, code: Code, machine: Machine) -> None:
    """Move the words at `index`, and for wide accesses those `step` further on, between memory and registers."""
    width, load = code.width[i], code.operation[i] != Operation.STORE
    first = code.destination[i] if load else code.operand[i, 0]
    if width < 4:
        if load:
            load_part(i, w, mask, words, code, machine)
        else:
            store_part(width, mask, words, machine.rows[row_of(first, w, code, machine)], machine)
        return
    if load and first < 0:
        return
    for part in range(width >> 2):
        row = machine.rows[row_of(first, w, code, machine) + part] if first >= 0 else machine.rows[ZERO]
        if mask == FULL and stride == 4:
            move_line(words, machine.index[0], row, machine.lanes[0], load)
        elif load:
            gather(words, part * step, row, mask, machine)
        else:
            scatter(words, part * step, row, mask, machine)


@inner
def move_line(words: np.ndarray, start: int, row: np.ndarray, lanes: int, load: bool) -> None:
    """Move one word per lane to or from consecutive words."""
    if load:
        for k in range(lanes):
            row[k] = words[start + k]
    else:
        for k in range(lanes):
            words[start + k] = row[k]


@inner
def gather(words: np.ndarray, step: int, row: np.ndarray, mask: int, machine: Machine) -> None:
    """Load one word per lane of `mask`."""
    for k in range(machine.lanes[0]):
        if (mask >> k) & 1:
            row[k] = words[machine.index[k] + step]


@inner
def scatter(words: np.ndarray, step: int, row: np.ndarray, mask: int, machine: Machine) -> None:
    """Store one word per lane of `mask`."""
    for k in range(machine.lanes[0]):
        if (mask >> k) & 1:
            words[machine.index[k] + step] = row[k]


@inner
def load_part(i: int, w: int, mask: int, words: np.ndarray, code: Code, machine: Machine) -> None:
    """Load one or two bytes per lane, extended by zeros or by the sign."""
    if code.destination[i] < 0:
        return
    row = machine.rows[row_of(code.destination[i], w, code, machine)]
    bits = 8 * code.width[i]
    for k in range(machine.lanes[0]):
        if (mask >> k) & 1:
            value = (np.int64(words[machine.index[k]]) >> (8 * (machine.target[k] & 3))) & ((np.int64(1) << bits) - 1)
            if code.flags[i] & SIGNED and value >> (bits - 1):
                value -= np.int64(1) << bits
            row[k] = np.uint32(value & FULL)


@inner
def store_part(width: int, mask: int, words: np.ndarray, row: np.ndarray, machine: Machine) -> None:
    """Store the low one or two bytes of each lane's word."""
    for k in range(machine.lanes[0]):
        if (mask >> k) & 1:
            shift = 8 * (machine.target[k] & 3)
            hole = ((np.int64(1) << (8 * width)) - 1) << shift
            old = np.int64(words[machine.index[k]])
            words[machine.index[k]] = np.uint32((old & ~hole) | ((np.int64(row[k]) << shift) & hole))


@inner
def keep_scattered(mask: int, machine: Machine, store: Store) -> int:
    """Append the lanes' addresses to the trace; return their row."""
    row = store.scattered_rows[0]
    for k in range(machine.lanes[0]):
        store.scattered[row, k] = np.uint32(machine.target[k] if (mask >> k) & 1 else 0)
    store.scattered_rows[0] = row + 1
    return row


@inner
def load_constant(i: int, w: int, mask: int, code: Code, machine: Machine, memory: Memory, progress: Progress) -> int:
    """Execute LDC: read a constant bank at register + offset, in the lanes of `mask`."""
    addresses(i, w, code, machine)
    bank, width = code.bank[i], code.width[i]
    mask |= code.spread[i] if mask else 0
    for k in range(machine.lanes[0]):
        address = machine.target[k]
        if (mask >> k) & 1 and (address < 0 or address + width > memory.bank_bytes[bank] or address & (width - 1)):
            progress.report[Report.ADDRESS] = address
            inside = address >= 0 and address + width <= memory.bank_bytes[bank]
            return fault(Fault.MISALIGNED if inside else Fault.OUT_OF_RANGE, w, k, i, progress)
        machine.index[k] = memory.bank_start[bank] + (address >> 2)
    transfer(i, w, mask, SCATTERED, ONE, memory.constants, code, machine)
    return Status.RUNNING
