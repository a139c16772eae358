"""The steady state of a kernel: the difference of two runs whose grids differ by whole waves, so that ramp and tail cancel."""

from typing import NamedTuple

from sim.gpus.model import Gpu
from sim.result import Result
from sim.timing import simulate
from sim.trace import Trace


class Steady(NamedTuple):
    """What the additional waves took."""

    gpu: Gpu
    cycles: int
    short: Result
    long: Result

    def grown(self, name: str) -> float:
        """Return the growth of a counter that counts."""
        return self.long.counters[name] - self.short.counters[name]

    def mean(self, name: str) -> float:
        """Return the mean over the additional cycles of a counter that is a mean over the run's."""
        return (self.long.counters[name] * self.long.cycles - self.short.counters[name] * self.short.cycles) / self.cycles

    def per_second(self, amount: float) -> float:
        """Return the rate of `amount`, per second."""
        return amount / self.cycles * self.gpu.clock.alu_mhz * 1e6

    def stall(self, cause: str) -> float:
        """Return the share of the warps' time that went to a cause."""
        return (self.long.stalls.get(cause, 0) - self.short.stalls.get(cause, 0)) / self.grown("warp_cycles")

    @property
    def occupancy(self) -> float:
        """Theoretical occupancy, percent."""
        return 100.0 * self.long.occupancy.fraction


def steady(short: Trace, long: Trace, gpu: Gpu) -> Steady:
    """Time both launches on `gpu` and return their difference."""
    first, second = simulate(short, gpu), simulate(long, gpu)
    return Steady(gpu, second.cycles - first.cycles, first, second)
