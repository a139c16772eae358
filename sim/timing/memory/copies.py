"""Bulk copies (UBLKCP) and tiles (UTMALDG): a unit of each SM asks for their lines, or sends them, copy after copy, past L1.

A copy may begin `copy_latency` after its issue, and the port towards L2 must have room for a line. A line is asked for when the one
before it has been, at `copy_bytes_per_cycle`, one a cycle at most; its answer crosses the port from L2 at that rate too, and then counts
for the phase of the copy's barrier. A line is sent when the one before it has left the port; with the last of them the copy has read
shared memory. What is reduced (UBLKRED, UTMAREDG) goes as an atomic without a result does, a packet for each sector. Tiles have a latency
and a rate of their own, and ask for the lines of each of their rows.
"""

import numpy as np

from sim.compiled.kernel import inner, outlined
from sim.gpus.path import SECTOR
from sim.lowering.accesses import BULK_REDUCTION, LOAD, STORE
from sim.lowering.core import Code, Hardware
from sim.lowering.memory import REQUEST_WEIGHT, SECTORS, TICKS
from sim.lowering.phases import COPY_NEAR, COPY_OUT
from sim.result.causes import Tally
from sim.timing.clusters import post, use_cluster
from sim.timing.memory.issue_queue import plan
from sim.timing.memory.l1 import words_of
from sim.timing.memory.mbarriers import count_for_phase
from sim.timing.memory.requests import Packet, forget, room_from, sector_count, send, whole_cycles
from sim.timing.memory.results import resolve
from sim.timing.memory.state import COPIES, FIRST_COPY, NONE, Memory
from sim.timing.state import NEVER, Machine
from sim.traces.trace import APART, BLOCK, BYTES, COUNTS, DIMENSIONS, PHASE, PHASES, RANKS, SOURCE, TILED, TraceArrays

BULK_LOADS, BULK_STORES, BULK_REDUCTIONS = int(Tally.BULK_LOADS), int(Tally.BULK_STORES), int(Tally.BULK_REDUCTIONS)
WHOLE = np.int64((1 << SECTORS) - 1)


