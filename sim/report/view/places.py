"""Which row of the drawing each warp has: blocks take the first free place of their SM, as the block scheduler gives it."""

from typing import NamedTuple

from sim.report.tracks import Tracks


class Places(NamedTuple):
    """row: of each warp, from 0. names, sm: of each row."""

    row: list[int]
    names: list[str]
    sm: list[int]


def drawn_rows(tracks: Tracks, retire: int) -> Places:
    """Return the row of each warp: those of one block next to each other; a later block takes the rows of one that has ended.

    retire: cycles from a block's end to its place being free.
    """
    rows, first = tracks.rows, tracks.first
    sm, block, warp = (column[first[:-1]].tolist() for column in (rows.sm, rows.block, rows.warp))
    begin, end = rows.since[first[:-1]].tolist(), rows.cycle[first[1:] - 1].tolist()
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    for key, start, stop in zip(zip(sm, block, strict=True), begin, end, strict=True):
        before = spans.get(key, (start, 0))
        spans[key] = (min(before[0], start), max(before[1], stop + retire))
    place = _places(spans)
    wide = max(warp) + 1
    slot = [(s, place[s, b] * wide + w, b, w) for s, b, w in zip(sm, block, warp, strict=True)]
    order = sorted({entry[:2] for entry in slot})
    number = {key: row for row, key in enumerate(order)}
    return Places([number[entry[:2]] for entry in slot], _names(slot, order), [key[0] for key in order])


def _places(spans: dict[tuple[int, int], tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return the place of each (SM, block): the lowest whose block has ended before."""
    found: dict[tuple[int, int], int] = {}
    ends: dict[int, list[int]] = {}
    for (sm, block), (start, stop) in sorted(spans.items(), key=lambda item: (item[1][0], item[0])):
        mine = ends.setdefault(sm, [])
        free = next((place for place, end in enumerate(mine) if end < start), len(mine))
        mine[free : free + 1] = [stop]
        found[sm, block] = free
    return found


def _names(slot: list[tuple[int, int, int, int]], order: list[tuple[int, int]]) -> list[str]:
    """Return "warp 3", with its block where there are several; "slot 3" where blocks take turns."""
    blocks = len({block for _, _, block, _ in slot}) > 1
    owners: dict[tuple[int, int], list[str]] = {}
    for sm, number, block, warp in slot:
        owners.setdefault((sm, number), []).append(f"b{block} w{warp}" if blocks else f"warp {warp}")
    turns = any(len(names) > 1 for names in owners.values())
    return [f"slot {number}" if turns else owners[sm, number][0] for sm, number in order]
