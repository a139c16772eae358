"""L1 cache of an SM: 128-byte lines of four sectors; the least recently used goes first, lines being fetched stay.

A load looks each of its lines up: sectors that are there are hits, those that another load is fetching are joined, the rest is
fetched. A store is written through; what it does to the cache is the preset's `l1.stores`.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sim.hierarchy import SECTORS, place_of

if TYPE_CHECKING:
    from sim.hierarchy import Hierarchy
    from sim.reference.memory.coalescer import Request
    from sim.reference.memory.table import Piece
    from sim.reference.moments import Moment

WORDS_OF_SECTOR = 8


def words_of(sector: int) -> set[int]:
    """Return the words of a line that lie in a sector."""
    return set(range(WORDS_OF_SECTOR * sector, WORDS_OF_SECTOR * (sector + 1)))


def whole_sectors(words: set[int]) -> set[int]:
    """Return the sectors all of whose words are in a set of words of a line."""
    return {sector for sector in range(SECTORS) if words >= words_of(sector)}


@dataclass(eq=False)
class Line:
    """One line of the cache."""

    valid: set[int] = field(default_factory=set)  # sectors that are there
    pending: set[int] = field(default_factory=set)  # sectors on their way
    waiting: list[Piece] = field(default_factory=list)  # for some of them

    def fill(self, sectors: set[int], ready: Moment) -> None:
        """Put in sectors that have come, to be read from `ready` on."""
        self.valid |= sectors
        self.pending -= sectors
        for piece in self.waiting:
            piece.receive(sectors, ready)
        self.waiting = [piece for piece in self.waiting if piece.need]


class L1:
    """The cache: sets of lines, each in the order of their last use."""

    def __init__(self, numbers: Hierarchy, stores: str) -> None:
        self.ways, self.fetch_whole, self.stores = int(numbers.l1_ways), numbers.l1_fetch == 128, stores
        self.sets: list[OrderedDict[int, Line]] = [OrderedDict() for _ in range(numbers.l1_sets)]  # empty: there is no L1

    def _set_of(self, number: int) -> OrderedDict[int, Line]:
        return self.sets[place_of(number, len(self.sets))]

    def peek(self, number: int) -> Line | None:
        """Return a line if it has a place, without using it."""
        return self._set_of(number).get(number)

    def find(self, number: int) -> Line | None:
        """Return a line if it has a place; it is the one used last now."""
        lines = self._set_of(number)
        if number in lines:
            lines.move_to_end(number)
        return lines.get(number)

    def allocate(self, number: int) -> Line | None:
        """Give a line a place, for which another may have to go; return None when all lines of its set are being fetched."""
        lines = self._set_of(number)
        if len(lines) == self.ways:
            oldest = next((other for other, line in lines.items() if not line.pending), None)
            if oldest is None:
                return None
            del lines[oldest]
        lines[number] = Line()
        return lines[number]

    def to_fetch(self, line: Line, missing: set[int]) -> set[int]:
        """Return what to fetch when some sectors are missing: these, or all that are neither there nor on their way."""
        return set(range(SECTORS)) - line.valid - line.pending if self.fetch_whole else missing

    def store(self, request: Request) -> bool:
        """Do what a store does; return whether its line had a place."""
        line = self.find(request.line)
        whole = whole_sectors(request.words)
        if line is None:
            if self.stores == "allocate" and (line := self.allocate(request.line)):
                line.valid = whole
            return False
        if self.stores != "evict":
            line.valid |= whole - line.pending
        elif not line.pending:
            del self._set_of(request.line)[request.line]
        return True
