"""Lower bounds on a run's cycles, one per resource: what was asked of it over what it can do, and the longest chain of latencies.

No schedule can be faster than any of them on the GPU given; how far a run lies above the largest is what scheduling, queues and
overlap cost. Counts come from the run itself (`Result`), so that hits and misses are those that it had. Left out: bursts, and that
blocks do not divide evenly among SMs.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from isa.vocabulary import COUNTERS, Operation, Space, Unit
from sim.analysis.resources import resources
from sim.gpus.model import Gpu
from sim.lowering import core as lower
from sim.lowering.accesses import GLOBAL
from sim.lowering.rescheduling import rescheduled
from sim.result.result import Result
from sim.traces.trace import Trace

MOST_ENTRIES = 1_000_000  # of all paths, which are walked one by one
KINDS = ("issue", "pipe", "bandwidth", "latency", "roofline")


class Bound(NamedTuple):
    """kind: one of KINDS, the two of the roofline under its name. cycles: of the core clock; no run takes fewer."""

    kind: str
    resource: str
    cycles: float


def bounds(trace: Trace, result: Result) -> list[Bound]:
    """Return every bound on the run of `trace` that `result` tells of, the largest first; of each resource only if it is used."""
    trace, _ = rescheduled(trace, result.gpu)
    found = [Bound(one.kind, one.name, one.cycles(result)) for one in resources(result)]
    return sorted((bound for bound in (*found, *_latency(trace, result)) if bound.cycles > 0), key=lambda bound: -bound.cycles)


def _latency(trace: Trace, result: Result) -> Iterator[Bound]:
    """Yield the longest chain: blocks that follow each other in one place, of each the dependences of its slowest warp."""
    if len(trace.arrays.instruction) > MOST_ENTRIES:
        return
    gpu = result.gpu
    paths = _path_cycles(trace, result)
    blocks = paths[trace.arrays.warp_path].reshape(-1, trace.launch.warps_per_block).max(axis=1)
    waves = math.ceil(len(blocks) / (gpu.sms * result.occupancy.blocks))
    start, retire = gpu.blocks.start_latency, gpu.blocks.retire_latency
    chain = max(int(blocks.max()) + start, waves * (int(blocks.min()) + start) + (waves - 1) * retire)
    yield Bound("latency", "chain of dependences", chain)


def _path_cycles(trace: Trace, result: Result) -> np.ndarray:
    """Return int64 [paths]: the cycles of a warp that never waits for anything but its own results."""
    code, dependences = lower.code(result.gpu, trace.program)
    latency = least_latencies(trace, result)
    shortest = np.where(code.ops["memory"] == GLOBAL, result.gpu.lsu.latency + 1, latency)  # of a load that no lane executes
    tables = (code.ops["distance"].tolist(), [[n for n in row if n >= 0] for row in code.needs.tolist()], _writes(code))
    arrays, found = trace.arrays, []
    for start, end in zip(arrays.path_start.tolist(), arrays.path_start[1:].tolist(), strict=False):
        lane = arrays.mask[start:end] != 0
        instruction = arrays.instruction[start:end]
        cycles = np.where(lane, latency[instruction], shortest[instruction]).tolist()
        found.append(_walk(instruction.tolist(), cycles, dependences, *tables))
    return np.array(found, np.int64)


def _writes(code: lower.Code) -> list[list[int]]:
    """Return what each instruction makes ready: the dependences it writes, or the counter of its control word."""
    if code.control:
        return [[counter] if 0 <= counter < COUNTERS else [] for counter in code.ops["write_counter"].tolist()]
    return [row[:count] for row, count in zip(code.writes.tolist(), code.ops["results"].tolist(), strict=True)]


def _walk(
    path: list[int], latency: list[int], dependences: int, distance: list[int], needs: list[list[int]], writes: list[list[int]]
) -> int:
    """Return the cycles from a warp's first issue to its last result. latency: per entry of the path."""
    ready = [0] * dependences
    now, end = 0, 0
    for i, cycles in zip(path, latency, strict=True):
        for name in needs[i]:
            now = max(now, ready[name])
        for name in writes[i]:
            ready[name] = now + cycles
            end = max(end, now + cycles)
        end = max(end, now + 1)
        now += distance[i]
    return end


def least_latencies(trace: Trace, result: Result) -> np.ndarray:
    """Return int64 [n]: the fewest cycles from each instruction's issue to its dependent's, with the hits that the run had."""
    gpu, encoded = result.gpu, trace.program.encoded
    modelled = gpu.memory.kind == "hierarchy"
    past_l1 = _past_l1(gpu, result) if modelled else 0
    found = []
    for i, (operation, space, unit) in enumerate(zip(encoded.operation, encoded.space, encoded.unit, strict=True)):
        memory = operation in (Operation.LOAD, Operation.ATOM) and space in (Space.GLOBAL, Space.GENERIC, Space.LOCAL)
        if not memory or not modelled:
            found.append(1 if operation == Operation.STORE else gpu.latency(Unit(unit)))
        elif lower.is_cached(gpu, trace.program, i) and gpu.l1 and (_hits_l1(result) or space == Space.LOCAL):
            found.append(min(gpu.l1.latency, past_l1))
        else:
            found.append(past_l1)
    return np.array(found, np.int64)


def _hits_l1(result: Result) -> bool:
    return result.counters["l1_hit_rate"] > 0


def _past_l1(gpu: Gpu, result: Result) -> int:
    """Return the latency of a load past L1: that of DRAM when not one sector read was found in L2."""
    counters = result.counters
    hits = counters["l2_hit_rate"] * (counters["l2_sectors_read"] + counters["l2_sectors_written"])
    found_in_l2 = gpu.l2 is not None and round(hits) > counters["l2_sectors_written"]
    return (gpu.l2.latency if gpu.l2 and found_in_l2 else gpu.dram.latency) - (gpu.l2.across if gpu.l2 else 0)
