"""Scoreboard: when may a warp's next instruction issue, and what does it wait for until then?

Stages: 1. the earliest cycle that the caller allows; 2. every dependence read or written must be ready (RAW and WAW; operands are
read at issue, so WAR never waits); under the all_outstanding rule a warp found waiting sleeps until its last result of arithmetic is back;
3. under a cap, arithmetic waits for a place among that in flight. Loads are not counted in 2 and 3: `sim.result.causes.WakeRule` says why.
The end of a wait is known when the warp issues, or NEVER until the memory hierarchy knows it: computed then, never polled.
"""

import numpy as np

from sim.compiled.kernel import inner
from sim.lowering.core import Code, Hardware
from sim.lowering.phases import COPY_OUT
from sim.result.causes import StallCause
from sim.timing.constants import operand_there
from sim.timing.groups import join, part_ready
from sim.timing.state import NEVER, Machine

DISPATCH_STALL, IMC_MISS = int(StallCause.DISPATCH_STALL), int(StallCause.IMC_MISS)


@inner
def wait_until(warp: np.record, earliest: int, cause: int, hw: Hardware, code: Code, sm: Machine) -> tuple[int, int]:
    """Return (first cycle the warp may issue its instruction, the StallCause that binds)."""
    m, s, i = warp.sm, warp.slot, warp.instruction
    when, why = earliest, cause
    for column in range(code.needs.shape[1]):
        name = code.needs[i, column]
        if name < 0:
            break
        if sm.ready[m, s, name] > when:
            when, why = sm.ready[m, s, name], np.int64(sm.ready_cause[m, s, name])
    waits = np.int64(code.ops[i].waits)
    if waits >= 0:
        at, reason = part_ready(m, s, waits, np.int64(code.ops[i].most), code, sm)
        if at > when:
            when, why = at, reason
    if hw.wake_all and when > earliest and warp.outstanding > when:
        when, why = warp.outstanding, np.int64(warp.outstanding_cause)
    if hw.in_flight_cap and code.ops[i].arithmetic and warp.flight_free > when:
        when, why = warp.flight_free, np.int64(DISPATCH_STALL)
    return when, why


@inner
def wait_from(warp: np.record, now: int, earliest: int, cause: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """Find until when the warp waits for its next instruction, which something allows from `earliest` on; its constant is asked for now."""
    warp.earliest, warp.earliest_cause = wait_constant(warp, now, earliest, cause, hw, code, sm)
    warp.wake, warp.cause = wait_until(warp, np.int64(warp.earliest), np.int64(warp.earliest_cause), hw, code, sm)


@inner
def wait_constant(warp: np.record, now: int, earliest: int, cause: int, hw: Hardware, code: Code, sm: Machine) -> tuple[int, int]:
    """Ask for the constant of the warp's next instruction, which something else allows from `earliest` on; return (cycle, StallCause)."""
    there = operand_there(warp, now, hw, code, sm)
    if there > earliest:
        return there, np.int64(IMC_MISS)
    return earliest, cause


@inner
def fly(warp: np.record, back: int, hw: Hardware, sm: Machine) -> None:
    """Give an instruction in flight, back in cycle `back`, the place that is free first; find the next such place."""
    m, s = warp.sm, warp.slot
    sm.in_flight[m, s, warp.flight_place] = back
    best, free = np.int64(0), sm.in_flight[m, s, 0]
    for place in range(1, hw.in_flight_cap):
        if sm.in_flight[m, s, place] < free:
            best, free = np.int64(place), sm.in_flight[m, s, place]
    warp.flight_place = best
    warp.flight_free = free


@inner
def record_result(warp: np.record, op: np.record, now: int, late: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """Note when the results of the warp's instruction, issued now, are back. late: cycles that they wait for a constant."""
    m, s, i = warp.sm, warp.slot, warp.instruction
    if op.write_counter >= 0:  # LDGSTS, LDGDEPBAR, products of warpgroups
        back = NEVER if op.memory or op.copies == COPY_OUT else now + late + op.latency
        join(m, s, np.int64(op.write_counter), back, np.int64(op.result_cause), not op.joins, code, sm)
    if op.memory or op.copies == COPY_OUT:
        record_memory(warp, op, code, sm)
        return
    if op.store:
        warp.done = max(warp.done, now + hw.store_latency)
    if op.turn:
        warp.done = max(warp.done, now + late + op.latency)
    if op.results == 0:
        return
    back = now + late + op.latency
    for column in range(op.results):
        name = np.uint32(code.writes[i, column])
        sm.ready[m, s, name] = back
        sm.ready_cause[m, s, name] = op.result_cause
    warp.done = max(warp.done, back)
    if not op.arithmetic:
        return
    if back > warp.outstanding or (back == warp.outstanding and op.result_cause < warp.outstanding_cause):
        warp.outstanding = back
        warp.outstanding_cause = op.result_cause
    if hw.in_flight_cap:
        fly(warp, back, hw, sm)


@inner
def record_memory(warp: np.record, op: np.record, code: Code, sm: Machine) -> None:
    """Note that the results of the warp's instruction come at a time that is not yet known."""
    m, s, i = warp.sm, warp.slot, warp.instruction
    warp.pending += 1
    for column in range(op.results):
        name = np.uint32(code.writes[i, column])
        sm.ready[m, s, name] = NEVER
        sm.ready_cause[m, s, name] = op.result_cause
