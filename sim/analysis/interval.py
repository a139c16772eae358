"""Interval analysis: from one warp's latency through a region, how many threads fill each resource, and how long P threads take.

A method of lecture notes (GPU Microarchitecture Note Set 5, after Hong and Kim, ISCA 2009, and Eyerman et al., TOCS 2009). An interval
is a region that is executed over and over. Alone it takes its latency L. Of each resource it needs some work w per thread (bytes,
instructions), of which the chip does so much per cycle (theta). P threads keep the resource busy P w / theta cycles per interval, so

    t(P) = N / P * max(L, P w / theta, ...)      for N intervals,

which stops falling at P = L theta / w: the smallest P of all resources is the number of threads worth having. Barriers divide a region
into several intervals, each with a maximum of its own. All of it holds from below, in the steady state: a machine with these latencies
and bandwidths is never faster.
"""

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from isa.program import Program
from isa.vocabulary import Unit
from sim.analysis.locality import Locality, Traffic, locality
from sim.analysis.region import Region, find, intervals
from sim.analysis.resources import DRAM, FROM_SMS, L2, TO_SMS, capacities, l2_bytes, ports
from sim.analysis.schedule import LoadLatency, Step, schedule
from sim.gpus.model import Gpu
from sim.gpus.path import LINE, SECTOR
from sim.lowering.accesses import is_cached
from sim.lowering.clock import clocked
from sim.lowering.rescheduling import rescheduled
from sim.traces.trace import Trace

REPEATS = 3  # iterations scheduled; the last one's distance from the one before it is the latency, whatever it carries over
DATA = {DRAM: "data L2-DRAM", L2: "data SM-L2", TO_SMS: "loads to an SM", FROM_SMS: "stores from an SM"}  # the notes' words
CLASSES = {Unit.FP32: "FP32", Unit.GLOBAL: "load/store", Unit.LOCAL: "load/store", Unit.SHARED: "load/store", Unit.BRANCH: "control"}


class Hits(NamedTuple):
    """What share of the loads, and of their bytes, each cache is assumed to serve, 0 to 1; L2's of those that L1 leaves."""

    l1: float = 0.0
    l2: float = 0.0
    kept: float = 0.0  # share of the stored bytes that stay in L2

    @classmethod
    def measured(cls, counters: Mapping[str, float]) -> "Hits":
        """Return the shares of a simulated run, by sectors."""
        asked, read, written = (counters[name] for name in ("global_load_sectors", "l2_sectors_read", "l2_sectors_written"))
        l1, l2 = _less(read, asked), _less(counters["dram_bytes_read"] / SECTOR, read)
        return cls(l1, l2, _less(counters["dram_bytes_written"] / SECTOR, written))


def _less(rest: float, whole: float) -> float:
    """Return the share of the whole that is not left, 0 to 1."""
    return max(0.0, 1 - rest / whole) if whole else 0.0


class Resource(NamedTuple):
    """What an interval needs of one resource, and how much the whole chip does."""

    name: str
    work: float  # per thread and interval
    unit: str  # of the work
    bandwidth: float  # of the chip, per cycle of the core clock

    @property
    def cycles(self) -> float:
        """Cycles of the resource per thread."""
        return self.work / self.bandwidth

    def threads(self, latency: float) -> float:
        """Return the threads on the chip that keep it busy for all of an interval's latency."""
        return latency / self.cycles


class Interval(NamedTuple):
    """One interval."""

    path: tuple[int, ...]  # static instructions
    latency: int  # cycles to the start of the next one
    resources: tuple[Resource, ...]

    def time(self, threads: float, iterations: float) -> float:
        """Return the cycles that `threads` threads take for so many intervals together: some thread executes at least its whole share."""
        alone = math.ceil(iterations / threads) * self.latency
        return max(alone, *(iterations * resource.cycles for resource in self.resources))


