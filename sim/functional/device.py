"""Device memory as words: the caller's arrays are copied in before the program runs, and back where it stored to them."""

import numpy as np

from sim.launch.placement import BASE, Placed


def words(placed: list[Placed]) -> np.ndarray:
    """Return device memory as uint32 words from BASE, holding a copy of the arrays."""
    end = max((item.end for item in placed), default=BASE)
    memory = np.zeros((end - BASE + 19) // 4, np.uint32)
    for item in placed:
        start = item.address - BASE
        memory.view(np.uint8)[start : start + item.array.nbytes] = as_bytes(item.array)
    return memory


def copy_back(placed: list[Placed], written: np.ndarray, memory: np.ndarray) -> None:
    """Bring the arrays that the program stored to up to date."""
    for item, stored in zip(placed, written, strict=True):
        if stored:
            start = item.address - BASE
            as_bytes(item.array)[:] = memory.view(np.uint8)[start : start + item.array.nbytes]


def as_bytes(array: np.ndarray) -> np.ndarray:
    """Return a view of a C-contiguous array's bytes."""
    return array.reshape(-1).view(np.uint8)
