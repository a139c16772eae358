"""A bounded queue before something that serves one request at a time, in order: an L2 slice, a DRAM channel.

Both are so regular that nothing need be waited for: who joins knows at once when it will have been served. Times are ticks, 256 to
a cycle, so that rates need not be whole.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from sim.gpus.path import cycles

if TYPE_CHECKING:
    from sim.reference.moments import Moment


class Queue:
    """Room for `depth` requests, that being served among them. name: of what serves them; resource: the field that says how fast."""

    def __init__(self, depth: int, name: str, resource: str) -> None:
        self.name, self.resource = name, resource
        self.ends: deque[int] = deque([0] * depth, depth)  # when each of the last `depth` requests has been served
        self.moments: deque[Moment | None] = deque([None] * depth, depth)  # the same
        self.ports: list[tuple[int, Moment | None]] = [(0, None), (0, None)]  # the same of the last one at each; most have one
        self.port = 0  # of the last request

    def join(
        self, at: int, ticks: int, by: Moment, away: tuple[int, Moment] | None = None, port: int = 0, why: str = ""
    ) -> tuple[int, Moment]:
        """Join at tick `at`, to be served for so long; return when the queue has room: the one `depth` places before has been served.

        by: the moment `at`, and whose request it is. away: until when what serves them does something else. port: 0 or 1, that serves it.
        why: the field that says how long, if not that of the queue.
        """
        admitted, full, (free, busy) = max(at, self.ends[0]), self.moments[0], self.ports[port]
        room = full.then(full.cycle, work=by.work) if full and self.ends[0] > at else by
        begins = busy if busy and free > at else by
        if away and away[0] > max(free, at):
            free, begins = away
        self.ends.append(max(admitted, free) + ticks)
        self.moments.append(begins.then(cycles(self.ends[-1]), why or self.resource, by.work, self.name))
        self.port, self.ports[port] = port, (self.ends[-1], self.moments[-1])
        return admitted, room

    def occupy(self, port: int, at: int, ticks: int, by: Moment) -> None:
        """Keep a port for so long from tick `at` on, or when it is free, for something that is no request."""
        free, busy = self.ports[port]
        begins = busy if busy and free > at else by
        self.ports[port] = max(free, at) + ticks, begins.then(cycles(max(free, at) + ticks), self.resource, by.work, self.name)

    @property
    def end(self) -> int:
        """The tick in which the last request will have been served."""
        return self.ends[-1]

    @property
    def served(self) -> Moment:
        """The moment in which the last request will have been served."""
        assert self.moments[-1] is not None
        return self.moments[-1]

    def prolong(self, until: int, moment: Moment) -> None:
        """Keep the last request until that tick, and moment."""
        if until > self.ends[-1]:
            self.ends[-1], self.moments[-1] = self.ports[self.port] = until, moment

    def length(self, tick: int) -> int:
        """Return how many requests are in the queue at that tick."""
        return sum(end > tick for end in self.ends)
