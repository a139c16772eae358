"""The MSHRs of an SM: a load under way waits for MSHRs, one per line that was not all there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.reference.moments import Moment, latest
from sim.result.causes import Tally

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable


@dataclass(eq=False)
class Load:
    """A load or an atomic that the shared unit has taken."""

    ready: Moment  # when what has come so far may be read
    finish: Callable[[Moment], None]  # takes the moment from which all of it may be read, once that is known
    replay: Callable[[Moment], Moment]  # takes the moment when all is in L1 that had to come, returns that of its having been read
    missing: int = 0  # MSHRs that have not come

    def finish_if_complete(self) -> None:
        """Nothing is missing any more: the result is ready at a moment now known."""
        if not self.missing:
            self.finish(self.ready)


@dataclass(eq=False)
class Mshr:
    """One line that a load waits for: an entry of the table."""

    table: MshrFile
    load: Load
    need: set[int]  # sectors

    def receive(self, sectors: set[int], ready: Moment) -> None:
        """Sectors have come, to be read from `ready` on; with the last of them the entry is free."""
        self.need = self.need - sectors
        if not self.need:
            self.table.used -= 1
            self.load.missing -= 1
            self.load.ready = latest(self.load.ready, ready)
            if not self.load.missing:
                self.load.finish(self.load.replay(self.load.ready))


class MshrFile:
    """The table."""

    def __init__(self, size: int, tallies: Counter[Tally]) -> None:
        self.size, self.used, self.tallies = size, 0, tallies

    def room_for(self, mshrs: int) -> bool:
        """Return whether so many entries are free."""
        return self.used + mshrs <= self.size

    def add(self, load: Load, need: set[int]) -> Mshr:
        """Let a load wait for sectors of one line."""
        self.used += 1
        load.missing += 1
        self.tallies[Tally.MSHR_PEAK] = max(self.tallies[Tally.MSHR_PEAK], self.used)
        return Mshr(self, load, need)