class Analysis(NamedTuple):
    """Interval analysis of one region on one GPU. Times are cycles of the core clock."""

    gpu: Gpu
    program: Program
    region: Region
    traffic: Traffic
    steps: tuple[Step, ...]  # of the first iteration of one warp
    to_last: int  # from the first issue to the last one of the iteration
    latency: int  # to the start of the next iteration: the sum of the intervals' latencies
    intervals: tuple[Interval, ...]

    @property
    def classes(self) -> dict[str, int]:
        """Return the instructions of one iteration by class."""
        counts: dict[str, int] = {}
        for i in self.region.path:
            name = CLASSES.get(Unit(self.program.encoded.unit[i]), "other")
            counts[name] = counts.get(name, 0) + 1
        return counts

    @property
    def resources(self) -> tuple[Resource, ...]:
        """Return what an iteration needs of each resource, over all its intervals."""
        return combined([resource for interval in self.intervals for resource in interval.resources])

    @property
    def binding(self) -> Resource:
        """Return the resource that the fewest threads fill."""
        return min(self.resources, key=lambda resource: resource.threads(self.latency))

    @property
    def threads(self) -> float:
        """Threads on the chip above which more of them do not help: those that fill the binding resource."""
        return self.binding.threads(self.latency)

    @property
    def warps_per_sm(self) -> float:
        """The same as warps per SM."""
        return self.threads / self.gpu.core.warp_size / self.gpu.sms

    def time(self, threads: float, iterations: float) -> float:
        """Return the cycles that `threads` threads take for so many iterations by threads, at least."""
        return sum(interval.time(threads, iterations) for interval in self.intervals)


def analyse(trace: Trace, gpu: Gpu, hits: Hits | None = None, label: str | None = None, only: Sequence[Unit] | None = None) -> Analysis:
    """Return the interval analysis of an executed program's loop on `gpu`.

    hits: what the caches are assumed to serve; None: what the executed addresses find in caches that keep everything. label: which loop,
    None = the hottest. only: count instructions of these units alone, as the notes do on paper.
    """
    region = find(trace, label)
    if only is not None:
        units = trace.program.encoded.unit
        region = region._replace(path=tuple(i for i in region.path if units[i] in only))
    return of_region(trace, gpu, region, hits)


def of_region(trace: Trace, gpu: Gpu, region: Region, hits: Hits | None = None) -> Analysis:
    """Return the interval analysis of a region, as `analyse` does, by the control words that a run on `gpu` obeys."""
    trace, _ = rescheduled(trace, gpu)
    gpu = clocked(gpu, trace)
    program, parts, where = trace.program, intervals(trace.program, region), locality(trace, gpu)
    latency = load_latency(gpu, program, hits or where)
    repeated = [i for part in parts for i in part] * (REPEATS if region.loop else 1)
    steps = schedule(gpu, program, repeated, latency)
    moved = [assumed(where.traffic(trace, part, region.threads), hits) for part in parts]
    found = [
        Interval(part, cycles, tuple(resources(gpu, program, part, one)))
        for part, cycles, one in zip(parts, _latencies(steps, parts, region), moved, strict=True)
    ]
    first = tuple(schedule(gpu, program, region.path, latency))
    total = Traffic(*(sum(column) for column in zip(*moved, strict=True)))
    return Analysis(gpu, program, region, total, first, first[-1].issue, sum(one.latency for one in found), tuple(found))


def assumed(moved: Traffic, hits: Hits | None) -> Traffic:
    """Return the bytes when the caches serve these shares; L1 writes through."""
    if hits is None:
        return moved
    loaded = (moved.asked - moved.stored) * (1 - hits.l1)
    return moved._replace(loaded=loaded, dram=loaded * (1 - hits.l2) + moved.stored * (1 - hits.kept))


def _latencies(steps: Sequence[Step], parts: Sequence[tuple[int, ...]], region: Region) -> list[int]:
    """Return the cycles from the start of each part to that of the next; of a program without a loop the last ends with its results."""
    skipped = (REPEATS - 2) * len(region.path) if region.loop else 0
    starts = [skipped]
    for part in parts:
        starts.append(starts[-1] + len(part))
    times = [steps[k].issue for k in starts[:-1]]
    times.append(steps[starts[-1]].issue if region.loop else max(max(step.issue + 1, step.ready) for step in steps))
    return [b - a for a, b in itertools.pairwise(times)]


