"""How often blocks start on an SM; caches of instructions: how many sets and ways hold a program's code, how often a line of it comes."""

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sim.gpus.path import TICKS
from sim.lowering.refresh import away
from sim.lowering.slices import across, across_of, chip_sides_of, fills_in_order, gpcs_of, hash_of, number_of, place_of, sides_of, tpcs_of

if TYPE_CHECKING:
    from sim.gpus.model import Gpu
    from sim.launch.launch import Launch

LINE_INSTRUCTIONS, LINE = 8, 128  # bytes
CODE, CONSTANTS = 0, 1  # columns of `line_ticks`
LONG_AGO = -(1 << 40)  # tick: a port has had nothing to do
# 128-byte lines of device memory beyond all arrays where code and constants of placement 0 begin, which no refresh of an H100 or H200
# meets as a launch starts; those of each further one lie PLACE lines, 2 MB, on, where banks are others; MOST_PLACES are told apart
PLACE, MOST_PLACES = 1 << 14, 1 << 15
CODE_AT, CONSTANTS_AT = 2068 * PLACE, 4106 * PLACE
WAYS = 512  # lines, 64 KB, the ways to which are told apart; those that follow are taken to lie as these
NO_WAYS = np.zeros((2, WAYS), np.int64)


class Level(NamedTuple):
    """A cache of code or constants; a program that fits needs no more places than it has lines."""

    sets: int
    ways: int


