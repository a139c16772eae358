"""Read and write sets: which words of device memory a thread has loaded and stored to, where several execute a launch (`team`).

Whatever touches device memory marks it. A word that one thread has stored to and another has touched makes the order of the two count.
"""

import numpy as np

from sim.compiled.kernel import inner, outlined
from sim.functional.state import FULL, Machine, Memory

LOADED, STORED = np.uint8(1), np.uint8(3)  # the low bit: touched
EIGHT = 8  # marks in a word
AT_ONCE = 1 << 16  # such words that are compared at once
STORED_IN_EIGHT = np.uint64(0x0202020202020202)


@inner
def mark(mask: int, width: int, stride: int, how: int, machine: Machine, memory: Memory) -> None:
    """Mark what the lanes of `mask` load or store, `width` bytes each, at `Machine.target`; does nothing where nobody asks."""
    if memory.marks.size:
        mark_lanes(mask, width, stride, how, machine.target, memory.base, memory.marks)


@outlined
def mark_lanes(mask: int, width: int, stride: int, how: int, target: np.ndarray, base: int, marks: np.ndarray) -> None:
    """Mark lane by lane, or a line at once where each lane has the next word."""
    if mask == FULL and stride == width:
        mark_words(target[0] - base, target.size * width, how, marks)
        return
    for k in range(target.size):
        if (mask >> k) & 1:
            mark_words(target[k] - base, width, how, marks)


@inner
def mark_words(first: int, size: int, how: int, marks: np.ndarray) -> None:
    """Mark the words of `size` bytes from byte `first` of device memory on."""
    for word in range(first >> 2, (first + size + 3) >> 2):
        marks[word] |= np.uint8(how)


@inner
def mark_bytes(address: int, size: int, how: int, memory: Memory) -> None:
    """Mark bytes in a row; does nothing where nobody asks."""
    if memory.marks.size:
        mark_words(address - memory.base, size, how, memory.marks)


def allocate_marks(memory: Memory) -> np.ndarray:
    """Return the marks of a thread that has touched nothing, whole groups of EIGHT."""
    return np.zeros(-(-memory.words.size // EIGHT) * EIGHT, np.uint8)


def are_apart(marks: list[np.ndarray], memory: Memory) -> bool:
    """Return whether no word that one thread has stored to was touched by another. marks: of each thread, as `Memory.marks`."""
    for array in np.flatnonzero(memory.written):
        first, end = ((int(one[array]) - memory.base) >> 2 for one in (memory.start, memory.end))
        for start in range(first // EIGHT, end // EIGHT + 1, AT_ONCE):
            words = [one.view(np.uint64)[start : min(start + AT_ONCE, end // EIGHT + 1)] for one in marks]
            every, twice = words[0].copy(), np.zeros_like(words[0])
            for one in words[1:]:
                twice |= every & one
                every |= one
            if (twice << np.uint64(1) & every & STORED_IN_EIGHT).any():
                return False
    return True
