"""What no run of a trace can beat on a GPU: lower bounds on its cycles, from the trace and the preset's numbers alone, before any run.

`bounds` has those of a run that is over, from its own counters; there hits and misses are known.

Each is a law of its own, so the largest holds: a scheduler issues so many instructions per cycle, a pipe takes so many threads, a warp
waits for its own results, what an SM stores leaves it, and what a launch loads for the first time comes out of DRAM. What is stored may
stay in L2.
"""

from typing import NamedTuple

import numpy as np

from isa.vocabulary import Operation, Unit
from sim.analysis.interval import Hits, instruction_resources, load_latency
from sim.analysis.locality import locality
from sim.analysis.resources import DRAM, FROM_SMS, capacities
from sim.analysis.schedule import schedule
from sim.gpus.model import Gpu
from sim.gpus.path import SECTOR
from sim.lowering.clock import clocked
from sim.lowering.rescheduling import rescheduled
from sim.traces.trace import Trace

LONGEST = 6_000  # instructions of a warp that are scheduled; a bound on its beginning is one on the whole
PATHS = 4  # the longest ones are
MEMORY = 0.05  # an arithmetic program has at most this share of instructions that go to global or local memory


class Bound(NamedTuple):
    """One lower bound, in cycles of the core clock."""

    name: str
    cycles: float


def bounds(trace: Trace, gpu: Gpu) -> list[Bound]:
    """Return the lower bounds on the cycles of a launch, the largest first, by the control words that a run on `gpu` obeys."""
    trace, _ = rescheduled(trace, gpu)
    gpu = clocked(gpu, trace)
    found = [*_throughput(trace, gpu), Bound("latency of one warp", _latency(trace, gpu))]
    if gpu.memory.kind == "hierarchy" and gpu.l2 and gpu.l2.start != "warm":
        found += _data(trace, gpu)
    return sorted(found, key=lambda bound: -bound.cycles)


def is_arithmetic(trace: Trace) -> bool:
    """Return whether a program is one of arithmetic, not of memory."""
    memory = np.isin(trace.program.encoded.unit, (Unit.GLOBAL, Unit.LOCAL))
    return int(trace.executed[memory].sum()) <= MEMORY * trace.warp_instructions


def _throughput(trace: Trace, gpu: Gpu) -> list[Bound]:
    """Return the bounds of issue and of each pipe when every SM that has a block is always busy."""
    counts = {int(i): int(trace.executed[i]) for i in np.flatnonzero(trace.executed)}
    share = gpu.sms / min(gpu.sms, trace.launch.blocks)
    return [Bound(one.name, share * gpu.core.warp_size * one.cycles) for one in instruction_resources(gpu, trace.program, counts)]


def _latency(trace: Trace, gpu: Gpu) -> float:
    """Return how long the warp of the longest path takes alone, its loads served by the nearest cache that takes them."""
    arrays = trace.arrays
    longest = np.argsort(np.diff(arrays.path_start))[::-1][:PATHS]
    nearest = load_latency(gpu, trace.program, Hits(1.0, 1.0))
    ends = []
    for path in longest.tolist():
        start = int(arrays.path_start[path])
        end = min(int(arrays.path_start[path + 1]), start + LONGEST)
        ends.append(schedule(gpu, trace.program, arrays.instruction[start:end].tolist(), nearest)[-1].issue + 1)
    return float(max(ends))


def _data(trace: Trace, gpu: Gpu) -> list[Bound]:
    """Return the bounds of the bytes that must leave DRAM and the SMs."""
    where, stores = locality(trace, gpu), trace.program.encoded.operation == Operation.STORE
    can = capacities(gpu)
    ports = can[FROM_SMS].rate * min(gpu.sms, trace.launch.blocks)
    leaving = where.first if gpu.lsu.store_lines else where.beyond_l1  # a sector may leave once for all stores to it
    return [
        Bound("data L2-DRAM", SECTOR * int(where.first[~stores].sum()) / can[DRAM].rate),
        Bound("stores from an SM", gpu.interconnect.store_least * int(leaving[stores].sum()) / ports),
    ]
