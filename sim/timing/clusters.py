"""Clusters: what SMs tell each other. Arrivals at the barrier of a cluster, and what counts for phases of barriers in another SM's memory.

An SM posts it, and it is delivered before the next window: none of it takes effect sooner (`engine.window`).
"""

import numpy as np

from sim.compiled.kernel import inner, outlined
from sim.gpus.path import SECTOR
from sim.lowering.core import Code, Hardware
from sim.lowering.memory import TICKS
from sim.lowering.phases import CLUSTER_ARRIVES, CLUSTER_WAITS
from sim.timing.memory.mbarriers import OF_CLUSTER, note_count, wake_waits
from sim.timing.memory.requests import whole_cycles
from sim.timing.memory.results import leave_cluster_barrier
from sim.timing.state import Machine
from sim.traces.trace import BYTES, PHASE, PHASE_SHIFT, RANK_SHIFT, TARGET, TraceArrays

AT_CLUSTER = 127  # barrier of a warp that waits for its cluster


@inner
def post(m: int, to: int, phase: int, when: int, sm: Machine) -> None:
    """Count for a phase at a cycle after this window. to: the block whose barrier it is; -1 - number: that of a cluster."""
    row = sm.posted[m, sm.posted_rows[m]]
    row[0], row[1], row[2] = to, phase, when
    sm.posted_rows[m] += 1


@outlined
def deliver(now: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """Count what the SMs have posted in the window before cycle `now`."""
    sm.chip[0].now = now
    for m in range(hw.sms):
        for k in range(sm.posted_rows[m]):
            to, phase, when = sm.posted[m, k, 0], sm.posted[m, k, 1], sm.posted[m, k, 2]
            if not note_count(phase, when, sm):
                continue
            if to >= 0:
                wake_at(sm.homes[to], phase, hw, code, sm)
                continue
            for rank in range(hw.ranks):
                wake_at(sm.homes[(-1 - to) * hw.ranks + rank], phase, hw, code, sm)
        sm.posted_rows[m] = 0


@inner
def wake_at(home: int, phase: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """Let those go on that wait on an SM for a phase, which is over. home: -1 = the block has not started, so nobody does."""
    if home >= 0:
        wake_waits(home, phase, hw, code, sm)
        sm.chip[0].next_step = min(sm.chip[0].next_step, sm.cores[home].next)


@outlined
def use_cluster(warp: np.record, op: np.record, now: int, hw: Hardware, sm: Machine, trace: TraceArrays) -> None:
    """The warp issues an arrival at the barrier of its cluster, or a copy from its block's shared memory to another's."""
    m, block, access = np.int64(warp.sm), sm.places[warp.sm, warp.place].block, warp.access - 1
    if trace.mask[warp.position] == np.uint32(0):
        return
    if op.copies == CLUSTER_WAITS:
        return
    if op.copies == CLUSTER_ARRIVES:
        when = max(now, sm.memory.units[m].arrives)
        sm.memory.units[m].arrives = when + hw.arrival_cycles
        post(m, -1 - block // hw.ranks, trace.access_base[access] >> PHASE_SHIFT, when, sm)
        return
    row, mh = trace.scattered[trace.access_base[access]], hw.memory[0]
    when = take_port(m, now + mh.copy_latency, (np.int64(row[BYTES]) + SECTOR - 1) // SECTOR, hw, sm) + mh.far_one_way
    if row[PHASE]:
        post(m, of_rank(block, np.int64(row[TARGET]) >> RANK_SHIFT, hw), np.int64(row[PHASE]), when, sm)


@inner
def of_rank(block: int, further: int, hw: Hardware) -> int:
    """Return the block so many ranks further on in the cluster of a block."""
    return block - block % hw.ranks + (block + further) % hw.ranks


@inner
def take_port(m: int, start: int, packets: int, hw: Hardware, sm: Machine) -> int:
    """Send so many times 32 bytes to other SMs from cycle `start` on; return the cycle before which the last has left."""
    unit = sm.memory.units[m]
    unit.far_free = max(unit.far_free, start * TICKS) + packets * hw.memory[0].far_ticks
    return whole_cycles(unit.far_free)


@outlined
def wait_for_cluster(warp: np.record, earliest: int, now: int, hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> None:
    """The warp has issued a wait for its cluster, and may go on from `earliest` on at the soonest: find when, or let it wait."""
    m, phase = np.int64(warp.sm), trace.access_base[warp.access - 1] >> PHASE_SHIFT
    warp.since, warp.earliest, warp.barrier = now + 1, earliest, AT_CLUSTER
    if phase == 0 or sm.phase_left[phase] == 0:
        leave_cluster_barrier(m, np.int64(warp.slot), sm.phase_at[phase] + hw.cluster_latency if phase else np.int64(0), hw, code, sm)
        return
    wait = sm.phase_waits[m, sm.phase_waiting[m]]
    wait.phase, wait.ready, wait.ticket, wait.log = phase, 0, OF_CLUSTER, -1
    wait.slot, wait.instruction = warp.slot, warp.instruction
    sm.phase_waiting[m] += 1