def level_of(places: int, ways: int) -> Level:
    """Return a cache of so many lines: of no more ways than lines, and of no set where it has none."""
    ways = min(ways, places)
    return Level(places // ways if ways else 0, ways)


class Fetch(NamedTuple):
    """Where code comes from, and how fast. Latencies in cycles."""

    lines: int  # of the program
    near: Level  # of a TPC, two SMs
    far: Level  # of its GPC
    latency: int  # of L2, beyond the cache of the GPC
    cold_latency: int  # of lines that are asked for the first time
    prefetched: int  # lines that come to the cache of the GPC as a kernel starts
    is_shared: bool  # SMs see each other: the cache of the GPC lacks lines, or that of a TPC does not hold them all


def cycles_behind(gpu: "Gpu") -> int:
    """Return the cycles until 256 bytes of constants come to the level behind an SM's caches: from L2, or through it from DRAM."""
    return gpu.constants.far + (gpu.constants.cold if starts_cold(gpu) else 0)


def starts_cold(gpu: "Gpu") -> bool:
    """Return whether L2 has neither code nor constants as a launch starts.

    In a dirty L2, which stands for launches that are repeated, they are taken to be there from the launch before: not measured.
    """
    return gpu.l2 is not None and gpu.l2.start == "cold"


def comes_from_dram(gpu: "Gpu") -> bool:
    """Return whether code and constants come from the DRAM that is modelled."""
    return starts_cold(gpu) and gpu.memory.kind == "hierarchy"


def fetching(gpu: "Gpu", instructions: int) -> Fetch:
    """Return the caches for a program of so many instructions."""
    fetch, far, cold = gpu.fetch, gpu.constants.far, cycles_behind(gpu)
    lines = -(-instructions // LINE_INSTRUCTIONS) if fetch.jump else 1
    prefetched = fetch.prefetched // LINE
    near, behind = _level(fetch.near_bytes, fetch.near_ways, lines), _level(fetch.bytes, fetch.ways, lines)
    fits = lines <= min(near.sets * near.ways, behind.sets * behind.ways, prefetched)
    return Fetch(lines, near, behind, far, cold, prefetched, bool(fetch.jump) and not fits)


def fetch_numbers(gpu: "Gpu", launch: "Launch") -> dict[str, np.int64]:
    """Return the fields of `sim.lowering.core.Hardware` that tell when code comes."""
    fetch = fetching(gpu, len(launch.program))
    numbers = {
        "jump": gpu.fetch.jump,
        "code_lines": fetch.lines,
        "code_ahead": gpu.fetch.ahead,
        "code_far_ahead": gpu.fetch.far_ahead,
        "code_sets": fetch.near.sets,
        "code_ways": fetch.near.ways,
        "far_code_sets": fetch.far.sets,
        "far_code_ways": fetch.far.ways,
        "code_far": fetch.latency,
        "code_cold": fetch.cold_latency,
        "prefetched_lines": fetch.prefetched,
        "prefetch_ticks": round(TICKS * gpu.fetch.prefetch_cycles),
        "code_burst": 0 if fetch.is_shared else gpu.fetch.ahead,
    }
    return {name: np.int64(value) for name, value in numbers.items()}


def first_cycles(gpu: "Gpu", launch: "Launch") -> np.ndarray:
    """Return int64 [sms]: cycles from the start of its first block until an SM has its first instruction.

    It comes from one part of L2, to SMs near the other later (programs/measurements/h200/places.csv). Which part has the code, the
    driver decides: here the one that the GPC of a launch's first blocks, the last, is not near; in every second placement the other.
    """
    ways = code_in_dram(gpu, launch).ways[chip_sides_of(gpu, launch), 0]
    return np.maximum(gpu.fetch.first + ways, 0) + gpu.fetch.far * (sides_of(gpu, launch).astype(np.int64) ^ (launch.placement & 1))


class InDram(NamedTuple):
    """Where code or constants begin in device memory, how long DRAM keeps them, and how far L2 has them from an SM."""

    line: int  # of 128 bytes
    refresh: int  # cycles that a bank is away; 0: they come from elsewhere, or are always there
    interval: int  # after so many cycles again
    ways: np.ndarray  # int64 [2, WAYS]: cycles more than in the mean until SMs on either side of the chip have a line

    def late(self, line: int, now: int) -> int:
        """Return how many cycles later than usual their line-th 128 bytes come that are asked for now: while their bank is away."""
        return away(self.line + line, now, self.refresh, self.interval)

    def way(self, line: int, side: int) -> int:
        """Return how many cycles more than in the mean an SM on a side of the chip waits for the line-th 128 bytes."""
        return int(self.ways[side, line % WAYS])


def code_in_dram(gpu: "Gpu", launch: "Launch") -> InDram:
    """Return where a launch's code lies: nobody knows, so placements draw it."""
    return _in_dram(gpu, launch, CODE_AT, gpu.fetch.first)


def constants_in_dram(gpu: "Gpu", launch: "Launch") -> InDram:
    """Return where a launch's constants lie: nobody knows, so placements draw it."""
    return _in_dram(gpu, launch, CONSTANTS_AT, gpu.constants.far)


def _in_dram(gpu: "Gpu", launch: "Launch", first: int, cycles: int) -> InDram:
    """cycles: that they take to come, 0: they are always there."""
    refresh = gpu.dram.refresh if cycles and comes_from_dram(gpu) else 0
    begin = first + PLACE * (launch.placement % MOST_PLACES)
    hashed, further = hash_of(gpu), across_of(gpu) if cycles else 0
    ways = _ways(begin, gpu.dram.channels, hashed["lanes"], hashed["lane_cycle"], further) if further else NO_WAYS
    return InDram(begin, refresh, gpu.dram.refresh_interval, ways)


@lru_cache(maxsize=256)
def _ways(begin: int, channels: int, lanes: int, cycle: int, cycles: int) -> np.ndarray:
    """Return `InDram.ways` of lines from `begin` on, by the numbers that they depend on: a run asks for them often."""
    lines = range(begin, begin + WAYS)
    slices = [number_of(line, place_of(line, channels), channels, lanes, cycle) % channels for line in lines]
    return np.array([[across(number, gpc, channels, cycles) for number in slices] for gpc in (0, 2)], np.int64)


def _level(size: int, ways: int, lines: int) -> Level:
    """Return the sets and ways of a cache of so many bytes, 0 = without limit."""
    if size == 0 or lines <= size // LINE:
        return Level(lines, 1)
    return level_of(size // LINE, ways)


class Sharing(NamedTuple):
    """Who shares caches of code."""

    home: np.ndarray  # int64 [sms] the first SM of the GPC of each
    tpc: np.ndarray  # int64 [sms] the first SM of its TPC
    units: np.ndarray  # int64 [groups] the first SM of each group; [0]: SMs are by themselves
    following: np.ndarray  # int64 [sms] the next SM of its group, -1 = none


def code_sharing(gpu: "Gpu", launch: "Launch") -> Sharing:
    """Return who sees whom: nobody where a program comes as it starts and fits into a TPC's cache, of which each SM then has one."""
    own = np.arange(gpu.sms)
    alone = Sharing(own, own, own[:0], np.full_like(own, -1))
    if not fetching(gpu, len(launch.program)).is_shared:
        return alone
    home, following, gpcs = own.copy(), alone.following, gpcs_of(gpu, launch)
    having = min(launch.blocks, gpu.sms) if fills_in_order(gpu, launch) else gpu.sms
    for gpc in np.unique(gpcs[:having]):
        sms = np.flatnonzero(gpcs[:having] == gpc)
        home[sms] = sms[0]
        following[sms[:-1]] = sms[1:]
    return Sharing(home, tpcs_of(gpu, launch), np.unique(home[:having]), following)


def line_ticks(gpu: "Gpu", launch: "Launch") -> np.ndarray:
    """Return int64 [sms, 2]: ticks between two lines at a GPC's ports: of code, of constants.

    Of constants those of an SM's part of the port. Of code, too, where SMs do not see each other: then those of a TPC are taken to want
    the same.
    """
    number, own = sms_with_blocks(gpu, launch), np.arange(gpu.sms)
    asking = (number + 1) // 2
    if fetching(gpu, len(launch.program)).is_shared:
        asking = np.ones_like(number)
    elif fills_in_order(gpu, launch):
        gpcs, first = gpcs_of(gpu, launch), (tpcs_of(gpu, launch) == own) & (own < launch.blocks)
        asking = np.maximum(np.bincount(gpcs[first], minlength=int(gpcs.max()) + 1), 1)[gpcs]
    ports = gpu.fetch.port_cycles, gpu.constants.port_cycles
    return np.stack((asking, number), axis=1) * np.array([round(TICKS * cycles) for cycles in ports])


def ticks_before(gpu: "Gpu", launch: "Launch") -> np.ndarray:
    """Return int64 [sms]: ticks for which the port of constants serves other SMs of the GPC first, when all begin and ask at once."""
    gpcs = gpcs_of(gpu, launch)
    order = np.argsort(gpcs, kind="stable")  # those of a GPC one after another
    before = np.empty(gpu.sms, np.int64)
    before[order] = np.arange(gpu.sms) - np.searchsorted(gpcs[order], gpcs[order])
    return np.minimum(before, sms_with_blocks(gpu, launch) - 1) * round(TICKS * gpu.constants.port_cycles)


def sms_with_blocks(gpu: "Gpu", launch: "Launch") -> np.ndarray:
    """Return int64 [sms]: how many SMs of each one's GPC have blocks, one block each at first: they share its ports.

    Clusters, and blocks that another policy than "emptiest" places, are taken to be spread evenly over the GPCs.
    """
    gpcs = gpcs_of(gpu, launch)
    all_of = np.bincount(gpcs)
    having = np.bincount(gpcs[: launch.blocks], minlength=len(all_of))
    if not fills_in_order(gpu, launch):
        together = prod(launch.cluster_shape or (1,))
        having = np.minimum(all_of, max(together, -(-launch.blocks // len(all_of))))
    return np.maximum(having, 1)[gpcs].astype(np.int64)


def start_latency(gpu: "Gpu", launch: "Launch") -> int:
    """Return the cycles from a block's start until its warps may issue: once all of them are there (`sm_interval`)."""
    return gpu.blocks.start_latency + (launch.warps_per_block if gpu.blocks.sm_interval else 0)


def sm_interval(gpu: "Gpu", launch: "Launch") -> int:
    """Return the cycles between two block starts on one SM: warps start one per cycle."""
    return gpu.blocks.sm_interval + launch.warps_per_block if gpu.blocks.sm_interval else 0
