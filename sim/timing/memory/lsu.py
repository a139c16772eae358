"""Load/store unit: an instruction waits in the queue of its port, then the SM's shared unit takes it, one at a time.

Stages: 1. at issue its addresses are coalesced, or its bank passes counted; 2. from `latency` cycles later, and spaced by the
address unit of its port, it may be taken; 3. the unit takes the head that was issued first, of those for whose lines the pending
request table and the port towards L2 have room, of stores only the first (`issue_queue.py`); 4. shared memory and L1 hits are
answered, the rest goes out.
Peak rate: one instruction per `interval` cycles, one pass over the banks per `pass_cycles`, one line per `line_cycles`; where
loads pass over the banks of L1, `tags` lines of different banks and one pass of theirs per cycle.
"""

import numpy as np

from sim.compiled.kernel import inner
from sim.gpus.path import L1_LOOKUP
from sim.lowering.accesses import ATOMIC, LOAD, SHARED, STORE
from sim.lowering.core import Code, Hardware
from sim.result.causes import Tally
from sim.timing.memory.access import count_sectors, data_cycles, hit_takes_longer
from sim.timing.memory.issue_queue import NOTHING, WAITS, choose_queue, open_row, plan
from sim.timing.memory.l1 import NO_SECTORS, fetched, find_for_load, lacks, readable, store, whole_sectors
from sim.timing.memory.leaving import enters, first_closes, hand_on, press
from sim.timing.memory.mshr import allocate_mshr, close_access, open_access, wait_for
from sim.timing.memory.requests import Packet, forget, sector_count, send, whole_cycles
from sim.timing.memory.results import resolve, sources_read, taken
from sim.timing.memory.shared import take_shared
from sim.timing.memory.state import Memory
from sim.timing.memory.write_combining import expire, make_way, put, release
from sim.timing.state import Machine
from sim.timing.telling import tell_evicted, tell_lookup
from sim.traces.trace import TraceArrays

WORD = 4  # bytes
L1_SECTORS, L1_HITS, L1_MERGED = int(Tally.L1_SECTORS), int(Tally.L1_HITS), int(Tally.L1_MERGED)
L1_LOAD_SECTORS, L1_LOAD_HITS, L1_PASSED = int(Tally.L1_LOAD_SECTORS), int(Tally.L1_LOAD_HITS), int(Tally.L1_PASSED)
LOADS, LOAD_CYCLES, LOAD_SECTOR_CYCLES = int(Tally.LOADS), int(Tally.LOAD_CYCLES), int(Tally.LOAD_SECTOR_CYCLES)


