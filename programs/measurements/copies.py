"""Copies of 1 GB on an H100: twelve kernels, three block sizes, occupancy held down by shared memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import isa
import sim
from programs.published import rows
from programs.steady import shared_for
from sim.gpus.model import Gpu
from sim.gpus.occupancy import WARP
from sim.gpus.path import LINE

H100 = Path(__file__).parent / "h100"
BYTES = {"float": 4, "float2": 8, "float4": 16}
SYMBOLS = {"float": "IfLi{}EEvPT_PKS0_", "float2": "I6float2Li{}EEvPT_PKS1_", "float4": "I6float4Li{}EEvPT_PKS1_"}
WAVES = 4  # simulated at least, and twice as many; the time per block is that of the waves between
SETTLED = 128  # warps of an SM, one after another, after which few begin their loads and stores together any more
PARTS = 4  # of the chip; one is simulated
L2_SETS = 4  # per slice of the small L2
KIB = 1024


@dataclass(frozen=True)
class Copy:
    """One measured launch: elements of `type` per thread, threads per block, blocks resident on an SM, blocks, milliseconds."""

    type: str
    elements: int
    threads: int
    resident: int
    grid: int
    milliseconds: float

    @property
    def kernel(self) -> str:
        """The kernel's name in words: "8 float4"."""
        return f"{self.elements} {self.type}"

    @property
    def bytes_per_block(self) -> int:
        """Bytes that a block reads; it writes as many."""
        return self.threads * self.elements * BYTES[self.type]

    def shared(self, gpu: Gpu) -> int:
        """Return the bytes of dynamic shared memory of the launch: what was chosen for so many blocks; 24 were wanted where 25 fitted."""
        limits = gpu.limits
        if self.resident == limits.blocks or self.resident * self.threads == limits.warps * WARP:
            return 0
        return shared_for(gpu, 24 if self.resident == 25 else self.resident, KIB)

    def bandwidth(self, milliseconds: float) -> float:
        """Return GB/s, read and written together."""
        return 2e-6 * self.bytes_per_block * self.grid / milliseconds


def measured() -> Iterator[Copy]:
    """Yield the 360 measured launches."""
    for row in rows(H100 / "copy.csv"):
        elements, threads, resident, grid = (int(row[name]) for name in ("elements", "threads", "blocks_per_sm", "grid"))
        yield Copy(row["type"], elements, threads, resident, grid, float(row["milliseconds"]))


def part_of(gpu: Gpu, parts: int = PARTS) -> Gpu:
    """Return a chip of so many times fewer SMs, channels and block starts, so the same per SM, with a small L2.

    A stream reuses nothing that L2 keeps. A small L2, full of data that is not written back yet, is in its steady state, as much
    written as read, within the first waves; one of 50 MB would need the whole copy for that.
    """
    channels = gpu.dram.channels // parts
    small = {"l2.bytes": channels * L2_SETS * gpu.l2.ways * LINE, "l2.start": "dirty"} if gpu.l2 else {}
    return gpu.replace(
        {
            "sms": gpu.sms // parts,
            "blocks.start_interval": gpu.blocks.start_interval * parts,
            "blocks.retire_interval": gpu.blocks.retire_interval * parts,
            "dram.channels": channels,
            "dram.bandwidth": gpu.dram.bandwidth / parts,
        }
        | small
    )


def simulated(copy: Copy, part: Gpu, parts: int = PARTS) -> float:
    """Return milliseconds of the whole copy: a few waves of blocks, then every further block as long as those of the last waves.

    The first waves go in step, and a few of the latest loads decide their time: two waves of one warp per SM were up to 25 % off.
    """
    blocks = copy.resident * part.sms * max(WAVES, -(-SETTLED * WARP // (copy.resident * copy.threads)))
    few, many = (sim.run(_launch(copy, number, part), part).cycles for number in (blocks, 2 * blocks))
    cycles = many + (copy.grid / parts / blocks - 2) * (many - few) + part.launch_cycles
    return cycles / (part.clock.core_mhz * 1e3)


def _launch(copy: Copy, blocks: int, gpu: Gpu) -> sim.Launch:
    program = isa.load(H100 / "copy.sm_90.sass", "_Z5copyN" + SYMBOLS[copy.type].format(copy.elements))
    words = copy.bytes_per_block * blocks // 4
    arrays = (np.zeros(words, np.float32), np.zeros(words, np.float32))
    return sim.Launch(program, (blocks,), (copy.threads,), arrays, shared_dynamic=copy.shared(gpu))
