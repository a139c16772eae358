"""Time against threads: a launch made over for 1, 2, 4, ... warps per SM, simulated, beside what interval analysis says at least."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from isa.vocabulary import Operation
from sim.analysis.interval import Analysis
from sim.analysis.mwp_cwp import opinion
from sim.gpus.model import Gpu
from sim.gpus.occupancy import occupancy
from sim.launch.copies import copied
from sim.launch.launch import Launch
from sim.result.result import Result
from sim.traces.trace import Trace

STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64)  # warps per SM


Timed = Callable[[Launch, Gpu], tuple[Trace, Result]]


class Point(NamedTuple):
    """So many warps on every SM. Cycles are of the whole launch."""

    warps: int  # per SM
    threads: int  # on the chip
    iterations: int  # of the region, by threads
    bound: float  # interval analysis: not less, if loads take as long as assumed
    simulated: int
    opinion: float  # Hong and Kim
    result: Result

    @property
    def gap(self) -> float:
        """How much longer the simulation takes than the bound, percent."""
        return 100 * (self.simulated / self.bound - 1)


def curve(analysis: Analysis, launch: Launch, timed: Timed, warps: Sequence[int] = STEPS) -> list[Point]:
    """Return a point for each number of warps per SM that the GPU holds.

    timed: executes and times a launch. The iterations of a loop in a launch of one dimension without barriers are redistributed over
    all SMs: one or two blocks per SM, as large as needed. Any other launch stays as it is, and each SM holds as many of its blocks as make
    that many warps.
    """
    points = []
    for count in warps:
        shape = _resident(analysis.gpu, launch, count) if _keeps_blocks(analysis, launch) else _shared_out(analysis.gpu, launch, count)
        if shape is not None:
            gpu, changed = shape
            points.append(_point(analysis, count, *timed(copied(changed), gpu)))
    return points


def _keeps_blocks(analysis: Analysis, launch: Launch) -> bool:
    several = len(launch.block) > 1 or len(launch.grid) > 1
    return several or analysis.region.loop is None or bool((launch.program.encoded.operation == Operation.BAR).any())


def made(analysis: Analysis, launch: Launch) -> str:
    """Return how the launches of a curve are made from the one given, in words."""
    if _keeps_blocks(analysis, launch):
        return "each SM holds as many of its blocks as make that many warps"
    given = f"{launch.blocks} block{'s' * (launch.blocks > 1)} of {launch.warps_per_block} warp{'s' * (launch.warps_per_block > 1)}"
    return f"its iterations are redistributed over all {analysis.gpu.sms} SMs; the launch itself has {given}"


def why_none(analysis: Analysis, launch: Launch) -> str:
    """Return why a curve has no points, in words."""
    if not _keeps_blocks(analysis, launch):
        return f"an SM of this GPU holds at most {analysis.gpu.limits.warps} warps"
    return (
        f"the launch keeps its {launch.blocks} blocks of {launch.warps_per_block} warps; only multiples of these count, "
        f"and each of the {analysis.gpu.sms} SMs must get as many"
    )


def _resident(gpu: Gpu, launch: Launch, warps: int) -> tuple[Gpu, Launch] | None:
    """Return the machine on which an SM holds so many warps of the launch; None where its blocks do not divide them or do not fit."""
    blocks, rest = divmod(warps, launch.warps_per_block)
    if rest or not blocks or _fit(gpu, launch, launch.block) < blocks or launch.blocks < blocks * gpu.sms:
        return None
    return gpu.replace({"limits.blocks": blocks}), launch


def _shared_out(gpu: Gpu, launch: Launch, warps: int) -> tuple[Gpu, Launch] | None:
    """Return the launch with so many warps on every SM; None where they do not make equal blocks or do not fit."""
    blocks = math.ceil(warps * gpu.core.warp_size / gpu.limits.threads_per_block)
    block = (warps // blocks * gpu.core.warp_size,)
    if warps % blocks or _fit(gpu, launch, block) < blocks:
        return None
    return gpu, dataclasses.replace(launch, grid=(blocks * gpu.sms,), block=block)


def _fit(gpu: Gpu, launch: Launch, block: tuple[int, ...]) -> int:
    return occupancy(gpu, block, launch.registers_per_thread, launch.shared_per_block).blocks


def _point(analysis: Analysis, warps: int, trace: Trace, result: Result) -> Point:
    loop, threads = analysis.region.loop, warps * analysis.gpu.core.warp_size * analysis.gpu.sms
    iterations = int(trace.true_lanes[loop.header]) if loop else trace.launch.blocks * trace.launch.threads_per_block
    rounds = math.ceil(iterations / threads)
    bound, guess = analysis.time(threads, iterations), opinion(analysis, warps)
    return Point(warps, threads, iterations, bound, result.cycles, rounds * guess.cycles, result)
