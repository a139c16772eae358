"""A bounded queue before something that serves one request at a time, in order: an L2 slice, a DRAM channel.

Both are so regular that nothing need be waited for: who joins knows at once when it will have been served. Times are ticks, 256 to
a cycle, so that rates need not be whole.
"""

from collections import deque


class Queue:
    """Room for `depth` requests, that being served among them."""

    def __init__(self, depth: int) -> None:
        self.ends: deque[int] = deque([0] * depth, depth)  # when each of the last `depth` requests has been served

    def join(self, at: int, ticks: int) -> int:
        """Join at tick `at`, to be served for so long; return when the queue has room: the one `depth` places before has been served."""
        admitted = max(at, self.ends[0])
        self.ends.append(max(admitted, self.ends[-1]) + ticks)
        return admitted

    @property
    def end(self) -> int:
        """The tick in which the last request will have been served."""
        return self.ends[-1]

    def prolong(self, until: int) -> None:
        """Keep the last request until that tick."""
        self.ends[-1] = max(self.ends[-1], until)

    def length(self, tick: int) -> int:
        """Return how many requests are in the queue at that tick."""
        return sum(end > tick for end in self.ends)
