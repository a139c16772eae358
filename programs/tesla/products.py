"""The two matrix products on a GPU of compute capability 1.x: their launches, rates, and the bound that their instructions set."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from programs.steady import Steady, shared_for, steady
from sim.analysis.interval import instruction_resources
from sim.functional import execute
from sim.gpus.model import Gpu
from sim.gpus.occupancy import WARP, occupancy
from sim.launch.file import load_launch
from sim.launch.launch import Launch
from sim.timing import simulate
from sim.traces.trace import Trace

FOLDER = Path(__file__).parent
TILES = {"sgemm_64x16_cc1": (64, 16), "sgemm_square_cc1": (32, 32)}  # rows and columns of C per block
STEADY = (128, 384)  # inner dimensions; what is said of a product grows with it
WHOLE = (32, 96)  # the same for products of many blocks


class Rate(NamedTuple):
    """A product in steady state: what each further step along the inner dimension takes, one wave of blocks."""

    blocks: int  # on an SM
    percent: float  # of the GPU's FP32 peak
    gigaflops: float
    bound: float  # percent of peak that the instructions allow
    busy: Steady


def product(name: str, blocks: tuple[int, int], inner: int) -> Launch:
    """Return the launch of `blocks` (down, across) of C with that inner dimension; all matrices are zero, which no time depends on."""
    launch, (rows, columns) = load_launch(FOLDER / f"{name}.toml").launch, TILES[name]
    m, n = rows * blocks[0], columns * blocks[1]
    arrays = {"a": (inner, m), "b": (n, inner), "c": (n, m)}
    numbers = {"lda": 4 * m, "ldb": 4 * inner, "ldb4": 16 * inner, "ldc": 4 * m, "k": inner}
    args = [
        np.zeros(arrays[one.name], np.float32)
        if one.name in arrays
        else np.uint32(numbers[one.name])
        if one.name in numbers
        else np.float32(1)
        for one in launch.program.parameters
    ]
    return replace(launch, grid=blocks, args=tuple(args))


def traced(gpu: Gpu, name: str, blocks: tuple[int, int], inner: tuple[int, int], held: int | None = None) -> tuple[Trace, Trace]:
    """Return the traces of a short and a long product. held: the most blocks on an SM, by unused shared memory; None = what fits."""
    launches = [product(name, blocks, steps) for steps in inner]
    free = occupancy(gpu, launches[0].block, launches[0].registers_per_thread, launches[0].shared_per_block).blocks
    unused = shared_for(gpu, held) - launches[0].shared_per_block if held and held < free else 0
    short, long = (execute(replace(launch, shared_dynamic=max(unused, 0))) for launch in launches)
    return short, long


def rate(gpu: Gpu, name: str, held: int) -> Rate:
    """Return the rate with `held` blocks on each SM."""
    short, long = traced(gpu, name, (gpu.sms, held), STEADY, held)
    found = steady(short, long, gpu)
    flops = found.grown("fp32_flops")
    return Rate(
        blocks=found.long.occupancy.blocks,
        percent=100 * found.per_second(flops) / gpu.peak_fp32_flops,
        gigaflops=found.per_second(flops) / 1e9,
        bound=mix_bound(gpu, short, long),
        busy=found,
    )


def mix_bound(gpu: Gpu, short: Trace, long: Trace) -> float:
    """Return the percent of peak at which issue or a pipe is full with the instructions that the long run executes beyond the short one.

    Multiply-adds count two flops per thread; every pipe and the schedulers are those of the preset.
    """
    grown = long.executed - short.executed
    counts = {int(i): int(grown[i]) for i in np.flatnonzero(grown)}
    cycles = WARP * max(one.cycles for one in instruction_resources(gpu, long.program, counts))
    multiply_adds = sum(count for i, count in counts.items() if long.program.instructions[i].opcode.startswith("FFMA"))
    return 100 * 2 * WARP * multiply_adds / cycles / (gpu.peak_fp32_flops / (gpu.clock.core_mhz * 1e6))


def reuse(busy: Steady) -> float:
    """Return how often each word loaded is used, against the 4 bytes per flop of a product without reuse."""
    loads = {i for i, one in enumerate(busy.long.program.instructions) if one.opcode.startswith("LDG")}
    grown = busy.long.issues_by_instruction - busy.short.issues_by_instruction
    return 4 * busy.grown("fp32_flops") / (4 * WARP * sum(int(grown[i]) for i in loads))


def whole(gpu: Gpu, blocks: tuple[int, int], inner: int) -> float:
    """Return the percent of peak of a whole product of that size, the last wave that is not full included.

    The inner dimension is simulated at two short lengths; each further step takes what one takes between them.
    """
    short, long = (simulate(trace, gpu).cycles for trace in traced(gpu, "sgemm_64x16_cc1", blocks, WHOLE))
    cycles = short + (inner - WHOLE[0]) * (long - short) / (WHOLE[1] - WHOLE[0])
    rows, columns = TILES["sgemm_64x16_cc1"]
    flops = 2.0 * rows * blocks[0] * columns * blocks[1] * inner
    return 100 * flops / cycles * gpu.clock.core_mhz * 1e6 / gpu.peak_fp32_flops
