"""The closed account: every warp-cycle and every issue slot gets exactly one cause, without looking at every cycle.

A warp's wait splits at `wake`: before it, the cause its scoreboard gave; from it to the issue, three kinds of cycle:
  its pipe's port was held                           -> the port's throttle
  else the scheduler's dispatch port was held        -> dispatch_stall  (`dispatch = "scheduler"`, ports of register banks)
  else                                               -> not_selected
For the latter each scheduler keeps, per pipe, how many cycles so far were of the first and of the second kind (`throttle`,
`dispatch`; counted only while warps are ready for the pipe). A warp notes both when it becomes ready; the difference at issue is its.

Issue slots: the cycles of the issue interval are `selected`; an idle slot is charged to the wait of the warp that issues next, and is
`not_selected` where a policy with state kept that warp, ready and with a free port, from issuing.
"""

import numpy as np

from sim.compiled.kernel import first_bit, inner
from sim.lowering.core import Hardware
from sim.result.causes import SlotCause, StallCause
from sim.timing.pipes import pipe_free
from sim.timing.state import Machine
from sim.timing.telling import was_withheld

SELECTED, NOT_SELECTED = int(StallCause.SELECTED), int(StallCause.NOT_SELECTED)
DISPATCH_STALL = int(StallCause.DISPATCH_STALL)
NO_WARP = int(SlotCause.NO_WARP)


@inner
def account_ready(scheduler: np.record, until: int, hw: Hardware, sm: Machine) -> None:
    """Bring `throttle` and `dispatch` of the scheduler up to cycle `until`; ports must not have changed since the last call."""
    start = scheduler.accounted
    if until <= start:
        return
    scheduler.accounted = until
    m, q, classes = scheduler.sm, scheduler.number, scheduler.classes
    while classes != np.uint64(0):
        pipe = first_bit(classes)
        classes &= classes - np.uint64(1)
        free = min(max(pipe_free(m, q, pipe, hw, sm), start), until)
        if free > start:
            sm.throttle[m, q, pipe] += free - start
        if hw.dispatch_holds or hw.banks:  # else the dispatch port is free again after the issue interval
            held_from = max(free, scheduler.issued)
            sm.dispatch[m, q, pipe] += max(np.int64(0), min(until, scheduler.free) - held_from)


@inner
def account_sharers(scheduler: np.record, now: int, hw: Hardware, sm: Machine) -> None:
    """Before the scheduler takes a port that others share, close their accounts: schedulers before q have had their turn."""
    for other in range(hw.schedulers):
        if other != scheduler.number:
            account_ready(sm.schedulers[scheduler.sm, other], now + 1 if other < scheduler.number else now, hw, sm)


@inner
def charge_warp(warp: np.record, op: np.record, now: int, sm: Machine) -> None:
    """Charge the wait that ends with the warp issuing its instruction now."""
    i, m, q = warp.instruction, warp.sm, warp.scheduler
    throttled = sm.throttle[m, q, op.pipe] - warp.throttle_mark
    held = sm.dispatch[m, q, op.pipe] - warp.dispatch_mark
    sm.stalls[i, warp.cause] += warp.wake - warp.since
    sm.stalls[i, op.port_cause] += throttled
    sm.stalls[i, DISPATCH_STALL] += held
    sm.stalls[i, NOT_SELECTED] += now - warp.wake - throttled - held
    sm.stalls[i, SELECTED] += 1


@inner
def charge_slots(scheduler: np.record, warp: np.record, op: np.record, now: int, hw: Hardware, sm: Machine) -> None:
    """Charge the scheduler's idle slots since its last issue to the wait of the warp that issues now."""
    start, width = scheduler.slot_end, hw.issue_width
    if start < now:
        began = min(max(start, warp.started), now)
        woke = min(max(began, warp.wake), now)
        held = min(max(woke, scheduler.free), now)
        sm.slots[NO_WARP] += (began - start) * width
        sm.slots[warp.cause] += (woke - began) * width
        sm.slots[DISPATCH_STALL] += (held - woke) * width
        withheld = was_withheld(warp, np.int64(op.pipe), sm) if hw.hooks else np.int64(0)
        sm.slots[NOT_SELECTED] += withheld * width
        sm.slots[op.port_cause] += (now - held - withheld) * width
    sm.slots[SELECTED] += hw.issue_interval
    scheduler.slot_end = now + hw.issue_interval
    sm.chip[0].issue_cycles += 1


@inner
def charge_further(scheduler: np.record, further: int, cause: int, hw: Hardware, sm: Machine) -> None:
    """Charge the issue slots of this interval beside its first: so many are used, what kept the others empty is the cause."""
    sm.slots[SELECTED] += further * hw.issue_interval
    sm.slots[cause] += (hw.issue_width - 1 - further) * hw.issue_interval
    scheduler.further, scheduler.further_cause = further, cause
