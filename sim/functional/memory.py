"""LOAD, STORE and ATOM: addresses of 32 lanes, bounds and alignment, the move, and what the log keeps of it.

Stages: 1. addresses; 2. evenly spaced or scattered; 3. bounds and alignment of every lane; 4. words; 5. the log.
Where lanes store to the same word the highest lane wins. Device addresses lie below 4 GiB (see `sim.launch.placement`) for all programs.
"""

from typing import NamedTuple

import numpy as np

from isa.operations import Form
from isa.vocabulary import PT, Space
from sim.compiled.kernel import first_bit, inner
from sim.functional.addresses import keep_scattered, last_bit, spacing
from sim.functional.atomics import update
from sim.functional.bulk import copy_to_shared, fill_in, grant, load_matrices, says_where_done, spread_rows, store_matrices, take_lengths
from sim.functional.clusters import give_rank, own_addresses, perform_far, take_rank, wrong_rank
from sim.functional.flags import ASYNC, MATRIX, ZFILL
from sim.functional.operands import predicate
from sim.functional.stack import fault
from sim.functional.state import (
    FIRST,
    FULL,
    LANES,
    LOCAL_BYTES,
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
from sim.functional.transfers import ONE, transfer
from sim.functional.translation import device_addresses
from sim.functional.watch import observe
from sim.functional.windows import has_windows, next_window
from sim.traces.trace import FAR, PHASE_SHIFT, SCATTERED

LOCAL_WORDS = LOCAL_BYTES // 4


class Part(NamedTuple):
    """The lanes of an access that go to one memory, and their addresses: `base` of lane 0, `stride` apart, or SCATTERED."""

    lanes: int  # a mask
    reading: int  # mask of those of the lanes whose addresses count
    space: int
    base: int
    stride: int


@inner
def access(i: int, w: int, mask: int, code: Code, machine: Machine, memory: Memory, log: Log, store: Store, progress: Progress) -> int:
    """Execute LOAD, STORE or ATOM i for the lanes of `mask`; return a Status (a FULL one changes nothing)."""
    room = room_for_access(w, log, store)
    if room != Status.RUNNING:
        return room
    base, stride = np.int64(0), np.int64(0)
    if mask:
        device_addresses(i, w, mask, code, machine, memory)
        if memory.ranks > 1 and code.space[i] == Space.SHARED:
            own_addresses(i, mask, code, machine)
        reading = mask
        if code.flags[i] & (ASYNC | MATRIX):
            if code.flags[i] & MATRIX:
                lane = spread_rows(code.width[i], machine) if mask == FULL else np.int64(0)
                if lane >= 0:
                    progress.report[Report.ADDRESS], progress.report[Report.EXPECTED] = machine.target[lane], Space.SHARED
                    return fault(Fault.MISALIGNED if mask == FULL else Fault.MATRIX_IN_PART, w, lane, i, progress)
            else:
                if code.flags[i] & ZFILL:
                    take_lengths(code.width[i], machine)
                reading = mask & predicate(i, FIRST, w, code, machine)
                fill_in(reading, machine)
        base, stride = spacing(mask, machine)
        rest, windows = mask, (code.space[i] == Space.GENERIC or memory.ranks > 1) and has_windows(base, stride, mask, machine)
        done, anywhere = mask, not (windows and says_where_done(i, code))
        while rest:
            part, space = (next_window(rest, machine), machine.window[0]) if windows else (rest, code.space[i])
            ranked = windows and memory.ranks > 1 and space == Space.SHARED
            if ranked:
                part = take_rank(part, machine)
                if machine.window[1] >= memory.ranks:
                    return wrong_rank(i, w, first_bit(part), machine.window[1], progress)
                store.found[i, 0] |= np.int64(machine.window[1] != machine.rank[0]) << FAR
            if windows:
                base, stride = spacing(part, machine)
            if code.space[i] == Space.GENERIC:
                store.found[i, 0] |= np.int64(1) << space
            if space <= Space.GLOBAL or anywhere:
                status = perform(i, w, Part(part, reading & part, np.int64(space), base, stride), code, machine, memory, progress)
                if status != Status.RUNNING:
                    return status
                if ranked:
                    give_rank(part, machine, memory)
            else:
                done &= ~part
            rest &= ~part
        if windows:
            base, stride = spacing(mask, machine)
        if code.predicate_destination[i, 0] != PT:
            grant(i, w, mask, done, code, machine)
    keep_access(w, mask, base, stride, machine, log, store)
    if mask and code.flags[i] & ASYNC:
        log.access_base[log.row[w], log.accesses[w] - 1] += machine.index[0] << PHASE_SHIFT
    return Status.RUNNING


@inner
def room_for_access(w: int, log: Log, store: Store) -> int:
    """Return RUNNING when the log has room for one more access of warp w, else what is full."""
    if log.accesses[w] == log.access_base.shape[1]:
        return Status.WARP_ACCESSES_FULL
    if store.scattered_rows[0] == store.scattered.shape[0]:
        return Status.SCATTERED_FULL
    return Status.RUNNING


@inner
def keep_access(w: int, mask: int, base: int, stride: int, machine: Machine, log: Log, store: Store) -> None:
    """Append an access of warp w to the log."""
    row, entry = log.row[w], log.accesses[w]
    if stride == SCATTERED:
        base = keep_scattered(mask, machine, store)
    log.access_base[row, entry], log.access_stride[row, entry] = base, stride
    log.accesses[w] = entry + 1


@inner
def perform(i: int, w: int, part: Part, code: Code, machine: Machine, memory: Memory, progress: Progress) -> int:
    """Check and carry out the part of access i that goes to one memory; return a Status."""
    mask, reading, space = part.lanes, part.reading, part.space
    progress.report[Report.EXPECTED] = space
    if reading and not locate(space, code.width[i], part.base, part.stride, reading, machine, memory):
        return lane_fault(i, w, reading, space, code, machine, memory, progress)
    if code.form[i] != Form.LOAD and space <= Space.GLOBAL:
        lane = forbidden(code.width[i], mask, machine, memory)
        if lane >= 0:
            progress.report[Report.ADDRESS] = machine.target[lane]
            return fault(Fault.READ_ONLY, w, lane, i, progress)
    if space == Space.SHARED and machine.window[1] != machine.rank[0]:
        perform_far(i, w, mask, code, machine, memory)
        return Status.RUNNING
    if memory.watch.asked[0]:
        observe(i, w, reading, space, code, machine, memory)
    if code.form[i] == Form.ATOM:
        if space == Space.LOCAL:
            return fault(Fault.ATOMIC_ON_LOCAL, w, first_bit(mask), i, progress)
        update(i, w, mask, space, code, machine, memory)
    elif code.flags[i] & ASYNC:
        return copy_to_shared(i, w, mask, reading, code, machine, memory, progress)
    elif code.flags[i] & MATRIX:
        if code.form[i] == Form.LOAD:
            load_matrices(i, w, code, machine, memory)
        else:
            store_matrices(i, w, code, machine, memory)
    else:
        move(i, w, mask, space, part.stride, code, machine, memory)
    return Status.RUNNING


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
def lane_fault(i: int, w: int, mask: int, space: int, code: Code, machine: Machine, memory: Memory, progress: Progress) -> int:
    """Report the first lane whose access is outside every array, or misaligned."""
    for k in range(machine.lanes[0]):
        if (mask >> k) & 1:
            address, width = machine.target[k], code.width[i]
            progress.report[Report.ADDRESS] = address
            if find(space, address, address + width, memory) < 0:
                return fault(Fault.OUT_OF_RANGE, w, k, i, progress)
            if address & (width - 1):
                return fault(Fault.MISALIGNED, w, k, i, progress)
    return Status.ERROR


@inner
def move(i: int, w: int, mask: int, space: int, stride: int, code: Code, machine: Machine, memory: Memory) -> None:
    """Load or store the words of every lane."""
    target, index, lanes = machine.target, machine.index, machine.lanes[0]
    if space == Space.SHARED:
        for k in range(lanes):
            index[k] = target[k] >> 2
        transfer(i, w, mask, stride, ONE, memory.shared, code, machine)
    elif space == Space.LOCAL:
        memory.touched[0] = 1
        for k in range(lanes):
            index[k] = (w * LOCAL_WORDS + (target[k] >> 2)) * LANES + k
        transfer(i, w, mask, SCATTERED, np.int64(LANES), memory.local, code, machine)
    else:
        for k in range(lanes):
            index[k] = (target[k] - memory.base) >> 2
        transfer(i, w, mask, stride, ONE, memory.words, code, machine)