@inner
def take(m: int, now: int, hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> None:
    """Take one instruction."""
    mh, memory = hw.memory[0], sm.memory
    forget(m, now, mh, memory)
    number = choose_queue(m, now, mh, code, memory)
    unit, queue = memory.units[m], memory.queues[m, number]
    place = queue.first
    entry = memory.entries[m, number, place]
    op = code.ops[entry.instruction]
    unit.turn = number
    queue.first = (place + 1) % mh.depth
    queue.count -= 1
    queue.spaced = now + op.address
    unit.free = now + busy(entry, op, mh)
    open_row(m, number, now, hw, sm)
    sources_read(m, np.int64(entry.slot), np.int64(entry.instruction), entry.read_ticket, now, hw, code, sm)
    if op.memory == SHARED:
        queue.spaced = max(queue.spaced, now + mh.replay * entry.passes)
        take_shared(m, number * mh.depth + place, now, hw, code, sm, trace)
    elif op.access in WAITS:
        take_load(m, number, place, now, hw, code, sm)
    else:
        take_store(m, number, place, now, hw, code, sm)
    plan(m, mh, code, memory)


@inner
def busy(entry: np.record, op: np.record, mh: np.record) -> int:
    """Return the cycles that an instruction keeps the shared unit; where lines are looked up by tags, a store only for as long."""
    if op.memory == SHARED:
        return max(mh.interval, entry.passes * mh.pass_cycles)
    pieces = (entry.requests + entry.further) * mh.line_cycles if op.landing else np.int64(0)
    if entry.passes or (mh.tags and op.access == STORE):  # a load through L1 passes over its banks when all its lines are there
        return max(mh.interval, np.int64(entry.lookups), pieces)
    sent = entry.weight if op.access >= ATOMIC else entry.requests
    return max(mh.interval, sent * mh.line_cycles, pieces, data_cycles(op, mh))


@inner
def take_store(m: int, number: int, place: int, now: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """Send a store or a reduction to L2, line by line.

    It is over for its warp when it has left the SM; where lines are looked up by tags, when it has passed L1, as a load that hits.
    """
    mh, memory = hw.memory[0], sm.memory
    entry = memory.entries[m, number, place]
    op = code.ops[entry.instruction]
    count_sectors(m, number, place, op, memory)
    block = np.int64(sm.warps[m, entry.slot].place)
    sm.places[m, block].stores += entry.requests
    before, memory.units[m].asks = memory.units[m].in_port, entry.slot
    if op.access == STORE and entry.requests:
        memory.units[m].written = now + max(entry.requests * mh.line_cycles, data_cycles(op, mh))
        memory.queues[m, number].written = now + whole_cycles(entry.requests * mh.store_line_ticks)
    if mh.store_lines and op.access == STORE:
        expire(m, now, now + L1_LOOKUP, mh, memory)
    start, entered = now + L1_LOOKUP, enters(m, entry, mh, memory) if mh.leaving_lines and op.access == STORE else np.int64(0)
    for k in range(entry.requests):
        line, sectors = memory.entry_line[m, number, place, k], memory.entry_sectors[m, number, place, k]
        words, packets = memory.entry_words[m, number, place, k], np.int64(memory.entry_packets[m, number, place, k])
        if op.cached and mh.l1_sets and op.access == STORE:
            there = store(m, line, memory.entry_set[m, number, place, k], sectors, words, op.width >= WORD, mh, memory)
            if mh.leaving_lines and there >= 0:
                hand_on(m, there, readable(words, op.width >= WORD), entered, first_closes(m, entry, mh, memory) + k, mh, memory)
            tell_evicted(m, now, hw, sm)
        if mh.store_lines and op.access == STORE:
            sm.places[m, block].stores -= put(m, now, start, line, sectors, words, block, mh, memory)
        else:
            make_way(m, line, start, mh, memory)
            send(m, start, Packet(line, sectors, words, np.int64(op.access), packets, NOTHING, block), mh, memory)
        start += mh.line_cycles * (packets if op.access >= ATOMIC else np.int64(1))
    if mh.leaving_lines and op.access == STORE:
        press(m, entered, mh, memory)
    over = memory.units[m].free
    if mh.tags:
        over += mh.l1_latency
    elif memory.units[m].in_port != before:
        over = max(over, whole_cycles(memory.units[m].request_free))
    sm.places[m, block].to_take -= 1
    if sm.places[m, block].alive == 0:
        flush_stores(m, block, now + L1_LOOKUP, mh, sm)
    taken(m, np.int64(entry.slot), np.int64(entry.instruction), entry.ticket, over, hw, code, sm)


@inner
def flush_stores(m: int, block: int, start: int, mh: np.record, sm: Machine) -> None:
    """The last warp of the block in a place has issued its last instruction: what is kept of its stores leaves, once all are taken."""
    if sm.places[m, block].to_take == 0:
        release(m, block, start, mh, sm.memory)


@inner
def take_load(m: int, number: int, place: int, now: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """Look a load or an atomic up, line by line; what is not there becomes MSHRs that it waits for."""
    mh, memory = hw.memory[0], sm.memory
    entry = memory.entries[m, number, place]
    op = code.ops[entry.instruction]
    sectors = count_sectors(m, number, place, op, memory)
    a = open_access(m, memory)
    start = now + L1_LOOKUP
    for k in range(entry.requests):
        if entry.lookups > 1 and entry.passes:
            start = now + L1_LOOKUP + np.int64(memory.entry_turn[m, number, place, k])
        if op.cached and mh.l1_sets:
            tell_lookup(m, number, place, np.int64(k), now, hw, sm)
            look_up(m, number, place, k, a, start, op, mh, memory)
            tell_evicted(m, now, hw, sm)
        else:
            memory.tallies[L1_PASSED] += sector_count(memory.entry_sectors[m, number, place, k]) if op.access == LOAD else 0
            go_past(m, number, place, k, a, start, op, mh, memory)
        if entry.passes == 0:
            start += mh.line_cycles * (np.int64(memory.entry_packets[m, number, place, k]) if op.access >= ATOMIC else np.int64(1))
    access = memory.accesses[m, a]
    access.reading = entry.reading
    access.ready = now + max(mh.l1_latency, np.int64(1)) + hit_takes_longer(entry, op, mh)
    access.issued, access.log, access.sectors = entry.issued, entry.log, sectors
    access.slot, access.instruction, access.ticket = entry.slot, entry.instruction, entry.ticket
    if access.missing == 0:
        if entry.passes:
            access.ready += read_data(m, number, entry, now, mh, memory)
        finish_access(m, a, hw, code, sm)


@inner
def read_data(m: int, number: int, entry: np.record, now: int, mh: np.record, memory: Memory) -> int:
    """A load that is taken now has hit: its passes keep the banks, the unit, and the address unit of its port; return how long it waits."""
    unit, queue = memory.units[m], memory.queues[m, number]
    begins, passes = max(now, unit.banks), np.int64(entry.passes)
    unit.banks = begins + passes
    unit.free = max(unit.free, unit.banks)
    queue.spaced = max(queue.spaced, begins + mh.replay * passes)
    return begins - now


@inner
def look_up(m: int, number: int, place: int, k: int, access: int, start: int, op: np.record, mh: np.record, memory: Memory) -> None:
    """Look line k of a load up in L1 and fetch what is missing."""
    number_of_line, wanted = memory.entry_line[m, number, place, k], memory.entry_sectors[m, number, place, k]
    memory.tallies[L1_SECTORS] += sector_count(wanted)
    memory.tallies[L1_LOAD_SECTORS] += sector_count(wanted)
    words, first = memory.entry_words[m, number, place, k], memory.entry_set[m, number, place, k]
    where = find_for_load(m, number_of_line, first, wanted, words, mh, memory)
    if where < 0:
        go_past(m, number, place, k, access, start, op, mh, memory)
        return
    line = memory.lines[m, where]
    waits = lacks(line.there, wanted, words)
    memory.tallies[L1_HITS] += sector_count(wanted & ~waits)
    memory.tallies[L1_LOAD_HITS] += sector_count(wanted & ~waits)
    if waits == NO_SECTORS:
        return
    memory.tallies[L1_MERGED] += sector_count(waits & line.pending)
    wait_for(m, line, allocate_mshr(m, access, waits, mh, memory), memory)
    missing = waits & ~line.pending
    if missing != NO_SECTORS:
        missing = fetched(missing, whole_sectors(line.there) | line.pending, mh)
        line.pending |= missing
        make_way(m, number_of_line, start, mh, memory)
        send(m, start, Packet(number_of_line, missing, NO_SECTORS, np.int64(LOAD), np.int64(1), NOTHING, where), mh, memory)


@inner
def go_past(m: int, number: int, place: int, k: int, access: int, start: int, op: np.record, mh: np.record, memory: Memory) -> None:
    """Fetch line k of a load, or send an atomic, past L1."""
    sectors, words = memory.entry_sectors[m, number, place, k], memory.entry_words[m, number, place, k]
    packets = np.int64(memory.entry_packets[m, number, place, k])
    mshr = allocate_mshr(m, access, sectors, mh, memory)
    line = memory.entry_line[m, number, place, k]
    make_way(m, line, start, mh, memory)
    send(m, start, Packet(line, sectors, words, np.int64(op.access), packets, mshr, NOTHING), mh, memory)


@inner
def finish_access(m: int, number: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """All of a load's data have come, or nothing more has to be asked for: its result is ready at a cycle now known."""
    memory, access = sm.memory, sm.memory.accesses[m, number]
    memory.tallies[LOADS] += 1
    memory.tallies[LOAD_CYCLES] += access.ready - access.issued
    memory.tallies[LOAD_SECTOR_CYCLES] += (access.ready - access.issued) * access.sectors
    slot, i = np.int64(access.slot), np.int64(access.instruction)
    resolve(m, slot, i, access.ticket, access.ready + code.ops[i].landing, access.log, hw, code, sm)
    close_access(m, number, memory)
