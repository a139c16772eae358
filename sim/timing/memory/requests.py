"""The port of an SM towards L2: a queue of requests, sent one after another at so many bytes per cycle."""

from typing import NamedTuple

import numpy as np

from sim.compiled.kernel import inner
from sim.gpus.path import SECTOR
from sim.lowering.accesses import LOAD, STORE
from sim.lowering.memory import LOCAL_LINE, REQUEST_WEIGHT, SECTORS, TICKS
from sim.lowering.slices import number_of, place_of
from sim.result.causes import Tally
from sim.timing.memory.state import Memory
from sim.timing.state import NEVER

PORT_PEAK = int(Tally.PORT_PEAK)
SECTOR_WORDS = SECTOR // 4
WHOLE_LINE = np.uint32(0xFFFFFFFF)  # words


class Packet(NamedTuple):
    """What a request says: a line of 128 bytes, and what L2 is to do with it."""

    line: int
    sectors: int  # mask of 4
    words: int  # mask of 32: those that it writes
    kind: int  # LOAD, STORE or an atomic's
    packets: int  # of an atomic, which L2 makes one after another
    mshr: int  # that the answer is for, NONE: a line of L1, or nobody; FIRST_COPY and below: a bulk copy
    place: int  # of the block that stores, or of the line in L1 that is fetched


turn_of, number_of_line = inner(place_of), inner(number_of)


@inner
def sector_count(mask: int) -> int:
    """Return how many of a line's four sectors are in the mask."""
    count = np.int64(0)
    for sector in range(4):
        count += np.int64((mask >> np.uint32(sector)) & np.uint32(1))
    return count


@inner
def accesses_of(sectors: int, mh: np.record) -> int:
    """Return the sectors of the accesses of DRAM (`dram.access_bytes`) that some sectors are part of."""
    whole = sectors
    if mh.access_sectors > 1:
        group = np.uint32((1 << mh.access_sectors) - 1)
        for first in range(0, SECTORS, mh.access_sectors):
            if (sectors >> np.uint32(first)) & group != np.uint32(0):
                whole |= group << np.uint32(first)
    return whole


@inner
def last_there(times: np.ndarray, place: int, sectors: int) -> int:
    """Return the cycle in which the last of some sectors of a line is there. times: int64 [places of L2 * SECTORS], of each."""
    last = np.int64(0)
    for sector in range(SECTORS):
        if (sectors >> np.uint32(sector)) & np.uint32(1) != np.uint32(0):
            last = max(last, times[place * SECTORS + sector])
    return last


@inner
def note_there(times: np.ndarray, place: int, sectors: int, cycle: int) -> None:
    """Note in which cycle some sectors of a line are there."""
    for sector in range(SECTORS):
        if (sectors >> np.uint32(sector)) & np.uint32(1) != np.uint32(0):
            times[place * SECTORS + sector] = cycle


@inner
def whole_cycles(ticks: int) -> int:
    """Return the first whole cycle not before a number of ticks."""
    return (ticks + TICKS - 1) // TICKS


@inner
def data_ticks(sectors: int, words: int, kind: int, mh: np.record) -> int:
    """Return how long what is written keeps the port: a least number of words for each sector, and a mask when a sector is not whole."""
    total, partial = np.int64(0), False
    for sector in range(4):
        if (sectors >> np.uint32(sector)) & np.uint32(1) != np.uint32(0):
            written, count = (words >> np.uint32(8 * sector)) & np.uint32(0xFF), np.int64(0)
            while written != np.uint32(0):
                written &= written - np.uint32(1)
                count += 1
            total += max(count, mh.least_words)
            partial |= count < SECTOR_WORDS
    return mh.data_ticks * total + (mh.mask_ticks if partial and kind == STORE else np.int64(0))


@inner
def send(m: int, start: int, packet: Packet, mh: np.record, memory: Memory) -> None:
    """Queue one request of SM m, which may leave from cycle `start` on; note when it reaches L2."""
    unit, line, kind = memory.units[m], packet.line, packet.kind
    size = mh.request_ticks
    if kind != LOAD:
        size += data_ticks(packet.sectors, packet.words, kind, mh)
    unit.request_free = max(start * TICKS, unit.request_free) + size
    request = memory.requests[m, (unit.first + unit.requests) % mh.request_ring]
    request.arrival = whole_cycles(unit.request_free) + mh.network
    request.left = NEVER
    request.line = line
    number = number_of_line(line, turn_of(line, mh.channels), mh.channels, mh.lanes, mh.lane_cycle)
    request.slice = number % mh.channels
    if mh.l2_sets:
        inside = number // mh.channels
        which = turn_of(inside, mh.l2_sets) if line >= LOCAL_LINE else inside % mh.l2_sets  # local memory leaves gaps, which a hash closes
        request.set = (request.slice * mh.l2_sets + which) * mh.l2_ways
    request.sectors = packet.sectors
    request.words = packet.words
    request.kind = kind
    request.packets = packet.packets
    request.weight = weight_of(kind, packet.packets, packet.words)
    request.mshr = packet.mshr
    request.place = packet.place
    if unit.requests == 0:
        unit.arrival = max(request.arrival, unit.blocked)
    unit.requests += 1
    unit.in_port += request.weight
    memory.tallies[PORT_PEAK] = max(memory.tallies[PORT_PEAK], (unit.in_port + REQUEST_WEIGHT - 1) // REQUEST_WEIGHT)


@inner
def forget(m: int, now: int, mh: np.record, memory: Memory) -> None:
    """Give back the places of the port whose requests L2 has admitted by now."""
    unit = memory.units[m]
    while unit.in_port and memory.requests[m, unit.oldest].left <= now:
        unit.in_port -= memory.requests[m, unit.oldest].weight
        unit.oldest = (unit.oldest + 1) % mh.request_ring


@inner
def weight_of(kind: int, packets: int, words: int) -> int:
    """Return the places of a port that a request takes: an atomic one for each packet, a store of a whole line one for each sector."""
    if kind == STORE and words == WHOLE_LINE:
        return np.int64(SECTORS)
    return np.int64(REQUEST_WEIGHT) if kind in (LOAD, STORE) else np.int64(packets)


@inner
def room_from(m: int, more: int, mh: np.record, memory: Memory) -> int:
    """Return the first cycle in which the port has so many more places, NEVER when that is not known yet.

    More than it ever has room for need an empty port.
    """
    unit = memory.units[m]
    over = min(unit.in_port + more - mh.request_depth, np.int64(unit.in_port))
    left, place = np.int64(0), np.int64(unit.oldest)
    while over > 0:
        over -= memory.requests[m, place].weight
        left = np.int64(memory.requests[m, place].left)
        place = (place + 1) % mh.request_ring
    return left
