"""LOAD, STORE and ATOM: addresses of 32 lanes, bounds and alignment, the move, and what the log keeps of it.

Stages: 1. addresses; 2. evenly spaced or scattered; 3. bounds and alignment of every lane; 4. words; 5. the log.
Where lanes store to the same word the highest lane wins. Device addresses lie below 4 GiB (see `sim.launch.placement`) for all programs.
"""

from typing import NamedTuple

import numpy as np

from isa.operations import Form
from isa.vocabulary import Space
from sim.compiled.kernel import first_bit, inner
from sim.functional.addresses import keep_scattered, last_bit, spacing
from sim.functional.marks import LOADED, STORED, mark
from sim.functional.stack import fault
from sim.functional.state import (
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
from sim.functional.windows import has_windows, next_window
from sim.traces.trace import SCATTERED

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
    """Execute LOAD or STORE i for the lanes of `mask`; return a Status (a FULL one changes nothing). `accesses` executes all others."""
    room = room_for_access(w, log, store)
    if room != Status.RUNNING:
        return room
    base, stride = np.int64(0), np.int64(0)
    if mask:
        device_addresses(i, w, mask, code, machine, memory)
        base, stride = spacing(mask, machine)
        rest, windows = mask, code.space[i] == Space.GENERIC and has_windows(base, stride, mask, machine)
        while rest:
            part, space = (next_window(rest, machine), machine.window[0]) if windows else (rest, code.space[i])
            if windows:
                base, stride = spacing(part, machine)
            if code.space[i] == Space.GENERIC:
                store.found[i, 0] |= np.int64(1) << space
            status = checked(i, w, Part(part, part, np.int64(space), base, stride), code, machine, memory, progress)
            if status != Status.RUNNING:
                return status
            move(i, w, part, space, stride, code, machine, memory)
            rest &= ~part
        if windows:
            base, stride = spacing(mask, machine)
    keep_access(w, mask, base, stride, machine, log, store)
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
def checked(i: int, w: int, part: Part, code: Code, machine: Machine, memory: Memory, progress: Progress) -> int:
    """Check the part of access i that goes to one memory, and note which arrays it stores to; return a Status."""
    mask, reading, space = part.lanes, part.reading, part.space
    progress.report[Report.EXPECTED] = space
    if reading and not locate(space, code.width[i], part.base, part.stride, reading, machine, memory):
        return lane_fault(i, w, reading, space, code, machine, memory, progress)
    if code.form[i] != Form.LOAD and space <= Space.GLOBAL:
        lane = forbidden(code.width[i], mask, machine, memory)
        if lane >= 0:
            progress.report[Report.ADDRESS] = machine.target[lane]
            return fault(Fault.READ_ONLY, w, lane, i, progress)
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
        mark(mask, code.width[i], stride, LOADED if code.form[i] == Form.LOAD else STORED, machine, memory)
        transfer(i, w, mask, stride, ONE, memory.words, code, machine)
