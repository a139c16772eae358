"""An ensemble of one execution: the same work where arrays and code lie elsewhere, and blocks of equal standing start in another order.

No user controls either, and either can move a run by some percent: which channels and cache sets two arrays share, and who comes first
where two requests arrive in one cycle. A difference between two machines that does not outlive them is none to act upon. Members are the
same on every computer: member 0 is the trace itself, the others follow from their number.
"""

import dataclasses

import numpy as np

from isa.vocabulary import Space
from sim.launch.placement import Places
from sim.traces.trace import ACCESSES, ADDRESS, BLOCK, RANKS, SCATTERED, SOURCE, Trace, bulk_copies, instruction_of

MEMBERS = 5  # that say how far a run moves by itself, where nobody asks for another number
WINDOW = 16  # blocks that follow each other in launch order and may change places


def members(trace: Trace, count: int) -> list[Trace]:
    """Return so many members, the trace itself first."""
    return [trace, *(member(trace, number) for number in range(1, count))]


def member(trace: Trace, number: int) -> Trace:
    """Return a member: 0 is the trace itself; of the others all arrays lie farther on together, blocks are shuffled in windows."""
    return shuffled(moved(trace, number), number) if number else trace


def moved(trace: Trace, placement: int) -> Trace:
    """Return the trace with its arrays where a launch of that `placement` has them."""
    launch = dataclasses.replace(trace.launch, placement=placement)
    before, after = (Places(one).allocations for one in (trace.launch, launch))
    if not before:
        return dataclasses.replace(trace, launch=launch)
    starts = np.array([item.address for item in before], np.int64)
    shifts = np.array([there.address - here.address for here, there in zip(before, after, strict=True)], np.int64)
    arrays, (chosen, lane) = trace.arrays, accesses_of_global(trace)
    spaced = chosen & (arrays.access_stride != SCATTERED)
    base, rows = arrays.access_base.copy(), arrays.scattered.copy()
    # lane 0 may be idle, its address below the array
    base[spaced] += _shift((base + lane * arrays.access_stride)[spaced] & ADDRESS, starts, shifts)
    taken = base[chosen & ~spaced] & ADDRESS
    rows[taken] = (rows[taken] + _shift(rows[taken].astype(np.int64), starts, shifts)).astype(rows.dtype)
    copied = base[bulk_copies(trace)]
    rows[copied, SOURCE] += _shift(rows[copied, SOURCE].astype(np.int64), starts, shifts).astype(rows.dtype)
    return dataclasses.replace(trace, launch=launch, arrays=arrays._replace(access_base=base, scattered=rows))


def shuffled(trace: Trace, seed: int) -> Trace:
    """Return the trace with the blocks of each window of the launch order in another order."""
    arrays, warps, ranks = trace.arrays, trace.launch.warps_per_block, trace.launch.ranks
    rng, clusters, window = np.random.default_rng(seed), trace.launch.blocks // ranks, max(WINDOW // ranks, 1)
    order = np.concatenate([rng.permutation(np.arange(first, min(first + window, clusters))) for first in range(0, clusters, window)])
    order = (order[:, None] * ranks + np.arange(ranks)).ravel()  # clusters stay together
    warp = (order[:, None] * warps + np.arange(warps)).ravel()
    counts, first = np.diff(arrays.access_start)[warp], arrays.access_start[:-1][warp]
    start = np.append(0, np.cumsum(counts))
    place = np.repeat(first - start[:-1], counts) + np.arange(start[-1])
    changed = arrays._replace(
        warp_path=arrays.warp_path[warp],
        access_start=start,
        access_base=arrays.access_base[place],
        access_stride=arrays.access_stride[place],
        scattered=_of_blocks(trace, np.argsort(order)),
    )
    return dataclasses.replace(trace, arrays=changed)


def _of_blocks(trace: Trace, number: np.ndarray) -> np.ndarray:
    """Return the rows of a trace whose copies to several blocks of a cluster say of which block they are, by its new number."""
    rows = trace.arrays.scattered.copy()
    copied = trace.arrays.access_base[bulk_copies(trace)]
    copied = copied[rows[copied, RANKS] > 0]
    rows[copied, BLOCK] = number[rows[copied, BLOCK]]
    return rows


def _shift(addresses: np.ndarray, starts: np.ndarray, shifts: np.ndarray) -> np.ndarray:
    """Return by how much addresses move: with the array at or below them; those below every array (of idle lanes, 0) stay."""
    return np.where(addresses < starts[0], 0, shifts[np.maximum(np.searchsorted(starts, addresses, side="right") - 1, 0)])


def accesses_of_global(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Return bool and int64 [accesses]: those of global memory, and the lowest lane that takes part."""
    encoded, (instruction, mask) = trace.program.encoded, instruction_of(trace)
    chosen = np.isin(encoded.operation, ACCESSES) & np.isin(encoded.space, (Space.GLOBAL, Space.GENERIC))
    bits = mask.astype(np.int64)
    return chosen[instruction] & (mask != 0), np.frexp(bits & -bits)[1].astype(np.int64) - 1
