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
        self.last: tuple[int, Moment | None] = 0, None  # the same of the last one
        self.port, self.has_place = 0, True  # of the last one: which port; whether it is among the `depth`

    def join(
        self,
        at: int,
        ticks: int,
        by: Moment,
        away: tuple[int, Moment] | None = None,
        port: int = 0,
        why: str = "",
        needs_place: bool = True,
    ) -> tuple[int, Moment]:
        """Join at tick `at`, to be served for so long; return when the queue has room: the one `depth` places before has been served.

        by: the moment `at`, and whose request it is. away: until when what serves them does something else. port: 0 or 1, that serves it.
        why: the field that says how long, if not that of the queue. needs_place: whether it takes one of the `depth`.
        """
        earliest, full = (self.ends[0], self.moments[0]) if needs_place else (at, None)
        admitted, (free, busy) = max(at, earliest), self.ports[port]
        room = full.then(full.cycle, work=by.work) if full and earliest > at else by
        begins = busy if busy and free > at else by
        if away and away[0] > max(free, at):
            free, begins = away
        end = max(admitted, free) + ticks
        self.port, self.has_place = port, needs_place
        self._note(end, begins.then(cycles(end), why or self.resource, by.work, self.name), is_new=True)
        return admitted, room

    def _note(self, end: int, moment: Moment, is_new: bool = False) -> None:
        """Note when the last request will have been served."""
        self.last = self.ports[self.port] = end, moment
        if self.has_place and is_new:
            self.ends.append(end)
            self.moments.append(moment)
        elif self.has_place:
            self.ends[-1], self.moments[-1] = end, moment

    def occupy(self, port: int, at: int, ticks: int, by: Moment) -> Moment:
        """Keep a port for so long from tick `at` on, or when it is free, for something that is no request; return when it is done."""
        free, busy = self.ports[port]
        begins = busy if busy and free > at else by
        end = max(free, at) + ticks
        done = begins.then(cycles(end), self.resource, by.work, self.name)
        self.ports[port] = end, done
        return done

    @property
    def end(self) -> int:
        """The tick in which the last request will have been served."""
        return self.last[0]

    @property
    def served(self) -> Moment:
        """The moment in which the last request will have been served."""
        assert self.last[1] is not None
        return self.last[1]

    def prolong(self, until: int, moment: Moment) -> None:
        """Keep the last request until that tick, and moment."""
        if until > self.end:
            self._note(until, moment)

    def length(self, tick: int) -> int:
        """Return how many requests are in the queue at that tick."""
        return sum(end > tick for end in self.ends)
