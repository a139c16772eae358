"""The two parts of L2: half the SMs find a line in the other part, and go there through a slice of their own.

Counted on an H100: L2 has 1.5 times the tag look-ups and sectors written that SMs ask for (h100/stores.csv), and an SM's loads ask slices
of its own part (h100/slices.csv). A store or an atomic passes through one each time; loads have the accesses of DRAM that they need
copied there once, and those that ask while a copy is under way wait for it (h200/product_steps.csv).
"""

import numpy as np

from sim.compiled.kernel import inner
from sim.lowering.accesses import LOAD
from sim.lowering.memory import TICKS
from sim.lowering.slices import across, opposite
from sim.timing.memory.l1 import NO_SECTORS, whole_sectors
from sim.timing.memory.requests import accesses_of, last_there, note_there, sector_count
from sim.timing.memory.state import Memory

opposite_of, across_to = inner(opposite), inner(across)


@inner
def is_far(m: int, request: np.record, mh: np.record, memory: Memory) -> bool:
    """Return whether the other part of L2, not that of SM m, keeps a request's line."""
    return mh.far and mh.channels > 1 and memory.side[m] != (request.slice >= mh.channels // 2)


@inner
def latency_of(m: int, number: int, mh: np.record, memory: Memory) -> int:
    """Return the cycles from a slice to the network on the way to SM m."""
    return mh.l2_latency + (across_to(number, np.int64(memory.gpc[m]), mh.channels, mh.across) if mh.across else np.int64(0))


@inner
def asked(m: int, request: np.record, mh: np.record, memory: Memory) -> int:
    """Return the slice that serves a request: for a load one of the SM's own part."""
    number = np.int64(request.slice)
    return opposite_of(number, mh.channels) if request.kind == LOAD and is_far(m, request, mh, memory) else number


@inner
def copied(m: int, request: np.record, place: int, there: int, now: int, mh: np.record, memory: Memory) -> tuple[int, int]:
    """Find what of a load or an atomic, its line at `place` of L2, must come from the other part; what a load gets stays in both.

    there: the cycle in which its sectors are in the part that keeps them. Return the cycle in which they are there, or their copies where
    all are copied, and how many sectors must come.
    """
    if not is_far(m, request, mh, memory):
        return there, np.int64(0)
    entry = memory.l2[place]
    missing = request.sectors & ~entry.copied
    if request.kind != LOAD:
        return there, sector_count(missing)
    if missing == NO_SECTORS:
        return max(there, last_there(memory.l2_copy, place, request.sectors)), np.int64(0)
    moved = accesses_of(missing, mh) & (missing | entry.valid | whole_sectors(entry.words)) & ~entry.copied
    entry.copied |= moved
    note_there(memory.l2_copy, place, moved, max(there, now) + mh.far)
    return there, sector_count(moved)


@inner
def pass_through(number: int, now: int, ticks: int, mh: np.record, memory: Memory) -> None:
    """Hold the slice of the SM's own part through which a request goes to slice `number` of the other."""
    hold(opposite_of(number, mh.channels), now, ticks, mh, memory)


@inner
def hold(number: int, now: int, ticks: int, mh: np.record, memory: Memory) -> int:
    """Hold a slice's port for what is stored and what comes from elsewhere, its only one if it has no other; return until which tick."""
    bank = memory.slices[number]
    if mh.write_port:
        bank.written = max(bank.written, now * TICKS) + ticks
        return np.int64(bank.written)
    bank.free = max(bank.free, now * TICKS) + ticks
    return np.int64(bank.free)
