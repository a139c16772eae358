"""Launches of some waves of blocks, long enough to be sampled and short enough to be run whole: what `sim.sampling` is checked against.

Chips have fewer SMs than the GPUs that they are parts of, so that a launch of some million warp instructions has many waves.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import isa
import sim
from sim.gpus.model import Gpu
from sim.launch.launch import Launch

PROGRAMS = Path(__file__).parents[1] / "programs"
Made = Callable[[], tuple[Any, Any, tuple[Any, ...]]]  # grid, block, arguments


class Case(NamedTuple):
    """A launch and a chip."""

    listing: str
    chip: str
    sms: int
    made: Made

    def launch(self) -> Launch:
        """Return the launch, its arrays new."""
        grid, block, args = self.made()
        return Launch(isa.load(PROGRAMS / self.listing), grid=grid, block=block, args=args)

    def gpu(self) -> Gpu:
        """Return the chip."""
        return sim.gpu(self.chip).replace({"sms": self.sms})


def floats(*shape: int, low: float = -1.0, high: float = 1.0, dtype: Any = np.float32) -> np.ndarray:
    """Return numbers drawn evenly, always the same of a shape."""
    return np.random.default_rng(sum(shape)).uniform(low, high, shape).astype(dtype)


def zeros(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Return an array for results."""
    return np.zeros(shape, dtype)


def ints(size: int, low: int, high: int, dtype: Any = np.int32) -> np.ndarray:
    """Return whole numbers drawn evenly."""
    return np.random.default_rng(size).integers(low, high, size).astype(dtype)


def saxpy(blocks: int) -> tuple[Any, Any, tuple[Any, ...]]:
    n = 256 * blocks
    return blocks, 256, (np.uint32(n), np.float32(1.1), floats(n), floats(n))


def copy(blocks: int, floats_per_thread: int) -> tuple[Any, Any, tuple[Any, ...]]:
    n = 128 * floats_per_thread * blocks
    return blocks, 128, (zeros(n), floats(n))


def random_reads(blocks: int) -> tuple[Any, Any, tuple[Any, ...]]:
    n = 256 * blocks
    return blocks, 256, (zeros(n), floats(1 << 20), ints(n, 0, 1 << 20, np.uint32))


