"""Which blocks of a launch stand for all: its first waves, its last, and runs of blocks between them.

A wave is as many blocks as the chip holds at once. All pieces but the last are whole waves, so every block has the place in its wave that
it has in the whole launch, and the last wave is as full as there.
"""

from typing import NamedTuple

import numpy as np

SEED = 28  # of all that is drawn: the same launch gives the same sample everywhere
COLD = 2  # waves at least before anything is measured: the start of the launch, and one that follows it
SETTLED = 6  # waves after which blocks that began together have come apart
LAST = 2  # waves at the end, what is left of another not counted: the first brings the chip there, the others are measured
FEW = 3  # waves that are measured at least where all blocks do the same
RUNS = 3  # of such a launch; one where that is dear, as a run begins with a wave that only brings the chip there
LONG = 8  # waves of such a run that are measured at most
SPREAD = (5, 32)  # runs, at least and at most, where blocks differ: a wave of each is measured
MOST = 0.6  # share of the launch beyond which a sample gains too little


class Plan(NamedTuple):
    """A sample. Pieces in launch order: `cold` blocks from the first on, the runs, `last` blocks up to the end."""

    blocks: int  # of the launch
    places: int  # blocks of a wave
    cold: int
    filled: float  # share of the first waves that it would take to fill the caches, and until blocks come apart; 1 = all
    runs: np.ndarray  # int64 [runs] first block of each
    warming: int  # blocks of each run that are not measured
    measured: int  # blocks of each run that are: whole waves
    last: int

    @property
    def pieces(self) -> tuple[tuple[int, int], ...]:
        """First block and how many."""
        runs = ((int(first), self.warming + self.measured) for first in self.runs)
        return ((0, self.cold), *runs, (self.blocks - self.last, self.last))

    @property
    def chosen(self) -> np.ndarray:
        """int64: the blocks, ascending."""
        return np.concatenate([np.arange(first, first + count) for first, count in self.pieces])

    @property
    def end(self) -> int:
        """Blocks at the end that are measured: what follows the wave that brings the chip there."""
        return self.last - self.places

    @property
    def left(self) -> int:
        """Blocks between the first waves and the end, which the runs stand for."""
        return self.blocks - self.cold - self.end


def plan(blocks: int, places: int, cold: int, affordable: float, even: bool) -> Plan | None:
    """Return the blocks to execute; None where they would be most of the launch.

    places: blocks of a wave. cold: waves that bring the caches where they stay. affordable: waves in all that should be executed; as few as
    make an estimate are taken where that is less. even: whether all blocks execute as many instructions.
    """
    waves, cold = blocks // places, max(cold, SETTLED)
    least = COLD + (FEW if even else 2 * SPREAD[0]) + LAST + 1
    if least > MOST * waves:
        return None
    free = int(min(max(affordable, least), MOST * waves)) - LAST - 1  # for the first waves and the runs
    if even:
        before = min(cold, max(free // 2, COLD))
        runs = RUNS if free - before >= RUNS * (1 + FEW) else 1
        warming = int(runs > 1)
        measured = min((free - before) // runs - warming, LONG)
    else:
        before = min(cold, max(free // 2, COLD), free - 2 * SPREAD[0])
        runs, warming, measured = min((free - before) // 2, SPREAD[1]), 1, 1
    last = LAST * places + blocks % places
    length = (warming + measured) * places
    firsts = spread(before * places, blocks - last, runs, length) if runs > 1 else np.array([before * places])
    return Plan(blocks, places, before * places, before / cold, firsts, warming * places, measured * places, last)


def spread(first: int, end: int, count: int, length: int) -> np.ndarray:
    """Return int64 [count]: where as many runs of `length` blocks begin between two blocks, each anywhere in its equal share."""
    edges = np.linspace(first, end, count + 1).astype(np.int64)
    room = np.maximum(np.diff(edges) - length, 0)
    found: np.ndarray = edges[:-1] + np.random.default_rng(SEED).integers(0, room + 1)
    return found
