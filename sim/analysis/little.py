"""Little's law on a GPU: what must be in flight is latency times throughput, for arithmetic and for memory.

It says what hides a latency, and nothing about how: more warps, more independent instructions in each (ILP), or more bytes per
instruction serve alike (V. Volkov, Better Performance at Lower Occupancy, GTC 2010).
"""

import math
from typing import NamedTuple

from isa.vocabulary import Unit
from sim.analysis.resources import DRAM, capacities
from sim.gpus.model import Gpu


class Arithmetic(NamedTuple):
    """What keeps the lanes of one unit busy on one SM. Cycles are ALU-clock cycles."""

    latency: int  # cycles from issue to a dependent's issue
    lanes: int  # operations per cycle and SM
    schedulers: int
    warp: int  # threads of a warp

    @property
    def operations(self) -> int:
        """Operations in flight per SM: one per thread at ILP 1."""
        return self.latency * self.lanes

    def warps(self, ilp: int = 1) -> float:
        """Return the warps per SM that hold as many, each with `ilp` independent instructions; a fraction where they do not divide."""
        return self.operations / (self.warp * ilp)

    def whole_warps(self, ilp: int = 1) -> int:
        """Return the warps per SM when every scheduler needs a whole number: each fills its own share of the lanes."""
        return self.schedulers * math.ceil(self.warps(ilp) / self.schedulers)


class Memory(NamedTuple):
    """What keeps the memory busy."""

    latency: int  # cycles of the core clock
    nanoseconds: float  # the same
    bandwidth: float  # GB/s (1e9) of the chip
    sms: int
    warp: int  # threads of a warp

    @property
    def bytes(self) -> float:
        """Bytes in flight on the whole chip."""
        return self.nanoseconds * self.bandwidth

    @property
    def bytes_per_sm(self) -> float:
        """Bytes in flight per SM when all SMs load alike."""
        return self.bytes / self.sms

    def warps(self, bytes_per_thread: int) -> float:
        """Return the warps per SM that hold as many, each thread with loads of `bytes_per_thread` bytes outstanding."""
        return self.bytes_per_sm / (self.warp * bytes_per_thread)


def arithmetic(gpu: Gpu, unit: Unit = Unit.FP32) -> Arithmetic:
    """Return what keeps the lanes of `unit` busy on one SM of `gpu`."""
    return Arithmetic(gpu.latency(unit), gpu.lanes(unit), gpu.core.schedulers, gpu.core.warp_size)


def memory(gpu: Gpu, latency: int | None = None, bandwidth: float | None = None) -> Memory:
    """Return what keeps the memory of `gpu` busy; latency (cycles) and bandwidth (GB/s) default to global loads and the pins."""
    cycles = gpu.latency(Unit.GLOBAL) if latency is None else latency
    rate = gpu.dram.bandwidth if bandwidth is None else bandwidth
    return Memory(cycles, cycles * 1e3 / gpu.clock.core_mhz, rate, gpu.sms, gpu.core.warp_size)


def streams(gpu: Gpu) -> Memory:
    """Return what keeps the DRAM of `gpu` as busy as streams can: `memory` at the bandwidth that they reach."""
    return memory(gpu, bandwidth=capacities(gpu)[DRAM].per_second(gpu) / 1e9)
