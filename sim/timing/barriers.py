"""Barriers of a block (BAR): a warp sleeps until the last one that the barrier is for has come, or the others have ended."""

import numpy as np

from sim.compiled.kernel import inner
from sim.lowering.core import Code, Hardware
from sim.policies.stateful import BARRIER as AT_BARRIER
from sim.result.causes import StallCause
from sim.timing.scoreboard import wait_from
from sim.timing.state import Machine
from sim.timing.telling import STALL, tell_of
from sim.timing.wakeup import sleep

BARRIER = int(StallCause.BARRIER)


@inner
def arrive(warp: np.record, op: np.record, now: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """The warp has issued a BAR: it sleeps, or, as the last that the barrier is for, releases the others."""
    m, place, number = warp.sm, warp.place, op.barrier
    if not op.passes:
        warp.barrier = number
        warp.since = now + 1
        tell_of(STALL, warp, np.int64(AT_BARRIER), np.int64(0), now, hw, sm)
    sm.arrived[m, place, number] += 1
    if sm.arrived[m, place, number] == (op.expected if op.expected else sm.places[m, place].alive):
        release(m, place, number, now, hw, code, sm)


@inner
def release(m: int, place: int, number: int, now: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """Let every warp that waits at the barrier go on after the barrier latency."""
    sm.arrived[m, place, number] = 0
    for s in range(place * hw.warps, (place + 1) * hw.warps):
        warp = sm.warps[m, s]
        if warp.barrier == number:
            warp.barrier = -1
            wait_from(warp, now, now + hw.barrier_latency, np.int64(BARRIER), hw, code, sm)
            sleep(warp, sm)
