"""Bugs seeded in what policies with state are asked and told, in both engines: tables as in `reference_mutants` and `numba_mutants`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sim.lowering.core import Hardware
from sim.policies.stateful import Hook
from sim.reference import issue
from sim.reference.counters import DependenceCounters
from sim.reference.decode import Instruction
from sim.reference.issue import Scheduler
from sim.reference.memory.l1 import L1
from sim.reference.scoreboard import Scoreboard
from sim.reference.sm import SM
from sim.reference.wakeup import Warp
from sim.result.causes import StallCause

Right = Callable[..., Any]


def silent_on(*silent: Hook) -> Callable[[Right], Right]:
    """Return what forgets some hooks."""
    return lambda right: lambda self, hook, *told: None if hook in silent else right(self, hook, *told)


def woken_late(right: Right) -> Right:
    """Ask warps from the highest slot to the lowest."""

    def step(self: Scheduler) -> None:
        for _, warp in sorted(self.warps.items(), reverse=True):
            if not (warp.ready or warp.draining):
                warp.ask()
        right(self)

    return step


def owned_by_the_first(right: Right) -> Right:
    """Say that all lines were brought by the warp in slot 0."""
    return lambda self, slot, line: right(self, 0, line)


def one_line_more(right: Right) -> Right:
    """Tell of invalid lines that lose their places, too: they have no number."""

    def allocate(self: L1, number: int) -> Any:
        lines = self._set_of(number)
        gone = next((other for other, line in lines.items() if not line.pending), None)
        if len(lines) == self.ways and gone is not None and gone < 0:
            self.replaced(lines[gone].owner, 0)
        return right(self, number)

    return allocate


REFERENCE: dict[str, tuple[Any, str, Callable[[Right], Right]]] = {
    "a policy is not told of starts": (Scheduler, "tell", silent_on(Hook.START)),
    "a policy is not told of issues": (Scheduler, "tell", silent_on(Hook.ISSUE)),
    "a policy is not told of stalls": (Scheduler, "tell", silent_on(Hook.STALL)),
    "a policy is not told who wakes": (Scheduler, "tell", silent_on(Hook.WAKE)),
    "a policy is not told of look-ups": (Scheduler, "tell", silent_on(Hook.LOOKUP)),
    "a policy is not told of ends": (Scheduler, "tell", silent_on(Hook.END)),
    "a policy is not told of evictions": (Scheduler, "tell_slot", silent_on(Hook.EVICT)),
    "a policy is not told of results that a warp waits for": (Warp, "tell_stall", lambda right: lambda self: None),
    "warps wake from the highest slot": (Scheduler, "step", woken_late),
    "all lines are the first warp's": (SM, "tell_evicted", owned_by_the_first),
    "lines that are invalid are evicted": (L1, "allocate", one_line_more),
    "a scoreboard waits for no load": (Scoreboard, "missing_loads", lambda right: lambda self, instruction: False),
    "a counter waits for no load": (DependenceCounters, "missing_loads", lambda right: lambda self, instruction: False),
    "every result comes from far": (Instruction, "loads", lambda right: property(lambda self: bool(self.writes))),
    "a policy sees another mask": (issue, "signed", lambda right: lambda mask: mask ^ 1),
    "what a policy withholds is charged to ports": (Scheduler, "_held_by", lambda right: lambda self, warp: warp.instruction.port_cause),
    "a warp that was withheld waited for nothing": (
        Scheduler,
        "_kept_back_by",
        lambda right: lambda self, warp, chosen: (StallCause.WAIT, right(self, warp, chosen)[1]),
    ),
}


def without(*hooks: Hook) -> Callable[[Hardware], dict[str, Any]]:
    """Return a change of the tables: these hooks are not called."""
    return lambda hw: {"hooks": hw.hooks & ~np.int64(sum(1 << hook for hook in hooks))}


TABLES: dict[str, Callable[[Hardware], dict[str, Any]]] = {
    f"a policy has no hook {hook.name.lower()}": without(hook) for hook in Hook if hook is not Hook.CHOOSE
}

CODE: dict[str, tuple[str, str, Callable[..., Any]]] = {
    "a policy is not told of results that a warp waits for": ("sim.timing.issue", "tell_stall", lambda *a: None),
    "a policy is not told of barriers and ends": ("sim.timing.blocks", "tell_of", lambda *a: None),
    "a policy is not told of evictions": ("sim.timing.memory.lsu", "tell_evicted", lambda *a: None),
    "what a policy withholds is charged to ports": ("sim.timing.account", "was_withheld", lambda *a: np.int64(0)),
    "what was withheld is accounted twice": ("sim.timing.issue", "hold_no_longer", lambda *a: None),
    "a counter waits for no load": ("sim.timing.telling", "is_loading", lambda *a: False),
}
