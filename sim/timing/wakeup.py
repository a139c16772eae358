"""Wake-up: warps sleep until the cycle computed for them; a scheduler is visited only when something can happen.

Per scheduler a wheel of 64 masks, one per coming cycle, and a mask of warps that wake later still. A stall count does not count cycles in
which the scheduler stands still: a warp that slept for nothing else sleeps on.
"""

import numpy as np

from sim.compiled.kernel import bit, first_bit, inner
from sim.lowering.core import Code, Hardware
from sim.result.causes import StallCause
from sim.timing.state import NEVER, WHEEL, Machine
from sim.timing.telling import LONG_SCOREBOARD, WAKE, tell_of

WAIT = int(StallCause.WAIT)


@inner
def sleep(warp: np.record, sm: Machine) -> None:
    """Put the warp to sleep until warp.wake, a cycle not before the present one; NEVER parks it until a load's end is known."""
    if warp.wake >= NEVER:
        warp.parked = 1
        return
    m, q = warp.sm, warp.scheduler
    scheduler = sm.schedulers[m, q]
    if warp.wake - sm.chip[0].now < WHEEL:
        bucket = warp.wake % WHEEL
        sm.wheel[m, q, bucket] |= bit(warp.bit)
        scheduler.buckets |= bit(bucket)
    else:
        scheduler.far |= bit(warp.bit)
        scheduler.far_next = min(scheduler.far_next, warp.wake)
    scheduler.visit = min(scheduler.visit, warp.wake)


@inner
def bring_near(scheduler: np.record, now: int, hw: Hardware, sm: Machine) -> None:
    """Move far sleepers that the wheel reaches by now into it."""
    m, q, far = scheduler.sm, scheduler.number, scheduler.far
    scheduler.far_next = NEVER
    while far != np.uint64(0):
        slot = first_bit(far)
        far &= far - np.uint64(1)
        wake = sm.warps[m, slot * hw.schedulers + q].wake
        if wake - now < WHEEL:
            scheduler.far &= ~bit(slot)
            sm.wheel[m, q, wake % WHEEL] |= bit(slot)
            scheduler.buckets |= bit(wake % WHEEL)
        else:
            scheduler.far_next = min(scheduler.far_next, wake)


@inner
def wake_due(scheduler: np.record, now: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """Make the warps that wake now ready; each notes where the account of its pipe stands."""
    if scheduler.far_next - now < WHEEL:
        bring_near(scheduler, now, hw, sm)
    m, q, bucket = scheduler.sm, scheduler.number, now % WHEEL
    due = sm.wheel[m, q, bucket]
    if due == np.uint64(0):
        return
    sm.wheel[m, q, bucket] = np.uint64(0)
    scheduler.buckets &= ~bit(bucket)
    while due != np.uint64(0):
        slot = first_bit(due)
        due &= due - np.uint64(1)
        warp = sm.warps[m, slot * hw.schedulers + q]
        if warp.wake == warp.earliest and warp.earliest_cause == WAIT and warp.standstill != scheduler.standstill:
            warp.earliest += scheduler.standstill - warp.standstill
            warp.wake, warp.standstill = warp.earliest, scheduler.standstill
            sleep(warp, sm)
            continue
        pipe = code.ops[warp.instruction].pipe
        sm.waiting[m, q, pipe] |= bit(slot)
        scheduler.classes |= bit(pipe)
        warp.throttle_mark = sm.throttle[m, q, pipe]
        warp.dispatch_mark = sm.dispatch[m, q, pipe]
        if hw.hooks:
            warp.withheld_mark = sm.withheld[m, q, pipe]
            tell_of(WAKE, warp, np.int64(warp.cause == LONG_SCOREBOARD), np.int64(0), now, hw, sm)


@inner
def next_wake(scheduler: np.record, now: int) -> int:
    """Return the first cycle after `now` in which a sleeper of the scheduler wakes, or NEVER."""
    buckets, soonest = scheduler.buckets, scheduler.far_next
    if buckets != np.uint64(0):
        turn = np.uint64((now + 1) % WHEEL)
        rotated = buckets if turn == np.uint64(0) else (buckets >> turn) | (buckets << (np.uint64(WHEEL) - turn))
        soonest = min(soonest, now + 1 + first_bit(rotated))
    return soonest
