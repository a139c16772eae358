"""The experiment itself: percent of an SM's FP32 peak against threads per block, for chains of multiply-adds of ILP 1 to 8.

One block on one SM. Percent of peak counts the FFMA alone: loop overhead (3 instructions per 1680 FFMA), ramp-up and drain cost
under 0.5 % of it each, so REACHED stands for the "100 %" of the slides.
"""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isa.vocabulary import Operation, Unit
from sim.functional import execute
from sim.gpus.model import Gpu
from sim.launch.file import load_launch
from sim.launch.launch import Launch
from sim.timing import simulate
from sim.traces.trace import Trace

ILPS = tuple(range(1, 9))
REACHED = 99.0  # percent of peak
PASSES = 20  # through the loop, were a scheduler to issue an FFMA every cycle: 33600 cycles with a single warp at peak
ONE_SM = {"sms": 1, "blocks.start_latency": 0, "blocks.retire_latency": 0}  # one block's start and end are no part of the experiment
FOLDER = Path(__file__).parent


class Sweep(NamedTuple):
    """One machine's curves."""

    sizes: tuple[int, ...]  # threads per block
    percent: dict[int, tuple[float, ...]]  # ILP -> percent of the SM's FP32 peak, per size

    def threshold(self, ilp: int) -> int | None:
        """Return the smallest block that reaches 100 % of peak (REACHED or more), None when none does."""
        return next((size for size, percent in zip(self.sizes, self.percent[ilp], strict=True) if percent >= REACHED), None)


def block_sizes(gpu: Gpu) -> tuple[int, ...]:
    """Return 32, 64, .. up to the largest block, at most 1024 threads."""
    return tuple(range(32, min(1024, gpu.limits.threads_per_block) + 1, 32))


def chains(ilp: int) -> Launch:
    """Return the launch of the listing with `ilp` chains, as its launch file has it."""
    return load_launch(FOLDER / f"ffma_ilp{ilp}.toml").launch


def issue_gap(gpu: Gpu) -> float:
    """Return the cycles between two FFMA of one scheduler at peak: 32 threads over its share of the SM's lanes."""
    return 32 * gpu.core.schedulers / gpu.lanes(Unit.FP32)


def resized(launch: Launch, threads: int, gpu: Gpu) -> Launch:
    """Return the launch with one block of that many threads, and with passes through the loop that take as long on any GPU."""
    out, b, c, _ = launch.args
    passes = np.uint32(math.ceil(PASSES / issue_gap(gpu)))
    return replace(launch, block=(threads,), args=(np.zeros(threads, out.dtype), b, c, passes))


def percent_of_peak(trace: Trace, gpu: Gpu) -> float:
    """Return the rate of the trace's FFMA on one SM, in percent of its FP32 lanes."""
    multiply_adds = trace.program.encoded.operation == Operation.FFMA
    threads = int(trace.true_lanes[multiply_adds].sum())
    return 100.0 * threads / (simulate(trace, gpu).cycles * gpu.lanes(Unit.FP32))


def narrowed(trace: Trace, threads: int) -> Trace:
    """Return the trace of a smaller block: the first warps of a larger one, which all take one path and never read the block's size."""
    arrays, warps, executed = trace.arrays, threads // 32, trace.launch.warps_per_block
    accesses = int(arrays.access_start[warps])
    counts = {name: getattr(trace, name) * warps // executed for name in ("executed", "active_lanes", "true_lanes")}
    first = arrays._replace(
        warp_path=arrays.warp_path[:warps],
        access_start=arrays.access_start[: warps + 1],
        access_base=arrays.access_base[:accesses],
        access_stride=arrays.access_stride[:accesses],
    )
    return replace(trace, launch=replace(trace.launch, block=(threads,)), arrays=first, **counts)


def sweep(machines: Sequence[Gpu]) -> list[Sweep]:
    """Return the curves of each machine. Each ILP executes once, for all block sizes and machines; threads share the timing."""
    one_sm = [gpu.replace(ONE_SM) for gpu in machines]
    sizes = block_sizes(one_sm[0])
    traces = {ilp: execute(resized(chains(ilp), sizes[-1], one_sm[0])) for ilp in ILPS}

    def point(job: tuple[int, int]) -> list[float]:
        ilp, threads = job
        trace = narrowed(traces[ilp], threads)
        return [percent_of_peak(trace, gpu) for gpu in one_sm]

    jobs = [(ilp, threads) for ilp in ILPS for threads in sizes]
    with ThreadPoolExecutor() as pool:
        found = dict(zip(jobs, pool.map(point, jobs), strict=True))
    return [Sweep(sizes, {ilp: tuple(found[ilp, threads][number] for threads in sizes) for ilp in ILPS}) for number in range(len(machines))]
