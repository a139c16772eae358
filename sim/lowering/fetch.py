"""How often blocks start on an SM; caches of instructions: how many sets and ways hold a program's code, how often a line of it comes."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sim.gpus.path import TICKS

if TYPE_CHECKING:
    from sim.gpus.model import Gpu
    from sim.launch.launch import Launch

LINE_INSTRUCTIONS, LINE = 8, 128  # bytes


class Level(NamedTuple):
    """A cache of code or constants; a program that fits needs no more places than it has lines."""

    sets: int
    ways: int


def level_of(places: int, ways: int) -> Level:
    """Return a cache of so many lines: of no more ways than lines, and of no set where it has none."""
    ways = min(ways, places)
    return Level(places // ways if ways else 0, ways)


class Fetch(NamedTuple):
    """Where code comes from, and how fast. Latencies in cycles, intervals in ticks, 256 to a cycle."""

    near: Level  # of each scheduler
    far: Level  # of the SM
    interval: int  # between two lines from the SM's cache to a scheduler's
    latency: int  # of L2, beyond the SM's cache
    far_interval: int  # between two lines from L2
    cold_latency: int  # of lines that an SM asks for the first time
    cold_interval: int
    prefetched: int  # lines that are in the SM's cache when a kernel starts


def cycles_behind(gpu: "Gpu") -> int:
    """Return the cycles until 256 bytes of constants come to the level behind an SM's caches: from L2, or through it from DRAM."""
    # In a dirty L2, which stands for launches that are repeated, they are taken to be there from the launch before: not measured.
    is_cold = gpu.l2 is not None and gpu.l2.start == "cold"
    return gpu.constants.far + (gpu.constants.cold if is_cold else 0)


def fetching(gpu: "Gpu", instructions: int) -> Fetch:
    """Return the caches for a program of so many instructions."""
    fetch, far, cold = gpu.fetch, gpu.constants.far, cycles_behind(gpu)
    lines = -(-instructions // LINE_INSTRUCTIONS) if fetch.jump else 1
    return Fetch(
        _level(fetch.near_bytes, fetch.near_ways, lines),
        _level(fetch.bytes, fetch.ways, lines),
        _interval(fetch.jump, fetch.ahead),
        far,
        _interval(fetch.jump + far, fetch.far_ahead),
        cold,
        _interval(fetch.jump + cold, fetch.far_ahead),
        fetch.prefetched // LINE,
    )


def fetch_numbers(gpu: "Gpu", launch: "Launch") -> dict[str, np.int64]:
    """Return the fields of `sim.lowering.core.Hardware` that tell when code comes."""
    fetch = fetching(gpu, len(launch.program))
    numbers = {
        "first_fetch": gpu.fetch.first,
        "shared_fetch": gpu.fetch.shared_cycles,
        "fetch_groups": sharing_groups(gpu),
        "jump": gpu.fetch.jump,
        "code_sets": fetch.near.sets,
        "code_ways": fetch.near.ways,
        "far_code_sets": fetch.far.sets,
        "far_code_ways": fetch.far.ways,
        "code_ticks": fetch.interval,
        "code_far": fetch.latency,
        "code_far_ticks": fetch.far_interval,
        "code_cold": fetch.cold_latency,
        "code_cold_ticks": fetch.cold_interval,
        "prefetched_lines": fetch.prefetched,
    }
    return {name: np.int64(value) for name, value in numbers.items()}


def sharing_groups(gpu: "Gpu") -> int:
    """Return how many groups of SMs share the level behind their caches of code and constants: SMs that many apart are of one."""
    return -(-gpu.sms // gpu.constants.shared_by)


def _level(size: int, ways: int, lines: int) -> Level:
    """Return the sets and ways of a cache of so many bytes, 0 = without limit."""
    if size == 0 or lines <= size // LINE:
        return Level(lines, 1)
    return level_of(size // LINE, ways)


def _interval(latency: int, ahead: int) -> int:
    """Return the ticks between two lines of which so many are asked for ahead, 0 = as many as it takes."""
    return TICKS * latency // ahead if ahead else 0


def sm_interval(gpu: "Gpu", launch: "Launch") -> int:
    """Return the cycles between two block starts on one SM: warps start one per cycle."""
    return gpu.blocks.sm_interval + launch.warps_per_block if gpu.blocks.sm_interval else 0
