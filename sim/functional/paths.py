"""The log of running warps, and the trace that finished warps are committed to: equal paths are stored once.

While a warp runs, its entries go to a row of the log and into a rolling 64-bit hash. When it has ended, paths with the
same hash are compared entry by entry; a new path is appended. Warps are committed in the order of their index, so that
the accesses of one warp are consecutive; a warp that ended early keeps its row of the log until its turn.
"""

import numpy as np

from isa.semantics.integers import popc
from sim.compiled.kernel import inner
from sim.functional.state import Log, Progress, Status, Store

MULTIPLIER = np.int64(-7046029254386353131)  # 2**64 / golden ratio, odd: Knuth's multiplicative hash


@inner
def lend_row(w: int, log: Log) -> bool:
    """Give warp w a row of the log; return False when none is left."""
    if log.free_rows[0] == 0:
        return False
    log.free_rows[0] -= 1
    log.row[w] = log.free[log.free_rows[0]]
    return True


@inner
def mixed(digest: int, i: int, mask: int) -> int:
    """Return a hash with one entry more."""
    product = (digest ^ ((i << 32) | mask)) * MULTIPLIER
    return product ^ ((product >> 29) & 0x7FFFFFFFF)


@inner
def record(w: int, i: int, active: int, mask: int, log: Log, store: Store) -> None:
    """Append instruction i, executed by the lanes of `mask`, to warp w's path; count it."""
    row, entry = log.row[w], log.length[w]
    log.instruction[row, entry], log.mask[row, entry] = i, mask
    log.length[w] = entry + 1
    log.hash[w] = mixed(log.hash[w], np.int64(i), mask)
    store.executed[i] += 1
    store.active_lanes[i] += popc(active)
    store.true_lanes[i] += popc(mask)
    store.parted[i] += np.int64(mask != 0) & np.int64(mask != active)


@inner
def commit_ended(block: int, ended: np.ndarray, log: Log, store: Store, progress: Progress) -> int:
    """Commit the warps that have ended, as far as their order and that of blocks allow; return a FULL status when the trace needs room."""
    while store.blocks[0] == block and progress.committed[0] < ended.size and ended[progress.committed[0]]:
        w = progress.committed[0]
        status = commit(block * ended.size + w, w, log, store)
        if status != Status.RUNNING:
            return status
        progress.committed[0] += 1
    return Status.RUNNING


@inner
def commit(warp: int, w: int, log: Log, store: Store) -> int:
    """Move one warp's path and accesses to the trace as warp number `warp`, and take its row back."""
    row, start, accesses = log.row[w], store.access_start[warp], log.accesses[w]
    if start + accesses > store.access_base.size:
        return Status.ACCESSES_FULL
    path = find_path(w, warp, log, store)
    if path < 0:
        if store.paths[0] == store.path_hash.size:
            return Status.PATHS_FULL
        if store.path_start[store.paths[0]] + log.length[w] > store.instruction.size:
            return Status.ENTRIES_FULL
        path = add_path(w, log, store)
    store.warp_path[warp] = path
    for k in range(accesses):
        store.access_base[start + k], store.access_stride[start + k] = log.access_base[row, k], log.access_stride[row, k]
    store.access_start[warp + 1] = start + accesses
    if row >= 0:
        log.free[log.free_rows[0]] = row
        log.free_rows[0] += 1
        log.row[w] = -1
    return Status.RUNNING


@inner
def bucket_of(digest: int, store: Store) -> int:
    """Return the bucket of a hash."""
    return (digest ^ ((digest >> 32) & 0xFFFFFFFF)) & (store.bucket.size - 1)


@inner
def find_path(w: int, warp: int, log: Log, store: Store) -> int:
    """Return the stored path equal to that of warp w, or -1; the path of the warp before is tried first."""
    if warp > 0 and equal_path(w, np.int64(store.warp_path[warp - 1]), log, store):
        return np.int64(store.warp_path[warp - 1])
    path = store.bucket[bucket_of(log.hash[w], store)]
    while path >= 0 and not equal_path(w, path, log, store):
        path = store.path_next[path]
    return path


@inner
def equal_path(w: int, path: int, log: Log, store: Store) -> bool:
    """Return True when a stored path is that of warp w."""
    start, row, length = store.path_start[path], log.row[w], log.length[w]
    if store.path_hash[path] != log.hash[w] or store.path_start[path + 1] - start != length:
        return False
    kept, kept_masks = store.instruction[start : start + length], store.mask[start : start + length]
    own, own_masks, different = log.instruction[row], log.mask[row], np.int64(0)
    for k in range(length):  # they are rarely different, so all at once, eight in a step
        different |= np.int64(kept[k] ^ own[k]) | np.int64(kept_masks[k] ^ own_masks[k])
    return different == 0


@inner
def add_path(w: int, log: Log, store: Store) -> int:
    """Append the path of warp w to the trace; return its number."""
    path, row, length = store.paths[0], log.row[w], log.length[w]
    start = store.path_start[path]
    for k in range(length):
        store.instruction[start + k], store.mask[start + k] = log.instruction[row, k], log.mask[row, k]
    store.path_start[path + 1], store.path_hash[path] = start + length, log.hash[w]
    bucket = bucket_of(log.hash[w], store)
    store.path_next[path], store.bucket[bucket] = store.bucket[bucket], path
    store.paths[0] = path + 1
    return path
