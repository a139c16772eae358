"""What one warp access to global memory moves: transactions, 32-byte L2 sectors, 128-byte L1 lines, and how much of it was asked for.

Three rules, chosen by a GPU's `lsu.coalescing`; numbers of appendices F and G are those of the CUDA C Programming Guide 4.2:

- `sectors` (Fermi and later, F.4.2): the distinct 32-byte sectors that the lanes touch. The L1 looks up distinct 128-byte lines;
  a 64-bit access goes through it as two half-warps, a 128-bit one as four quarter-warps (`passes`), which moves no sector twice.
- `cc10` (compute capability 1.0 and 1.1, G.3.2.1): a half-warp whose thread k reads word k of an aligned segment is one
  transaction of 64 bytes for 32-bit words and 128 for 64-bit ones, two of 128 bytes for 128-bit words. Else each active thread
  gets 32 bytes of its own. Idle threads spoil nothing. Words of 8 and 16 bits are never combined.
- `cc12` (1.2 and 1.3, G.3.2.2): take the segment of the lowest thread left (32 bytes for 8-bit words, 64 for 16-bit, 128 for
  wider ones), serve every thread of the half-warp that lies in it, halve it to 64 and to 32 bytes while only one half is used; repeat.

Left out: what a cache already holds. Sectors of two accesses are each counted, as the hardware's request and sector counters do.
"""

from typing import Literal, NamedTuple

import numpy as np

from isa.errors import UserError
from sim.gpus.path import LINE, SECTOR

LANES = 32
FULL_MASK = 0xFFFF_FFFF
HALF_WARP = 16
WIDTHS = (1, 2, 4, 8, 16)

Rule = Literal["sectors", "cc12", "cc10"]


class Segment(NamedTuple):
    """One memory transaction: `bytes` bytes from byte address `address`, a multiple of `bytes`."""

    address: int
    bytes: int


class Access(NamedTuple):
    """One warp access and all it moves. A byte that two lanes read counts as useful once, so that no efficiency exceeds 1."""

    addresses: tuple[int, ...]  # byte address of each of the 32 lanes; of idle lanes meaningless
    mask: int  # active lanes
    width: int  # bytes per lane
    rule: Rule
    passes: int  # groups of lanes that the load/store unit takes one after the other
    transactions: tuple[Segment, ...]
    sectors: tuple[int, ...]  # addresses of the distinct 32-byte sectors, ascending
    lines: tuple[int, ...]  # addresses of the distinct 128-byte lines, ascending
    useful: int  # distinct bytes that the lanes touch

    @property
    def lanes(self) -> tuple[int, ...]:
        """Numbers of the active lanes."""
        return active_lanes(self.mask)

    @property
    def asked(self) -> int:
        """Bytes asked for: active lanes times width."""
        return len(self.lanes) * self.width

    @property
    def moved(self) -> int:
        """Bytes of all transactions."""
        return sum(segment.bytes for segment in self.transactions)

    @property
    def efficiency(self) -> float:
        """Useful share of the bytes that the transactions move, 0 to 1; those are the L2 sectors from Fermi on."""
        return self.useful / self.moved if self.moved else 1.0

    @property
    def line_efficiency(self) -> float:
        """Useful share of whole 128-byte L1 lines, 0 to 1."""
        return self.useful / (LINE * len(self.lines)) if self.lines else 1.0


def analyse(addresses: np.ndarray, mask: int = FULL_MASK, width: int = 4, rule: Rule = "sectors") -> Access:
    """Return all that one warp access moves.

    addresses: int64 [32] byte addresses, multiples of `width` where active; mask: active lanes, bit k = lane k; width: bytes per
    lane, 1 to 16. Raises UserError for another width, a misaligned lane, or an unknown rule.
    """
    where = checked_lanes(addresses, mask, width)
    starts = list(where.values())
    return Access(
        addresses=tuple(addresses.tolist()),
        mask=mask,
        width=width,
        rule=rule,
        passes=passes(mask, width, rule),
        transactions=tuple(transactions(addresses, mask, width, rule)),
        sectors=_distinct(starts, SECTOR),
        lines=_distinct(starts, LINE),
        useful=_union(starts, width),
    )


