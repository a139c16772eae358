"""Shared memory: the banks, whose time is known when the unit takes an instruction."""

import numpy as np

from sim.compiled.kernel import inner
from sim.lowering.accesses import ATOMIC, LOAD, STORE
from sim.lowering.core import Code, Hardware
from sim.lowering.phases import WAITS
from sim.result.causes import Tally
from sim.timing.clusters import of_rank, post, take_port
from sim.timing.memory.results import resolve, taken
from sim.timing.parts import What, exchange
from sim.timing.state import Machine
from sim.traces.trace import TraceArrays

ANSWERED = (LOAD, ATOMIC)  # accesses whose warp gets data back
SHARED_REQUESTS, SHARED_WAVEFRONTS = int(Tally.SHARED_REQUESTS), int(Tally.SHARED_WAVEFRONTS)
SHARED_CONFLICTS = int(Tally.SHARED_CONFLICTS)


@inner
def send_far(m: int, entry: np.record, op: np.record, now: int, hw: Hardware, sm: Machine) -> int:
    """Send an access to other SMs; return from when on it is as one to the own.

    A load sends what it asks for, and as much for others, an atomic what it brings, too: as if each SM were asked for as much as it asks.
    """
    asks, brings = op.access != STORE, op.access != LOAD
    packets = np.int64(entry.packets)
    take_port(m, now, packets * (np.int64(asks) + np.int64(brings)) + np.int64(asks), hw, sm)
    return now + (hw.memory[0].far_one_way if op.phase else hw.memory[0].far_latency)


@inner
def take_shared(m: int, where: int, now: int, hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> None:
    """Access shared memory: the time is known. where: the entry's place among those of the SM's queues."""
    mh, tallies = hw.memory[0], sm.memory.tallies
    entry = sm.memory.entries[m, where // mh.depth, where % mh.depth]
    op = code.ops[entry.instruction]
    if entry.passes:
        tallies[SHARED_REQUESTS] += 1
        tallies[SHARED_WAVEFRONTS] += entry.passes
        tallies[SHARED_CONFLICTS] += max(np.int64(entry.passes) - np.int64(entry.needed), 0)
    needed, passes = np.int64(min(entry.needed, entry.passes)), np.int64(entry.passes)
    covered = min(needed * mh.pass_cycles, max(mh.interval, mh.pass_cycles))  # by the interval: takes no longer
    last = passes * mh.pass_cycles - covered
    ready = now + mh.shared_latency + last
    if op.access == LOAD:
        ready = max(ready, now + mh.shared_latency + mh.shared_pass_latency * (passes - 1))
    if entry.packets:
        ready = send_far(m, entry, op, now, hw, sm) + mh.shared_latency
        if op.phase:
            block = sm.places[m, sm.warps[m, entry.slot].place].block
            post(m, of_rank(block, np.int64(entry.further), hw), np.int64(entry.phase), ready, sm)
            taken(m, np.int64(entry.slot), np.int64(entry.instruction), entry.ticket, now + 1, hw, code, sm)
            return
    if op.phase == WAITS:
        exchange(What.LOOK_AT_PHASE, m, where, ready, hw, code, sm, trace)
        return
    if op.phase and entry.phase:
        exchange(What.COUNT_FOR_PHASE, m, np.int64(entry.phase), ready, hw, code, sm, trace)
    if op.access not in ANSWERED:
        taken(m, np.int64(entry.slot), np.int64(entry.instruction), entry.ticket, now + 1 + last, hw, code, sm)
    else:
        resolve(m, np.int64(entry.slot), np.int64(entry.instruction), entry.ticket, ready, entry.log, hw, code, sm)
