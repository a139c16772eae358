"""What DRAM sends to L2: it takes its slice's port for writing when it comes, in turn with what is stored, and lets the loads go that wait.

A load's sectors are known to come in a cycle when it is served; what else its slice will have to write by then is not. What comes in one
cycle takes its turns in the order in which the loads were served, before the requests that reach L2 in that cycle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.gpus.path import TICKS
from sim.reference.clock import after
from sim.reference.moments import latest

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim.reference.memory.l2 import Slice
    from sim.reference.memory.system import MemorySystem
    from sim.reference.moments import Moment


@dataclass
class Fill:
    """A load whose sectors have still to come to a slice."""

    slice: Slice
    there: Moment  # when they come
    served: Moment  # when its slice has served it
    fetched: int  # sectors that come for it
    moved: int  # sectors that are to be copied to the other part of L2
    far: int  # cycles that its data take from there
    leave: Callable[[Moment], None]  # takes the moment in which its data are there, and may leave


class Fills:
    """Those of all slices."""

    def __init__(self, memory: MemorySystem) -> None:
        self.env, self.numbers = memory.env, memory.numbers

    def expect(self, fill: Fill) -> None:
        """Wait for what comes."""
        after(self.env, fill.there.cycle - int(self.env.now), lambda: self._write(fill))

    def _write(self, fill: Fill) -> None:
        """Write what has come into L2, then, of what the other part of L2 gets, a copy there."""
        queue, at, port = fill.slice.queue, fill.there.cycle * TICKS, int(self.numbers.write_port)
        there = latest(fill.served, queue.occupy(port, at, fill.fetched * int(self.numbers.l2_ticks), fill.there))
        if fill.far:
            there = there.then(there.cycle + fill.far, "l2.far")
        if fill.moved:
            queue.occupy(port, at, fill.moved * int(self.numbers.l2_ticks), fill.there)
            self.expect(Fill(fill.slice.other, there, there, fill.moved, 0, 0, fill.leave))
        else:
            fill.leave(there)
