"""L1 cache of an SM: 128-byte lines of four sectors; the least recently used goes first (or as `l1.replacement` says), lines
being fetched stay.

A load looks each of its lines up: sectors whose words are there are hits, those that another load is fetching are joined, the rest is
fetched. A store is written through; what it does to the cache is the preset's `l1.stores`. One that takes a line of its own does so also
when the line is there and some of it is being fetched: the line is then invalid, and what comes goes only to the loads that wait for it.
A load that lacks words of a sector of which others are there invalidates the line, too (both: programs/measurements/h100/races.csv).
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from sim.lowering.memory import MOST_REQUESTS, SEARCHED, SECTORS
from sim.lowering.slices import bank_of_tags, place_of, set_of
from sim.policies import Replacement
from sim.reference.memory.replacement import Ways

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim.lowering.memory import Hierarchy
    from sim.reference.memory.coalescer import Request
    from sim.reference.memory.mshr import Mshr
    from sim.reference.moments import Moment

WORDS_OF_SECTOR = 8
WORDS = [frozenset(range(WORDS_OF_SECTOR * sector, WORDS_OF_SECTOR * (sector + 1))) for sector in range(SECTORS)]  # of each sector


def words_of(sectors: set[int]) -> set[int]:
    """Return the words of a line that lie in some of its sectors."""
    return set().union(*[WORDS[sector] for sector in sectors])


def whole_sectors(words: set[int]) -> set[int]:
    """Return the sectors all of whose words are in a set of words of a line."""
    return {sector for sector in range(SECTORS) if words >= WORDS[sector]}


def readable(words: set[int], whole_words: bool) -> set[int]:
    """Return the words that a store leaves in L1: all, or those of sectors that it writes whole if lanes write parts of words."""
    return words if whole_words else words_of(whole_sectors(words))


@dataclass(eq=False)
class Line:
    """One line of the cache."""

    there: set[int] = field(default_factory=set)  # words
    pending: set[int] = field(default_factory=set)  # sectors on their way
    waiting: list[Mshr] = field(default_factory=list)  # for some of them
    owner: int = -1  # warp slot that brought it
    used: int = 0  # how many uses of the cache's lines there had been then, this one included
    closes: int = 0  # cycle from which what stores wrote of it takes no other store in
    leaves: int = 0  # in which that leaves the SM

    def lacks(self, request: Request) -> set[int]:
        """Return the sectors of which a word that a load wants is not there; where the rule fetches more than lanes want, any word."""
        return {sector for sector in request.sectors if not (request.words & WORDS[sector] or WORDS[sector]) <= self.there}

    def has_part_of(self, sector: int) -> bool:
        """Return whether any word of a sector is there."""
        return bool(WORDS[sector] & self.there)

    def fill(self, sectors: set[int], ready: Moment) -> None:
        """Put in sectors that have come, to be read from `ready` on."""
        self.there |= words_of(sectors)
        self.pending -= sectors
        for mshr in self.waiting:
            mshr.receive(sectors, ready)
        self.waiting = [mshr for mshr in self.waiting if mshr.need]


class L1:
    """The cache: sets of lines, each in the order of their last use."""

    def __init__(self, numbers: Hierarchy, stores: str) -> None:
        self.ways, self.fetch, self.stores = int(numbers.l1_ways), int(numbers.l1_fetch), stores
        self.sets: list[OrderedDict[int, Line]] = [OrderedDict() for _ in range(numbers.l1_sets)]  # empty: there is no L1
        self.set_of = set_of if numbers.l1_decoupled else place_of
        self.room, self.taken = int(numbers.l1_data), 0  # lines
        self.tag_banks = int(numbers.tags)
        self.hand = 0  # set from which the next line is sought that gives up its data
        self.uses = count(1)
        policy, sets = int(numbers.l1_replacement), int(numbers.l1_sets)
        self.ways_of = [Ways(policy, self.ways, number * self.ways) for number in range(sets)] if policy != Replacement.LRU else []
        self.asks = -1  # warp slot whose access is looked up
        self.replaced: Callable[[int, int], None] = lambda owner, number: None  # is told whose line was replaced
        self.invalidated = count(-1, -1)  # numbers for lines that keep their places until what was asked for has come

    def _set_of(self, number: int) -> OrderedDict[int, Line]:
        return self.sets[self.set_of(number, len(self.sets))]

    def _ways(self, number: int) -> Ways | None:
        """Return the ways of a line's set, with another policy than LRU."""
        return self.ways_of[self.set_of(number, len(self.sets))] if self.ways_of else None

    def turns(self, lines: list[int]) -> list[int]:
        """Return how many cycles after the first each line is looked up: those of one bank of tags one after another."""
        if self.tag_banks >= MOST_REQUESTS:
            return [0] * len(lines)
        before: Counter[int] = Counter()
        found = []
        for line in lines:
            bank = int(bank_of_tags(self.set_of(line, len(self.sets)), self.tag_banks))
            found.append(before[bank])
            before[bank] += 1
        return found

    def peek(self, number: int) -> Line | None:
        """Return a line if it has a place, without using it."""
        return self._set_of(number).get(number)

    def find(self, number: int) -> Line | None:
        """Return a line if it has a place; it is the one used last now."""
        lines = self._set_of(number)
        if number in lines:
            lines.move_to_end(number)
            lines[number].used = next(self.uses)
            if ways := self._ways(number):
                ways.use(number)
        return lines.get(number)

    def allocate(self, number: int) -> Line | None:
        """Give a line a place, for which another may have to go; return None when all lines of its set are being fetched."""
        lines = self._set_of(number)
        stay = {other for other, line in lines.items() if line.pending}
        if len(stay) == self.ways:
            return None
        if len(stay | {other for other in lines if other >= 0}) < self.ways and not self._take_room():
            return None
        if ways := self._ways(number):
            gone = ways.fill(number, stay)
        else:
            gone = next(other for other in lines if other not in stay) if len(lines) == self.ways else None
        if gone is not None:
            owner = lines.pop(gone).owner
            if gone >= 0:  # not invalid
                self.replaced(owner, gone)
        lines[number] = Line(owner=self.asks, used=next(self.uses))
        return lines[number]

    def _take_room(self) -> bool:
        """Make room for the data of one more line; return False when all lines are being fetched.

        The least recently used line of the next sets gives them up, which keeps neither data nor its place.
        """
        if self.taken < self.room:
            self.taken += 1
            return True
        for _ in range(0, len(self.sets), SEARCHED):
            sets = self.sets[self.hand : self.hand + SEARCHED]
            self.hand = (self.hand + len(sets)) % len(self.sets)
            found = [(line.used, number) for lines in sets for number, line in lines.items() if number >= 0 and not line.pending]
            if found:
                number = min(found)[1]
                self.replaced(self._set_of(number).pop(number).owner, number)
                if ways := self._ways(number):
                    ways.rename(number, None)
                return True
        return False

    def for_load(self, request: Request) -> Line | None:
        """Return the line for a load, which takes a place if it has none; None when all lines of its set are being fetched.

        A load that lacks words of a sector of which others are there, because a store wrote them, gives the line up.
        """
        line = self.find(request.line)
        if line and any(line.has_part_of(sector) for sector in line.lacks(request) - line.pending):
            self._invalidate(request.line)
            line = None
        return line or self.allocate(request.line)

    def to_fetch(self, line: Line, missing: set[int]) -> set[int]:
        """Return what to fetch when some sectors are missing: of each group around one, all that are neither there nor on their way."""
        groups = {sector // self.fetch for sector in missing}
        around = {sector for sector in range(SECTORS) if sector // self.fetch in groups}
        return missing | (around - whole_sectors(line.there) - line.pending)

    def store(self, request: Request, whole_words: bool) -> bool:
        """Do what a store does; return whether it found its line. whole_words: no lane writes a part of a word."""
        line, allocates = self.find(request.line), self.stores == "allocate"
        if line and line.pending and allocates:
            self._invalidate(request.line)
            line = None
        there = line or (self.allocate(request.line) if allocates else None)
        if there and self.stores != "evict":
            there.there |= readable(request.words, whole_words) - words_of(there.pending)
        elif there and not there.pending:
            del self._set_of(request.line)[request.line]
            self.taken -= 1
            if ways := self._ways(request.line):
                ways.rename(request.line, None)
        return line is not None

    def _invalidate(self, number: int) -> None:
        """Invalidate a line; when all that it waits for has come, its place is the next to be taken."""
        lines, other = self._set_of(number), next(self.invalidated)
        self.taken -= 1
        lines[other] = lines.pop(number)
        if ways := self._ways(number):
            ways.rename(number, other)
        lines.move_to_end(other, last=False)
