"""What DRAM sends to L2: it takes its slice's port for writing when it comes, in turn with what is stored, and lets the loads go that wait.

A load's sectors are known to come in a cycle when it is served; what else its slice will have to write by then is not. So it is kept
until that cycle, in a ring of lists, one for each cycle of `RING`; those of one cycle are in the order in which they were served.
"""

import numpy as np

from sim.compiled.kernel import inner
from sim.timing.memory.partitions import hold, latency_of, opposite_of
from sim.timing.memory.requests import whole_cycles
from sim.timing.memory.state import NONE, RING, Memory


@inner
def expect(m: int, request: np.record, times: tuple[int, int], sectors: tuple[int, int], far: int, memory: Memory) -> None:
    """Keep a load of SM m until its sectors come.

    times: cycles in which they come, and its slice has served it. sectors: fetched for it, and to be copied to the other part of L2. far:
    cycles that its data take from there.
    """
    ring = memory.ring[0]
    k = np.int64(ring.free)
    if k >= 0:
        ring.free = memory.fills[k].next
    else:
        k = np.int64(ring.used)
        ring.used += 1
    fill = memory.fills[k]
    fill.time, fill.done = times
    fill.fetched, fill.moved = sectors
    fill.far = far
    fill.sm, fill.slice = m, request.slice
    fill.sequence, fill.sectors, fill.mshr, fill.place = memory.clock[0], request.sectors, request.mshr, request.place
    ring.count += 1
    keep(k, memory)


@inner
def keep(k: int, memory: Memory) -> None:
    """Put the k-th at the end of the list of its cycle."""
    turn = memory.fills[k].time % RING
    memory.fills[k].next = NONE
    if memory.first_fill[turn] < 0:
        memory.first_fill[turn] = k
    else:
        memory.fills[np.int64(memory.last_fill[turn])].next = k
    memory.last_fill[turn] = k


@inner
def come(until: int, mh: np.record, memory: Memory) -> None:
    """Let all that comes before cycle `until` take the ports."""
    ring = memory.ring[0]
    while ring.count and ring.now < until:
        turn = ring.now % RING
        k = np.int64(memory.first_fill[turn])
        memory.first_fill[turn] = NONE
        while k >= 0:
            following = np.int64(memory.fills[k].next)
            if memory.fills[k].time == ring.now and write(memory.fills[k], mh, memory):
                memory.fills[k].next = ring.free
                ring.free = k
                ring.count -= 1
            else:
                keep(k, memory)
            k = following
        ring.now += 1
    ring.now = max(ring.now, until)


@inner
def write(fill: np.record, mh: np.record, memory: Memory) -> bool:
    """Write what comes into L2, and tell the SM when it has it; return False if the other part of L2 has to be written first."""
    number = np.int64(fill.slice)
    leaves = max(fill.done, whole_cycles(hold(number, fill.time, fill.fetched * mh.l2_ticks, mh, memory))) + fill.far
    if fill.moved:
        hold(number, fill.time, fill.moved * mh.l2_ticks, mh, memory)
        fill.time, fill.slice = leaves, opposite_of(number, mh.channels)
        fill.fetched, fill.moved, fill.far, fill.done = fill.moved, 0, 0, 0
        return False
    m = np.int64(fill.sm)
    leaves += latency_of(m, number, mh, memory)
    unit = memory.units[m]
    answer = memory.responses[m, unit.responses + unit.landed]
    answer.time = leaves + mh.network
    answer.sequence, answer.sectors, answer.mshr, answer.place = fill.sequence, fill.sectors, fill.mshr, fill.place
    unit.landed += 1
    return True
