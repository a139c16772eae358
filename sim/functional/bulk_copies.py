"""UBLKCP: bytes in a row from global to shared memory, which complete at a barrier there (PTX `cp.async.bulk`).

They are moved at once: whoever reads them before the barrier says so reads what a GPU may not have there yet, and is not told.
"""

import numpy as np

from isa.vocabulary import Space
from sim.compiled.kernel import first_bit, outlined
from sim.functional.mbarriers import CURRENT, change
from sim.functional.memory import find, keep_access, room_for_access
from sim.functional.operands import row_of
from sim.functional.stack import fault
from sim.functional.state import FIRST, SECOND, THIRD, Code, Fault, Log, Machine, Memory, Progress, Report, Status, Store
from sim.functional.translation import translate
from sim.functional.watch import WRITE, Seen, touch
from sim.traces.trace import BYTES, PHASE, SCATTERED, SOURCE, TARGET

UNIT, MOST, IN_BLOCK = np.int64(16), np.int64(0xFFFF), np.int64(0xFFFFFF)  # bytes; units of one copy; of an address in a cluster


@outlined
def copy_bulk(i: int, w: int, mask: int, code: Code, machine: Machine, memory: Memory, log: Log, store: Store, progress: Progress) -> int:
    """Execute UBLKCP.S.G i once for the warp, with the uniform registers of the first lane of `mask`; return a Status."""
    room = room_for_access(w, log, store)
    if room != Status.RUNNING:
        return room
    if mask == 0:
        keep_access(w, mask, np.int64(0), np.int64(0), machine, log, store)
        return Status.RUNNING
    k = first_bit(mask)
    to, source = row_of(code.operand[i, FIRST], w, code, machine), row_of(code.operand[i, SECOND], w, code, machine)
    target, barrier = np.int64(machine.rows[to, k]) & IN_BLOCK, np.int64(machine.rows[to + 1, k]) & IN_BLOCK
    size = (np.int64(machine.rows[row_of(code.operand[i, THIRD], w, code, machine), k]) & MOST) * UNIT
    machine.target[0] = np.int64(machine.rows[source, k]) | np.int64(machine.rows[source + 1, k]) << 32
    if memory.seen.size:
        translate(np.int64(1), machine.target, memory.seen, memory.start, memory.end, memory.latest)
    address = machine.target[0]
    problem = wrong_place(Space.GLOBAL, address, size, UNIT, memory, progress)
    if problem < 0:
        problem = wrong_place(Space.SHARED, target, size, UNIT, memory, progress)
    if problem < 0:
        problem = wrong_place(Space.SHARED, barrier, np.int64(8), np.int64(8), memory, progress)
    if problem >= 0:
        return fault(problem, w, k, i, progress)
    for word in range(size >> 2):
        memory.shared[(target >> 2) + word] = memory.words[((address - memory.base) >> 2) + word]
    if memory.watch.asked[0]:
        seen = Seen(np.int64(i), np.int64(w), np.int64(k), WRITE)
        for byte in range(size):
            touch(target + byte, np.int64(-1), seen, machine, memory.watch)
    machine.target[SOURCE], machine.target[BYTES], machine.target[TARGET] = address, size, target
    machine.target[PHASE] = memory.phases[barrier >> 3, CURRENT]
    change(barrier >> 2, np.int64(0), -size, np.int64(0), memory, progress)
    keep_access(w, np.int64(15), np.int64(0), SCATTERED, machine, log, store)
    return Status.RUNNING


@outlined
def wrong_place(space: int, address: int, size: int, alignment: int, memory: Memory, progress: Progress) -> int:
    """Return the Fault of bytes that are misaligned or outside every array, -1 for none; report the address."""
    progress.report[Report.ADDRESS], progress.report[Report.EXPECTED] = address, space
    if find(space, address, address + size, memory) < 0:
        return np.int64(Fault.OUT_OF_RANGE)
    return np.int64(Fault.MISALIGNED) if address & (alignment - 1) else np.int64(-1)
