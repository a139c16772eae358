"""Addresses of a trace, of 48 bits, -> accesses of `TraceArrays`, of 32: regions of memory are moved together.

Regions that accesses touch are laid one after another from `sim.launch.placement.BASE` on. The place within a region's pages of 2 MiB
stays, and with it what cache lines and sectors see. Local memory ends at the highest address used, as a stack does; shared memory
counts from its window.
"""

from collections.abc import Callable
from typing import NoReturn

import numpy as np

from isa.vocabulary import Space
from sim.launch.placement import BASE, LIMIT
from sim.traces.trace import SCATTERED

PAGE = 1 << 21
LOCAL_BYTES, LOCAL_ALIGNMENT = 4096, 16  # per thread
Fail = Callable[[str, str], NoReturn]


def placed(accesses: np.ndarray, spaces: np.ndarray, rows: np.ndarray, shared_base: int, fail: Fail) -> tuple[np.ndarray, ...]:
    """Return access_base, access_stride and scattered of `TraceArrays`.

    accesses: scan.Access [n]. spaces: int64 [n]. rows: int64 [r, 32], changed in place; each of one access at most. fail: raises a
    UserError of what cannot be placed.
    """
    low, high, stride = accesses["low"], accesses["high"], accesses["stride"]
    moved, used = np.zeros(len(accesses), np.int64), low >= 0
    beyond = used & np.isin(spaces, (Space.GLOBAL, Space.GENERIC))
    moved[beyond] = _moved(low[beyond], high[beyond], fail)
    if shared_base:
        moved[(spaces == Space.SHARED) & (low >= shared_base)] = -shared_base
    local = used & (spaces == Space.LOCAL)
    if local.any():
        end = (int(high[local].max()) // LOCAL_ALIGNMENT + 1) * LOCAL_ALIGNMENT  # of the first frame of a stack that grows downwards
        if end - int(low[local].min()) > LOCAL_BYTES:
            fail(f"local memory of over {LOCAL_BYTES} bytes per thread is not modelled", "compile with more registers")
        moved[local] = LOCAL_BYTES - end
    is_scattered = stride == SCATTERED
    number = accesses["start"][is_scattered]
    rows[number] += np.where(rows[number] != 0, moved[is_scattered][:, None], 0)
    return np.where(is_scattered, accesses["start"], accesses["start"] + moved), stride.copy(), rows.astype(np.uint32)


def _moved(low: np.ndarray, high: np.ndarray, fail: Fail) -> np.ndarray:
    """Return what is added to the addresses of each access: regions of pages, merged where they touch, lie one after another."""
    if not low.size:
        return low
    order = np.argsort(low, kind="stable")
    first, last = low[order] // PAGE, np.maximum.accumulate(high[order] // PAGE)
    begins = np.append(True, first[1:] > last[:-1] + 1)
    starts = first[begins]
    pages = np.append(last[:-1][begins[1:]], last[-1]) - starts + 1
    places = BASE // PAGE + np.append(0, np.cumsum(pages)[:-1])
    if int(places[-1] + pages[-1]) * PAGE > LIMIT:
        fail(f"the accesses span {int(pages.sum()) * PAGE:,} bytes of memory", f"at most {LIMIT - BASE:,} are modelled")
    moved = np.empty(low.size, np.int64)
    moved[order] = ((places - starts) * PAGE)[np.cumsum(begins) - 1]
    return moved
