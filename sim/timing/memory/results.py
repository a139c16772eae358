"""What happens to a warp when the end of one of its loads becomes known, or when one of its stores has been taken."""

import numpy as np

from sim.kernel import inner
from sim.lower import Code, Hardware
from sim.timing.blocks import finish_warp
from sim.timing.scoreboard import wait_until
from sim.timing.state import Machine
from sim.timing.wakeup import sleep


@inner
def resolve(m: int, slot: int, i: int, ready: int, log: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """The results of instruction i of a warp may be read from cycle `ready` on: let it go on if it waited for that."""
    warp, op = sm.warps[m, slot], code.ops[i]
    if log >= 0:
        sm.log[log, 8] = ready
    warp.done = max(warp.done, ready)
    for column in range(op.results):
        sm.ready[m, slot, np.uint32(code.writes[i, column])] = ready
    if warp.parked:
        reconsider(warp, hw, code, sm)
    leave_memory(warp, hw, sm)


@inner
def reconsider(warp: np.record, hw: Hardware, code: Code, sm: Machine) -> None:
    """Find anew until when a parked warp waits."""
    warp.parked = 0
    warp.wake, warp.cause = wait_until(warp, warp.earliest, np.int64(warp.earliest_cause), hw, code, sm)
    sleep(warp, sm)
    sm.cores[warp.sm].next = min(sm.cores[warp.sm].next, warp.wake)


@inner
def leave_memory(warp: np.record, hw: Hardware, sm: Machine) -> None:
    """One memory instruction less for the warp to wait for before it can end."""
    warp.pending -= 1
    if warp.draining and warp.pending == 0:
        finish_warp(warp, hw, sm)


@inner
def taken(m: int, slot: int, done: int, hw: Hardware, sm: Machine) -> None:
    """A store of the warp has left the load/store unit by cycle `done`."""
    warp = sm.warps[m, slot]
    warp.done = max(warp.done, done)
    leave_memory(warp, hw, sm)
