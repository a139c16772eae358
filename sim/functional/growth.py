"""Give the log or the trace more room when a kernel asks for it: every array at least doubles, so growing costs little in all."""

import numpy as np

from isa.errors import UserError
from sim.functional.state import LANES, Log, Status, Store

ROOM = (
    1 + 2 * LANES
)  # entries of a log row that are kept free: an instruction, and for each lane a jump and a wake-up that are counted again

MOST_SCATTERED = 1 << 30  # bytes; the array doubles, so the last growth from half of it peaks at 1.5 times this
MOST_GROWTH = 64  # times
MOST_AHEAD = 1 << 27  # entries that are made before it is sure that they are needed: 1 GiB


def enlarged(array: np.ndarray, needed: int, axis: int = 0, used: int | None = None) -> np.ndarray:
    """Return a copy with at least `needed`, and twice as many, entries along an axis; only `used` of them are copied."""
    size = array.shape[axis] if used is None else used
    shape = list(array.shape)
    shape[axis] = max(needed, 2 * array.shape[axis])
    grown = np.zeros(shape, array.dtype)
    part = (slice(None),) * axis + (slice(0, size),)
    grown[part] = array[part]
    return grown


def grow_log(status: int, log: Log, limit: int) -> Log:
    """Return a log with more rows, longer rows (at most `limit` entries and ROOM) or more accesses per row."""
    if status == Status.ROWS_FULL:
        rows = log.instruction.shape[0]
        grown = log._replace(
            **{name: enlarged(getattr(log, name), rows + 1) for name in ("instruction", "mask", "access_base", "access_stride")}
        )
        added = min(grown.instruction.shape[0], log.row.size) - rows
        grown.free[:added] = np.arange(rows, rows + added)
        grown.free_rows[0] = added
        return grown
    if status == Status.LOG_FULL:
        capacity = min(2 * log.instruction.shape[1], limit + ROOM)
        return log._replace(
            instruction=_with_columns(log.instruction, log, log.length, capacity), mask=_with_columns(log.mask, log, log.length, capacity)
        )
    capacity = 2 * log.access_base.shape[1]
    return log._replace(
        access_base=_with_columns(log.access_base, log, log.accesses, capacity),
        access_stride=_with_columns(log.access_stride, log, log.accesses, capacity),
    )


def _with_columns(array: np.ndarray, log: Log, used: np.ndarray, capacity: int) -> np.ndarray:
    """Return longer rows. Pages that no warp reaches are never touched, so they take no memory."""
    grown = np.zeros((array.shape[0], capacity), array.dtype)
    for row, length in zip(log.row, used, strict=True):
        if row >= 0:
            grown[row, :length] = array[row, :length]
    return grown


def grow_store(status: int, store: Store, log: Log, done: float) -> Store:
    """Return a trace with room for the path or accesses of any warp of the log.

    done: share of the launch's warps that have ended, or end now. Accesses get the room that all warps take if they go on like that,
    within bounds: on most systems what is not used takes no memory, and what need not grow again is not copied.
    """
    if status == Status.PATHS_FULL:
        return _with_paths(store)
    if status == Status.SCATTERED_FULL:
        if store.scattered.nbytes >= MOST_SCATTERED:
            message = (
                f"the trace keeps over {MOST_SCATTERED >> 20} MiB of scattered addresses (128 bytes per access that has no even stride)"
            )
            raise UserError(message, hint="simulate a smaller grid or fewer iterations of the same access pattern")
        return store._replace(scattered=enlarged(store.scattered, 0))
    if status == Status.ENTRIES_FULL:
        used = int(store.path_start[store.paths[0]])
        needed = used + int(log.length.max())
        return store._replace(instruction=enlarged(store.instruction, needed, used=used), mask=enlarged(store.mask, needed, used=used))
    room = store.access_base.size
    needed = room + int(log.accesses.max())
    foreseen = min(int(1.02 * room / done), MOST_GROWTH * room, 2 * needed + MOST_AHEAD)
    try:
        return _with_accesses(store, max(needed, foreseen))
    except MemoryError:
        return _with_accesses(store, needed)


def _with_accesses(store: Store, needed: int) -> Store:
    return store._replace(access_base=enlarged(store.access_base, needed), access_stride=enlarged(store.access_stride, needed))


def _with_paths(store: Store) -> Store:
    """Double the paths and their buckets."""
    paths, buckets = store.path_hash.size, 2 * store.bucket.size
    grown = store._replace(
        path_start=enlarged(store.path_start, 2 * paths + 1),
        path_hash=enlarged(store.path_hash, 2 * paths),
        path_next=enlarged(store.path_next, 2 * paths),
        bucket=np.full(buckets, -1, np.int64),
    )
    for path in range(paths):
        digest = int(store.path_hash[path])
        bucket = (digest ^ (digest >> 32 & 0xFFFFFFFF)) & (buckets - 1)
        grown.path_next[path], grown.bucket[bucket] = grown.bucket[bucket], path
    return grown
