"""Bugs seeded in the memory hierarchy of either engine.

REFERENCE: as `reference_mutants.MUTANTS`. TABLES: what is changed in the numbers that `sim.lower` gives the Numba engine.
CODE: as `numba_mutants.CODE`, for the uncompiled Numba engine.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from sim.gpus.path import TICKS, cycles
from sim.reference.blocks import BlockScheduler
from sim.reference.memory import banks
from sim.reference.memory.l1 import L1
from sim.reference.memory.l2 import Slice
from sim.reference.memory.lsu import Queue
from sim.reference.memory.network import RequestPort
from sim.reference.memory.system import MemorySystem

Right = Callable[..., Any]


def with_number(name: str, value: int) -> Callable[[Right], Right]:
    """Change a number that the load/store units read."""

    def mutate(right: Right) -> Right:
        def init(self: MemorySystem, *arguments: Any) -> None:
            right(self, *arguments)
            self.numbers = self.numbers._replace(**{name: np.int64(value)})

        return init

    return mutate


def youngest_goes(right: Right) -> Right:
    def allocate(self: L1, number: int) -> Any:
        lines = self._set_of(number)
        for other in reversed(list(lines)):
            lines.move_to_end(other)
        return right(self, number)

    return allocate


def no_rotation(right: Right) -> Right:
    def step(self: MemorySystem) -> None:
        for sm in self.machine.sms:
            if sm.lsu:
                sm.lsu.requests.enter_l2()

    return step


def never_blocked(right: Right) -> Right:
    def enter_l2(self: RequestPort) -> None:
        right(self)
        self.blocked = False

    return enter_l2


def joins_nobody(right: Right) -> Right:
    def find(self: L1, number: int) -> Any:
        line = right(self, number)
        return None if line and line.pending else line

    return find


def whole_cycles_between_blocks(right: Right) -> Right:
    def keep_interval(self: BlockScheduler, now: int) -> None:
        right(self, now)
        self.due = cycles(self.due) * TICKS

    return keep_interval


def answers_later(right: Right) -> Right:
    def serve(*arguments: Any) -> tuple[int, int]:
        admitted, leaves = right(*arguments)
        return admitted, leaves + 1

    return serve


REFERENCE: dict[str, tuple[Any, str, Callable[[Right], Right]]] = {
    "a load does not join the fetch of another": (L1, "find", joins_nobody),
    "L1 evicts first in, first out": (L1, "find", lambda right: lambda self, number: self._set_of(number).get(number)),
    "L1 evicts the line used last": (L1, "allocate", youngest_goes),
    "an L2 hit takes one cycle more": (Slice, "serve", answers_later),
    "bank conflicts missed": (banks, "passes", lambda right: lambda rule, at, width, atomic: min(right(rule, at, width, atomic), 1)),
    "lanes of an atomic share a row": (banks, "passes", lambda right: lambda rule, at, width, atomic: right(rule, at, width, False)),
    "queues of the load/store unit one deeper": (Queue, "__init__", lambda right: lambda self, sm, depth: right(self, sm, depth + 1)),
    "write-back lost": (Slice, "_write_back", lambda right: lambda self, line: None),
}
