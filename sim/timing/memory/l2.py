"""L2 slices: bounded queues served in order, write-back lines of four sectors, least recently used goes first, or as `l2.replacement` says.

A request is looked up when it arrives. A load's answer leaves when the slice has served it and its sectors are there; a sector
being fetched is there when its channel has sent it. A store needs no fetch: the words that it wrote are remembered, and a sector
written in part is completed from DRAM when its line is evicted."""

import numpy as np

from sim.compiled.kernel import inner, prefetch
from sim.lowering.accesses import ATOMIC, BULK_REDUCTION, LOAD, STORE
from sim.lowering.memory import L2_START, SECTORS, TICKS
from sim.lowering.slices import number_of, place_of
from sim.policies.replacement import FILLED
from sim.result.causes import Tally
from sim.timing import records
from sim.timing.memory.dram import from_dram, transfer
from sim.timing.memory.fills import expect
from sim.timing.memory.l1 import NO_SECTORS, NO_WORDS, whole_sectors
from sim.timing.memory.partitions import asked, copied, is_far, latency_of, pass_through
from sim.timing.memory.replacement import LRU, going, note, touch, victim
from sim.timing.memory.request_coalescer import join_read, may_join, note_read
from sim.timing.memory.requests import accesses_of, last_there, note_there, sector_count, whole_cycles
from sim.timing.memory.state import Memory
from sim.timing.state import NEVER

L2_READS, L2_WRITES, L2_HITS = int(Tally.L2_READS), int(Tally.L2_WRITES), int(Tally.L2_HITS)
SLICE_FULL = int(Tally.SLICE_FULL)
TAGS_OF_A_LINE, WAYS_OF_A_LINE = records.LINE // 4, records.LINE // 2  # in a cache line of the processor that simulates


@inner
def serve(m: int, request: np.record, now: int, mh: np.record, memory: Memory) -> tuple[int, int]:
    """Serve a request of SM m that reaches L2 now.

    Return (cycle in which its slice admits it, cycle in which its data leave L2, NEVER: not before DRAM has sent them).
    """
    number = asked(m, request, mh, memory)
    place = find(request.line, np.int64(request.set), mh, memory) if mh.l2_sets else np.int64(-1)
    if place >= 0 and may_join(request, mh):
        there, far = join_read(m, request, place, now, mh, memory)
        if there:
            touch(np.int64(request.set), place, mh, memory)
            if is_late(request, there, now, mh):
                expect(m, request, (there, now), (np.int64(0), np.int64(0)), far, memory)
                return now, np.int64(NEVER)
            return now, max(now, there + far) + latency_of(m, number, mh, memory)
    bank = memory.slices[number]
    admitted = now * TICKS
    if request.kind != LOAD:
        admitted = max(admitted, memory.slice_done[number, bank.served % mh.slice_depth])
        memory.tallies[SLICE_FULL] += admitted > now * TICKS
    writes = mh.write_port and request.kind == STORE
    done = max(admitted, bank.written if writes else bank.free) + service(request, mh)
    fetched, moved = np.int64(0), np.int64(0)
    if mh.l2_sets == 0:
        done, there = without_cache(request, done, mh, memory)
    else:
        done, there, fetched, moved = with_cache(m, request, place, done, now, mh, memory)
    if writes:
        bank.written = done
    else:
        bank.free = done
    far = mh.far if moved else np.int64(0)
    if mh.l2_sets and may_join(request, mh):
        note_read(m, request, done, there, far, mh, memory)
    if request.kind != LOAD and is_far(m, request, mh, memory):
        pass_through(number, now, passed(request, mh), mh, memory)
    if request.kind != LOAD:
        memory.slice_done[number, bank.served % mh.slice_depth] = done
        bank.served += 1
    if is_late(request, there, now, mh) or (moved and request.kind == LOAD):
        served = whole_cycles(done)
        expect(m, request, (there if there > now else served, served), (fetched, moved), far, memory)
        return whole_cycles(admitted), np.int64(NEVER)
    return whole_cycles(admitted), max(whole_cycles(done), there) + far + latency_of(m, number, mh, memory)


@inner
def is_late(request: np.record, there: int, now: int, mh: np.record) -> bool:
    """Return whether a load waits for what DRAM sends, which takes a port of its slice when it comes."""
    return mh.write_port and request.kind == LOAD and there > now


@inner
def service(request: np.record, mh: np.record) -> int:
    """Return the ticks that a request holds its slice: for a look-up at least, for its sectors."""
    moved = passed(request, mh)
    if request.kind in (LOAD, STORE):
        return moved
    is_whole = request.kind != BULK_REDUCTION and whole_sectors(request.words) == request.sectors
    updated = max(moved, np.int64(request.packets) * (mh.whole_atomic_ticks if is_whole else mh.atomic_ticks))
    return updated + moved if request.kind == ATOMIC else updated


