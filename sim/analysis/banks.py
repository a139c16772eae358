"""Shared-memory bank conflicts: which lanes of one warp access are served together, and in how many wavefronts.

Rules (appendices of the CUDA C Programming Guide; F and G of 4.2, G.4.3 of 5.0 for Kepler):

- `fermi` (2.x, and Maxwell to Hopper): 32 banks of 4 bytes. Lanes that touch the same 4-byte word share it. All 32 lanes at once for
  up to 32 bits, half-warps for 64, quarter-warps for 128; twice as many lanes where all active
  lanes n and n xor 1, or all n and n xor 2, want the same place (loads of CC 7.0 and 7.5: NVIDIA's forum, thread 77228; counted on an H200,
  where a tile product takes 2 wavefronts for a vector per half-warp; taken over for all).
- `kepler4`, `kepler8` (3.x in its 4-byte and 8-byte bank mode): 32 banks that deliver 8 bytes. In the 8-byte mode lanes in the
  same 64-bit word share it; in the 4-byte mode, which is the default, lanes whose words i and j lie in the same aligned segment of
  64 words share a bank if j = i or j = i + 32. A pass delivers 256 bytes: 128-bit accesses go as half-warps (inferred from that width).
- `cc1` (1.x): 16 banks of 4 bytes, half-warps. A step serves every lane that touches the broadcast word, and one lane of each
  other bank. Which word is broadcast is unspecified; here that of the lowest lane left. 64-bit and 128-bit accesses are two and
  four 32-bit accesses.

Loads and stores count alike: of lanes that store to the same word one wins, at no cost.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from isa.errors import UserError
from sim.analysis.coalescing import FULL_MASK, HALF_WARP, LANES, checked_lanes, lane_groups
from sim.gpus.model import Gpu
from sim.lowering.memory import GEOMETRY as BANK_GEOMETRY

WORD = 4  # bytes

Rule = Literal["fermi", "kepler4", "kepler8", "cc1"]


class Geometry(NamedTuple):
    """Banks of a rule: how many, bytes a pass delivers, bytes from one bank to the next, bytes that one row of all banks covers."""

    banks: int
    pass_bytes: int
    interleave: int
    row: int


GEOMETRY = {rule: Geometry(*numbers) for rule, numbers in BANK_GEOMETRY.items()}


class Place(NamedTuple):
    """What one bank delivers in one wavefront, and to which lanes."""

    bank: int
    row: int
    lanes: tuple[int, ...]


Wavefront = tuple[Place, ...]


def rule_of(gpu: Gpu) -> Rule:
    """Return the rule that a GPU's preset names."""
    return gpu.shared.rule


def wavefronts(addresses: np.ndarray, mask: int = FULL_MASK, width: int = 4, rule: Rule = "fermi") -> int:
    """Return in how many wavefronts one warp access is served; 0 when no lane is active.

    addresses: int64 [32] byte addresses in shared memory, multiples of `width` where active; mask: active lanes; width: bytes
    per lane, 1 to 16. Raises UserError for another width, a misaligned lane, or an unknown rule.
    """
    return len(schedule(addresses, mask, width, rule))


def fewest(mask: int, width: int, rule: Rule) -> int:
    """Return how many wavefronts an access of that width takes without a conflict."""
    return wavefronts(np.arange(LANES, dtype=np.int64) * width, mask, width, rule) if rule != "cc1" else _groups_cc1(mask, width)


def schedule(addresses: np.ndarray, mask: int = FULL_MASK, width: int = 4, rule: Rule = "fermi") -> list[Wavefront]:
    """Return the wavefronts of one warp access in order; arguments and errors are those of `wavefronts`."""
    where = checked_lanes(addresses, mask, width)
    if rule not in GEOMETRY:
        raise UserError(f"no rule of shared-memory banks is called '{rule}'", hint=f"rules: {', '.join(GEOMETRY)}")
    if rule == "cc1":
        return [found for request in _requests_cc1(where, mask, width) for found in _broadcast_one(request)]
    geometry = GEOMETRY[rule]
    together = geometry.pass_bytes // max(width, WORD) * (2 if rule == "fermi" and width > WORD and _in_pairs(where) else 1)
    return [found for group in lane_groups(mask, min(together, LANES)) for found in _row_by_row(where, group, width, geometry)]


def _in_pairs(where: dict[int, int]) -> bool:
    """Return whether lanes n and n xor 1, or n and n xor 2, want the same place, as far as both are active."""
    return any(all(where.get(lane ^ apart, address) == address for lane, address in where.items()) for apart in (1, 2))


def _row_by_row(where: dict[int, int], group: tuple[int, ...], width: int, geometry: Geometry) -> Iterator[Wavefront]:
    """Yield the wavefronts of lanes that go together: the n-th serves the n-th distinct row of every bank."""
    rows: dict[int, dict[int, list[int]]] = {}  # bank -> row -> lanes
    for lane in group:
        first = where[lane]
        for byte in range(first // WORD * WORD, first + width, WORD):
            bank = byte // geometry.interleave % geometry.banks
            lanes = rows.setdefault(bank, {}).setdefault(byte // geometry.row, [])
            if lane not in lanes:
                lanes.append(lane)
    for turn in range(max(len(of_bank) for of_bank in rows.values())):
        served = {bank: list(of_bank.items())[turn] for bank, of_bank in sorted(rows.items()) if turn < len(of_bank)}
        yield tuple(Place(bank, row, tuple(lanes)) for bank, (row, lanes) in served.items())


def _requests_cc1(where: dict[int, int], mask: int, width: int) -> Iterator[dict[int, int]]:
    """Yield the 32-bit requests of CC 1.x, each lane -> word: a half-warp at a time, a word of wider accesses at a time."""
    for group in lane_groups(mask, HALF_WARP):
        for part in range(max(width // WORD, 1)):
            yield {lane: where[lane] // WORD + part for lane in group}


def _broadcast_one(request: dict[int, int]) -> Iterator[Wavefront]:
    """Yield the steps of one CC 1.x request: the broadcast word's lanes, and one lane of each other bank."""
    banks, left = GEOMETRY["cc1"].banks, dict(request)
    while left:
        word = next(iter(left.values()))
        step = {word % banks: Place(word % banks, word // banks, tuple(lane for lane, other in left.items() if other == word))}
        for lane, other in left.items():
            step.setdefault(other % banks, Place(other % banks, other // banks, (lane,)))
        served = {lane for place in step.values() for lane in place.lanes}
        left = {lane: other for lane, other in left.items() if lane not in served}
        yield tuple(step[bank] for bank in sorted(step))


def _groups_cc1(mask: int, width: int) -> int:
    return len(lane_groups(mask, HALF_WARP)) * max(width // WORD, 1)
