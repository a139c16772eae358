"""The steady state of a kernel: the difference of two runs whose grids differ by whole waves, so that ramp and tail cancel."""

from typing import NamedTuple

from sim.gpus.model import Gpu
from sim.result.result import Result
from sim.timing import simulate
from sim.traces.trace import Trace

PERFECT = {"core.wake_rule": "per_register", "core.in_flight_cap": 0}  # a scoreboard that knows every register, without a cap


def shared_for(gpu: Gpu, blocks: int, unit: int | None = None) -> int:
    """Return the bytes of dynamic shared memory per block that let `blocks` of them on an SM, and no more: a multiple of `unit`.

    unit: bytes; None = the GPU's own allocation unit. Nobody uses that memory; it holds the occupancy down.
    """
    limits = gpu.limits
    unit = unit or limits.shared_unit
    return min((limits.shared_bytes // blocks - limits.shared_reserved) // unit * unit, limits.shared_per_block)


def is_perfect(gpu: Gpu) -> bool:
    """Return whether the GPU's scoreboard knows every register and has no cap."""
    return gpu.replace(PERFECT).core == gpu.core


class Steady(NamedTuple):
    """What the additional waves took: the long run less the short one."""

    gpu: Gpu
    cycles: int  # of the core clock
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
        return amount / self.cycles * self.gpu.clock.core_mhz * 1e6

    def stall(self, cause: str) -> float:
        """Return the share of the warps' time that went to a cause, 0 to 1."""
        return (self.long.stalls.get(cause, 0) - self.short.stalls.get(cause, 0)) / self.grown("warp_cycles")

    @property
    def shared_busy(self) -> float:
        """Share of the time that the banks of shared memory pass, 0 to 1."""
        return self.grown("shared_wavefronts") * self.gpu.shared.pass_cycles / (self.gpu.sms * self.cycles)

    @property
    def dram_busy(self) -> float:
        """Share of the pin bandwidth used, read and written, 0 to 1."""
        moved = self.grown("dram_bytes_read") + self.grown("dram_bytes_written")
        return self.per_second(moved) / 1e9 / self.gpu.dram.bandwidth

    @property
    def occupancy(self) -> float:
        """Theoretical occupancy, percent."""
        return 100.0 * self.long.occupancy.fraction


def steady(short: Trace, long: Trace, gpu: Gpu) -> Steady:
    """Time both launches on `gpu` and return their difference."""
    first, second = simulate(short, gpu), simulate(long, gpu)
    return Steady(gpu, second.cycles - first.cycles, first, second)