@inner
def passed(request: np.record, mh: np.record) -> int:
    """Return the ticks that a request holds a slice that only hands it on: a look-up at least, else its sectors."""
    count = sector_count(request.sectors)
    whole = sector_count(request.sectors & whole_sectors(request.words)) if request.kind == STORE else count
    return max(mh.lookup_ticks, whole * mh.l2_ticks + (count - whole) * mh.partial_ticks)


@inner
def without_cache(request: np.record, done: int, mh: np.record, memory: Memory) -> tuple[int, int]:
    """Pass a request on to DRAM; return (ticks when the slice is free, cycle in which its sectors are there)."""
    count = sector_count(request.sectors)
    if request.kind == LOAD:
        memory.tallies[L2_READS] += count
    else:
        memory.tallies[L2_WRITES] += count
    read = np.int64(0) if request.kind == STORE else count
    written = np.int64(0) if request.kind == LOAD else count
    admitted, sent = transfer(np.int64(request.slice), done, read, written, request.line, mh, memory)
    return max(done, admitted), from_dram(request.line, sent, mh)


@inner
def with_cache(m: int, request: np.record, place: int, done: int, now: int, mh: np.record, memory: Memory) -> tuple[int, int, int, int]:
    """Look up a request that comes now, its line at `place`, -1: nowhere.

    Return (ticks when the slice is free, cycle when its sectors are there, how many were fetched, how many come from the other part of L2).
    """
    was_there = place >= 0
    evicted, written, evicted_valid, missing = np.uint32(0), NO_WORDS, NO_SECTORS, NO_SECTORS
    if place < 0:
        place = victim(np.int64(request.set), mh, memory) if mh.l2_replacement == LRU else going(np.int64(request.set), mh, memory)
        evicted, written = memory.l2_tag[place], memory.l2[place].words
        evicted_valid = memory.l2[place].valid
        memory.l2_tag[place], memory.l2[place].words, memory.l2[place].valid = tag_of(request.line), NO_WORDS, NO_SECTORS
        memory.l2[place].copied, memory.l2[place].changed = NO_SECTORS, memory.clock[0]
        for sector in range(SECTORS):
            memory.l2_fill[place * SECTORS + sector] = 0
    entry = memory.l2[place]
    if was_there or mh.l2_replacement == LRU:
        touch(np.int64(request.set), place, mh, memory)
    else:
        note(np.int64(FILLED), np.int64(request.set), place, mh, memory)
    there, fetched, moved = np.int64(0), np.int64(0), np.int64(0)
    if request.kind != STORE:
        missing = request.sectors & ~(entry.valid | whole_sectors(entry.words))
        if missing != NO_SECTORS:
            done, fetched = fetch(request, place, missing, done, mh, memory)
        there = last_there(memory.l2_fill, place, request.sectors)
        there, moved = copied(m, request, place, there, now, mh, memory)
    count_hits(request, missing, memory)
    if request.kind != LOAD:
        entry.words |= request.words
        entry.copied &= ~request.sectors
        entry.changed = memory.clock[0] + 1
    if written != NO_WORDS:
        done = write_back(np.int64(request.slice), evicted, written, evicted_valid, done, mh, memory)
    return done, there, fetched, moved


@inner
def count_hits(request: np.record, missing: int, memory: Memory) -> None:
    """Count the sectors of a request, and which of them were there."""
    count = sector_count(request.sectors)
    memory.tallies[L2_READS if request.kind == LOAD else L2_WRITES] += count
    memory.tallies[L2_HITS] += count - sector_count(missing)


@inner
def tag_of(line: int) -> int:
    """Return what tells a line from others in fewer bits: a line of local memory, 2**33 on, has a bit that no array's has. 0: no line.

    Arrays lie below 2**32 bytes, and local memory takes 2**16 lines of each SM, of which there are 2**14 at most.
    """
    return (np.uint32(line & 0x3FFFFFFF) | np.uint32((line >> 33) << 30)) + np.uint32(1)


@inner
def line_of(tag: int) -> int:
    """Return the line that a tag tells from others, -1: nobody's."""
    number = np.int64(tag) - 1
    return number if number < 1 << 30 else (number & 0x3FFFFFFF) | (number >> 30) << 33


