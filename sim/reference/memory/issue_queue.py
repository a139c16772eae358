"""The queue of memory instructions behind an issue port, and the port's address unit; the order of stores."""

from __future__ import annotations

from collections import deque
from operator import itemgetter
from typing import TYPE_CHECKING

from sim.gpus.path import cycles
from sim.reference.clock import Environment, after
from sim.reference.pipes import Ports

if TYPE_CHECKING:
    from sim.lowering.memory import Hierarchy
    from sim.reference.memory.access import Access
    from sim.reference.moments import Moment
    from sim.reference.sm import SM


class Queue:
    """Memory instructions of one issue port, in order, and the port's address unit."""

    def __init__(self, sm: SM, depth: int) -> None:
        self.env, self.depth = sm.machine.env, depth
        self.accesses: deque[Access] = deque()
        self.address_unit = Ports(self.env)
        self.stage = Ports(self.env)  # free when another store of it may be taken
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


class StoreTurns:
    """Which store is next: in the order of issue, each when the lines of the one before have been written."""

    def __init__(self, queues: list[Queue], numbers: Hierarchy, env: Environment) -> None:
        self.queues, self.numbers = queues, numbers
        self.stage = Ports(env)  # free when a store of another queue than the last may be taken

    def may_go(self, access: Access, queue: Queue) -> bool:
        """Return whether nothing of this keeps an instruction at the head of a queue back."""
        if not access.stores:
            return True
        heads = [queue.accesses[0] for queue in self.queues if queue.accesses]
        earlier = any(head.stores and head.issued < access.issued for head in heads)
        return not earlier and self.stage.free and queue.stage.free

    def freed(self, queue: Queue) -> list[Moment]:
        """Return the moments, if any, from which a store of a queue could be taken."""
        return [moment for moment in (self.stage.freed, queue.stage.freed) if moment]

    def take(self, store: Access, queue: Queue) -> None:
        """A store is taken: keep back the next, of another queue and of the same."""
        taken, lines = store.taken, len(store.requests)
        note = f"{lines} lines"
        stages = [(lines * int(self.numbers.line_cycles), "l1.line_cycles", note), (store.data_cycles, "l1.bytes_per_cycle", "")]
        held, resource, said = max(stages, key=itemgetter(0))
        self.stage.hold(taken.then(taken.cycle + held, resource, note=said))
        if same := cycles(lines * int(self.numbers.store_line_ticks)):
            queue.stage.hold(taken.then(taken.cycle + same, "lsu.store_line_cycles", note=note))
