"""Traces of blocks that follow each other, put together as if one thread had executed them all."""

from collections.abc import Sequence

import numpy as np

from sim.functional.state import Store
from sim.launch.launch import Launch
from sim.traces.trace import NUMBERED, PHASE, PHASE_SHIFT, SCATTERED, Trace, TraceArrays, bulk_copies, instruction_of


class NotParallelError(Exception):
    """The blocks cannot be executed in parallel: one thread must execute the launch anew."""


def joined(stores: list[Store], phases: Sequence[int], launch: Launch) -> Store:
    """Return one trace: what `execute` takes of a Store; hashes and buckets stay those of the first part.

    phases: how many phases of barriers in shared memory each part has begun. The list is emptied, so that little is in memory twice.
    Raises NotParallelError for what only one thread can tell apart.
    """
    first, parts = stores[0], {name: [getattr(one, name) for one in stores] for name in Store._fields}
    stores.clear()
    accesses = [int(one[-1]) for one in parts["access_start"]]
    rows = [int(one[0]) for one in parts["scattered_rows"]]
    for base, stride, count, n in zip(parts["access_base"], parts["access_stride"], accesses, _before(rows), strict=True):
        np.add(base[:count], n, out=base[:count], where=stride[:count] == SCATTERED)
    total = first._replace(
        **_paths(parts),
        access_start=np.concatenate([[0], *(one[1:] + n for one, n in zip(parts["access_start"], _before(accesses), strict=True))]),
        access_base=_together(parts.pop("access_base"), accesses),
        access_stride=_together(parts.pop("access_stride"), accesses),
        scattered_rows=np.array([sum(rows)]),
        scattered=_together(parts.pop("scattered"), rows),
        found=_found(parts["found"]),
        **{name: np.sum(parts[name], axis=0) for name in ("executed", "active_lanes", "true_lanes", "parted", "blocks")},
    )
    if any(phases[1:]):
        _number_phases(total, np.repeat(_before(phases), accesses), launch)
    return total


def _before(counts: Sequence[int]) -> np.ndarray:
    """Return int64: how many there are in the parts before each."""
    return np.cumsum([0, *counts[:-1]])


def _together(arrays: Sequence[np.ndarray], counts: Sequence[int]) -> np.ndarray:
    """Return the first entries of each part's array, one part after another."""
    return np.concatenate([one[:count] for one, count in zip(arrays, counts, strict=True)])


def _paths(parts: dict[str, list[np.ndarray]]) -> dict[str, np.ndarray]:
    """Return the different paths, in the order in which warps first took them, and that of each warp."""
    counts = [int(one[0]) for one in parts["paths"]]
    starts = [one[: count + 1] for one, count in zip(parts["path_start"], counts, strict=True)]
    entries, length = [int(one[-1]) for one in starts], np.concatenate([np.diff(one) for one in starts])
    instruction, mask = _together(parts["instruction"], entries), _together(parts["mask"], entries)
    _, first, which = np.unique(_together(parts["path_hash"], counts), return_index=True, return_inverse=True)
    kept = np.sort(first)
    number = np.searchsorted(kept, first)[which]  # of each part's paths
    start, like = np.cumsum(length) - length, kept[number]
    there = np.repeat(start[like] - start, length) + np.arange(len(mask))
    if (length != length[like]).any() or (instruction[there] != instruction).any() or (mask[there] != mask).any():
        raise NotParallelError  # two paths of one hash
    is_kept = np.repeat(like == np.arange(len(like)), length)
    warps = [number[before + one] for one, before in zip(parts["warp_path"], _before(counts), strict=True)]
    return {
        "paths": np.array([len(kept)]),
        "path_start": np.concatenate([[0], np.cumsum(length[kept])]),
        "instruction": instruction[is_kept],
        "mask": mask[is_kept],
        "warp_path": np.concatenate(warps).astype(np.int32),
    }


def _found(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return `Store.found`: Spaces of all parts; the barrier that all have found, -1 where they differ."""
    found = parts[0].copy()
    for one in parts[1:]:
        found[:, 0] |= one[:, 0]
        mine, other = found[:, 1], one[:, 1]
        found[:, 1] = np.where((mine == 0) | (mine == other), other, np.where(other == 0, mine, -1))
    return found


def _number_phases(store: Store, before: np.ndarray, launch: Launch) -> None:
    """Number the phases through, in place. before: int64 [accesses] phases of the parts before."""
    arrays = TraceArrays(*(getattr(store, name) for name in TraceArrays._fields))
    trace = Trace(launch, arrays, store.executed, store.active_lanes, store.true_lanes)
    instruction, mask = instruction_of(trace)
    barriers = np.isin(launch.program.encoded.operation[instruction], NUMBERED) & (mask != 0)
    counted = barriers & (store.access_base >> PHASE_SHIFT > 0)
    copies = np.flatnonzero(bulk_copies(trace))
    rows = store.access_base[copies]
    store.access_base[counted] += before[counted] << PHASE_SHIFT
    named = store.scattered[rows, PHASE] > 0
    store.scattered[rows[named], PHASE] += before[copies[named]].astype(np.uint32)
