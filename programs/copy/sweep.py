"""The experiment: throughput of a copy against occupancy, for 4 to 224 bytes per thread, in steady state.

As in the talk, shared memory that nobody uses limits the blocks on an SM. L2 starts full of data not written back, as in the middle of
a long run, so that every byte read or written passes the DRAM's pins.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isa.vocabulary import Unit
from programs.steady import Steady, shared_for, steady
from sim.functional import execute
from sim.gpus.model import Gpu
from sim.gpus.occupancy import WARP, occupancy
from sim.gpus.path import SECTOR
from sim.launch.file import load_launch
from sim.launch.launch import Launch
from sim.traces.trace import Trace

COPIES = {"1_float": 4, "2_float": 8, "4_float": 16, "8_float": 32, "8_float2": 64, "8_float4": 128, "14_float4": 224}  # bytes per thread
FOLDER = Path(__file__).parent
SMALL = ((64, 1), (128, 1))  # threads per block, blocks on an SM: 2 and 4 warps, where the talk's lowest points are
THREADS = 192  # of all other points: 8 of these blocks fill an SM of a GTX 480
POINTS = 8  # of a curve, by rising number of blocks
SATURATED = 0.97  # of a curve's plateau
PINS, BLOCKS, LATENCY = "DRAM's pins", "starts and ends of blocks", "the loads' latency"  # what bounds a point
FULL, QUEUED = (
    0.9,
    1.15,
)  # pins bind: so much of what they let through (dram.efficiency), and loads that take so many times as long as alone
SHORT = 2.5e6  # bytes read by the shorter run, in whole waves, two at least; the longer one takes three times as many


class Point(NamedTuple):
    """One copy at one occupancy."""

    warps: int  # resident on an SM
    occupancy: float  # percent
    percent: float  # of pin bandwidth, read and written together
    gigabytes: float  # per second, the same
    in_flight: float  # bytes that loads have asked for and not got, whole chip, mean
    latency: float  # of a load, mean cycles
    resident: int  # bytes that the resident threads would have in flight if each waited for all its loads
    empty: float = 0.0  # share of the time that the places of resident warps stand empty, between two blocks
    bound: str = PINS  # what bounds it: PINS, BLOCKS or LATENCY


def machine(gpu: Gpu) -> Gpu:
    """Return the GPU in the middle of a long run: its L2 full of what others have written."""
    return gpu.replace({"l2.start": "dirty"}) if gpu.l2 else gpu


def blocks_on_sm(gpu: Gpu) -> list[tuple[int, int]]:
    """Return the points of a curve, by rising occupancy: threads per block, blocks on an SM."""
    most = min(gpu.limits.blocks, gpu.limits.warps * WARP // THREADS)
    return [*SMALL, *((THREADS, most * number // POINTS) for number in range(1, POINTS + 1) if most * number // POINTS)]


def limited(gpu: Gpu, launch: Launch, threads: int, blocks: int) -> Launch:
    """Return the launch with blocks of that many threads, and with shared memory that lets `blocks` of them on an SM."""
    return replace(launch, block=(threads,), shared_dynamic=shared_for(gpu, blocks) if blocks < gpu.limits.blocks else 0)


def copying(gpu: Gpu, copy: str, threads: int, blocks: int) -> tuple[Trace, Trace] | None:
    """Return the traces of the two runs; None when registers allow fewer blocks."""
    launch = limited(gpu, load_launch(FOLDER / f"copy_{copy}.toml").launch, threads, blocks)
    if occupancy(gpu, threads, launch.registers_per_thread, launch.shared_per_block).blocks < blocks:
        return None
    wave = gpu.sms * blocks
    waves = max(2, round(SHORT / (wave * threads * COPIES[copy])))
    short, long = (execute(_sized(launch, wave * waves * times, COPIES[copy])) for times in (1, 3))
    return short, long


def _sized(launch: Launch, grid: int, bytes_per_thread: int) -> Launch:
    floats = grid * launch.threads_per_block * bytes_per_thread // 4
    return replace(launch, grid=(grid,), args=(np.zeros(floats, np.float32), np.ones(floats, np.float32)))


def point(gpu: Gpu, copy: str, threads: int, blocks: int) -> Point | None:
    """Return one point on `gpu`, None when registers forbid it."""
    traces = copying(gpu, copy, threads, blocks)
    return None if traces is None else _point(steady(*traces, gpu), COPIES[copy])


def _point(found: Steady, bytes_per_thread: int) -> Point:
    moved = SECTOR * (found.grown("global_load_sectors") + found.grown("global_store_sectors"))
    rate, warps = found.per_second(moved) / 1e9, found.long.occupancy.warps
    empty = 1 - found.grown("warp_cycles") / (found.gpu.sms * warps * found.cycles)
    return Point(
        warps=warps,
        occupancy=found.occupancy,
        percent=100 * rate / found.gpu.dram.bandwidth,
        gigabytes=rate,
        in_flight=found.mean("bytes_in_flight"),
        latency=found.long.counters["load_latency"],
        resident=found.gpu.sms * warps * WARP * bytes_per_thread,
        empty=empty,
        bound=_bound(found, empty),
    )


def _bound(found: Steady, empty: float) -> str:
    """Return what bounds a point: the pins when loads queue for them; else what takes most of the time of a warp's place, counted."""
    gpu, latency = found.gpu, found.long.counters["load_latency"]
    if found.dram_busy >= FULL * gpu.dram.efficiency and latency >= QUEUED * gpu.latency(Unit.GLOBAL):
        return PINS
    return BLOCKS if empty > (1 - empty) * found.stall("long_scoreboard") else LATENCY


def plateau(points: Sequence[Point]) -> float:
    """Return the best percent of pin bandwidth on a curve."""
    return max(one.percent for one in points)


def saturation(points: Sequence[Point]) -> Point:
    """Return the lowest occupancy within 3 % of the plateau; points: by rising occupancy."""
    return next(one for one in points if one.percent >= SATURATED * plateau(points))


def curve(gpu: Gpu, copy: str) -> list[Point]:
    """Return the points of a copy by rising occupancy."""
    found = (point(gpu, copy, threads, blocks) for threads, blocks in blocks_on_sm(gpu))
    return [one for one in found if one is not None]
