"""What the loads and stores of a trace find in the caches if these keep everything: from the executed addresses alone.

A sector that the same warp has loaded before is in L1, where the GPU's L1 takes the load; one that any warp has touched before is in L2;
every other one comes from DRAM. Real caches forget, so these are the fewest bytes. Warps are looked at in launch order. Sectors are 32
bytes; atomics are left out.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from isa.vocabulary import Operation
from sim.analysis.accesses import GLOBAL, by_path
from sim.analysis.coalescing import LANES
from sim.gpus.model import Gpu
from sim.gpus.path import SECTOR
from sim.lowering.accesses import is_cached
from sim.traces.trace import ADDRESS, SCATTERED, Trace

MOST_AT_ONCE = 1 << 15  # accesses; bounds the memory that counting takes
IDLE = -1  # in place of a sector's number


class Traffic(NamedTuple):
    """Bytes per thread and iteration, in whole sectors."""

    asked: float  # by the instructions, as if no L1 kept anything
    loaded: float  # from L2, beyond what L1 keeps
    stored: float  # to L2: L1 writes through
    dram: float  # each sector once, loaded and stored apart


class Locality(NamedTuple):
    """Per static instruction, int64 [n]: sectors by where they are, accesses by the farthest place that they must go to."""

    asked: np.ndarray  # sectors of every access
    beyond_l1: np.ndarray  # sectors that L1 does not have; all of a store's
    first: np.ndarray  # sectors touched for the first time: DRAM's
    accesses: np.ndarray
    to_l2: np.ndarray  # accesses with a sector that L1 does not have
    to_dram: np.ndarray  # accesses with a sector touched for the first time

    def traffic(self, trace: Trace, instructions: Sequence[int], threads: int) -> Traffic:
        """Return what some instructions move per thread. threads: executions by threads."""
        chosen = sorted(set(instructions))
        stores = [i for i in chosen if trace.program.encoded.operation[i] == Operation.STORE]
        loads = [i for i in chosen if i not in set(stores)]
        each = SECTOR / max(threads, 1)
        return Traffic(
            asked=int(self.asked[chosen].sum()) * each,
            loaded=int(self.beyond_l1[loads].sum()) * each,
            stored=int(self.beyond_l1[stores].sum()) * each,
            dram=int(self.first[chosen].sum()) * each,
        )


def locality(trace: Trace, gpu: Gpu) -> Locality:
    """Return where the loads and stores of global memory find their sectors on `gpu`."""
    n = len(trace.program)
    cached = np.array([is_cached(gpu, trace.program, i) for i in range(n)])
    stores = trace.program.encoded.operation == Operation.STORE
    found = Locality(*(np.zeros(n, np.int64) for _ in Locality._fields))
    seen = np.zeros(0, np.int64)
    for which, sectors in _sectors(trace):
        own = _firsts(sectors) & (sectors != IDLE)
        keeps = (cached & ~stores)[which][:, None]
        beyond = np.where(keeps, _firsts(sectors.reshape(len(sectors), -1)).reshape(sectors.shape), own) & own
        named = np.where(sectors == IDLE, IDLE, 2 * sectors + stores[which][:, None])
        first = _firsts(named.reshape(-1)).reshape(sectors.shape) & ~np.isin(named, seen) & own
        seen = np.union1d(seen, named[first])
        for column, chosen in ((found.asked, own), (found.beyond_l1, beyond), (found.first, first)):
            np.add.at(column, which, chosen.sum(axis=(0, 2)))
        for column, chosen in ((found.accesses, own), (found.to_l2, beyond), (found.to_dram, first)):
            np.add.at(column, which, chosen.any(axis=2).sum(axis=0))
    return found


def _sectors(trace: Trace) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield static instructions [n] and the sector numbers of each lane [warps, n, 32] of their accesses; IDLE where a lane is idle."""
    arrays, lanes = trace.arrays, np.arange(LANES)
    for entries, at in by_path(trace, GLOBAL, MOST_AT_ONCE):
        base, stride = arrays.access_base[at][..., None], arrays.access_stride[at][..., None]
        even = stride != SCATTERED
        addresses = np.where(even, (base + np.where(even, stride, 0) * lanes) & ADDRESS, 0)
        if not even.all():
            rows = np.where(even, 0, base & ADDRESS)[..., 0]
            addresses = np.where(even, addresses, arrays.scattered[rows].astype(np.int64))
        active = (arrays.mask[entries].astype(np.int64)[:, None] >> lanes) & 1 == 1
        yield arrays.instruction[entries], np.where(active, addresses // SECTOR, IDLE)


def _firsts(values: np.ndarray) -> np.ndarray:
    """Return which elements are the first of their value along the last axis."""
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    new = np.ones(values.shape, bool)
    new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    found = np.empty(values.shape, bool)
    np.put_along_axis(found, order, new, axis=-1)
    return found
