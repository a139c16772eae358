"""The roofline: how fast a kernel can be, given how many flops it does per byte (S. Williams et al., CACM 52(4), 2009)."""

from typing import NamedTuple

from isa.program import Program
from isa.vocabulary import Operation
from sim.gpus.model import Gpu
from sim.traces.trace import FLOPS


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
    return Roofline(flops, bytes_, gpu.peak_fp32_flops, gpu.dram.bandwidth * gpu.dram.efficiency * 1e9)


def flops_of(program: Program, path: tuple[int, ...]) -> int:
    """Return the FP32 operations of one thread that executes `path`: a fused multiply-add counts two."""
    return sum(FLOPS.get(Operation(program.encoded.operation[i]), 0) for i in path)
