"""Parts of a dependence counter of one warp: its increments in order, and who still holds each.

A DEPBAR that leaves some increments waits for every holder of all before them: results return in order. LDGSTS joins the increment that
the next LDGDEPBAR makes.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from isa.vocabulary import COUNTERS
from sim.result.causes import StallCause

if TYPE_CHECKING:
    from sim.reference.decode import Instruction
    from sim.reference.scoreboard import Pending

UNKNOWN = 2**62  # a cycle later than any that is known


class Groups:
    """The increments of every counter."""

    def __init__(self) -> None:
        self.increments: defaultdict[int, list[list[Pending]]] = defaultdict(lambda: [[]])  # by counter; the last one is open
        self.unknown_cause: dict[int, StallCause] = {}  # by counter: of the last holder that came without a known end

    def join(self, number: int, holder: Pending, closes: bool, is_known: bool) -> None:
        """Let a holder hold the open increment of a counter; closes: the next holder makes another."""
        self.increments[number][-1].append(holder)
        if not is_known:
            self.unknown_cause[number] = holder.cause
        if closes:
            self.increments[number].append([])

    def release(self, holder: Pending) -> None:
        """It holds nothing any more."""
        for increments in self.increments.values():
            for increment in increments:
                if holder in increment:
                    increment.remove(holder)
            while len(increments) > 1 and not increments[0]:  # nobody waits for it any more
                increments.pop(0)

    def holders(self, instruction: Instruction) -> list[Pending]:
        """Return the holders that an instruction waits for."""
        if instruction.part is None:
            return []
        number, most = instruction.part
        increments = self.increments[number]
        return [holder for increment in increments[: max(len(increments) - 1 - most, 0)] for holder in increment]

    def missing(self, instruction: Instruction) -> Pending | None:
        """Return the one of them with the smallest cause, None when there is none."""
        return min(self.holders(instruction), key=lambda holder: holder.cause, default=None) if instruction.part else None

    def misses_loads(self, instruction: Instruction) -> bool:
        """Return whether an instruction waits for copies or stores, not for products of its warpgroup."""
        return bool(instruction.part and instruction.part[0] < COUNTERS and self.holders(instruction))

    def last_missing(self, instruction: Instruction) -> tuple[StallCause, int] | None:
        """Return (cause, cycle) of the last of them, None when there is none; UNKNOWN counts as last."""
        return self.last_of(instruction.part[0], self.holders(instruction)) if instruction.part else None

    def last_of(self, number: int, holders: list[Pending]) -> tuple[StallCause, int] | None:
        """Return (cause, cycle) of the last of some holders of a counter; of those due together the smallest cause."""
        if not holders:
            return None
        due = max(holder.due for holder in holders)
        return self.unknown_cause[number] if due == UNKNOWN else min(holder.cause for holder in holders if holder.due == due), due
