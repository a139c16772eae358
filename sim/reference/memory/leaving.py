"""How what stores wrote leaves L1: line by line, `lsu.leaving_cycles` each. The next `lsu.leaving_lines` of them take no other store in.

L1 keeps of a line that a store meets then only what that store wrote (programs/measurements/h100/rewrites.csv). Where more than
`lsu.store_lines` wait, none of them takes a store in any more. When write-combined lines go to L2 is another rule: `write_combining.py`.
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
        self.tags = max(int(numbers.tags), 1)
        self.entered = self.found = 0  # when the last store did, when its lines had been looked up
        self.last = self.first = self.pressed = 0  # when the last leaves, when the first of those one after another did, who takes none in

    def enter(self, access: Access) -> None:
        """A store enters L1: the unit may take it later, as what keeps it there waits behind L1."""
        self.entered = max(access.arrival.cycle, self.found)
        self.found = self.entered - (-len(access.requests) // self.tags)

    def write(self, line: Line | None, words: set[int], access: Access, k: int) -> None:
        """The store that has entered L1 left `words` readable in its k-th line: it joins what leaves, or the line loses all others."""
        if self.lines and line is not None:
            self._hand_on(line, words, self.found + HANDED_ON + self.cycles * access.store_passes + k)
        if self.lines and k == len(access.requests) - 1 and (self.last - max(self.entered, self.first)) // self.cycles >= self.most:
            self.pressed = self.last  # more lines wait than the SM keeps: none of them takes another store in

    def _hand_on(self, line: Line, words: set[int], closes: int) -> None:
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
