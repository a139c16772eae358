"""The control-code core: what control words say instead of a scoreboard.

Stages: 1. a warp's next instruction issues no sooner than the stall count of the last one allows, and when every dependence counter
that it waits for is zero; 2. an instruction raises its write counter until its result is there and its read counter until its
sources have been read; 3. arithmetic reads its registers through one port per bank, unless a reuse cache has them, all within
`read_window` cycles: while it cannot, the scheduler stands still, nothing is issued, and no stall count of its warps counts; a product of
matrices takes all ports for `units.*.reads` cycles; 4. a product of a warpgroup takes the ports for its sums, `port_cycles` in a row, and
leaves them for one cycle each time; a warp that reads cycle after cycle goes on, and the product makes up for it. A counter that several
instructions hold is zero with the last of them.
Leaves out: two groups of one warp taking turns; products are no slower for what they leave to others.
"""

import numpy as np

from sim.compiled.kernel import inner
from sim.lowering.core import Code, Hardware
from sim.lowering.phases import COPY_OUT
from sim.timing.groups import clear_groups, join
from sim.timing.state import NEVER, Machine
from sim.timing.telling import load_begins


@inner
def clear_counters(m: int, s: int, sm: Machine) -> None:
    """Begin a warp with all its counters zero."""
    clear_groups(m, s, sm)
    for number in range(sm.unknown.shape[2]):
        sm.unknown[m, s, number] = 0
        sm.released[m, s, number] = 0
        sm.released_cause[m, s, number] = 0
    for number in range(sm.loading.shape[2]):
        sm.loading[m, s, number] = 0
        sm.loaded[m, s, number] = 0


@inner
def raise_counter(m: int, s: int, number: int, until: int, cause: int, sm: Machine) -> None:
    """Hold a counter until a cycle, NEVER while that is not known."""
    if until == NEVER:
        sm.unknown[m, s, number] += 1
        sm.ready[m, s, number] = NEVER
        sm.ready_cause[m, s, number] = cause
        return
    note_release(m, s, number, until, cause, sm)


@inner
def note_release(m: int, s: int, number: int, cycle: int, cause: int, sm: Machine) -> None:
    """One holder of a counter releases it in that cycle."""
    last = sm.released[m, s, number]
    if cycle > last or (cycle == last and cause < sm.released_cause[m, s, number]):
        sm.released[m, s, number] = cycle
        sm.released_cause[m, s, number] = cause
    if sm.unknown[m, s, number] == 0:
        sm.ready[m, s, number] = sm.released[m, s, number]
        sm.ready_cause[m, s, number] = sm.released_cause[m, s, number]


@inner
def lower_counter(m: int, s: int, number: int, cycle: int, cause: int, sm: Machine) -> None:
    """It is known now when a holder of a counter releases it."""
    sm.unknown[m, s, number] -= 1
    note_release(m, s, number, cycle, cause, sm)


@inner
def record_control(warp: np.record, op: np.record, now: int, late: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """Note which counters the warp's instruction, issued now, holds, and until when. late: cycles that its result waits for a constant."""
    m, s = warp.sm, warp.slot
    back, read = now + late + op.latency, now + op.source_read
    if op.memory:
        warp.pending += 1
        back, read = np.int64(NEVER), np.int64(NEVER)
    elif op.copies == COPY_OUT:
        warp.pending += 1
        back = np.int64(NEVER)
    else:
        if op.store:
            back = now + hw.store_latency
        if op.store or op.results or op.turn:
            warp.done = max(warp.done, back)
    load_begins(warp, op, back, hw, sm)
    if op.write_counter >= 0:
        if not op.turn:
            raise_counter(m, s, np.int64(op.write_counter), back, np.int64(op.result_cause), sm)
        if code.kept:
            join(m, s, np.int64(op.write_counter), back, np.int64(op.result_cause), not op.joins, code, sm)
    if op.read_counter >= 0:
        raise_counter(m, s, np.int64(op.read_counter), read, np.int64(op.result_cause), sm)
        if code.kept:
            join(m, s, np.int64(op.read_counter), read, np.int64(op.result_cause), True, code, sm)


@inner
def bank_reads(bank: int, warp: np.record, op: np.record, hw: Hardware, code: Code, sm: Machine) -> int:
    """Return how many registers the warp's instruction reads from a bank; update the bank's part of its reuse cache."""
    m, q, i = warp.sm, warp.scheduler, warp.instruction
    reads, last = np.int64(0), np.int64(-1)
    for slot in range(code.sources.shape[1]):
        for word in range(2):
            register = np.int64(code.sources[i, slot, word])
            if register < 0 or register % hw.banks != bank:
                continue
            wanted = np.int64(warp.slot) * 256 + register
            place = np.int64(op.collector) * code.sources.shape[1] + slot
            if sm.reuse[m, q, bank, place] != wanted and register != last:
                reads += 1
                last = register
            sm.reuse[m, q, bank, place] = wanted if (np.int64(op.reuse) >> slot) & 1 else np.int64(-1)
    return reads


@inner
def read_registers(scheduler: np.record, warp: np.record, op: np.record, now: int, hw: Hardware, code: Code, sm: Machine) -> int:
    """Let the warp's instruction, issued now, read its registers; let the scheduler stand still until it has begun to.

    Return in how many cycles its pipe takes it: when it begins to read; FP64 and the tensor cores, once the first register of each bank has
    been read.
    """
    m, q = warp.sm, warp.scheduler
    begins = max(now, scheduler.reads)
    for bank in range(hw.banks):
        reads = bank_reads(bank, warp, op, hw, code, sm)
        sm.bank_reads[m, q, bank] = reads
        if reads:
            begins = max(begins, sm.bank_free[m, q, bank] + min(reads - hw.read_window, np.int64(0)))
    dispatched = begins
    for bank in range(hw.banks):
        reads = sm.bank_reads[m, q, bank]
        if reads:
            if op.collector:
                dispatched = max(dispatched, sm.bank_free[m, q, bank])
            sm.bank_free[m, q, bank] = max(sm.bank_free[m, q, bank], begins) + reads
    scheduler.begins, scheduler.reads = begins, begins + op.reads
    scheduler.free = max(scheduler.free, begins + 1)
    scheduler.standstill += begins - now
    return dispatched - now


@inner
def pass_product(scheduler: np.record, slot: int, hw: Hardware, sm: Machine) -> int:
    """Let an instruction of a warp wait until a product of a warpgroup leaves it the ports; return for how many cycles."""
    m, q, begins, owed = scheduler.sm, scheduler.number, np.int64(scheduler.begins), np.int64(1)
    begun, last = sm.product_begun[m, q], sm.product_beside[m, q]
    if not begun <= begins < sm.product_over[m, q]:
        return np.int64(0)
    turn = max(begins, last)
    if turn == last and slot == sm.product_slot[m, q]:
        owed = np.int64(sm.product_owed[m, q])
    else:
        late = turn - max(last, begun) - sm.product_owed[m, q]  # after the product has left the ports
        turn += -late if late < 0 else -late % (hw.product_ports + 1)
    sm.product_slot[m, q], sm.product_beside[m, q] = slot, turn + 1
    sm.product_owed[m, q] = min(owed + hw.product_ports - 1, hw.product_backlog)
    scheduler.begins = turn
    return turn - begins
