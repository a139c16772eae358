"""Coalescer: the addresses of a warp's lanes -> requests, each the touched sectors of one 128-byte line.

Rules: `sectors` (Fermi and later), `cc12` (CC 1.2, 1.3) and `cc10` (CC 1.0, 1.1), as `sim.analysis.coalescing` tells them.
An access is aligned to its width, at most 16 bytes, so a lane's words lie in one sector.
"""

import numpy as np

from sim.compiled.kernel import first_bit, inner
from sim.lowering.memory import COALESCING, LOCAL_BASE, local_row
from sim.traces.trace import ADDRESS, SCATTERED, TraceArrays

SECTORS_RULE, CC12 = COALESCING.index("sectors"), COALESCING.index("cc12")
ALL_LANES = np.uint32(0xFFFFFFFF)
HALF = 16  # lanes
row_of = inner(local_row)


@inner
def lane_address(access: int, lane: int, trace: TraceArrays) -> int:
    """Return the byte address of a lane."""
    stride, base = trace.access_stride[access], trace.access_base[access]
    if stride == SCATTERED:
        return np.int64(trace.scattered[base & ADDRESS, lane])
    return (base + lane * stride) & ADDRESS


@inner
def has_lane(mask: int, lane: int) -> bool:
    """Return whether the lane takes part."""
    return (mask >> np.uint32(lane)) & np.uint32(1) != np.uint32(0)


@inner
def sector_bit(address: int) -> int:
    """Return the mask of the address's sector within its line."""
    return np.uint32(1) << np.uint32((address >> 5) & 3)


@inner
def word_bits(address: int, width: int) -> int:
    """Return the mask of the words that an access of `width` bytes touches within its line; a part of a word counts as the word."""
    return np.uint32((1 << max(width >> 2, 1)) - 1) << np.uint32((address >> 2) & 31)


@inner
def add(address: int, width: int, count: int, line: np.ndarray, sectors: np.ndarray, words: np.ndarray) -> int:
    """Put one lane's access to the request of its line, the latest tried first; return how many requests there are."""
    number = address >> 7
    k = np.int64(count - 1)
    while k >= 0 and line[k] != number:
        k -= 1
    if k < 0:
        k = np.int64(count)
        count += 1
        line[k], sectors[k], words[k] = number, np.uint32(0), np.uint32(0)
    sectors[k] |= sector_bit(address)
    words[k] |= word_bits(address, width)
    return count


@inner
def consecutive(start: int, size: int, line: np.ndarray, sectors: np.ndarray, words: np.ndarray) -> int:
    """Return the requests of `size` consecutive bytes, whole words."""
    count = np.int64(0)
    end = start + size
    for number in range(start >> 7, ((end - 1) >> 7) + 1):
        low, high = max(start - (number << 7), np.int64(0)), min(end - (number << 7), np.int64(128))
        line[count] = number
        sectors[count] = np.uint32((1 << (((high - 1) >> 5) + 1)) - (1 << (low >> 5)))
        words[count] = np.uint32((np.int64(1) << (high >> 2)) - (np.int64(1) << (low >> 2)))
        count += 1
    return count


@inner
def by_sectors(access: int, mask: int, width: int, line: np.ndarray, sectors: np.ndarray, words: np.ndarray, trace: TraceArrays) -> int:
    """Return how many lines the warp touches: one request each."""
    if mask == ALL_LANES and width >= 4 and trace.access_stride[access] == width:
        return consecutive(trace.access_base[access] & ADDRESS, np.int64(32 * width), line, sectors, words)
    count = np.int64(0)
    for lane in range(32):
        if has_lane(mask, lane):
            count = add(lane_address(access, lane, trace), width, count, line, sectors, words)
    return count


