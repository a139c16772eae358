"""The queue of memory instructions behind an issue port, and the port's address unit."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from sim.reference.clock import after
from sim.reference.pipes import Ports

if TYPE_CHECKING:
    from sim.reference.memory.access import Access
    from sim.reference.moments import Moment
    from sim.reference.sm import SM


class Queue:
    """Memory instructions of one issue port, in order, and the port's address unit."""

    def __init__(self, sm: SM, depth: int) -> None:
        self.env, self.depth = sm.machine.env, depth
        self.accesses: deque[Access] = deque()
        self.address_unit = Ports(self.env)
        self.open = True  # the port may issue
        self.reopened: Moment | None = None  # since when, after it was full

    def put(self, access: Access) -> None:
        """Take in an instruction that issues now; the shared unit may take it when it has arrived."""
        self.accesses.append(access)
        after(self.env, access.arrival.cycle - int(self.env.now), access.arrive)
        if len(self.accesses) == self.depth:
            self.open = False

    def head(self) -> Access | None:
        """Return the oldest instruction if its address unit has done with it."""
        ready = self.accesses and self.accesses[0].arrived and self.address_unit.free
        return self.accesses[0] if ready else None

    def pop(self, until: Moment) -> None:
        """Let the oldest instruction go; the next may follow at that moment. A full queue opens in the next cycle."""
        taken = self.accesses.popleft().taken
        self.address_unit.hold(until)
        if not self.open:
            self.reopened = taken.then(taken.cycle + 1, "lsu.depth")
            after(self.env, 1, self._reopen)

    def _reopen(self) -> None:
        self.open = True
