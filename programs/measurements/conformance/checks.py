"""Checksums of results: what is kept of most kernels."""

import zlib
from collections.abc import Sequence

import numpy as np

from programs.measurements.conformance.inputs import MEMORY_WORDS
from programs.measurements.conformance.kernels import THREADS, WORDS, Kernel


def checks(kernels: Sequence[Kernel], results: np.ndarray) -> np.ndarray:
    """Return the CRC-32 of each result and then of the memory, kernel by kernel: uint32.

    results: the words of all kernels, each its results word by word of all threads and then the memory it was given.
    """
    found, start = [], 0
    for made in kernels:
        for kind, _ in made.results:
            end = start + WORDS.get(kind, 1) * THREADS
            found.append(zlib.crc32(results[start:end].astype("<u4").tobytes()))
            start = end
        found.append(zlib.crc32(results[start : start + MEMORY_WORDS].astype("<u4").tobytes()))
        start += MEMORY_WORDS
    return np.array(found, np.uint32)
