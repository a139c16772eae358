"""Issue: one scheduler's turn in one cycle.

Stages: 1. wake the warps due; 2. if the dispatch port is free, collect the ready warps whose pipe has a free port and let the
policy choose; 3. issue: charge the wait, hold the ports, note the results, find when the warp may issue again; 4. on a scheduler of
issue width 2 to 4 try the same warp's next instructions in the same cycle; 5. compute the next cycle in which anything can change.
Peak rate: issue_width / issue_interval warp instructions per cycle and scheduler.
"""

import numpy as np

from sim.compiled.apart import call
from sim.compiled.kernel import bit, first_bit, inner, outlined
from sim.lowering.core import BARRIER, BRANCH, CLOCK, CLUSTER_WAIT, Code, Hardware
from sim.policies import Policy
from sim.policies.builtin import chosen
from sim.result.causes import StallCause
from sim.timing.account import account_ready, account_sharers, charge_further, charge_slots, charge_warp
from sim.timing.barriers import arrive
from sim.timing.blocks import end_warp
from sim.timing.constants import operand_line, result_delay
from sim.timing.control import pass_product, read_registers, record_control
from sim.timing.fetch import code_there
from sim.timing.memory.issue_queue import enqueue, plan
from sim.timing.memory.lsu import flush_stores
from sim.timing.memory.requests import forget
from sim.timing.parts import Part, What, exchange
from sim.timing.pipes import begin_product, pipe_free, take_port
from sim.timing.scoreboard import record_result, wait_constant, wait_from, wait_until
from sim.timing.state import Machine
from sim.timing.telling import ISSUE, STALL, asked, has, hold_no_longer, tell_of, tell_stall
from sim.timing.wakeup import next_wake, sleep, wake_due
from sim.traces.trace import TraceArrays

GTYR = int(Policy.GTYR)
SELECTED, WAIT = int(StallCause.SELECTED), int(StallCause.WAIT)
BRANCH_RESOLVING, NO_INSTRUCTION = int(StallCause.BRANCH_RESOLVING), int(StallCause.NO_INSTRUCTION)


