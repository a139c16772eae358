"""The ways of one set of a cache whose policy is not LRU: which line is in which, and which goes."""

from collections.abc import Container

import numpy as np

from sim.policies.replacement import FILLED, USED, VICTIM, replaced_of


class Ways:
    """One set. Numbers of lines below 0 are of lines that are not valid: they go first."""

    def __init__(self, policy: int, ways: int, salt: int) -> None:
        self.policy, self.salt = policy, salt
        self.lines: list[int | None] = [None] * ways
        self.state = np.zeros(ways, np.int64)

    def use(self, line: int) -> None:
        """A line is found."""
        self._note(USED, self.lines.index(line))

    def fill(self, line: int, stay: Container[int]) -> int | None:
        """Give a line a place; return the line that had it, None where it was free. stay: lines that may not go, not all."""
        may_go = np.array([other is None or other not in stay for other in self.lines], np.uint8)
        free = [way for way, other in enumerate(self.lines) if may_go[way] and (other is None or other < 0)]
        way = free[0] if free else self._note(VICTIM, 0, may_go)
        gone, self.lines[way] = self.lines[way], line
        self._note(FILLED, way)
        return gone

    def put(self, line: int) -> None:
        """Put a line into the first free place before cycle 0: that is no use of it."""
        self.lines[self.lines.index(None)] = line

    def rename(self, line: int, other: int | None) -> None:
        """A line is not valid any more: its place has another number, or none."""
        self.lines[self.lines.index(line)] = other

    def _note(self, event: int, way: int, may_go: np.ndarray | None = None) -> int:
        given = np.ones(len(self.lines), np.uint8) if may_go is None else may_go
        policy, told, first, chosen, salt = (np.int64(number) for number in (self.policy, event, 0, way, self.salt))
        return int(replaced_of(policy, told, self.state, first, chosen, given, salt))  # type: ignore[arg-type]
