"""On which slice of L2 a line lies, and where in it; which SMs share a TPC, a GPC, a part of L2.

The slices of the first half of the numbers are one part of L2, the others the other; slices of the same number within their part serve
each other's lines (`opposite`). With `l2.hash = "turns"` slices take turns. "hopper" is what was counted on an H100
(programs/measurements/h100/slices.csv): 256 bytes lie on one slice, 1 KB on two, 4 KB on eight of a part, 32 KB on 32. The bits of the
address below 128 KB that choose among these 32 are those that explain all the counts, the others are folded upon them; a part of 40
slices leaves out another eight for each 32 KB, each once in 160 KB. Which part keeps 4 KB is drawn for each pair of them. Of a chip of
fewer slices correspondingly less lies on as many as a power of two.
"""

from functools import lru_cache
from itertools import pairwise
from math import gcd

import numpy as np

from sim.gpus.model import Gpu
from sim.launch.launch import Launch

LANES = 32  # slices of a part on which 32 KB lie, at most


def place_of(line: int, places: int) -> int:
    """Return the place (an L2 slice, an L1 set) of a 128-byte line below 2**37: every run of `places` lines meets each place once.

    Each next run starts elsewhere, by a multiplicative hash. Real hashes are not public; like them, this one spreads strides
    that are powers of two.
    """
    run = line // places & 0x7FFFFFFF  # of 64 bits the product fits
    return (line + (((run * 0x9E3779B1) >> 9) & 0x7FFFFFFF)) % places


# What each bit of a line's number above the lowest nine, of which nine change a set of L1: programs/measurements/h100/l1_sets.csv
L1_BITS = (113, 27, 374, 329, 57, 481, 477, 238, 404, 141, 428, 244, 303, 130, 240, 277, 508, 351)


def _folded(bits: tuple[int, ...]) -> np.ndarray:
    """Return int64 [512]: what nine bits of a line's number change, all of them together."""
    return np.array([np.bitwise_xor.reduce([value for bit, value in enumerate(bits) if number >> bit & 1] or [0]) for number in range(512)])


LOWER, UPPER = _folded(L1_BITS[:9]), _folded(L1_BITS[9:])


def set_of(line: int, sets: int) -> int:
    """Return in which set of L1's tags, of a power of two of them, a 128-byte line lies: as measured on an H100, which has 512."""
    return (line ^ LOWER[line >> 9 & 511] ^ UPPER[line >> 18 & 511]) & (sets - 1)


# Which bits of a set's number make the two of its bank of tags, on an H200 whose L1 looks four lines up in a cycle: ../h200/tags.csv
BANK_BITS = (0b010110101, 0b111011010)
TAG_BANKS = np.array([sum((number & bits).bit_count() % 2 << k for k, bits in enumerate(BANK_BITS)) for number in range(512)], np.int64)


def bank_of_tags(number: int, banks: int) -> int:
    """Return which bank has the tags of a set of L1: one line is looked up in each in a cycle. As measured where there are four."""
    return (number & ~3 | TAG_BANKS[number & 511]) % banks


