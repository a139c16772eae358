"""L1 cache of an SM: 128-byte lines of four sectors. The least recently used goes first, or as `l1.replacement` says; lines being fetched
stay.

A load looks each of its lines up: sectors whose words are there, sectors that another load is fetching (joined), sectors to fetch.
A store is written through; what it does to the cache is the preset's `l1.stores`; whole words that it writes into a line are there at
once. A line is invalidated (it misses from now on; what is on its way goes only to the loads that wait for it) by a store that would
take a line while some of it is being fetched, and by a load that lacks words of a sector of which a store wrote others: seen on an H100,
programs/measurements/h100/races.csv.
"""

import numpy as np

from sim.compiled.kernel import inner, outlined, prefetch
from sim.lowering.memory import L1_STORES, SEARCHED, SECTORS, WHOLE
from sim.lowering.slices import place_of, set_of
from sim.policies import Replacement
from sim.policies.replacement import FILLED, USED, VICTIM, replaced
from sim.result.causes import Tally
from sim.timing import records
from sim.timing.memory.requests import WHOLE_LINE, sector_count
from sim.timing.memory.state import NONE, Line, Memory

ALLOCATE, EVICT = L1_STORES.index("allocate"), L1_STORES.index("evict")
LRU = int(Replacement.LRU)
L1_SECTORS, L1_HITS, L1_MERGED = int(Tally.L1_SECTORS), int(Tally.L1_HITS), int(Tally.L1_MERGED)
NO_SECTORS = np.uint32(0)
LINES_OF_A_LINE = records.LINE // Line.itemsize  # our records in a cache line of the processor
NO_LINE = np.int64(NONE)
NO_WORDS = np.uint32(0)
ALL_SECTORS = np.uint32(WHOLE)

by_tags, in_turn = inner(set_of), inner(place_of)


@inner
def l1_set(line: int, mh: np.record) -> int:
    """Return the number of the set of a line."""
    return by_tags(line, mh.l1_sets) if mh.l1_decoupled else in_turn(line, mh.l1_sets)


@inner
def prefetch_set(m: int, line: int, mh: np.record, memory: Memory) -> int:
    """Return the first place of the set of a line, which will be looked up soon: the processor finds it in its caches then."""
    first = l1_set(line, mh) * mh.l1_ways
    for way in range(0, mh.l1_ways, LINES_OF_A_LINE):
        prefetch(memory.lines, m * memory.lines.shape[1] + first + way)
    return first


@inner
def find(m: int, line: int, first: int, mh: np.record, memory: Memory) -> int:
    """Return the place of a line in its set, which begins at place `first`; NONE when it is not there; using it is noted."""
    for place in range(first, first + mh.l1_ways):
        if memory.lines[m, place].tag == line + 1:
            memory.units[m].uses += 1
            memory.lines[m, place].used = memory.units[m].uses
            if mh.l1_replacement != LRU:
                note(np.int64(USED), m, first, np.int64(place), mh, memory)
            return np.int64(place)
    return NO_LINE


@outlined
def note(event: int, m: int, first: int, place: int, mh: np.record, memory: Memory) -> None:
    """Tell the policy what happens to a place of the set that begins at place `first`."""
    replaced(mh.l1_replacement, event, memory.l1_state[m], first, place - first, memory.l1_may_go[m], first)


@outlined
def going(m: int, first: int, mh: np.record, memory: Memory) -> int:
    """Return the place that goes by another policy than LRU, the first without a line, if any; NONE when all are being fetched."""
    some = False
    for way in range(mh.l1_ways):
        candidate = memory.lines[m, first + way]
        memory.l1_may_go[m, way] = candidate.pending == NO_SECTORS
        if candidate.pending == NO_SECTORS:
            if candidate.tag == 0:
                return first + way
            some = True
    if not some:
        return NO_LINE
    return first + replaced(mh.l1_replacement, np.int64(VICTIM), memory.l1_state[m], first, np.int64(0), memory.l1_may_go[m], first)


@inner
def is_there(m: int, line: int, first: int, sectors: int, words: int, mh: np.record, memory: Memory) -> bool:
    """Return whether all that a load wants of a line is there, without using it."""
    for place in range(first, first + mh.l1_ways):
        if memory.lines[m, place].tag == line + 1:
            return lacks(memory.lines[m, place].there, sectors, words) == NO_SECTORS
    return False


@inner
def allocate(m: int, line: int, first: int, mh: np.record, memory: Memory) -> int:
    """Give a line the place of the least recently used one of its set, or that another policy says; NONE when all are being fetched."""
    best = NO_LINE if mh.l1_replacement == LRU else going(m, first, mh, memory)
    for place in range(first, first + mh.l1_ways if mh.l1_replacement == LRU else first):
        candidate = memory.lines[m, place]
        if candidate.pending == NO_SECTORS and (best < 0 or candidate.used < memory.lines[m, best].used):
            best = np.int64(place)
    if best >= 0:
        memory.units[m].uses += 1
        chosen = memory.lines[m, best]
        gone = best
        if chosen.tag == 0:
            if memory.units[m].l1_taken < mh.l1_data:
                memory.units[m].l1_taken += 1
            else:
                gone = give_up(m, mh, memory)
                if gone < 0:
                    return NO_LINE
                if first <= gone < best:  # the first free place of the set
                    best = gone
                    chosen = memory.lines[m, best]
        if memory.owners.shape[0]:
            memory.units[m].replaced = memory.lines[m, gone].tag - 1
            memory.units[m].replaced_of = memory.owners[m, gone]
            memory.owners[m, best] = memory.units[m].asks
        if gone != best:
            memory.lines[m, gone].tag, memory.lines[m, gone].used = 0, 0
        chosen.tag = line + 1
        chosen.used = memory.units[m].uses
        chosen.there = NO_WORDS
        if mh.leaving_lines:
            memory.departures[m, best].leaves = 0
        chosen.waiting = NONE
        if mh.l1_replacement != LRU:
            note(np.int64(FILLED), m, first, best, mh, memory)
    return best


