"""Where the arrays of a launch lie in device memory.

The first array starts at 0x10000000; each further one at the next multiple of 4 KiB that leaves at least 4 KiB of nothing
in between, so that a near miss is seen. All of it is below 4 GiB: the high word of every address is 0 and low words are
distinct, and listings with 32-bit addresses run as well as those with 64-bit ones.
"""

from typing import NamedTuple

import numpy as np

from isa.errors import UserError
from sim.launch import Launch

BASE = 0x10000000
LIMIT = 1 << 32
GAP = 4096
VARIABLES = "__device__ variables"


class Placed(NamedTuple):
    """One array in device memory."""

    name: str
    array: np.ndarray
    address: int

    @property
    def end(self) -> int:
        return self.address + self.array.nbytes


def place(arrays: list[tuple[str, np.ndarray]]) -> list[Placed]:
    """Return an address for each array; an array given twice has one address.

    Raises UserError for an array that is not C-contiguous, overlaps another one in part, or does not fit below 4 GiB.
    """
    placed: list[Placed] = []
    free = BASE
    for name, array in arrays:
        if not array.flags.c_contiguous:
            raise UserError(
                f"argument {name}: the array is not C-contiguous", hint="pass np.ascontiguousarray(array) and copy the result back"
            )
        twin = next((other for other in placed if same(other.array, array)), None)
        if twin is not None:
            placed.append(Placed(name, array, twin.address))
            continue
        for other in placed:
            if array.nbytes and np.may_share_memory(other.array, array):
                raise UserError(f"arguments {other.name} and {name} are overlapping views of one array", hint="pass the whole array once")
        placed.append(Placed(name, array, free))
        free = -(-(placed[-1].end + GAP) // GAP) * GAP
        if free > LIMIT:
            raise UserError(f"argument {name}: the arrays need {free - BASE:,} bytes; device memory here ends at {LIMIT - BASE:,}")
    return placed


def placed_arguments(launch: Launch) -> list[Placed]:
    """Return where the launch's arrays lie; last, as one array, the program's `__device__` variables, as they are at launch."""
    arrays = [(p.name, a) for p, a in zip(launch.program.parameters, launch.args, strict=True) if p.type == "ptr"]
    variables = launch.program.variables
    if variables is None:
        return place(arrays)
    memory = np.frombuffer(variables.image, np.uint8).copy()
    placed = place([*arrays, (VARIABLES, memory)])
    for offset, where in variables.pointers:
        memory[offset : offset + 8] = np.frombuffer((placed[-1].address + where).to_bytes(8, "little"), np.uint8)
    return placed


def lines_of(launch: Launch) -> np.ndarray:
    """Return the 128-byte lines of the launch's arrays, in order, each once (int64)."""
    spans = [np.arange(item.address >> 7, -(-item.end >> 7), dtype=np.int64) for item in placed_arguments(launch)]
    return np.unique(np.concatenate(spans)) if spans else np.zeros(0, np.int64)


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Return True when two arrays are the same bytes of memory."""
    return a.nbytes == b.nbytes and a.ctypes.data == b.ctypes.data and a.nbytes > 0