def lanes_of(channels: int) -> int:
    """Return on how many slices of a part so many KB lie by the hash: the greatest power of two of them, 32 at most."""
    return min(LANES, 1 << (max(channels // 2, 1).bit_length() - 1))


def cycle_of(channels: int) -> int:
    """Return after how many times as many KB as `lanes_of` each slice has had as many lines by the hash."""
    half = max(channels // 2, 1)
    return half // gcd(half, lanes_of(channels))


def hash_of(gpu: Gpu) -> dict[str, int]:
    """Return the fields of Hierarchy about the hash."""
    channels = gpu.dram.channels
    if gpu.l2 is None or gpu.l2.hash == "turns" or channels == 1:
        return {"lanes": 0, "lane_cycle": 1}
    return {"lanes": lanes_of(channels), "lane_cycle": cycle_of(channels)}


def number_of(line: int, place: int, channels: int, lanes: int, cycle: int) -> int:
    """Return the number of a 128-byte line among those of L2: its slice is that modulo the slices, the quotient its place in the slice.

    place: `place_of` it on the slices. lanes, cycle: `lanes_of` and `cycle_of` them; lanes 0 = slices take turns.
    """
    if lanes == 0:
        return line // channels * channels + place
    half, group, high = channels // 2, line // (8 * lanes), line >> 10
    spread = (line >> 1 ^ line >> 2 ^ line >> 9) & 1 | (line >> 3 ^ line >> 8) << 1 & 2 | (line >> 4 ^ line >> 5) << 2 & 4 | line >> 3 & 24
    spread ^= (high ^ high >> 5 ^ high >> 10 ^ high >> 15 ^ high >> 20 ^ high >> 25) & 31
    turn = (group + ((group // cycle * 0x9E3779B1) >> 9 & 0xFFFF)) % cycle
    part = (line >> 5 ^ ((line >> 6) * 0x9E3779B1) >> 31) & 1
    several = 2 if lanes < 8 else 1  # times four lines of a group on a slice
    inside = ((group * several + spread // lanes % several) << 2) + (line >> 1 & 2 | line & 1)
    return inside * channels + part * half + (lanes * turn + spread % lanes) % half


def opposite(number: int, channels: int) -> int:
    """Return the slice of the other part of L2 that serves the lines of a slice to its own SMs."""
    return (number + channels // 2) % channels


def across(number: int, gpc: int, channels: int, cycles: int) -> int:
    """Return how many cycles more than in the mean an SM of a GPC waits for a slice.

    Each part of L2 has slices on either side of the chip, as it has GPCs; here two slices and two GPCs after another lie on one side.
    Measured on an H100 and an H200 (programs/measurements/h200/ways.csv) are the cycles, not which slices lie where. channels: even.
    """
    return cycles if (number % (channels // 2) ^ gpc) >> 1 & 1 else -cycles


def across_of(gpu: Gpu) -> int:
    """Return the cycles of `across`: 0 where L2 has no two parts of as many slices."""
    return gpu.l2.across if gpu.l2 and gpu.memory.kind == "hierarchy" and gpu.dram.channels % 2 == 0 else 0


def gpcs_of(gpu: Gpu, launch: Launch) -> np.ndarray:
    """Return uint8 [sms]: the GPC of each SM, in the order in which they get the blocks of a launch; all in one where the GPU names none.

    The first blocks go to half of the last GPC, the others to all GPCs in turn, the last one first, to the first SM of each TPC before
    the second; those that follow each other go to one GPC (programs/measurements/h200/dispatch_order.csv). With clusters GPC by GPC.
    A chip of fewer SMs than its GPCs have leaves the others out, one of more goes round again.
    """
    sizes, early = _sizes(gpu, launch)
    later = min(max(launch.blocks - early, 0) if launch.cluster_shape is None else sum(sizes), sum(sizes))
    return _gpcs(sizes, early, later, gpu.sms)


@lru_cache(maxsize=256)
def _gpcs(sizes: tuple[int, ...], early: int, later: int, sms: int) -> np.ndarray:
    """Return `gpcs_of` by the numbers that it depends on: a run asks for it often. later: SMs that get a block after the early ones."""
    last = len(sizes) - 1
    places = [(place % 2, place // 2, gpc != last, gpc) for gpc, size in enumerate(sizes) for place in range(size - early * (gpc == last))]
    order = np.array([gpc for *_, gpc in sorted(places)], np.int64)
    gpcs = np.resize(np.concatenate((np.full(early, last), np.sort(order[:later]), order[later:])), sms).astype(np.uint8)
    gpcs.flags.writeable = False
    return gpcs


def tpcs_of(gpu: Gpu, launch: Launch) -> np.ndarray:
    """Return int64 [sms]: the first SM of the TPC of each (two SMs), in the same order; SMs without a block are by themselves.

    Both SMs of a TPC get blocks one after another, where a GPC has more of them than TPCs.
    """
    (sizes, early), gpcs, tpcs = _sizes(gpu, launch), gpcs_of(gpu, launch), np.arange(gpu.sms)
    having = min(launch.blocks, gpu.sms) if fills_in_order(gpu, launch) else gpu.sms
    changes = np.flatnonzero(np.diff(gpcs[early:having])) + 1 + early
    for first, end in pairwise(sorted({0, min(early, gpu.sms), *changes.tolist(), gpu.sms})):
        size = early if first < early else sizes[gpcs[first]] - early * (gpcs[first] == len(sizes) - 1)
        sms = min(end, having) - first
        both = 2 * max(min(sms - -(-size // 2), sms // 2), 0)
        tpcs[first : first + both] -= np.arange(both) % 2
    return tpcs


def fills_in_order(gpu: Gpu, launch: Launch) -> bool:
    """Return whether the first blocks go to one SM after another."""
    return launch.cluster_shape is None and gpu.blocks.policy == "emptiest"


def _sizes(gpu: Gpu, launch: Launch) -> tuple[tuple[int, ...], int]:
    """Return the SMs of each GPC, and how many of the last get blocks first: whole TPCs."""
    sizes = gpu.l2.gpcs if gpu.l2 and gpu.l2.gpcs else (gpu.sms,)
    return sizes, sizes[-1] // 4 * 2 if launch.cluster_shape is None else 0


def chip_sides_of(gpu: Gpu, launch: Launch) -> np.ndarray:
    """Return int64 [sms]: on which side of the chip each SM lies, whose GPC does, as `across` has it."""
    return (gpcs_of(gpu, launch) >> 1 & 1).astype(np.int64)


def sides_of(gpu: Gpu, launch: Launch) -> np.ndarray:
    """Return uint8 [sms]: which part of L2 each SM is near; every second GPC's, without GPCs every second SM."""
    return gpcs_of(gpu, launch) & 1 if gpu.l2 and gpu.l2.gpcs else (np.arange(gpu.sms) & 1).astype(np.uint8)
