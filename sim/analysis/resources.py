"""The resources of a run: what was asked of each, and what it can do. Advice, lower bounds, roofline, Little's law and interval analysis
are views of this table.

Capacity comes from the preset alone (`capacities`, `ports`), demand from the counters and from the issues of each instruction; interval
analysis, which has no run, takes the bytes of its threads. Over the time that there was, demand is a use (`Resource.use`: what is full
binds); over the capacity it is the cycles that no schedule goes below (`Resource.cycles`).
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from isa.program import Program
from isa.vocabulary import Unit
from sim.gpus.model import Gpu
from sim.gpus.path import SECTOR
from sim.lowering.accesses import memory_place
from sim.lowering.ports import unit_timing
from sim.lowering.warpgroups import turn
from sim.result.memory_counters import ratio
from sim.result.result import Result

ISSUE, BANKS, L2, DRAM = "issue slots", "banks of shared memory", "L2", "DRAM"
PEAK, LSU, TO_SMS, FROM_SMS = "FP32 peak of the chip", "load/store unit", "network to the SMs", "network from the SMs"
ACCESSES = ("global_load", "global_store", "global_atomic", "local", "shared")


class Ports(NamedTuple):
    """What instructions hold: the issue slots, or the ports of a pipe."""

    name: str  # ISSUE, or the pipe's
    issues: int  # that pass through
    held: int  # cycles of a port that they hold together, or products of warpgroups a tensor core
    width: int  # ports of an SM; of the issue slots, those that one cycle has


class Capacity(NamedTuple):
    """The sustained rate of one resource, per cycle of the core clock."""

    kind: str  # bandwidth, roofline
    rate: float  # bytes, fused multiply-adds, or cycles that it is held
    per_sm: bool

    def of_chip(self, gpu: Gpu) -> float:
        """Return the rate of all SMs together."""
        return self.rate * (gpu.sms if self.per_sm else 1)

    def per_second(self, gpu: Gpu) -> float:
        """Return the same per second."""
        return self.of_chip(gpu) * gpu.clock.core_mhz * 1e6


class Resource(NamedTuple):
    """One resource of a run. What queues can still hold at the end (`posted`, at most `queued`) nobody waits for."""

    kind: str  # issue, pipe, bandwidth, roofline
    name: str
    demand: float  # cycles of ports, passes, bytes or operations
    capacity: float  # of the same, per cycle: of an SM, or of the chip
    per_sm: bool
    posted: float = 0.0  # share of the demand that no warp waits for, in the unit of demand
    queued: float = 0.0

    def use(self, result: Result) -> float:
        """Return how full it was, 0 to 1: of an SM's, while the SM had work. What waits at the end counts: a little over 1 is possible."""
        return ratio(self.demand, self.capacity * (result.counters["sm_active_cycles"] if self.per_sm else result.cycles))

    def cycles(self, result: Result) -> float:
        """Return the cycles of the core clock that it takes at least, all SMs with a block alike."""
        places = result.counters["sms_used"] if self.per_sm else 1
        return ratio(self.demand - self.posted + max(self.posted - self.queued, 0), self.capacity * places)


def pipe_of(gpu: Gpu, program: Program, i: int) -> str:
    """Return the name of the pipe that serves instruction i, "" if it needs none."""
    served = unit_timing(gpu, program, i)
    return served.pipe if served else ""


def dispatch_cycles(gpu: Gpu, program: Program, i: int) -> int:
    """Return the cycles in which the scheduler of instruction i issues nothing else: its interval, or what a narrow pipe holds it.

    An access to memory that is modelled goes to its queue in one cycle, however narrow the pipe; its addresses follow from there.
    """
    interval, name = gpu.core.issue_interval, pipe_of(gpu, program, i)
    if gpu.core.dispatch != "scheduler" or not name or memory_place(gpu, program, i):
        return interval
    return max(interval, gpu.hold(name) * gpu.serving(Unit(program.encoded.unit[i])).passes)


