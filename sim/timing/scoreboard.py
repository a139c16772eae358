"""Scoreboard: when may a warp's next instruction issue, and what does it wait for until then?

Stages: 1. the earliest cycle that the caller allows; 2. every dependence read or written must be ready (RAW and WAW; operands are
read at issue, so WAR never waits); under the all_outstanding rule a warp found waiting sleeps until its last result is back;
3. under a cap, an instruction with a result waits for a place among those in flight.
The end of each wait is known when the warp issues, so it is computed once and never polled.
"""

import numpy as np

from sim.kernel import inner
from sim.lower import Code, Hardware
from sim.timing.state import Machine
from sim.vocabulary import StallCause

DISPATCH_STALL = int(StallCause.DISPATCH_STALL)


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
    if hw.wake_all and when > earliest:
        when = max(when, warp.outstanding)
    if hw.in_flight_cap and code.ops[i].results:
        place = free_place(warp, hw, sm)
        if sm.in_flight[m, s, place] > when:
            when, why = sm.in_flight[m, s, place], np.int64(DISPATCH_STALL)
    return when, why


@inner
def free_place(warp: np.record, hw: Hardware, sm: Machine) -> int:
    """Return the place among the warp's in-flight instructions that is free first."""
    m, s = warp.sm, warp.slot
    best = np.int64(0)
    for place in range(1, hw.in_flight_cap):
        if sm.in_flight[m, s, place] < sm.in_flight[m, s, best]:
            best = np.int64(place)
    return best


@inner
def record_result(warp: np.record, op: np.record, now: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """Note when the results of the warp's instruction, issued now, are back."""
    m, s, i = warp.sm, warp.slot, warp.instruction
    if op.store:
        warp.done = max(warp.done, now + hw.store_latency)
    if op.results == 0:
        return
    back = now + op.latency
    for column in range(op.results):
        name = np.uint32(code.writes[i, column])
        sm.ready[m, s, name] = back
        sm.ready_cause[m, s, name] = op.result_cause
    warp.outstanding = max(warp.outstanding, back)
    warp.done = max(warp.done, back)
    if hw.in_flight_cap:
        sm.in_flight[m, s, free_place(warp, hw, sm)] = back
