"""Bulk copies into shared memory (UBLKCP): a unit of each SM asks for their lines, copy after copy, past L1.

A copy may begin `copy_latency` after its issue. A line leaves when the one before it has, at `copy_bytes_per_cycle`, and the port towards
L2 has room; its answer crosses the port from L2 at that rate too, and then counts for the phase of the copy's barrier.
"""

import numpy as np

from sim.compiled.kernel import inner, outlined
from sim.gpus.path import SECTOR
from sim.lowering.accesses import LOAD
from sim.lowering.core import Code, Hardware
from sim.lowering.memory import REQUEST_WEIGHT, SECTORS, TICKS
from sim.timing.memory.lsu import plan
from sim.timing.memory.mbarriers import count_for_phase
from sim.timing.memory.requests import forget, room_from, sector_count, send
from sim.timing.memory.state import COPIES, FIRST_COPY, NONE, Memory
from sim.timing.state import NEVER, Machine
from sim.traces.trace import BYTES, PHASE, SOURCE, TraceArrays

WHOLE = np.int64((1 << SECTORS) - 1)


@outlined
def start_copy(m: int, access: int, now: int, hw: Hardware, sm: Machine, trace: TraceArrays) -> None:
    """Queue the bulk copy of an access, issued now by a warp of SM m."""
    mh, memory = hw.memory[0], sm.memory
    unit, row = memory.units[m], trace.scattered[trace.access_base[access]]
    copy = memory.copies[m, (unit.oldest_copy + unit.copies) % COPIES]
    copy.sector = np.int64(row[SOURCE]) // SECTOR
    copy.end = (np.int64(row[SOURCE]) + np.int64(row[BYTES]) + SECTOR - 1) // SECTOR
    copy.phase, copy.ready = np.int64(row[PHASE]), now + mh.copy_latency
    unit.copies += 1
    plan_copies(m, mh, memory)
    sm.cores[m].next = min(sm.cores[m].next, unit.copy_next)


@inner
def plan_copies(m: int, mh: np.record, memory: Memory) -> None:
    """Find the next cycle in which the unit can ask for a line."""
    unit = memory.units[m]
    if unit.copies == 0:
        unit.copy_next = NEVER
        return
    ready = max(memory.copies[m, unit.oldest_copy].ready, unit.copy_free // TICKS)
    unit.copy_next = max(ready, room_from(m, np.int64(REQUEST_WEIGHT), mh, memory))


@outlined
def ask_for_lines(m: int, now: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """Ask for what can be asked for now, if the port still has room."""
    mh, memory = hw.memory[0], sm.memory
    unit = memory.units[m]
    forget(m, now, mh, memory)
    plan_copies(m, mh, memory)
    while unit.copy_next <= now:
        copy = memory.copies[m, unit.oldest_copy]
        line = copy.sector // SECTORS
        first, last = copy.sector - SECTORS * line, min(copy.end - SECTORS * line, np.int64(SECTORS))
        sectors = np.uint32(WHOLE & (WHOLE << first) & (WHOLE >> (SECTORS - last)))
        send(m, now, line, sectors, np.uint32(0), np.int64(LOAD), np.int64(1), FIRST_COPY - copy.phase, np.int64(NONE), mh, memory)
        unit.copy_free = max(now * TICKS, unit.copy_free) + sector_count(sectors) * mh.copy_ticks
        copy.sector = SECTORS * (line + 1)
        if copy.sector >= copy.end:
            unit.oldest_copy = (unit.oldest_copy + 1) % COPIES
            unit.copies -= 1
        plan_copies(m, mh, memory)
    plan(m, mh, code, memory)


@inner
def land(m: int, mshr: int, ready: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """A line of a copy is in shared memory at cycle `ready`. mshr: says its phase."""
    if mshr != FIRST_COPY:
        count_for_phase(m, FIRST_COPY - mshr, ready, hw, code, sm)
