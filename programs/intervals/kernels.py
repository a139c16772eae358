"""The notes' matrix-vector kernels and `add_one`, launched so that every thread makes the same number of passes; and their steady state."""

from pathlib import Path

import numpy as np

import isa
import sim
from sim.gpus.model import Gpu
from sim.gpus.occupancy import WARP
from sim.result.result import Result

FOLDER = Path(__file__).parent
SIZE = 16  # of the matrix and of a vector
PASSES = (3, 6)  # simulated; the time of a pass is that of the passes between
SHORT = {"mxv_per_thd": (8, 16), "add_one": (8, 16)}  # where a pass is one element


def launch(kernel: str, sms: int, warps: int, passes: int, listing: isa.Program | None = None) -> sim.Launch:
    """Return the launch of one block of `warps` warps per SM in which each thread makes `passes` passes through the loop."""
    threads = sms * warps * WARP
    elements = threads * passes * (1 if kernel in SHORT else SIZE)
    count = elements if kernel == "add_one" else elements // SIZE
    arrays = (np.zeros(elements, np.float32), np.zeros(elements, np.float32))
    program = listing or isa.load(FOLDER / f"{kernel}.sass")
    matrix = np.ones((SIZE, SIZE), np.float32)
    return sim.Launch(program, (sms,), (warps * WARP,), (*arrays, np.uint32(count)), constants={3: matrix}, name=kernel)


def pass_cycles(kernel: str, gpu: Gpu, warps: int) -> tuple[float, Result]:
    """Return the cycles between two passes of one of the SM's warps in the steady state, and the longer run."""
    passes = SHORT.get(kernel, PASSES)
    few, many = (sim.run(launch(kernel, gpu.sms, warps, count), gpu) for count in passes)
    return (many.cycles - few.cycles) / ((passes[1] - passes[0]) * warps), many


def part_of(gpu: Gpu, parts: int) -> Gpu:
    """Return a chip of so many times fewer SMs, channels and L2, so the same per SM, whose L2 begins full of data not written back yet."""
    changes = {
        "sms": gpu.sms // parts,
        "blocks.start_interval": gpu.blocks.start_interval * parts,
        "blocks.retire_interval": gpu.blocks.retire_interval * parts,
        "dram.channels": gpu.dram.channels // parts,
        "dram.bandwidth": gpu.dram.bandwidth / parts,
    }
    return gpu.replace(changes | ({"l2.bytes": gpu.l2.bytes // parts, "l2.start": "dirty"} if gpu.l2 else {}))
