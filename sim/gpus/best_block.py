"""The block size that fills an SM best, as cudaOccupancyMaxPotentialBlockSize and its VariableSMem form propose it."""

from collections.abc import Callable
from typing import NamedTuple

from isa.errors import UserError
from sim.gpus.model import Gpu
from sim.gpus.occupancy import Occupancy, occupancy


class BestBlock(NamedTuple):
    """The proposal, and the smallest grid that fills the chip with it; block 0 when none fits."""

    block: int  # threads
    grid: int  # blocks
    shared: int  # bytes of shared memory that such a block takes, static and dynamic
    occupancy: Occupancy | None


def best_block(gpu: Gpu, registers: int = 0, shared: int | Callable[[int], int] = 0, limit: int | None = None) -> BestBlock:
    """Return the largest block, in whole warps, with which the most threads are resident on an SM.

    registers: per thread, 0 = no limit. shared: bytes per block, or a function that returns them for a number of threads. limit: the
    most threads that the kernel can have in a block. Like CUDA's, the search goes down from the largest block; occupancy is all it
    looks at. Raises UserError for sizes below their minimum.
    """
    if limit is not None and limit < 1:
        raise UserError(f"limit = {limit} is too small", hint="give at least 1")
    most = min(gpu.limits.threads_per_block, limit or gpu.limits.threads_per_block)
    warp = gpu.core.warp_size
    best, held = BestBlock(0, 0, 0, None), 0
    for block in (min(most, aligned) for aligned in range(-(-most // warp) * warp, 0, -warp)):
        taken = shared(block) if callable(shared) else shared
        found = occupancy(gpu, block, registers, taken)
        if found.blocks * block > held:
            best, held = BestBlock(block, found.blocks * gpu.sms, taken, found), found.blocks * block
        if held == gpu.limits.warps * warp:
            break
    return best
