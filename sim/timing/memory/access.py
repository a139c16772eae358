"""One memory instruction: what it needs of the banks, or which requests it makes, and what of that is counted."""

import numpy as np

from sim.compiled.kernel import first_bit, inner, outlined
from sim.gpus.path import LINE, SECTOR
from sim.lowering.accesses import ATOMIC, GLOBAL, LOAD, SHARED, STORE
from sim.lowering.memory import MOST_REQUESTS
from sim.lowering.slices import bank_of_tags
from sim.result.causes import Tally
from sim.timing.memory.banks import fewest, wavefronts
from sim.timing.memory.coalescer import coalesce, count_packets, has_lane, lane_address, local
from sim.timing.memory.l1 import l1_set, prefetch_set
from sim.timing.memory.requests import sector_count, weight_of
from sim.timing.memory.state import Memory
from sim.timing.state import Machine
from sim.traces.trace import ADDRESS, PHASE_SHIFT, RANK_SHIFT, SCATTERED, TraceArrays

LOAD_REQUESTS, LOCAL_REQUESTS = int(Tally.LOAD_REQUESTS), int(Tally.LOCAL_REQUESTS)
STORE_REQUESTS, ATOMIC_REQUESTS = int(Tally.STORE_REQUESTS), int(Tally.ATOMIC_REQUESTS)

tag_bank = inner(bank_of_tags)


@inner
def describe(
    m: int, number: int, place: int, op: np.record, access: int, mask: int, mh: np.record, memory: Memory, trace: TraceArrays
) -> None:
    """Find what an access needs: passes over the banks, or requests."""
    entry = memory.entries[m, number, place]
    entry.requests, entry.passes, entry.needed, entry.weight, entry.packets, entry.further, entry.lookups = 0, 0, 0, 0, 0, 0, 0
    entry.reading = 0
    if mask == np.uint32(0):
        return
    width = np.int64(op.width)
    if op.memory == SHARED:
        if op.far:
            entry.packets = packets_to_others(access, mask, width, trace)
            entry.further = lane_address(access, first_bit(mask), trace) >> RANK_SHIFT & 0xFF
            mask = own_lanes(access, mask, trace)
            if mask == np.uint32(0):
                return
        entry.passes = wavefronts(access, mask, width, op.access >= ATOMIC, mh, memory.bank_rows, memory.bank_count, trace)
        entry.needed = fewest(mask, width, mh)
        return
    line, sectors = memory.entry_line[m, number, place], memory.entry_sectors[m, number, place]
    words = memory.entry_words[m, number, place]
    if op.memory == GLOBAL:
        entry.requests = coalesce(mh.coalescing, access, mask, width, line, sectors, words, trace)
        if op.landing and not op.cached:  # through L1 neither pitch nor offset cost anything (h100/pitch.csv)
            entry.further = further_pieces(access, first_bit(mask), trace)
    else:
        slot = m * mh.local_slots + np.int64(entry.slot)
        entry.requests = local(access, mask, width, (slot, mh.local_row), line, sectors, words, trace)
    if op.cached and mh.l1_sets:
        for k in range(entry.requests):
            memory.entry_set[m, number, place, k] = prefetch_set(m, line[k], mh, memory)
        if mh.tags and op.access == LOAD:
            entry.passes = passes_of_l1(op, access, mask, mh, memory, trace)
        elif mh.leaving_lines and op.access == STORE:
            entry.needed = passes_of_l1(op, access, mask, mh, memory, trace)
    entry.lookups = (np.int64(entry.requests) + max(mh.tags, np.int64(1)) - 1) // max(mh.tags, np.int64(1))
    if entry.passes:
        turn = memory.entry_turn[m, number, place]
        entry.lookups = find_turns(np.int64(entry.requests), line, turn, mh, memory)
        entry.reading = max(entry.passes, entry.lookups)
        if entry.passes > 1 and entry.lookups > 1 and op.memory == GLOBAL:
            entry.reading = max(entry.reading, passes_of_turns((access, mask, width), entry, line, turn, mh, memory, trace))
    packets = memory.entry_packets[m, number, place]
    if op.access >= ATOMIC:
        count_packets(access, mask, entry.requests, line, packets, trace)
    for k in range(entry.requests):
        entry.weight += weight_of(np.int64(op.access), np.int64(packets[k]), words[k])


@inner
def take_tickets(m: int, entry: np.record, op: np.record, sm: Machine) -> None:
    """Note which increments of its counters an instruction will hold."""
    if op.write_counter >= 0:
        entry.ticket = sm.raised[m, entry.slot, op.write_counter]
    if op.read_counter >= 0:
        ahead = np.int64(op.write_counter == op.read_counter and not op.joins)
        entry.read_ticket = sm.raised[m, entry.slot, op.read_counter] + ahead


@inner
def further_pieces(access: int, lane: int, trace: TraceArrays) -> int:
    """Return how many pieces the lines of LDGSTS have beyond one each. lane: one that takes part."""
    stride = trace.access_stride[access]
    return (trace.access_base[access] + (np.int64(0) if stride == SCATTERED else lane * stride)) >> PHASE_SHIFT