@inner
def by_segments(access: int, mask: int, width: int, line: np.ndarray, sectors: np.ndarray, words: np.ndarray, trace: TraceArrays) -> int:
    """Return the segments of CC 1.2: per half-warp the segment of the lowest lane left, shrunk while half of it is unused."""
    size = np.int64(32 if width == 1 else 64 if width == 2 else 128)
    count = np.int64(0)
    for half in range(2):
        left = (mask >> np.uint32(HALF * half)) & np.uint32(0xFFFF)
        while left != np.uint32(0):
            lowest = lane_address(access, HALF * half + first_bit(left), trace)
            segment = lowest // size
            line[count], sectors[count], words[count] = lowest >> 7, np.uint32(0), np.uint32(0)
            for k in range(HALF):
                address = lane_address(access, HALF * half + k, trace)
                if has_lane(left, k) and address // size == segment:
                    left &= ~(np.uint32(1) << np.uint32(k))
                    sectors[count] |= sector_bit(address)
                    words[count] |= word_bits(address, width)
            sectors[count] = shrunk(sectors[count], (lowest // size * size >> 5) & 3, size >> 5)
            count += 1
    return count


@inner
def shrunk(used: int, first: int, length: int) -> int:
    """Return the mask of the smallest aligned half, or quarter, of `length` sectors from `first` that holds the used ones."""
    while length > 1:
        length >>= 1
        low = np.uint32(((1 << length) - 1) << first)
        if used & ~low == np.uint32(0):
            continue
        if used & low == np.uint32(0):
            first += length
            continue
        length <<= 1
        break
    return np.uint32(((1 << length) - 1) << first)


@inner
def by_half_warps(access: int, mask: int, width: int, line: np.ndarray, sectors: np.ndarray, words: np.ndarray, trace: TraceArrays) -> int:
    """Return the transactions of CC 1.0: a half-warp in order and aligned is one segment, any other is one transaction per lane."""
    count = np.int64(0)
    for half in range(2):
        lanes = (mask >> np.uint32(HALF * half)) & np.uint32(0xFFFF)
        if lanes == np.uint32(0):
            continue
        first = first_bit(lanes)
        start = lane_address(access, HALF * half + first, trace) - first * width
        ordered = width >= 4 and start % (HALF * width) == 0
        for k in range(HALF):
            if has_lane(lanes, k) and lane_address(access, HALF * half + k, trace) != start + k * width:
                ordered = False
        if ordered:
            for segment in range((HALF * width + 127) >> 7):
                address = start + (segment << 7)
                line[count] = address >> 7
                sectors[count] = np.uint32(15) if width > 4 else np.uint32(3) << np.uint32((address >> 5) & 3)
                words[count] = ALL_LANES if width > 4 else np.uint32(0xFFFF) << np.uint32((address >> 2) & 31)
                count += 1
            continue
        for k in range(HALF):
            if has_lane(lanes, k):
                address = lane_address(access, HALF * half + k, trace)
                line[count], sectors[count], words[count] = address >> 7, sector_bit(address), word_bits(address, width)
                count += 1
    return count


@inner
def local(
    access: int, mask: int, width: int, place: tuple[int, int], line: np.ndarray, sectors: np.ndarray, words: np.ndarray, trace: TraceArrays
) -> int:
    """Return the requests of an access to local memory, where the same word of a warp's lanes is one row. place: slot, bytes of a row."""
    count = np.int64(0)
    slot, row = place
    for lane in range(32):
        if has_lane(mask, lane):
            offset = lane_address(access, lane, trace)
            for word in range(max(width >> 2, 1)):
                address = LOCAL_BASE + row_of(slot, (offset >> 2) + word) * row + 4 * lane
                count = add(address, min(width, 4), count, line, sectors, words)
    return count


@inner
def coalesce(
    rule: int, access: int, mask: int, width: int, line: np.ndarray, sectors: np.ndarray, words: np.ndarray, trace: TraceArrays
) -> int:
    """Write the requests of a global access; return how many."""
    if rule == SECTORS_RULE:
        return by_sectors(access, mask, width, line, sectors, words, trace)
    if rule == CC12:
        return by_segments(access, mask, width, line, sectors, words, trace)
    return by_half_warps(access, mask, width, line, sectors, words, trace)


@inner
def count_packets(access: int, mask: int, requests: int, line: np.ndarray, packets: np.ndarray, trace: TraceArrays) -> None:
    """Write how many packets each request of an atomic is: of a sector, as many as lanes want its most wanted word."""
    for k in range(requests):
        total = np.int64(0)
        for sector in range(4):
            most = np.int64(0)
            for lane in range(32):
                if has_lane(mask, lane) and lane_address(access, lane, trace) >> 5 == (line[k] << 2) + sector:
                    most = max(most, lanes_alike(access, mask, lane, trace))
            total += most
        packets[k] = total


@inner
def lanes_alike(access: int, mask: int, lane: int, trace: TraceArrays) -> int:
    """Return how many lanes want the word that a lane wants."""
    word, alike = lane_address(access, lane, trace) >> 2, np.int64(0)
    for other in range(32):
        alike += has_lane(mask, other) and lane_address(access, other, trace) >> 2 == word
    return alike