def load_latency(gpu: Gpu, program: Program, hits: Hits | Locality) -> LoadLatency:
    """Return the latency of each load in cycles: the mean over its executions, each as long as the farthest place it goes to."""
    if gpu.memory.kind == "fixed":
        return lambda _: gpu.latency(Unit.GLOBAL)
    near = gpu.l2.latency if gpu.l2 else gpu.dram.latency
    nearest = gpu.l1.latency if gpu.l1 else near

    def latency(i: int) -> int:
        if isinstance(hits, Hits):
            l1, l2 = hits.l1 if is_cached(gpu, program, i) else 0.0, hits.l2
        else:
            l1, l2 = _shares(hits, i)
        return round(l1 * nearest + (1 - l1) * (l2 * near + (1 - l2) * gpu.dram.latency))

    return latency


def _shares(where: Locality, i: int) -> tuple[float, float]:
    """Return the share of a load's executions that L1 serves, and of the others that L2 does."""
    accesses, to_l2, to_dram = (int(column[i]) for column in (where.accesses, where.to_l2, where.to_dram))
    return (1 - to_l2 / accesses if accesses else 1.0), (1 - to_dram / to_l2 if to_l2 else 1.0)


def resources(gpu: Gpu, program: Program, path: Sequence[int], moved: Traffic) -> list[Resource]:
    """Return what the instructions of `path`, and the bytes they move, need per thread."""
    can, work = capacities(gpu), {DRAM: moved.dram}
    if gpu.l2:
        work |= {L2: l2_bytes(gpu, moved.loaded, moved.stored), TO_SMS: moved.loaded, FROM_SMS: moved.stored}
    data = [Resource(DATA[name], bytes_, "B", can[name].of_chip(gpu)) for name, bytes_ in work.items() if bytes_]
    return [*instruction_resources(gpu, program, Counter(path)), *data]


def instruction_resources(gpu: Gpu, program: Program, counts: Mapping[int, int]) -> list[Resource]:
    """Return what static instructions, executed so often, need: issue slots, and the pipes with the threads per cycle that they take.

    Where narrow pipes hold the scheduler the slots are cycles of it, as in the notes' n_IF / theta_IF + n_IM / theta_IM.
    """
    slots, *pipes = ports(gpu, program, counts)
    lanes = float(gpu.core.warp_size * gpu.sms)
    if gpu.core.dispatch == "scheduler":
        found = [Resource("dispatch", slots.held, "cycles", lanes * slots.width)]
    else:
        found = [Resource("issue", slots.issues, "insn", lanes * slots.width / gpu.core.issue_interval)]
    found += [Resource(f"pipe {one.name}", one.issues, "insn", lanes * one.width * one.issues / one.held) for one in pipes]
    return [*found, *_registers(gpu, program, counts)]


def _registers(gpu: Gpu, program: Program, counts: Mapping[int, int]) -> list[Resource]:
    """Return what passes between an SM's L1 and its registers, where the load/store unit is modelled: an instruction at a time."""
    widths = {i: int(program.encoded.width[i]) for i in counts if int(program.encoded.unit[i]) in (Unit.GLOBAL, Unit.LOCAL)}
    moved = sum(counts[i] * width for i, width in widths.items())
    if gpu.memory.kind == "fixed" or not moved:
        return []
    rate, warp = gpu.l1.bytes_per_cycle if gpu.l1 else LINE, gpu.core.warp_size
    cycles = sum(counts[i] * max(gpu.lsu.interval, math.ceil(warp * width / rate)) for i, width in widths.items())
    return [Resource("data L1-registers", moved, "B", gpu.sms * warp * moved / cycles)]


def combined(found: Sequence[Resource]) -> tuple[Resource, ...]:
    """Return one resource per name, with the work of all."""
    names = dict.fromkeys(resource.name for resource in found)
    alike = [[resource for resource in found if resource.name == name] for name in names]
    return tuple(group[0]._replace(work=float(np.sum([resource.work for resource in group]))) for group in alike)
