"""Runs random kernels here, out of a cubin, and says where the results are not those of a GPU."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import isa
import sim
from isa import cubin, disassembly, sass
from isa.errors import UserError
from isa.sass import elf, resources
from programs.measurements.conformance.inputs import inputs
from programs.measurements.conformance.kernels import THREADS, WORDS, Kernel

MEMORY, REFUSED = -1, -2  # places of differences that are no result's


class Difference(NamedTuple):
    """One result that is another, or a kernel that does not run."""

    kernel: str
    place: int  # which result, or one of the above
    text: str  # what it is of, or why it is refused
    approximate: bool  # MUFU has part in it
    threads: tuple[int, ...] = ()
    found: tuple[int, ...] = ()
    expected: tuple[int, ...] = ()


def programs(path: Path, names: Iterable[str]) -> Iterator[tuple[str, isa.Program | UserError]]:
    """Yield the kernels of a cubin by name, or why one is refused."""
    listing = cubin.disassemble(path)
    functions = {function.name: function for function in sass.parse(listing, str(path))}
    needs = {found.name: found for found in resources.of_image(elf.read(path))}
    for name in names:
        try:
            yield name, disassembly.program(functions[name], needs[name], str(path), listing)
        except UserError as error:
            yield name, error


def executed(program: isa.Program, kernel: Kernel, seed: int, number: int) -> np.ndarray:
    """Return what a kernel leaves: uint32, its results word by word of all threads, then the memory it was given."""
    given, memory = inputs(seed, number)
    results = np.zeros(kernel.words * THREADS, np.uint32)
    sim.execute(sim.Launch(program, (1,), (THREADS,), (results, given, memory)))
    return np.concatenate([results, memory])


def differences(kernel: Kernel, found: np.ndarray, expected: np.ndarray) -> Iterator[Difference]:
    """Yield the results in which some thread has other bits."""
    start = 0
    for place, (kind, text) in enumerate(kernel.results):
        words = WORDS.get(kind, 1)
        mine, theirs = values(found, start, words), values(expected, start, words)
        start += words
        if wrong := [t for t in range(THREADS) if mine[t] != theirs[t]]:
            threads = tuple(wrong[:4])
            told = tuple(mine[t] for t in threads), tuple(theirs[t] for t in threads)
            yield Difference(kernel.name, place, text, place in kernel.approximate, threads, *told)
    left, right = found[start * THREADS :], expected[start * THREADS :]
    if places := tuple(np.flatnonzero(left != right).tolist()):
        told = tuple(left[list(places)].tolist()), tuple(right[list(places)].tolist())
        yield Difference(kernel.name, MEMORY, "memory", bool(kernel.approximate), places, *told)


def values(block: np.ndarray, start: int, words: int) -> list[int]:
    """Return each thread's value of some words as a whole number."""
    rows = block[start * THREADS : (start + words) * THREADS].reshape(words, THREADS).tolist()
    return [sum(rows[w][t] << 32 * w for w in range(words)) for t in range(THREADS)]
