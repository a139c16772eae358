"""Barriers in shared memory: when a phase is over, and the warps that wait for that.

An instruction that counts does so when its data would be there. A phase is over when the last of them has; a look at it has its result
`barrier_latency` later than data of shared memory, or than the end of the phase, if that comes later.
"""

import numpy as np

from sim.compiled.kernel import inner, outlined
from sim.lowering.core import Code, Hardware
from sim.timing.memory.results import leave_cluster_barrier, resolve
from sim.timing.state import Machine

OF_CLUSTER = np.int64(-1)  # ticket of a wait for the barrier of a cluster


@outlined
def look_at_phase(m: int, entry: np.record, ready: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """Give an instruction its result if it is known when its phase is over; else let it wait."""
    if sm.phase_left[entry.phase] == 0:
        there = max(ready, sm.phase_at[entry.phase]) + hw.memory[0].barrier_latency
        resolve(m, np.int64(entry.slot), np.int64(entry.instruction), entry.ticket, there, entry.log, hw, code, sm)
        return
    wait = sm.phase_waits[m, sm.phase_waiting[m]]
    wait.phase, wait.ready, wait.ticket, wait.log = entry.phase, ready, entry.ticket, entry.log
    wait.slot, wait.instruction = entry.slot, entry.instruction
    sm.phase_waiting[m] += 1


@outlined
def count_for_phase(m: int, phase: int, when: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """Count for a phase at a cycle that is known; when that was the last to count, let those go on that wait."""
    if note_count(phase, when, sm):
        wake_waits(m, phase, hw, code, sm)


@inner
def note_count(phase: int, when: int, sm: Machine) -> bool:
    """Count for a phase; return whether that was the last to count."""
    sm.phase_left[phase] -= 1
    sm.phase_from[phase] = min(sm.phase_from[phase], when)
    sm.phase_at[phase] = max(sm.phase_at[phase], when)
    return sm.phase_left[phase] == 0


@outlined
def wake_waits(m: int, phase: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """Let the warps of an SM go on that wait for a phase, which is over."""
    kept = np.int64(0)
    for k in range(sm.phase_waiting[m]):
        wait = sm.phase_waits[m, k]
        if wait.phase == phase and wait.ticket == OF_CLUSTER:
            leave_cluster_barrier(m, np.int64(wait.slot), sm.phase_at[phase] + hw.cluster_latency, hw, code, sm)
        elif wait.phase == phase:
            there = max(wait.ready, sm.phase_at[phase]) + hw.memory[0].barrier_latency
            resolve(m, np.int64(wait.slot), np.int64(wait.instruction), wait.ticket, there, wait.log, hw, code, sm)
        else:
            sm.phase_waits[m, kept] = wait
            kept += 1
    sm.phase_waiting[m] = kept
