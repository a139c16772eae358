"""BAR as the timing engine sees it."""

from isa.program import Program
from isa.vocabulary import BARRIERS, Flag, Operation
from sim.gpus.model import Gpu


def barrier(gpu: Gpu, program: Program, i: int) -> tuple[int, int, bool]:
    """Return of a BAR its column of Machine.arrived, for how many warps it is (0: all of the block), and whether nobody waits there."""
    encoded = program.encoded
    if int(encoded.operation[i]) != Operation.BAR:
        return 0, 0, False
    warps = int(encoded.address_offset[i]) // gpu.core.warp_size
    return int(encoded.function[i]) + (BARRIERS if warps else 0), warps, bool(encoded.flags[i] & Flag.ASYNC)
