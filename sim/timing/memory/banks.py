"""Shared-memory banks: how many passes one warp access takes. Rules as `sim.analysis.banks` tells them."""

import numpy as np

from sim.compiled.kernel import first_bit, inner, outlined
from sim.lowering.memory import BANK_RULES
from sim.timing.memory.coalescer import ALL_LANES, has_lane, lane_address
from sim.traces.trace import SCATTERED, TraceArrays

FERMI, CC1 = BANK_RULES.index("fermi"), BANK_RULES.index("cc1")
HALF = 16  # lanes


@inner
def group_lanes(width: int, mh: np.record) -> int:
    """Return how many lanes go together: those that a conflict-free access serves in one pass."""
    return min(np.int64(HALF if mh.bank_rule == CC1 else 32), mh.pass_bytes // max(width, np.int64(4)))


@inner
def power_of_two_in(number: int) -> int:
    """Return the largest power of two that divides a number."""
    return number & -number


@inner
def wavefronts(
    access: int, mask: int, width: int, atomic: bool, mh: np.record, rows: np.ndarray, count: np.ndarray, trace: TraceArrays
) -> int:
    """Return the passes of one access; atomic: lanes that update the same word go one after another. rows, count: scratch."""
    if mh.bank_rule == FERMI and mask == ALL_LANES and width >= 4 and trace.access_stride[access] == width:
        return np.int64(width) >> 2  # lanes side by side, most often
    return wavefronts_of_any(access, mask, width, atomic, mh, rows, count, trace)


@outlined
def wavefronts_of_any(
    access: int, mask: int, width: int, atomic: bool, mh: np.record, rows: np.ndarray, count: np.ndarray, trace: TraceArrays
) -> int:
    """Return the same, found lane by lane."""
    stride = trace.access_stride[access]
    if mh.bank_rule == FERMI and mask == ALL_LANES and width == 4 and stride != SCATTERED and stride & 3 == 0 and not atomic:
        return np.int64(1) if stride == 0 else min(power_of_two_in(stride >> 2), mh.banks)
    lanes = np.int64(HALF) if mh.bank_rule == CC1 else group_lanes(width, mh)
    if mh.bank_rule == FERMI and width > 4 and not atomic and (in_pairs(access, mask, 1, trace) or in_pairs(access, mask, 2, trace)):
        lanes *= 2
    passes = np.int64(0)
    for group in range(32 // lanes):
        members = mask & np.uint32(((np.int64(1) << lanes) - 1) << (group * lanes))
        if members == np.uint32(0):
            continue
        if mh.bank_rule == CC1 and not atomic:
            passes += one_broadcast(access, members, width, mh, trace)
        else:
            passes += busiest_bank(access, members, width, atomic, mh, rows, count, trace)
    return passes


@inner
def in_pairs(access: int, mask: int, apart: int, trace: TraceArrays) -> bool:
    """Return whether each two lanes whose numbers differ in the bit `apart` want the same place, as far as both take part."""
    for lane in range(32):
        other = lane ^ apart
        if has_lane(mask, lane) and has_lane(mask, other) and lane_address(access, lane, trace) != lane_address(access, other, trace):
            return False
    return True


@inner
def fewest(mask: int, width: int, mh: np.record) -> int:
    """Return the passes of an access without a conflict."""
    parts = np.int64(1)
    lanes = group_lanes(width, mh)
    if mh.bank_rule == CC1:
        lanes, parts = np.int64(HALF), max(width >> 2, np.int64(1))
    passes = np.int64(0)
    for group in range(32 // lanes):
        passes += mask & np.uint32(((np.int64(1) << lanes) - 1) << (group * lanes)) != np.uint32(0)
    return passes * parts


@inner
def busiest_bank(
    access: int, mask: int, width: int, atomic: bool, mh: np.record, rows: np.ndarray, count: np.ndarray, trace: TraceArrays
) -> int:
    """Return the most rows that one bank has to serve; lanes that ask for the same row are served together unless atomic."""
    for bank in range(mh.banks):
        count[bank] = 0
    known, most = np.int64(0), np.int64(0)
    for lane in range(32):
        if not has_lane(mask, lane):
            continue
        for part in range(max(width >> 2, 1)):
            byte = ((lane_address(access, lane, trace) >> 2) + part) << 2
            bank = byte // mh.interleave % mh.banks
            row = byte // mh.bank_row * mh.banks + bank
            k = np.int64(-1 if atomic else known - 1)
            while k >= 0 and rows[k] != row:
                k -= 1
            if k < 0:
                rows[known] = row
                known += 1
                count[bank] += 1
                most = max(most, count[bank])
    return most


@inner
def one_broadcast(access: int, mask: int, width: int, mh: np.record, trace: TraceArrays) -> int:
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