def ports(gpu: Gpu, program: Program, issues: Mapping[int, int]) -> list[Ports]:
    """Return the issue slots and each pipe that is used. issues: of static instructions, how often."""
    core, pipes, slots = gpu.core, dict.fromkeys(gpu.pipes, 0), 0
    held = dict.fromkeys(gpu.pipes, 0)
    for i, count in issues.items():
        name = pipe_of(gpu, program, i)
        slots += count * dispatch_cycles(gpu, program, i)
        if name:
            pipes[name] += count
            passes = gpu.serving(Unit(program.encoded.unit[i])).passes
            held[name] += count * (turn(gpu, program, i).cycles or passes * gpu.hold(name))
    found = [Ports(ISSUE, sum(issues.values()), slots, core.schedulers * core.issue_width)]
    for name, count in pipes.items():
        pipe = gpu.pipes[name]
        if count:
            found.append(Ports(name, count, held[name], pipe.count * (core.schedulers if pipe.owner == "scheduler" else 1)))
    return found


def resources(result: Result) -> list[Resource]:
    """Return what the run asked of each resource: arithmetic's peak, issue slots, pipes; where memory is modelled, its bandwidths."""
    gpu = result.gpu
    can = capacities(gpu)
    found = [_resource(can, PEAK, result.counters["fp32_flops"] / 2)]
    for one in ports(gpu, result.program, dict(enumerate(result.issues_by_instruction.tolist()))):
        issue = one.name == ISSUE
        found.append(Resource("issue" if issue else "pipe", ISSUE if issue else f"{one.name} pipe", one.held, one.width, True))
    return found + (list(_bandwidths(result, can)) if gpu.memory.kind == "hierarchy" else [])


def _resource(can: Mapping[str, Capacity], name: str, demand: float, posted: float = 0.0, queued: float = 0.0) -> Resource:
    """Return a row of the table: what was asked for, beside the capacity of that name."""
    kind, rate, per_sm = can[name]
    return Resource(kind, name, demand, rate, per_sm, posted, queued)


def capacities(gpu: Gpu) -> dict[str, Capacity]:
    """Return what arithmetic and each level of memory can do, by name: the preset's half of the table. DRAM's is what streams reach."""
    net = gpu.interconnect
    found = {
        PEAK: Capacity("roofline", gpu.lanes(Unit.FP32) * gpu.sms, False),
        BANKS: Capacity("bandwidth", 1, True),
        LSU: Capacity("bandwidth", 1, True),
        TO_SMS: Capacity("bandwidth", net.response_bytes_per_cycle, True),
        FROM_SMS: Capacity("bandwidth", net.request_bytes_per_cycle, True),
        DRAM: Capacity("roofline", gpu.dram_bytes_per_cycle * gpu.sms * gpu.dram.efficiency, False),
    }
    if gpu.l2:
        found[L2] = Capacity("bandwidth", gpu.l2.bytes_per_cycle * gpu.sms, False)
    return found


def l2_bytes(gpu: Gpu, read: float, written: float) -> float:
    """Return the bytes that L2's ports move one after another: all; where stores have a port of their own, those of the busier."""
    return max(read, written) if gpu.l2 and gpu.l2.write_port else read + written


def _bandwidths(result: Result, can: Mapping[str, Capacity]) -> Iterator[Resource]:
    """Yield the banks, the load/store unit, the network, L2 and DRAM.

    A store or a reduction is over when it has left the SM or passed L1: what queues can hold of its bytes may still wait when the run
    ends. Sectors of atomics count as written at L2, but hold the port of loads: with any, half of what was written is all that is certain
    of its own port.
    """
    gpu, counters = result.gpu, result.counters
    net, atomics = gpu.interconnect, counters["global_atomic_requests"] + counters["bulk_reduction_requests"]
    yield _resource(can, BANKS, counters["shared_wavefronts"] * gpu.shared.pass_cycles)
    yield _resource(can, LSU, sum(counters[f"{name}_requests"] for name in ACCESSES) * gpu.lsu.interval)
    read, written = (SECTOR * counters[f"l2_sectors_{way}"] for way in ("read", "written"))
    yield _resource(can, TO_SMS, read)
    queued = (
        SECTOR
        * 4
        * ((net.depth + gpu.lsu.store_lines) * counters["sms_used"] + (gpu.dram.depth + gpu.dram.channel_depth) * gpu.dram.channels)
    )
    if gpu.l2:
        posted = written if written > read or not gpu.l2.write_port else 0
        sure = written / 2 if atomics and gpu.l2.write_port else written
        yield _resource(can, L2, l2_bytes(gpu, read, sure), posted, queued)
    moved = counters["dram_bytes_read"] + counters["dram_bytes_written"]
    posted = moved if atomics else counters["dram_bytes_written"]  # what reductions read nobody waits for
    yield _resource(can, DRAM, moved, posted, queued)
