"""The loads and stores of an executed listing: what each moves, summed over every warp that executed it.

Accesses that differ only by a multiple of 256 bytes move alike and are looked at once: 256 covers the longest pattern that any rule of
`coalescing` and `banks` knows; scattered ones take some 60 us each. Local memory is left out: its words are
interleaved by thread, so that equal offsets are neighbours.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from isa.program import Instruction
from isa.vocabulary import Operation, Space
from sim.analysis import banks, coalescing
from sim.gpus.path import LINE
from sim.launch.placement import BASE
from sim.traces.trace import ACCESSES, ADDRESS, SCATTERED, Trace, logged

PERIOD = 256  # bytes
MOST_AT_ONCE = 1 << 20  # accesses; bounds the memory that counting takes
GLOBAL = (Space.GLOBAL, Space.GENERIC)
SHARED = (Space.SHARED,)
MOVES = (Operation.LOAD, Operation.STORE)

Key = tuple[int, int, bytes]  # static instruction, mask, addresses moved down by a multiple of PERIOD


@dataclass
class Site:
    """One load or store of the listing, over all its executions with at least one lane."""

    instruction: Instruction
    width: int  # bytes per lane
    requests: int = 0
    examples: list[tuple[int, np.ndarray, int]] = field(default_factory=list)  # how often, addresses, mask; distinct ones


@dataclass(frozen=True)
class GlobalSite:
    """What one load or store of global memory moves in all."""

    instruction: Instruction
    requests: int
    transactions: int
    sectors: int
    lines: int
    asked: int  # bytes
    useful: int  # distinct bytes within each request
    moved: int  # bytes of all transactions
    worst: coalescing.Access  # the least efficient request

    @property
    def efficiency(self) -> float:
        """Useful share of the bytes moved, 0 to 1."""
        return self.useful / self.moved

    @property
    def line_efficiency(self) -> float:
        """Useful share of whole 128-byte L1 lines, 0 to 1."""
        return self.useful / (LINE * self.lines)

    @property
    def wasted(self) -> int:
        """Bytes moved that no lane of the request asked for."""
        return self.moved - self.useful


@dataclass(frozen=True)
class SharedSite:
    """What one load or store of shared memory costs in all."""

    instruction: Instruction
    requests: int
    wavefronts: int
    fewest: int  # wavefronts without a conflict
    worst: tuple[np.ndarray, int, int]  # addresses, mask, width of the request with the most wavefronts

    @property
    def conflicts(self) -> int:
        """Wavefronts beyond those of an access without a conflict."""
        return max(self.wavefronts - self.fewest, 0)


def global_sites(trace: Trace, rule: coalescing.Rule) -> list[GlobalSite]:
    """Return the listing's loads and stores of global memory, those that waste most bytes first."""
    return sorted((_global(site, rule) for site in sites(trace, GLOBAL)), key=lambda found: -found.wasted)


def shared_sites(trace: Trace, rule: banks.Rule) -> list[SharedSite]:
    """Return the listing's loads and stores of shared memory, those with most conflicts first."""
    return sorted((_shared(site, rule) for site in sites(trace, SHARED)), key=lambda found: -found.conflicts)


def sites(trace: Trace, spaces: tuple[Space, ...]) -> list[Site]:
    """Return each load and store of `spaces` that was executed with at least one lane, in the order of the listing."""
    encoded = trace.program.encoded
    found: dict[int, Site] = {}
    for (i, mask, row), often in sorted(_counted(trace, spaces).items()):
        site = found.setdefault(i, Site(trace.program.instructions[i], int(encoded.width[i])))
        site.requests += often
        site.examples.append((often, np.frombuffer(row, np.int64), mask))
    return list(found.values())


def _counted(trace: Trace, spaces: tuple[Space, ...]) -> Counter[Key]:
    """Return how often each distinct access occurs."""
    arrays, lanes, found = trace.arrays, np.arange(coalescing.LANES), Counter[Key]()
    for entries, at in by_path(trace, spaces):
        instruction, mask = (np.broadcast_to(column[entries], at.shape).ravel() for column in (arrays.instruction, arrays.mask))
        base, stride = arrays.access_base[at].ravel(), arrays.access_stride[at].ravel()
        even = stride != SCATTERED
        keys = np.stack([instruction[even], mask[even], base[even] % PERIOD, stride[even]], axis=1)
        for (i, bits, start, step), often in zip(*np.unique(keys, axis=0, return_counts=True), strict=True):
            found[int(i), int(bits), _moved_down((start + step * lanes)[None], bits[None])[0].tobytes()] += int(often)
        rows = _moved_down(arrays.scattered[base[~even] & ADDRESS].astype(np.int64), mask[~even])
        for i, bits, row in zip(instruction[~even].tolist(), mask[~even].tolist(), rows, strict=True):
            found[i, bits, row.tobytes()] += 1
    return found


