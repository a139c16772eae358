"""What happens to a warp when the end of one of its loads becomes known, or when one of its stores has been taken."""

import numpy as np

from sim.compiled.kernel import inner
from sim.lowering.core import Code, Hardware
from sim.result.causes import StallCause
from sim.timing.blocks import finish_warp
from sim.timing.control import lower_counter
from sim.timing.groups import release
from sim.timing.scoreboard import wait_until
from sim.timing.state import Machine
from sim.timing.telling import load_known
from sim.timing.wakeup import sleep

BARRIER, WAIT, NO_INSTRUCTION = int(StallCause.BARRIER), int(StallCause.WAIT), int(StallCause.NO_INSTRUCTION)


@inner
def resolve(m: int, slot: int, i: int, ticket: int, ready: int, log: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """The results of instruction i of a warp may be read from cycle `ready` on: let it go on if it waited for that."""
    warp, op = sm.warps[m, slot], code.ops[i]
    if log >= 0:
        sm.log[log, 8] = ready
    warp.done = max(warp.done, ready)
    if code.control:
        load_known(m, slot, op, ready, hw, sm)
        if op.write_counter >= 0:
            lower_counter(m, slot, np.int64(op.write_counter), ready, np.int64(op.result_cause), sm)
    else:
        for column in range(op.results):
            sm.ready[m, slot, np.uint32(code.writes[i, column])] = ready
    if code.kept and op.write_counter >= 0:
        release(m, slot, np.int64(op.write_counter), ticket, ready, np.int64(op.result_cause), code, sm)
    if warp.parked:
        reconsider(warp, hw, code, sm)
    leave_memory(warp, hw, sm)


@inner
def sources_read(m: int, slot: int, i: int, ticket: int, now: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """The load/store unit takes instruction i of a warp now: it is known when its sources will have been read."""
    op = code.ops[i]
    if op.read_counter < 0:
        return
    lower_counter(m, slot, np.int64(op.read_counter), now + op.source_read, np.int64(op.result_cause), sm)
    if code.kept:
        release(m, slot, np.int64(op.read_counter), ticket, now + op.source_read, np.int64(op.result_cause), code, sm)
    if sm.warps[m, slot].parked:
        reconsider(sm.warps[m, slot], hw, code, sm)


@inner
def reconsider(warp: np.record, hw: Hardware, code: Code, sm: Machine) -> None:
    """Find anew until when a parked warp waits."""
    warp.parked = 0
    warp.wake, warp.cause = wait_until(warp, warp.earliest, np.int64(warp.earliest_cause), hw, code, sm)
    sleep(warp, sm)
    sm.cores[warp.sm].next = min(sm.cores[warp.sm].next, warp.wake)


@inner
def leave_cluster_barrier(m: int, slot: int, earliest: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """The barrier of its cluster lets a warp go on from a cycle on, if warp.earliest and its code do; its constant is there."""
    warp = sm.warps[m, slot]
    warp.barrier, warp.earliest_cause = -1, WAIT
    if earliest > warp.earliest:
        warp.earliest, warp.earliest_cause = earliest, BARRIER
    if warp.code_from > warp.earliest:
        warp.earliest, warp.earliest_cause = warp.code_from, NO_INSTRUCTION
    warp.wake, warp.cause = wait_until(warp, np.int64(warp.earliest), np.int64(warp.earliest_cause), hw, code, sm)
    sleep(warp, sm)
    sm.cores[m].next = min(sm.cores[m].next, warp.wake)


@inner
def leave_memory(warp: np.record, hw: Hardware, sm: Machine) -> None:
    """One memory instruction less for the warp to wait for before it can end."""
    warp.pending -= 1
    if warp.draining and warp.pending == 0:
        finish_warp(warp, hw, sm)


@inner
def taken(m: int, slot: int, i: int, ticket: int, done: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """A store of the warp, instruction i, is over in cycle `done`."""
    warp, op = sm.warps[m, slot], code.ops[i]
    warp.done = max(warp.done, done)
    if op.write_counter >= 0:
        lower_counter(m, slot, np.int64(op.write_counter), done, np.int64(op.result_cause), sm)
        if code.kept:
            release(m, slot, np.int64(op.write_counter), ticket, done, np.int64(op.result_cause), code, sm)
        if warp.parked:
            reconsider(warp, hw, code, sm)
    leave_memory(warp, hw, sm)