def transactions(addresses: np.ndarray, mask: int, width: int, rule: Rule = "sectors") -> list[Segment]:
    """Return the memory transactions of one warp access in the order of issue; arguments and errors are those of `analyse`."""
    where = checked_lanes(addresses, mask, width)
    match rule:
        case "sectors":
            return [Segment(sector, SECTOR) for sector in _distinct(list(where.values()), SECTOR)]
        case "cc10" | "cc12":
            serve = _in_order if rule == "cc10" else _by_segment
            halves = [{lane: address for lane, address in where.items() if lane // HALF_WARP == half} for half in (0, 1)]
            return [segment for half in halves if half for segment in serve(half, width)]
    raise UserError(f"no coalescing rule is called '{rule}'", hint="rules: sectors, cc12, cc10")


def passes(mask: int, width: int, rule: Rule = "sectors") -> int:
    """Return how many groups of lanes go one after the other: half-warps on CC 1.x, 128 bytes later; idle ones are skipped."""
    return len(lane_groups(mask, LANES * 4 // max(width, 4) if rule == "sectors" else HALF_WARP))


def lane_groups(mask: int, size: int) -> list[tuple[int, ...]]:
    """Return the active lanes in groups of `size` neighbouring lanes; groups without an active lane are left out."""
    groups = [tuple(lane for lane in range(first, first + size) if mask >> lane & 1) for first in range(0, LANES, size)]
    return [group for group in groups if group]


def active_lanes(mask: int) -> tuple[int, ...]:
    """Return the numbers of the lanes whose bit of `mask` is set."""
    return tuple(lane for lane in range(LANES) if mask >> lane & 1)


def checked_lanes(addresses: np.ndarray, mask: int, width: int) -> dict[int, int]:
    """Return the address of each active lane, lanes ascending.

    Raises UserError unless there are 32 addresses and each active one is aligned to a legal width.
    """
    if width not in WIDTHS:
        raise UserError(f"width {width}: not a number of bytes that an instruction moves per thread", hint="widths: 1, 2, 4, 8, 16")
    if len(addresses) != LANES or not 0 <= mask <= FULL_MASK:
        raise UserError(f"a warp access has 32 addresses and a mask of 32 bits, not {len(addresses)} and {mask:#x}")
    where = {lane: address for lane, address in enumerate(addresses.tolist()) if mask >> lane & 1}
    for lane, address in where.items():
        if address % width:
            raise UserError(f"thread {lane} accesses {width} bytes at {address:#x}, which is not a multiple of {width}")
    return where


def _in_order(where: dict[int, int], width: int) -> list[Segment]:
    """Return the transactions of a half-warp on CC 1.0 and 1.1; where: lane -> address."""
    bases = {address - lane % HALF_WARP * width for lane, address in where.items()}
    base = min(bases)
    span = {4: 64, 8: 128, 16: 128}.get(width, 0)
    if span and len(bases) == 1 and base % span == 0:
        return [Segment(base + part, span) for part in range(0, HALF_WARP * width, span)]
    return [Segment(address // SECTOR * SECTOR, SECTOR) for address in where.values()]


def _by_segment(where: dict[int, int], width: int) -> list[Segment]:
    """Return the transactions of a half-warp on CC 1.2 and 1.3; where: lane -> address, lanes ascending."""
    left, found = dict(where), []
    while left:
        size = {1: 32, 2: 64}.get(width, 128)
        start = next(iter(left.values())) // size * size
        inside = {lane: address for lane, address in left.items() if start <= address < start + size}
        first, end = min(inside.values()), max(inside.values()) + width
        while size > SECTOR and (end <= start + size // 2 or first >= start + size // 2):
            size //= 2
            start = first // size * size
        found.append(Segment(start, size))
        left = {lane: address for lane, address in left.items() if lane not in inside}
    return found


def _distinct(starts: list[int], size: int) -> tuple[int, ...]:
    """Return the addresses of the distinct aligned blocks of `size` bytes; an aligned access lies in one."""
    return tuple(sorted({start // size * size for start in starts}))


def _union(starts: list[int], width: int) -> int:
    """Return how many distinct bytes the accesses touch; aligned accesses of one width are equal or apart."""
    return len(set(starts)) * width