@outlined
def start_copy(warp: np.record, op: np.record, now: int, hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> None:
    """Queue the bulk copy that a warp issues now, whose access was its last."""
    if op.copies >= COPY_NEAR:
        use_cluster(warp, op, now, hw, sm, trace)
        if op.copies == COPY_NEAR:
            plan(np.int64(warp.sm), hw.memory[0], code, sm.memory)  # the port to other SMs is taken
        return
    mh, memory, m = hw.memory[0], sm.memory, np.int64(warp.sm)
    ticket = np.int64(0)
    if op.copies == COPY_OUT and code.kept:
        ticket = sm.raised[m, warp.slot, op.write_counter]
    if trace.mask[warp.position] == np.uint32(0) or trace.scattered[trace.access_base[warp.access - 1], BYTES] == np.uint32(0):
        if op.copies == COPY_OUT:
            resolve(m, np.int64(warp.slot), np.int64(warp.instruction), ticket, now + op.latency, np.int64(NONE), hw, code, sm)
        return
    unit, row = memory.units[m], trace.scattered[trace.access_base[warp.access - 1]]
    copy = memory.copies[m, (unit.oldest_copy + unit.copies) % COPIES]
    copy.row, copy.begun, copy.rows = trace.access_base[warp.access - 1], 0, 1
    for d in range(DIMENSIONS):
        copy.rows *= row[COUNTS + d]
    begin_row(copy, trace)
    copy.phase, copy.ready = np.int64(row[PHASE]), now + (mh.tile_latency if row[TILED] else mh.copy_latency)
    copy.tiled, copy.ranks = np.int64(row[TILED]), bits_of(np.int64(row[RANKS]))
    if copy.ranks:
        copy.phase = sm.phase_left.size + copy.row
    copy.kind, copy.slot, copy.instruction, copy.block = op.copies, warp.slot, warp.instruction, warp.place
    copy.ticket, copy.reduces = ticket, op.access == BULK_REDUCTION
    unit.copies += 1
    plan_copies(m, mh, memory)
    sm.cores[m].next = min(sm.cores[m].next, unit.copy_next)


@inner
def copy_ticks(tiled: int, mh: np.record) -> int:
    """Return the ticks that a sector of a bulk copy takes, or of a tile."""
    return mh.tile_ticks if tiled else mh.copy_ticks


@inner
def begin_row(copy: np.record, trace: TraceArrays) -> None:
    """Go to the next row of a copy's tile; bytes have one."""
    row, number = trace.scattered[copy.row], np.int64(copy.begun)
    start = np.int64(row[SOURCE])
    for d in range(DIMENSIONS):
        start += number % np.int64(row[COUNTS + d]) * np.int64(row[APART + d])
        number //= np.int64(row[COUNTS + d])
    copy.sector, copy.end = start // SECTOR, (start + np.int64(row[BYTES]) + SECTOR - 1) // SECTOR
    copy.begun += 1


@inner
def plan_copies(m: int, mh: np.record, memory: Memory) -> None:
    """Find the next cycle in which the unit can ask for a line."""
    unit = memory.units[m]
    if unit.copies == 0:
        unit.copy_next = NEVER
        return
    copy = memory.copies[m, unit.oldest_copy]
    room = room_from(m, np.int64(SECTORS if copy.reduces or copy.kind == COPY_OUT else REQUEST_WEIGHT), mh, memory)
    unit.copy_next = max(copy.ready, unit.copy_free // TICKS, room)


@outlined
def ask_for_lines(m: int, now: int, hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> None:
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
        copy.sector = SECTORS * (line + 1)
        tally = BULK_REDUCTIONS if copy.reduces else BULK_STORES if copy.kind == COPY_OUT else BULK_LOADS
        memory.tallies[tally] += 1
        memory.tallies[tally + 1] += sector_count(sectors)
        if copy.kind == COPY_OUT:
            sm.places[m, copy.block].stores += 1
            block = np.int64(copy.block)
            kind = np.int64(BULK_REDUCTION if copy.reduces else STORE)
            packets = sector_count(sectors) if copy.reduces else np.int64(1)
            packet = Packet(line, sectors, words_of(sectors), kind, packets, np.int64(NONE), block)
            send(m, now, packet, mh, memory)
            unit.copy_free = unit.request_free
        else:
            says = FIRST_COPY - 2 * copy.phase - copy.tiled
            send(m, now, Packet(line, sectors, np.uint32(0), np.int64(LOAD), np.int64(1), says, np.int64(NONE)), mh, memory)
            each = mh.multicast_ticks * copy.ranks if copy.ranks else copy_ticks(copy.tiled, mh)
            unit.copy_free = max(now * TICKS, unit.copy_free) + max(sector_count(sectors) * each, np.int64(TICKS))
        if copy.sector >= copy.end and copy.begun < copy.rows:
            begin_row(copy, trace)
        elif copy.sector >= copy.end:
            unit.oldest_copy = (unit.oldest_copy + 1) % COPIES
            unit.copies -= 1
            if copy.kind == COPY_OUT:
                read = whole_cycles(unit.request_free)
                resolve(m, np.int64(copy.slot), np.int64(copy.instruction), copy.ticket, read, np.int64(NONE), hw, code, sm)
        plan_copies(m, mh, memory)
    plan(m, mh, code, memory)


@outlined
def land_for_ranks(m: int, row: np.ndarray, ready: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """A line of a copy to several blocks of a cluster is there: in the own one at cycle `ready`, in the others later. row: of the trace."""
    block = np.int64(row[BLOCK])
    for rank in range(hw.ranks):
        phase = np.int64(row[PHASES + rank])
        if phase and rank == block % hw.ranks:
            count_for_phase(m, phase, ready, hw, code, sm)
        elif phase:
            post(m, block - block % hw.ranks + rank, phase, ready + hw.memory[0].multicast_latency, sm)


@inner
def bits_of(mask: int) -> int:
    """Return how many bits are set."""
    count = np.int64(0)
    while mask:
        mask &= mask - 1
        count += 1
    return count


@inner
def land(m: int, mshr: int, ready: int, hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> None:
    """A line of a copy is in shared memory at cycle `ready`. mshr: says its phase."""
    phase = (FIRST_COPY - mshr) >> 1
    if phase >= sm.phase_left.size:
        land_for_ranks(m, trace.scattered[phase - sm.phase_left.size], ready, hw, code, sm)
    elif phase:
        count_for_phase(m, phase, ready, hw, code, sm)