@inner
def prefetch_set(request: np.record, mh: np.record, memory: Memory) -> None:
    """Ask for the tags of a request that is about to reach L2: the processor finds them in its caches then."""
    for way in range(0, mh.l2_ways, TAGS_OF_A_LINE):
        prefetch(memory.l2_tag, np.int64(request.set) + way)
    for way in range(0, mh.l2_ways, WAYS_OF_A_LINE):
        prefetch(memory.l2_order, np.int64(request.set) + way)


@inner
def prefetch_line(request: np.record, mh: np.record, memory: Memory) -> None:
    """Ask for what is kept of the line of a request, or of that whose place it may take."""
    place = find(request.line, np.int64(request.set), mh, memory)
    if place < 0 and mh.l2_replacement != LRU:  # to ask which goes would be to let it go
        return
    if place < 0:
        place = victim(np.int64(request.set), mh, memory)
    prefetch(memory.l2, place)
    prefetch(memory.l2_fill, place * SECTORS)


@inner
def find(line: int, first: int, mh: np.record, memory: Memory) -> int:
    """Return the place of a line in its set, which begins at place `first`; NONE when it is not there."""
    tag = tag_of(line)
    for place in range(first, first + mh.l2_ways):
        if memory.l2_tag[place] == tag:
            return np.int64(place)
    return np.int64(-1)


@inner
def fetch(request: np.record, place: int, missing: int, done: int, mh: np.record, memory: Memory) -> tuple[int, int]:
    """Fetch sectors from DRAM, whole accesses of it; return (the ticks when the slice is free, how many)."""
    entry = memory.l2[place]
    wanted = accesses_of(missing, mh) & ~(entry.valid & ~missing)
    count = sector_count(wanted)
    admitted, sent = transfer(np.int64(request.slice), done, count, np.int64(0), request.line, mh, memory)
    there = from_dram(request.line, sent, mh)
    note_there(memory.l2_fill, place, wanted, there)
    entry.valid |= wanted
    if mh.write_port and request.kind != LOAD:
        bank = memory.slices[np.int64(request.slice)]
        bank.written = max(bank.written, done) + count * mh.l2_ticks
    return max(done, admitted), count if mh.write_port else np.int64(0)


@inner
def write_back(number: int, tag: int, words: int, valid: int, done: int, mh: np.record, memory: Memory) -> int:
    """Write an evicted line's sectors to DRAM; those written in part, and not there otherwise, are read first."""
    dirty, part = np.int64(0), np.int64(0)
    for sector in range(SECTORS):
        written = (words >> np.uint32(8 * sector)) & np.uint32(0xFF)
        if written != NO_WORDS:
            dirty += 1
            part += written != np.uint32(0xFF) and (valid >> np.uint32(sector)) & np.uint32(1) == NO_SECTORS
    admitted, _ = transfer(number, done, part, dirty, line_of(tag), mh, memory)
    return max(done, admitted)


def warm_up(mh: np.record, memory: Memory, lines: np.ndarray) -> None:
    """Bring L2 into the state before cycle 0. lines: int64, the launch's arrays as 128-byte lines, in order."""
    if mh.l2_start == L2_START.index("dirty"):
        memory.l2.words = np.uint32(0xFFFFFFFF)
        memory.l2.valid = np.uint32((1 << SECTORS) - 1)
    elif mh.l2_start == L2_START.index("warm") and mh.l2_sets:
        fill_lines(mh, memory, lines)


def fill_lines(mh: np.record, memory: Memory, lines: np.ndarray) -> None:
    """Put lines into their slices, each in the first place that is free, until their set is full."""
    channels, sets, ways = int(mh.channels), int(mh.l2_sets), int(mh.l2_ways)
    numbers = number_of(lines, place_of(lines, channels), channels, int(mh.lanes), int(mh.lane_cycle))
    first: np.ndarray = (numbers % channels * sets + numbers // channels % sets) * ways
    order = np.argsort(first, kind="stable")
    start = np.searchsorted(first[order], first[order], side="left")
    way = np.arange(len(lines)) - start
    kept = way < ways
    place = (first[order] + way)[kept]
    memory.l2_tag[place] = lines[order][kept] + 1  # of arrays: `tag_of` them
    memory.l2.valid[place] = (1 << SECTORS) - 1
    if 2 * len(lines) <= channels * sets * ways:  # each part has them
        memory.l2.copied[place] = (1 << SECTORS) - 1
    filled = np.bincount(first[order][kept] // ways, minlength=len(memory.l2_tag) // ways)[:, None]
    turn = np.arange(ways)
    memory.l2_order[:] = np.where(turn < filled, filled - 1 - turn, ways - 1 - (turn - filled)).ravel()  # places that are free go first
