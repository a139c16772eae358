"""Shared-memory banks: how many passes one warp access takes. Rules as `sim.analysis.banks` tells them."""

import numpy as np

from sim.hierarchy import BANK_RULES, Hierarchy
from sim.kernel import first_bit, inner, outlined
from sim.timing.memory.coalescer import ALL_LANES, has_lane, lane_address
from sim.timing.memory.state import Memory
from sim.trace import SCATTERED, TraceArrays

WORDS, KEPLER, CC1 = (BANK_RULES.index(rule) for rule in ("words", "kepler", "cc1"))


@inner
def group_lanes(rule: int, width: int) -> int:
    """Return how many lanes go together: those that a conflict-free access serves in one pass."""
    if rule == WORDS:
        return np.int64(32 if width <= 4 else 16 if width == 8 else 8)
    if rule == KEPLER:
        return np.int64(32 if width <= 8 else 16)
    return np.int64(16 if width <= 8 else 8)


@inner
def needed_passes(rule: int, width: int) -> int:
    """Return the passes of a conflict-free access by a whole warp."""
    if rule == WORDS or rule == KEPLER:
        return 32 // group_lanes(rule, width)
    return np.int64(2 * max(width >> 2, 1))


@inner
def power_of_two_in(number: int) -> int:
    """Return the largest power of two that divides a number."""
    return number & -number


@outlined
def wavefronts(access: int, mask: int, width: int, atomic: bool, mh: Hierarchy, memory: Memory, trace: TraceArrays) -> int:
    """Return the passes of one access; atomic: lanes that update the same word go one after another."""
    rule, stride = mh.bank_rule, trace.access_stride[access]
    evenly = rule == WORDS and mask == ALL_LANES and width == 4 and stride != SCATTERED and stride & 3 == 0
    if evenly and mh.banks == 32 and not atomic:
        return np.int64(1) if stride == 0 else min(power_of_two_in(stride >> 2), mh.banks)
    lanes = group_lanes(rule, width)
    passes = np.int64(0)
    for group in range(32 // lanes):
        members = mask & np.uint32(((np.int64(1) << lanes) - 1) << (group * lanes))
        if members == np.uint32(0):
            continue
        if rule == CC1 and not atomic:
            passes += one_broadcast(access, members, width, mh, trace)
        else:
            passes += busiest_bank(access, members, width, atomic, mh, memory, trace)
    return passes


@inner
def busiest_bank(access: int, mask: int, width: int, atomic: bool, mh: Hierarchy, memory: Memory, trace: TraceArrays) -> int:
    """Return the most rows that one bank has to serve; lanes that ask for the same row are served together unless atomic."""
    unit = np.int64(3 if mh.bank_rule == KEPLER else 2)  # log2 of a bank's bytes
    rows, count = memory.bank_rows, memory.bank_count
    for bank in range(mh.banks):
        count[bank] = 0
    known, most = np.int64(0), np.int64(0)
    for lane in range(32):
        if not has_lane(mask, lane):
            continue
        for part in range(max(width >> unit, 1)):
            row = (lane_address(access, lane, trace) >> unit) + part
            k = np.int64(0 if atomic else known - 1)
            while not atomic and k >= 0 and rows[k] != row:
                k -= 1
            if atomic or k < 0:
                if not atomic:
                    rows[known] = row
                    known += 1
                count[row % mh.banks] += 1
                most = max(most, count[row % mh.banks])
    return most


@inner
def one_broadcast(access: int, mask: int, width: int, mh: Hierarchy, trace: TraceArrays) -> int:
    """Return the passes of a half-warp of CC 1.x: each serves one word for all who ask for it, and one lane per other bank.

    CUDA C Programming Guide 4.2, G.3.3.3; the word of the lowest lane left is the one that is broadcast.
    """
    passes = np.int64(0)
    for part in range(max(width >> 2, 1)):
        left = mask
        while left != np.uint32(0):
            word = (lane_address(access, first_bit(left), trace) >> 2) + part
            busy = np.int64(1) << (word % mh.banks)
            for lane in range(32):
                if has_lane(left, lane):
                    its = (lane_address(access, lane, trace) >> 2) + part
                    bank = np.int64(1) << (its % mh.banks)
                    if its == word or busy & bank == 0:
                        busy |= bank
                        left &= ~(np.uint32(1) << np.uint32(lane))
            passes += 1
    return passes
