"""Lines of stores that are about to leave for L2: one every `lsu.leaving_cycles`, and no other store can join the next `lsu.leaving_lines`.

Of a line that a store meets then, L1 keeps only what that store wrote (programs/measurements/h100/rewrites.csv). Once more than
`lsu.store_lines` leave one after another, no store can join any of them. When write-combined lines go to L2 is another rule:
`write_combining.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.lowering.memory import HANDED_ON

if TYPE_CHECKING:
    from sim.lowering.memory import Hierarchy
    from sim.reference.memory.access import Access
    from sim.reference.memory.l1 import Line


class Leaving:
    """The lines on their way out of one SM's L1."""

    def __init__(self, numbers: Hierarchy) -> None:
        self.lines, self.cycles, self.most = int(numbers.leaving_lines), int(numbers.leaving_cycles), int(numbers.store_lines)
        self.entered = self.found = 0  # when the last store did, when its lines had been looked up
        self.last = self.first = self.pressed = (
            0  # when the last leaves, when the first of those one after another did, until when all are closed
        )

    def enter(self, access: Access) -> None:
        """Let a store enter L1: the unit may take it later, when what its lines wait for behind L1 is free."""
        self.entered = max(access.arrival.cycle, self.found)
        self.found = self.entered + access.lookups

    def write(self, line: Line | None, words: set[int], access: Access, k: int) -> None:
        """The store that has entered L1 left `words` readable in its k-th line: it joins what leaves, or the line loses all others."""
        if self.lines and line is not None:
            self._hand_on(line, words, self.found + HANDED_ON + self.cycles * access.store_passes + k)
        if (
            self.lines
            and self.most
            and k == len(access.requests) - 1
            and (self.last - max(self.entered, self.first)) // self.cycles >= self.most
        ):
            self.pressed = self.last  # more than the SM keeps: no store can join any of them

    def _hand_on(self, line: Line, words: set[int], closes: int) -> None:
        """Find when the line leaves, unless it joins what is leaving already. closes: the earliest cycle from which no store joins it."""
        entered = self.entered
        if entered < line.leaves:
            if entered < line.closes and line.leaves > self.pressed:
                return
            if not line.pending:
                line.there &= words
        leaves = closes + self.lines - 1
        if leaves > self.last + self.cycles:
            self.first = leaves
        self.last = line.leaves = max(self.last + self.cycles, leaves)
        line.closes = max(closes, self.last - self.lines * self.cycles)
