"""The roofline: how fast a kernel can be, given how many flops it does per byte (S. Williams et al., CACM 52(4), 2009)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from isa.program import Program
from isa.vocabulary import Operation
from sim.analysis.resources import BANKS, DRAM, L2, Resource, capacities, resources
from sim.gpus.model import Gpu
from sim.gpus.path import SECTOR
from sim.lowering.memory import GEOMETRY
from sim.result.result import Result
from sim.traces.trace import FLOPS

SHARED, L1, PEAK = "shared memory", "L1", "FP32 peak"


class Roofline(NamedTuple):
    """One kernel under the roof of one GPU. Rates of the whole chip, flop/s."""

    flops: float  # of FP32, per thread and interval, or of a whole kernel
    bytes: float  # of DRAM, for the same
    peak: float
    bandwidth: float  # bytes/s

    @property
    def intensity(self) -> float:
        """Flops per byte; infinite where nothing moves."""
        return self.flops / self.bytes if self.bytes else float("inf")

    @property
    def ridge(self) -> float:
        """Flops per byte above which arithmetic bounds."""
        return self.peak / self.bandwidth

    @property
    def attainable(self) -> float:
        """The most flop/s."""
        return min(self.peak, self.intensity * self.bandwidth)


def roofline(gpu: Gpu, flops: float, bytes_: float) -> Roofline:
    """Return where `flops` and `bytes_` stand on `gpu`; the slope is the bandwidth that streams reach."""
    return Roofline(flops, bytes_, gpu.peak_fp32_flops, capacities(gpu)[DRAM].per_second(gpu))


def flops_of(program: Program, path: tuple[int, ...]) -> int:
    """Return the FP32 operations of one thread that executes `path`: a fused multiply-add counts two."""
    return sum(FLOPS.get(Operation(program.encoded.operation[i]), 0) for i in path)


class RunRoofline(NamedTuple):
    """A run under the roofs of its GPU: one for each level of memory that it used. Rates of the whole chip."""

    flops: float  # of FP32
    seconds: float  # from the first block's start to the last one's end
    peak: float  # flop/s
    levels: Mapping[str, Roofline]  # from the registers outwards

    @property
    def achieved(self) -> float:
        """The flop/s of the run."""
        return self.flops / self.seconds

    @property
    def shares(self) -> dict[str, float]:
        """Of each level and of PEAK the share that the run reached, 0 to 1."""
        return {name: self.used(name) for name in self.levels} | {PEAK: self.achieved / self.peak}

    @property
    def limit(self) -> str:
        """The level whose roof is the lowest for this run, or PEAK: the one of which it used the largest share."""
        return max(self.shares, key=self.shares.__getitem__)

    def used(self, name: str) -> float:
        """Return the share of a level's bandwidth that the run used, 0 to 1; stores that wait in queues at its end count, too."""
        return self.levels[name].bytes / self.seconds / self.levels[name].bandwidth

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values, ready for JSON: flop, s, flop/s, bytes, bytes/s, flop per byte."""
        levels = {
            name: {
                "bytes": roof.bytes,
                "bandwidth": roof.bandwidth,
                "used": self.used(name),
                "intensity": roof.intensity if roof.bytes else None,
                "ridge": roof.ridge,
                "attainable": roof.attainable,
            }
            for name, roof in self.levels.items()
        }
        rates = {"peak": self.peak, "achieved": self.achieved, "limit": self.limit, "reached": self.shares[self.limit]}
        return {"flops": self.flops, "seconds": self.seconds} | rates | {"levels": levels}


def of_run(result: Result) -> RunRoofline:
    """Return where a run stands, from its own counters: FP32 operations, and the bytes of each level that moved any.

    Shared memory: passes over its banks, whole; L1: sectors looked up; L2: sectors read and written, of the busier port where it has two;
    DRAM: bytes read and written, under the bandwidth that streams reach. Without a model of memory (`memory.kind = "fixed"`) there are no
    levels. Tensor cores do not count.
    """
    gpu, flops, hertz = result.gpu, result.counters["fp32_flops"], result.gpu.clock.core_mhz * 1e6
    found = {one.name: one for one in resources(result)}
    if BANKS in found:
        a_cycle, busy = GEOMETRY[gpu.shared.rule][1] / gpu.shared.pass_cycles, found[BANKS]
        found[SHARED] = busy._replace(demand=a_cycle * busy.demand, capacity=a_cycle * busy.capacity)
    if gpu.l1 and gpu.memory.kind == "hierarchy":  # not of the table: wide loads pass faster than sector by sector
        found[L1] = Resource("roofline", L1, SECTOR * result.counters["l1_sectors"], gpu.l1.bytes_per_cycle, True)
    roofs = {
        name: Roofline(flops, one.demand, gpu.peak_fp32_flops, one.capacity * hertz * (gpu.sms if one.per_sm else 1))
        for name in (SHARED, L1, L2, DRAM)
        if (one := found.get(name)) and one.demand
    }
    return RunRoofline(flops, result.cycles / hertz, gpu.peak_fp32_flops, roofs)