def stencil(width: int, height: int) -> tuple[Any, Any, tuple[Any, ...]]:
    args = (floats(height, width), zeros(height, width), np.int32(width), np.int32(height), np.float32(0.2))
    return (-(-width // 32), -(-height // 8)), (32, 8), args


def convolution(width: int, height: int) -> tuple[Any, Any, tuple[Any, ...]]:
    return (-(-width // 32), -(-height // 8)), (32, 8), (floats(height, width), zeros(height, width), np.int32(width), np.int32(height))


def transpose(width: int, height: int) -> tuple[Any, Any, tuple[Any, ...]]:
    return (width // 32, height // 32), (32, 8), (floats(height, width), zeros(width, height), np.int32(width), np.int32(height))


def softmax(rows: int, columns: int) -> tuple[Any, Any, tuple[Any, ...]]:
    return rows, 128, (floats(rows, columns), zeros(rows, columns), np.int32(columns))


def layer_norm(rows: int, columns: int) -> tuple[Any, Any, tuple[Any, ...]]:
    args = (floats(rows, columns), floats(columns), floats(columns), zeros(rows, columns), np.int32(rows), np.int32(columns))
    return -(-rows // 4), (32, 4), (*args, np.float32(1e-5))


def matvec(rows: int, columns: int) -> tuple[Any, Any, tuple[Any, ...]]:
    return -(-rows // 4), 128, (floats(rows, columns), floats(columns), zeros(rows), np.int32(rows), np.int32(columns))


def sgemm(n: int) -> tuple[Any, Any, tuple[Any, ...]]:
    return (n // 32, n // 32), (32, 8), (floats(n, n), floats(n, n), zeros(n, n), np.int32(n))


def hgemm(n: int) -> tuple[Any, Any, tuple[Any, ...]]:
    half = partial(floats, n, n, dtype=np.float16)
    return (n // 64, n // 64), 128, (half(), half(), zeros(n, n), np.int32(n))


def scan(blocks: int) -> tuple[Any, Any, tuple[Any, ...]]:
    n = 1024 * blocks
    return blocks, 1024, (ints(n, -1000, 1000), zeros(n, dtype=np.int32), zeros(blocks, dtype=np.int32), np.int32(n))


def histogram(blocks: int) -> tuple[Any, Any, tuple[Any, ...]]:
    n = 1024 * blocks
    return blocks, 256, (np.uint32(n), ints(n, 0, 256, np.uint8), zeros(256, dtype=np.uint32))


def mandelbrot(width: int, height: int, most: int) -> tuple[Any, Any, tuple[Any, ...]]:
    place = (np.float32(-2.2), np.float32(1.2), np.float32(3.6 / width), np.int32(most))
    return (-(-width // 16), -(-height // 8)), (16, 8), (zeros(height, width, dtype=np.int32), np.int32(width), np.int32(height), *place)


def monte_carlo(blocks: int, draws: int) -> tuple[Any, Any, tuple[Any, ...]]:
    return blocks, 128, (zeros(1, dtype=np.uint64), np.uint32(362436069), np.int32(draws))


def spmv(rows: int) -> tuple[Any, Any, tuple[Any, ...]]:
    """Return rows of 0 to 40 numbers, more of them farther down."""
    lengths = np.random.default_rng(rows).integers(0, 2 + 39 * np.arange(rows) // rows)
    starts = np.append(0, np.cumsum(lengths)).astype(np.int32)
    columns = ints(int(starts[-1]), 0, rows)
    return -(-rows // 128), 128, (starts, columns, floats(len(columns)), floats(rows), zeros(rows), np.int32(rows))


def black_scholes(n: int) -> tuple[Any, Any, tuple[Any, ...]]:
    options = (floats(n, low=5, high=30), floats(n, low=1, high=100), floats(n, low=0.25, high=10))
    return -(-n // 128), 128, (*options, zeros(n), zeros(n), np.float32(0.02), np.float32(0.3), np.int32(n))


def binary_search(n: int, size: int) -> tuple[Any, Any, tuple[Any, ...]]:
    keys = floats(n, low=-5, high=5, dtype=np.float64)
    return -(-n // 128), 128, (np.linspace(-5, 5, size), keys, zeros(n, dtype=np.uint32), np.uint32(size), np.uint32(n))


def gather(n: int, size: int) -> tuple[Any, Any, tuple[Any, ...]]:
    source = ints(size, -(1 << 40), 1 << 40, np.int64)
    return -(-n // 96), 96, (source, ints(n, -20, size + 20), zeros(n, dtype=np.int64), np.int32(n), np.int32(size))


def reduce(blocks: int) -> tuple[Any, Any, tuple[Any, ...]]:
    return blocks, 256, (floats(256 * blocks), zeros(blocks))


def bitonic(blocks: int) -> tuple[Any, Any, tuple[Any, ...]]:
    return blocks, 256, (ints(512 * blocks, -(1 << 31), 1 << 31), zeros(512 * blocks, dtype=np.int32))


def fft(blocks: int) -> tuple[Any, Any, tuple[Any, ...]]:
    return blocks, 128, (floats(blocks, 256, 2), zeros(blocks, 256, 2))


def collatz(blocks: int) -> tuple[Any, Any, tuple[Any, ...]]:
    return blocks, 32, (zeros(32 * blocks, dtype=np.uint32),)


CASES = {
    "saxpy": Case("saxpy.sass", "gtx480", 15, partial(saxpy, 20_000)),
    "copy, a float": Case("copy/copy_1_float.sass", "gtx480", 15, partial(copy, 50_000, 1)),
    "copy, 8 float4": Case("copy/copy_8_float4.sass", "gtx480", 15, partial(copy, 8_000, 32)),
    "random reads": Case("access/random.sass", "gtx480", 15, partial(random_reads, 12_000)),
    "histogram": Case("atomics/histogram.sass", "gtx480", 15, partial(histogram, 3_000)),
    "collatz": Case("collatz.sass", "gtx480", 8, partial(collatz, 8_000)),
    "stencil": Case("cuda/stencil.sm_52.sass", "gtx980", 16, partial(stencil, 2_000, 2_500)),
    "convolution": Case("cuda/convolution.sm_75.sass", "t4", 4, partial(convolution, 1_400, 1_000)),
    "transpose": Case("cuda/transpose.sm_90.sass", "h100", 6, partial(transpose, 4_096, 2_048)),
    "transpose, naive": Case("cuda/transpose_naive.sm_90.sass", "h100", 4, partial(transpose, 4_096, 2_048)),
    "softmax": Case("cuda/softmax.sm_75.sass", "t4", 8, partial(softmax, 16_000, 300)),
    "layer norm": Case("cuda/layer_norm.sm_75.sass", "v100", 6, partial(layer_norm, 30_000, 200)),
    "matvec": Case("cuda/matvec.sm_52.sass", "gtx980", 4, partial(matvec, 16_000, 600)),
    "scan": Case("cuda/scan.sm_90.sass", "h100", 8, partial(scan, 1_200)),
    "sgemm": Case("cuda/sgemm.sm_75.sass", "t4", 2, partial(sgemm, 640)),
    "hgemm": Case("cuda/hgemm_mma.sm_90.sass", "h100", 1, partial(hgemm, 1_024)),
    "mandelbrot": Case("cuda/mandelbrot.sm_75.sass", "t4", 4, partial(mandelbrot, 1_600, 1_200, 60)),
    "monte carlo": Case("cuda/monte_carlo.sm_90.sass", "h100", 2, partial(monte_carlo, 2_500, 50)),
    "spmv": Case("cuda/spmv.sm_52.sass", "gtx980", 2, partial(spmv, 200_000)),
    "black scholes": Case("cuda/black_scholes.sm_90.sass", "h100", 4, partial(black_scholes, 600_000)),
    "binary search": Case("cuda/binary_search.sm_75.sass", "t4", 4, partial(binary_search, 400_000, 7_777)),
    "gather": Case("cuda/gather.sm_90.sass", "v100", 8, partial(gather, 2_000_000, 500_000)),
    "reduce": Case("cuda/reduce.sm_75.sass", "rtx2080ti", 8, partial(reduce, 20_000)),
    "bitonic sort": Case("cuda/bitonic_sort.sm_52.sass", "gtx980", 4, partial(bitonic, 2_000)),
    "fft": Case("cuda/fft.sm_80.sass", "a100", 4, partial(fft, 4_000)),
}


class Compared(NamedTuple):
    """A sampled run beside the whole one."""

    name: str
    instructions: int  # warp instructions of the launch
    waves: float  # of blocks
    blocks: int
    sampled: int  # blocks
    error: float  # of the cycles
    bar: float  # the same share

    @property
    def holds(self) -> bool:
        """Whether the whole run's cycles are within the bar."""
        return abs(self.error) <= self.bar * (1 + self.error)


def compare(name: str, share: float) -> Compared:
    """Run a case whole and by a sample of such a share."""
    launch, gpu = CASES[name].launch(), CASES[name].gpu()
    sampled = sim.run(launch, gpu, sample=share)
    whole = sim.run(launch, gpu)
    assert sampled.sample is not None
    places = gpu.sms * whole.occupancy.blocks
    error, bar = sampled.cycles / whole.cycles - 1, sampled.sample.cycles_bar / sampled.cycles
    instructions = int(whole.counters["warp_instructions"])
    return Compared(name, instructions, launch.blocks / places, launch.blocks, sampled.sample.blocks, error, bar)


def table(share: float) -> str:
    """Return the rows of the table in `sim/sampling/README.md`."""
    rows = ["| program | million warp instructions | waves | sampled | error | bar |", "|---|---|---|---|---|---|"]
    found = [compare(name, share) for name in CASES]
    for one in found:
        size = f"{one.instructions / 1e6:.1f} | {one.waves:.0f} | {one.sampled / one.blocks:.0%}"
        rows.append(f"| {one.name} | {size} | {one.error:+.1%} | {one.bar:.1%}{'' if one.holds else ', missed'} |")
    mean, held = np.mean([abs(one.error) for one in found]), sum(one.holds for one in found)
    return "\n".join([*rows, f"| mean of {len(found)} | | | | {mean:.1%} | held in {held} |"])


if __name__ == "__main__":
    print(table(0.15))