@outlined
def own_lanes(access: int, mask: int, trace: TraceArrays) -> int:
    """Return the lanes whose place is in shared memory of the own block."""
    own = mask
    for lane in range(32):
        if has_lane(mask, lane) and lane_address(access, lane, trace) >> RANK_SHIFT & 0xFF:
            own &= ~(np.uint32(1) << np.uint32(lane))
    return np.uint32(own)


@outlined
def packets_to_others(access: int, mask: int, width: int, trace: TraceArrays) -> int:
    """Return how many 32 bytes of shared memory of other blocks the lanes touch."""
    found = np.int64(0)
    for lane in range(32):
        if not has_lane(mask, lane) or not lane_address(access, lane, trace) >> RANK_SHIFT & 0xFF:
            continue
        sector, is_new = (lane_address(access, lane, trace) & ADDRESS) // SECTOR, True
        for before in range(lane):
            is_new = is_new and not (has_lane(mask, before) and (lane_address(access, before, trace) & ADDRESS) // SECTOR == sector)
        found += is_new
    return found


@inner
def passes_of_l1(op: np.record, access: int, mask: int, mh: np.record, memory: Memory, trace: TraceArrays) -> int:
    """Return the passes over L1's banks, which are those of shared memory; a word of local memory has a bank for each lane."""
    if op.memory == GLOBAL:
        return wavefronts(access, mask, np.int64(op.width), False, mh, memory.bank_rows, memory.bank_count, trace)
    return fewest(mask, np.int64(op.width), mh)


@outlined
def passes_of_turns(
    lanes: tuple[int, int, int], entry: np.record, line: np.ndarray, turn: np.ndarray, mh: np.record, memory: Memory, trace: TraceArrays
) -> int:
    """Return the passes over L1's banks when the lines of one look-up are read before those of the next. lanes: access, mask, width."""
    access, mask, width = lanes
    for lane in range(32):
        number, k = (lane_address(access, lane, trace) & ADDRESS) // LINE, np.int64(0)
        while k < entry.requests - 1 and line[k] != number:  # of several requests of one line, the first
            k += 1
        memory.lane_turn[lane] = turn[k]
    passes = np.int64(0)
    for now in range(entry.lookups):
        members = np.uint32(0)
        for lane in range(32):
            members |= np.uint32(memory.lane_turn[lane] == now) << np.uint32(lane)
        members &= mask
        if members != np.uint32(0):
            passes += wavefronts(access, members, width, False, mh, memory.bank_rows, memory.bank_count, trace)
    return passes


@inner
def count_sectors(m: int, number: int, place: int, op: np.record, memory: Memory) -> int:
    """Return the sectors of all requests of an instruction; count them."""
    entry = memory.entries[m, number, place]
    total = np.int64(0)
    for k in range(entry.requests):
        total += sector_count(memory.entry_sectors[m, number, place, k])
    if entry.requests:
        kind = LOCAL_REQUESTS
        if op.memory == GLOBAL:
            kind = LOAD_REQUESTS if op.access == LOAD else STORE_REQUESTS if op.access == STORE else ATOMIC_REQUESTS
        memory.tallies[kind] += 1
        memory.tallies[kind + 1] += total
    return total


@inner
def find_turns(requests: int, line: np.ndarray, turn: np.ndarray, mh: np.record, memory: Memory) -> int:
    """Return in how many cycles a load's lines are looked up, one in each bank of tags; where several, note in which each is."""
    if requests > 1 and mh.tags < MOST_REQUESTS:
        return turns_of_several(requests, line, turn, mh, memory.bank_rows)
    return min(requests, np.int64(1))


@outlined
def turns_of_several(requests: int, line: np.ndarray, turn: np.ndarray, mh: np.record, count: np.ndarray) -> int:
    """Do what `find_turns` does, lines of one bank one after another. count: scratch."""
    most = np.int64(0)
    for bank in range(mh.tags):
        count[bank] = 0
    for k in range(requests):
        bank = tag_bank(l1_set(line[k], mh), mh.tags)
        turn[k] = count[bank]
        count[bank] += 1
        most = max(most, count[bank])
    return most


@inner
def data_cycles(op: np.record, mh: np.record) -> int:
    """Return the cycles that a whole warp's data take between L1 and the registers."""
    return (np.int64(op.width) * 32 * 16 + mh.l1_bytes - 1) // mh.l1_bytes


@inner
def hit_takes_longer(entry: np.record, op: np.record, mh: np.record) -> int:
    """Return the cycles that a load's further lines, passes or registers take beyond the latency of a hit."""
    if entry.passes:
        return np.int64(entry.lookups) - 1 + mh.pass_latency * (np.int64(entry.passes) - 1)
    registers = max(np.int64(op.width) >> 2, np.int64(1))
    extra = max(entry.requests * mh.line_cycles - 1, data_cycles(op, mh) - 1, mh.word_cycles * (registers - 1))
    return max(extra, np.int64(0))