@inner
def visit(scheduler: np.record, now: int, hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> None:
    """Take the scheduler's turn in cycle `now`."""
    account_ready(scheduler, now, hw, sm)
    wake_due(scheduler, now, hw, code, sm)
    if scheduler.classes != np.uint64(0) and scheduler.free <= now:
        eligible = eligible_warps(scheduler, now, hw, sm)
        if eligible != np.uint64(0):
            m, q = scheduler.sm, scheduler.number
            if hw.hooks:
                slot = asked(scheduler, eligible, now, hw, code, sm)
            else:
                in_turn = hw.policy == GTYR and takes_turns(scheduler, now, hw, sm)
                slot = chosen(hw.policy, eligible, scheduler.last, sm.age[m, q], hw.group_size, in_turn)
            if slot >= 0:
                scheduler.last = slot
                issue(scheduler, sm.warps[m, slot * hw.schedulers + q], now, hw, code, sm, trace)
    scheduler.visit = next_visit(scheduler, now, hw, sm)


@inner
def eligible_warps(scheduler: np.record, now: int, hw: Hardware, sm: Machine) -> int:
    """Return the mask of ready warps whose pipe has a free port."""
    m, q, classes = scheduler.sm, scheduler.number, scheduler.classes
    eligible = np.uint64(0)
    while classes != np.uint64(0):
        pipe = first_bit(classes)
        classes &= classes - np.uint64(1)
        if pipe_free(m, q, pipe, hw, sm) <= now:
            eligible |= sm.waiting[m, q, pipe]
    return eligible


@inner
def takes_turns(scheduler: np.record, now: int, hw: Hardware, sm: Machine) -> bool:
    """Return whether the instruction issued last yields, or a ready warp's pipe takes an instruction again just now."""
    if scheduler.yielded:
        return True
    m, q, classes = scheduler.sm, scheduler.number, scheduler.classes
    while classes != np.uint64(0):
        pipe = first_bit(classes)
        classes &= classes - np.uint64(1)
        if 0 < pipe_free(m, q, pipe, hw, sm) == now:
            return True
    return False


@inner
def issue(scheduler: np.record, warp: np.record, now: int, hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> None:
    """Issue the warp's instruction, and its next ones too where the scheduler can and nothing forbids."""
    m, q, i = np.int64(scheduler.sm), np.int64(scheduler.number), np.int64(warp.instruction)
    op = code.ops[i]
    charge_slots(scheduler, warp, op, now, hw, sm)
    charge_warp(warp, op, now, sm)
    if hw.hooks:
        hold_no_longer(scheduler, now, sm)
    account_ready(scheduler, now + 1, hw, sm)
    sm.waiting[m, q, op.pipe] &= ~bit(warp.bit)
    if sm.waiting[m, q, op.pipe] == np.uint64(0):
        scheduler.classes &= ~bit(op.pipe)
    scheduler.issued = now + hw.issue_interval
    scheduler.free = now + hw.issue_interval
    dispatch(scheduler, warp, now, hw, code, sm, trace)
    alive = follow(warp, now, hw, code, sm, trace)
    if hw.issue_width > 1:
        alive = call(sm.parts[Part.FURTHER], m, np.int64(warp.slot), i if alive else ~i, now, hw, code, sm, trace) != 0
    if alive:
        if has(STALL, hw):
            tell_stall(warp, now, hw, code, sm)
        sleep(warp, sm)


@inner
def dispatch(scheduler: np.record, warp: np.record, now: int, hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> None:
    """Hold the ports that the warp's instruction needs, note its results and its row of the timeline."""
    chip, op = sm.chip[0], code.ops[warp.instruction]
    tell_of(ISSUE, warp, np.int64(warp.instruction), np.int64(0), now, hw, sm)
    if op.shared:
        account_sharers(scheduler, now, hw, sm)
    scheduler.begins, scheduler.yielded = now, op.yields
    row, late, dispatched = np.int64(-1), np.int64(0), now
    if hw.banks and op.reads:
        dispatched += read_registers(scheduler, warp, op, now, hw, code, sm)
    if op.further:
        scheduler.free = max(scheduler.free, scheduler.begins + 1 + op.further)
        scheduler.standstill += np.int64(op.further)
    if hw.banks and op.ported:
        late = pass_product(scheduler, np.int64(warp.slot), hw, sm)
    take_port(warp.sm, warp.scheduler, op.pipe, now, dispatched + op.hold + late, hw, sm)
    if hw.dispatch_holds:
        scheduler.free = max(scheduler.free, now + op.hold)
    if op.late and trace.mask[warp.position] != np.uint32(0):
        late = result_delay(warp, op, trace.mask[warp.position], now, hw, code, sm, trace)
    if op.turn:
        late = begin_product(warp, op, now, code, sm)
    warp.access += op.skips
    if chip.log_from <= now <= chip.log_to:
        row = chip.log_rows
        log_issue(chip, warp, op, now, late, sm, trace)
    if op.memory:
        enqueue(warp, op, now, row, hw, code, sm, trace)
    if code.control:
        record_control(warp, op, now, late, hw, code, sm)
    else:
        record_result(warp, op, now, late, hw, code, sm)
    if op.copies:
        exchange(What.START_COPY, np.int64(warp.sm), np.int64(warp.slot), now, hw, code, sm, trace)
    sm.issues[warp.instruction] += 1
    if op.flow == CLOCK:
        log_clock(chip, warp, now, sm)


@inner
def follow(warp: np.record, now: int, hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> bool:
    """Move the warp past its instruction; return True when it goes on and its wake-up is computed."""
    i, op, lanes = np.int64(warp.instruction), code.ops[warp.instruction], trace.mask[warp.position]
    warp.position += 1
    if warp.position == warp.path_end:
        end_warp(warp, now, hw, code, sm)
        if hw.memory[0].store_lines and sm.places[warp.sm, warp.place].alive == 0:
            forget(np.int64(warp.sm), now, hw.memory[0], sm.memory)
            flush_stores(np.int64(warp.sm), np.int64(warp.place), now + 1, hw.memory[0], sm)
            plan(np.int64(warp.sm), hw.memory[0], code, sm.memory)
        return False
    warp.instruction = trace.instruction[warp.position]
    warp.constant = operand_line(warp, code, trace)
    code_from = code_there(np.int64(warp.sm), i, np.int64(warp.instruction), now, hw, sm)
    warp.code_from = code_from
    if op.flow == BARRIER and lanes != 0:  # a BAR that no lane executes holds nobody
        arrive(warp, op, now, hw, code, sm)
        if not op.passes:
            return False
    scheduler = sm.schedulers[warp.sm, warp.scheduler]
    warp.standstill = scheduler.standstill
    earliest, cause = scheduler.begins + op.distance, np.int64(WAIT)
    if op.flow == CLUSTER_WAIT and lanes != 0:
        warp.earliest = earliest
        exchange(What.WAIT_FOR_CLUSTER, np.int64(warp.sm), np.int64(warp.slot), now, hw, code, sm, trace)
        return False
    if op.pause and lanes != 0 and now + op.pause > earliest:
        earliest, cause = now + op.pause, np.int64(op.pause_cause)
    taken = not code.control or warp.instruction != i + 1
    if op.flow == BRANCH and hw.branch_latency > op.distance and taken:
        earliest, cause = now + hw.branch_latency, np.int64(BRANCH_RESOLVING)
    if op.indirect and taken:
        earliest, cause = earliest + op.indirect, np.int64(BRANCH_RESOLVING)
    if op.sync:
        earliest, cause = earliest + op.sync, np.int64(BRANCH_RESOLVING)
    if code_from > earliest:
        earliest, cause = code_from, np.int64(NO_INSTRUCTION)
    warp.since = now + 1
    wait_from(warp, now, earliest, cause, hw, code, sm)
    return True


@outlined
def issue_further(
    scheduler: np.record,
    warp: np.record,
    first: np.record,
    now: int,
    alive: bool,
    hw: Hardware,
    code: Code,
    sm: Machine,
    trace: TraceArrays,
) -> bool:
    """Issue the warp's next instructions in the same cycle while the issue width allows and nothing forbids; return as `follow` does."""
    before, further, cause = first, np.int64(0), np.int64(WAIT)
    while alive and further < hw.issue_width - 1:
        cause = forbids(warp, before, now, hw, code, sm)
        if cause != SELECTED:
            break
        further += 1
        cause, before = np.int64(WAIT), code.ops[warp.instruction]
        warp.since, warp.wake, warp.cause = now, now, np.int64(WAIT)  # it waited for nothing
        dispatch(scheduler, warp, now, hw, code, sm, trace)
        alive = follow(warp, now, hw, code, sm, trace)
    charge_further(scheduler, further, cause, hw, sm)
    return alive


@inner
def forbids(warp: np.record, before: np.record, now: int, hw: Hardware, code: Code, sm: Machine) -> int:
    """Return what keeps the warp's next instruction from issuing together with the one before; SELECTED: it is independent, with a port."""
    if before.flow == BRANCH and (hw.branch_latency > 0 or before.sync > 0 or before.indirect > 0):
        return np.int64(BRANCH_RESOLVING)
    if not before.pairs:
        return np.int64(WAIT)
    op = code.ops[warp.instruction]
    when, why = wait_constant(warp, now, np.int64(warp.code_from), np.int64(NO_INSTRUCTION), hw, code, sm)
    if when <= now:
        when, why = wait_until(warp, now, np.int64(WAIT), hw, code, sm)
    if when > now:
        return why
    if pipe_free(warp.sm, warp.scheduler, op.pipe, hw, sm) > now:
        return np.int64(op.port_cause)
    return np.int64(SELECTED)


@inner
def next_visit(scheduler: np.record, now: int, hw: Hardware, sm: Machine) -> int:
    """Return the next cycle in which the scheduler could issue or a warp of it wakes."""
    soonest = next_wake(scheduler, now)
    classes = scheduler.classes
    ready_from = max(scheduler.free, now + 1)
    while classes != np.uint64(0):
        pipe = first_bit(classes)
        classes &= classes - np.uint64(1)
        soonest = min(soonest, max(ready_from, pipe_free(scheduler.sm, scheduler.number, pipe, hw, sm)))
    return soonest


@inner
def log_issue(chip: np.record, warp: np.record, op: np.record, now: int, late: int, sm: Machine, trace: TraceArrays) -> None:
    """Append one row to the timeline; the run loop returns before the log can overflow."""
    row = chip.log_rows
    chip.log_rows += 1
    mask = trace.mask[warp.position]
    lanes = np.int64(0)
    for lane in range(32):
        lanes += np.int64((mask >> np.uint32(lane)) & np.uint32(1))
    dispatched = now + max(op.hold, np.int64(1))
    sm.log[row, 0] = now
    sm.log[row, 1] = warp.sm
    sm.log[row, 2] = warp.scheduler
    sm.log[row, 3] = sm.places[warp.sm, warp.place].block
    sm.log[row, 4] = warp.number
    sm.log[row, 5] = warp.instruction
    sm.log[row, 6] = lanes
    sm.log[row, 7] = dispatched
    sm.log[row, 8] = (
        now + late + op.latency if (op.results or op.turn) and not op.memory else dispatched
    )  # a load's is written when it is known
    sm.log[row, 9] = warp.since
    sm.log[row, 10] = warp.wake
    sm.log[row, 11] = warp.cause


@inner
def log_clock(chip: np.record, warp: np.record, now: int, sm: Machine) -> None:
    """Append one clock read; the run loop returns before the log can overflow."""
    row = chip.clock_rows
    chip.clock_rows += 1
    sm.clock_log[row, 0] = now
    sm.clock_log[row, 1] = sm.places[warp.sm, warp.place].block
    sm.clock_log[row, 2] = warp.number
    sm.clock_log[row, 3] = warp.instruction
    sm.clock_log[row, 4] = warp.sm