@outlined
def give_up(m: int, mh: np.record, memory: Memory) -> int:
    """Return the place whose line gives its data up, the least recently used of the next SEARCHED sets; NONE when all are on their way."""
    for _ in range(0, mh.l1_sets, SEARCHED):
        first, best = memory.units[m].l1_hand * mh.l1_ways, NO_LINE
        last = min(first + SEARCHED * mh.l1_ways, mh.l1_sets * mh.l1_ways)
        memory.units[m].l1_hand = last // mh.l1_ways % mh.l1_sets
        for place in range(first, last):
            candidate = memory.lines[m, place]
            if candidate.tag != 0 and candidate.pending == NO_SECTORS and (best < 0 or candidate.used < memory.lines[m, best].used):
                best = np.int64(place)
        if best >= 0:
            return best
    return NO_LINE


@inner
def invalidate(m: int, place: int, memory: Memory) -> None:
    """Invalidate the line in a place; when all that it waits for has come, the place is the next to be taken."""
    memory.units[m].l1_taken -= 1
    memory.lines[m, place].tag = 0
    memory.lines[m, place].used = 0


@inner
def find_for_load(m: int, line: int, first: int, sectors: int, words: int, mh: np.record, memory: Memory) -> int:
    """Return the place of a line for a load, which takes one if the line has none; NONE when all places of its set are being fetched."""
    place = find(m, line, first, mh, memory)
    if place >= 0:
        there = memory.lines[m, place].there
        lacking = lacks(there, sectors, words) & ~memory.lines[m, place].pending
        if lacking & sectors_with(there) != NO_SECTORS:
            invalidate(m, place, memory)
            place = NO_LINE
    if place < 0:
        place = allocate(m, line, first, mh, memory)
    return place


@inner
def words_of(sectors: int) -> int:
    """Return the mask of the words that lie in some sectors."""
    # The bit of each sector goes to the first of its eight words, and from there to all of them.
    first = sectors & np.uint32(1) | (sectors & np.uint32(2)) << np.uint32(7)
    return (first | (sectors & np.uint32(4)) << np.uint32(14) | (sectors & np.uint32(8)) << np.uint32(21)) * np.uint32(0xFF)


@inner
def sectors_with(words: int) -> int:
    """Return the mask of the sectors in which some words lie."""
    # The first word of each sector comes to stand for all eight, then for its bit.
    found = words | words >> np.uint32(4)
    found |= found >> np.uint32(2)
    found = (found | found >> np.uint32(1)) & np.uint32(0x01010101)
    return (found | found >> np.uint32(7) | found >> np.uint32(14) | found >> np.uint32(21)) & ALL_SECTORS


@inner
def lacks(there: int, sectors: int, words: int) -> int:
    """Return the sectors of which a word that a load wants is not there; where the rule fetches more than lanes want, any word."""
    return sectors_with((words | words_of(sectors & ~sectors_with(words))) & ~there)


@inner
def fetched(wanted: int, there: int, mh: np.record) -> int:
    """Return the sectors to fetch when those `wanted` are missing and those `there` are not: some GPUs fetch a half line, or the whole."""
    if mh.l1_fetch == 1:
        return wanted
    if mh.l1_fetch == SECTORS:
        return ALL_SECTORS & ~there
    halves = (wanted | wanted >> np.uint32(1)) & np.uint32(0b0101)
    return (halves | halves << np.uint32(1)) & ~there


@inner
def whole_sectors(words: int) -> int:
    """Return the sectors all of whose words are in a mask of words."""
    return ALL_SECTORS & ~sectors_with(WHOLE_LINE & ~words)


@inner
def readable(words: int, whole: bool) -> int:
    """Return the words that a store leaves in L1: all, or those of sectors that it writes whole if lanes write parts of words."""
    return words if whole else words_of(whole_sectors(words))


@inner
def store(m: int, line: int, first: int, sectors: int, words: int, whole: bool, mh: np.record, memory: Memory) -> int:
    """Do to the cache what a store does; return the line's place, NONE if it has none. It counts as hit when it is found.

    whole: no lane writes a part of a word.
    """
    memory.tallies[L1_SECTORS] += sector_count(sectors)
    place = find(m, line, first, mh, memory)
    if mh.l1_stores == ALLOCATE and place >= 0 and memory.lines[m, place].pending != NO_SECTORS:
        invalidate(m, place, memory)
        place = NO_LINE
    if place >= 0:
        memory.tallies[L1_HITS] += sector_count(sectors)
    elif mh.l1_stores == ALLOCATE:
        place = allocate(m, line, first, mh, memory)
    if place < 0:
        return NO_LINE
    found = memory.lines[m, place]
    if mh.l1_stores != EVICT:
        found.there |= readable(words, whole) & ~words_of(found.pending)
    elif found.pending == NO_SECTORS:
        invalidate(m, place, memory)
        found.there = NO_WORDS
        return NO_LINE
    return place
