"""Addresses of a trace -> accesses of `TraceArrays`: evenly spaced ones as base and stride, regions of memory moved together.

Traced addresses have 48 bits, ours 32: regions that accesses touch are laid one after another from `sim.placement.BASE` on. The place
within a region's pages of 2 MiB stays, and with it what cache lines and sectors see. Local memory counts from the lowest address used.
"""

from collections.abc import Callable
from typing import NamedTuple, NoReturn

import numpy as np

from isa.vocabulary import Space
from sim.placement import BASE, LIMIT
from sim.trace import SCATTERED

PAGE = 1 << 21
LOCAL_BYTES, LOCAL_ALIGNMENT = 4096, 16  # per thread
LANES = 32
Fail = Callable[[str, str], NoReturn]


class Access(NamedTuple):
    """One access, before its region is moved."""

    base: int  # address of lane 0, or row of the scattered ones
    stride: int  # or SCATTERED
    low: int  # lowest and highest address of an active lane
    high: int


NOWHERE = Access(0, 0, -1, -1)  # no lane is active


class Accesses:
    """The accesses of a kernel, warp after warp as they are added."""

    def __init__(self) -> None:
        self.rows: list[list[int]] = []  # 32 addresses each
        self.found: list[Access] = []
        self.spaces: list[int] = []

    def add(self, space: int, mask: int, addresses: tuple[int, ...], is_strided: bool) -> int:
        """Add an access; return its number."""
        self.found.append(self._access(mask, addresses, is_strided))
        self.spaces.append(space)
        return len(self.found) - 1

    def _access(self, mask: int, addresses: tuple[int, ...], is_strided: bool) -> Access:
        if mask == 0:
            return NOWHERE
        lanes = [lane for lane in range(LANES) if mask >> lane & 1]
        if is_strided:
            first, stride = addresses
            span = (lanes[-1] - lanes[0]) * stride
            return Access(first - lanes[0] * stride, stride, first + min(span, 0), first + max(span, 0))
        low, high = min(addresses), max(addresses)
        stride = (addresses[1] - addresses[0]) // (lanes[1] - lanes[0]) if len(lanes) > 1 else 0
        base = addresses[0] - lanes[0] * stride
        if all(address == base + lane * stride for lane, address in zip(lanes, addresses, strict=True)):
            return Access(base, stride, low, high)
        row = [0] * LANES
        for lane, address in zip(lanes, addresses, strict=True):
            row[lane] = address
        self.rows.append(row)
        return Access(len(self.rows) - 1, int(SCATTERED), low, high)

    def arrays(self, order: list[int], fail: Fail) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return access_base, access_stride and scattered of `TraceArrays`, accesses in the order given."""
        table = np.array(self.found or [NOWHERE], np.int64)[order if self.found else []].reshape(-1, 4)
        spaces = np.array(self.spaces or [0], np.int64)[order if self.found else []]
        base, stride, low, high = table.T
        moved = np.zeros(len(table), np.int64)
        used = low >= 0
        beyond = used & np.isin(spaces, (Space.GLOBAL, Space.GENERIC))
        moved[beyond] = self._moved(low[beyond], high[beyond], fail)
        local = used & (spaces == Space.LOCAL)
        if local.any():
            start = int(low[local].min()) // LOCAL_ALIGNMENT * LOCAL_ALIGNMENT
            if int(high[local].max()) - start >= LOCAL_BYTES:
                fail(f"local memory of over {LOCAL_BYTES} bytes per thread is not modelled", "compile with more registers")
            moved[local] = -start
        scattered, is_scattered = np.array(self.rows, np.int64).reshape(-1, LANES), stride == SCATTERED
        for k in np.flatnonzero(is_scattered):
            row = scattered[base[k]]
            row[row != 0] += moved[k]
        return np.where(is_scattered | ~used, base, base + moved), stride.copy(), scattered.astype(np.uint32)

    def _moved(self, low: np.ndarray, high: np.ndarray, fail: Fail) -> np.ndarray:
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