def in_windows(trace: Trace) -> list[Instruction]:
    """Return the instructions whose generic addresses led to shared or local memory, below which all arrays lie, in the listing's order."""
    arrays, found = trace.arrays, set[int]()
    if not (trace.program.encoded.space == Space.GENERIC).any():
        return []
    for entries, at in by_path(trace, (Space.GENERIC,), operations=ACCESSES):
        instruction, mask = (np.broadcast_to(column[entries], at.shape).ravel() for column in (arrays.instruction, arrays.mask))
        base, stride = arrays.access_base[at].ravel(), arrays.access_stride[at].ravel()
        even, bits = stride != SCATTERED, mask.astype(np.int64)
        ends = [base + (np.frexp(lane)[1] - 1) * stride for lane in (bits & -bits, bits)]  # of the lowest lane, and of the highest
        below = even & (np.minimum(*ends) < BASE)
        active = (bits[~even, None] >> np.arange(coalescing.LANES)) & 1 == 1
        below[~even] = (active & (arrays.scattered[base[~even] & ADDRESS] < BASE)).any(axis=1)
        found.update(instruction[below].tolist())
    return [trace.program.instructions[i] for i in sorted(found)]


def by_path(
    trace: Trace, spaces: tuple[Space, ...], most: int = MOST_AT_ONCE, operations: tuple[Operation, ...] = MOVES
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield, for each path: its entries that access `spaces` [n], and where the accesses of some of its warps lie [warps, n].

    most: accesses in one yield, at least those of one warp. operations: of which accesses.
    """
    encoded, arrays = trace.program.encoded, trace.arrays
    kept = logged(trace.program)
    wanted = np.isin(encoded.operation, operations) & np.isin(encoded.space, spaces)
    order = np.argsort(arrays.warp_path, kind="stable")
    first_warp = np.searchsorted(arrays.warp_path[order], np.arange(len(arrays.path_start)))
    for path, (start, end) in enumerate(zip(arrays.path_start, arrays.path_start[1:], strict=False)):
        instruction = arrays.instruction[start:end]
        position = np.cumsum(kept[instruction]) - 1  # of an entry's access among those of its warp
        chosen = np.flatnonzero(wanted[instruction] & (arrays.mask[start:end] != 0))
        warps = order[first_warp[path] : first_warp[path + 1]]
        step = max(most // max(chosen.size, 1), 1)
        for k in range(0, warps.size if chosen.size else 0, step):
            yield start + chosen, arrays.access_start[warps[k : k + step]][:, None] + position[chosen]


def _moved_down(addresses: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Return the addresses [n, 32] of each access, masks [n], less a multiple of PERIOD; idle lanes at 0."""
    active = (mask[:, None].astype(np.int64) >> np.arange(coalescing.LANES)) & 1 == 1
    lowest = np.where(active, addresses, np.iinfo(np.int64).max).min(axis=1) // PERIOD * PERIOD
    return np.where(active, addresses - lowest[:, None], 0)


def _global(site: Site, rule: coalescing.Rule) -> GlobalSite:
    seen = [(often, coalescing.analyse(addresses, mask, site.width, rule)) for often, addresses, mask in site.examples]
    return GlobalSite(
        instruction=site.instruction,
        requests=site.requests,
        transactions=sum(often * len(access.transactions) for often, access in seen),
        sectors=sum(often * len(access.sectors) for often, access in seen),
        lines=sum(often * len(access.lines) for often, access in seen),
        asked=sum(often * access.asked for often, access in seen),
        useful=sum(often * access.useful for often, access in seen),
        moved=sum(often * access.moved for often, access in seen),
        worst=min((access for _, access in seen), key=lambda access: access.efficiency),
    )


def _shared(site: Site, rule: banks.Rule) -> SharedSite:
    seen = [(often, banks.wavefronts(addresses, mask, site.width, rule), addresses, mask) for often, addresses, mask in site.examples]
    _, _, addresses, mask = max(seen, key=lambda one: one[1])
    return SharedSite(
        instruction=site.instruction,
        requests=site.requests,
        wavefronts=sum(often * count for often, count, _, _ in seen),
        fewest=sum(often * banks.fewest(mask, site.width, rule) for often, _, _, mask in seen),
        worst=(addresses, mask, site.width),
    )
