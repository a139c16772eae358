"""The queues of memory instructions, one behind each issue port: what enters them, and which head the load/store unit may take next.

Of heads that can be taken the one issued first is. Of stores at the heads of queues only the one issued first, when the lines of the store
before have been written: each takes `l1.line_cycles`, their data `l1.bytes_per_cycle`, or `lsu.store_line_cycles` where that came from
the same queue. Loads and atomics of other queues pass them.
"""

import numpy as np

from sim.compiled.kernel import inner
from sim.lowering.accesses import ATOMIC, LOAD, SHARED, STORE
from sim.lowering.core import Code, Hardware
from sim.lowering.memory import TICKS
from sim.timing.account import account_ready
from sim.timing.memory.access import describe, take_tickets
from sim.timing.memory.requests import room_from
from sim.timing.memory.state import NONE, Memory
from sim.timing.state import NEVER, Machine
from sim.traces.trace import PHASE_SHIFT, TraceArrays

NOTHING = np.int64(NONE)
WAITS = (LOAD, ATOMIC)  # accesses whose warp gets data back


@inner
def enqueue(warp: np.record, op: np.record, now: int, log: int, hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> None:
    """Put the warp's instruction, issued now, into the queue of its port."""
    mh, memory, m = hw.memory[0], sm.memory, np.int64(warp.sm)
    row = hw.row[op.pipe, warp.scheduler]
    number = hw.queue[row]
    queue = memory.queues[m, number]
    place = (queue.first + queue.count) % mh.depth
    entry = memory.entries[m, number, place]
    entry.issued = now
    entry.log = log
    entry.slot = warp.slot
    entry.instruction = warp.instruction
    if code.kept:
        take_tickets(m, entry, op, sm)
    describe(m, number, place, op, np.int64(warp.access), trace.mask[warp.position], mh, memory, trace)
    if op.phase:
        entry.phase = trace.access_base[warp.access] >> PHASE_SHIFT
    warp.access += 1
    if op.memory != SHARED and op.access not in WAITS:
        sm.places[m, warp.place].to_take += 1
    queue.count += 1
    if queue.count == mh.depth:
        sm.row_open[m, row] = NEVER
    if queue.count == 1:  # else the head of the queue, which alone can be taken, is the same
        plan(m, mh, code, memory)


@inner
def could_go(queue: np.record, m: int, number: int, mh: np.record, code: Code, memory: Memory) -> int:
    """Return the first cycle in which the head of a queue may be taken and finds room for every line in the table and the port.

    NEVER: not before something else has happened.
    """
    entry = memory.entries[m, number, queue.first]
    ready = max(entry.issued + mh.latency, queue.spaced)
    if entry.packets:
        ready = max(ready, memory.units[m].far_free // TICKS)
    if entry.requests == 0:
        return ready
    op = code.ops[entry.instruction]
    if op.access == STORE:
        if entry.issued > oldest_store(m, mh, code, memory):
            return np.int64(NEVER)
        ready = max(ready, queue.written, memory.units[m].written)
    if op.access in WAITS and memory.units[m].free_mshrs < entry.requests:
        return np.int64(NEVER)
    return max(ready, room_from(m, np.int64(entry.weight), mh, memory))


@inner
def oldest_store(m: int, mh: np.record, code: Code, memory: Memory) -> int:
    """Return when the first issued of the stores at the heads of the queues was: no other passes it."""
    oldest = np.int64(NEVER)
    for number in range(mh.queues):
        queue = memory.queues[m, number]
        entry = memory.entries[m, number, queue.first]
        if queue.count and entry.requests and code.ops[entry.instruction].access == STORE:
            oldest = min(oldest, entry.issued)
    return oldest


@inner
def plan(m: int, mh: np.record, code: Code, memory: Memory) -> None:
    """Find the next cycle in which the shared unit can take an instruction."""
    unit, soonest = memory.units[m], np.int64(NEVER)
    for number in range(mh.queues):
        queue = memory.queues[m, number]
        if queue.count:
            soonest = min(soonest, could_go(queue, m, number, mh, code, memory))
    unit.next = max(unit.free, soonest)


@inner
def choose_queue(m: int, now: int, mh: np.record, code: Code, memory: Memory) -> int:
    """Return the queue whose head can be taken now and was issued first; of heads issued together, the next in turn."""
    oldest, issued = np.int64(NOTHING), np.int64(NEVER)
    for turn in range(1, mh.queues + 1):
        number = (np.int64(memory.units[m].turn) + turn) % mh.queues
        queue = memory.queues[m, number]
        earlier = queue.count and memory.entries[m, number, queue.first].issued < issued
        if earlier and could_go(queue, m, number, mh, code, memory) <= now:
            oldest, issued = number, memory.entries[m, number, queue.first].issued
    return oldest


@inner
def open_row(m: int, number: int, now: int, hw: Hardware, sm: Machine) -> None:
    """A queue has room again from the next cycle on: tell the schedulers that wait for it."""
    row, pipe = hw.queue_row[number], hw.queue_pipe[number]
    if sm.row_open[m, row] < NEVER:
        return
    for q in range(hw.schedulers):
        scheduler = sm.schedulers[m, q]
        if hw.row[pipe, q] == row:
            account_ready(scheduler, now, hw, sm)
            if (scheduler.classes >> np.uint64(pipe)) & np.uint64(1) != np.uint64(0):
                scheduler.visit = min(scheduler.visit, max(now + 1, scheduler.free))
    sm.row_open[m, row] = now + 1
