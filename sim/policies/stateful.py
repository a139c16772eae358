"""A scheduling policy with state: a class of hooks, of which only `choose` must be there. README.md says when each is called.

Both engines keep, for each scheduler, a row of int64 of its own (`own`), and one for each of its 64 warp slots (`warps`), all zero before
`begin`. The SimPy engine calls the hooks as they are; the Numba engine compiles them, with bounds checks, keeps them on disk like any
policy, and calls them by address.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import IntEnum
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from isa.errors import UserError

SLOTS = 64  # warps of a scheduler
MOST_WORDS = 4096
MOST_PATIENCE = 1 << 40  # cycles
RESULT, LOAD, BARRIER = range(3)  # what a warp begins to wait for, as `on_stall` is told
ROWS = ("now", "own", "warps")


class Hook(IntEnum):
    """What a policy is asked or told."""

    CHOOSE = 0
    START = 1
    ISSUE = 2
    STALL = 3
    WAKE = 4
    LOOKUP = 5
    EVICT = 6
    END = 7


class Failure(IntEnum):
    """Why a run ends with an error of the policy, where no hook raised one: then it is the hook's number."""

    NOT_ELIGIBLE = len(Hook)
    HELD = len(Hook) + 1


TOLD = {
    Hook.CHOOSE: ("choose", ("eligible", "loads", "last", "age", *ROWS)),
    Hook.START: ("on_start", ("slot", "block", "work", *ROWS)),
    Hook.ISSUE: ("on_issue", ("slot", "instruction", *ROWS)),
    Hook.STALL: ("on_stall", ("slot", "cause", *ROWS)),
    Hook.WAKE: ("on_wake", ("slot", "load", *ROWS)),
    Hook.LOOKUP: ("on_lookup", ("slot", "line", "hit", *ROWS)),
    Hook.EVICT: ("on_evict", ("slot", "line", *ROWS)),
    Hook.END: ("on_end", ("slot", *ROWS)),
}
BEGIN = ("number", "core", "own", "warps")


class StatefulPolicy:
    """What a policy with state inherits. Its hooks take no self: what they keep is in `own` and `warps`."""

    scheduler_words: ClassVar[int] = 0  # int64 of a scheduler's row
    warp_words: ClassVar[int] = 0  # int64 of a warp slot's row
    patience: ClassVar[int] = 100_000  # cycles without an issue on the SM in which `choose` may issue nothing although warps are eligible


def parameters_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the parameters of a function as one would write them: *more, and what can only be given by name, are none that we fill."""
    kinds = inspect.Parameter
    stars: dict[int, str] = {kinds.VAR_POSITIONAL: "*", kinds.VAR_KEYWORD: "**", kinds.KEYWORD_ONLY: "*, "}
    parameters = inspect.signature(function).parameters.values()
    return tuple(stars.get(one.kind, "") + one.name for one in parameters)


def signed(mask: int) -> int:
    """Return a mask of 64 bits as hooks get it, an int64: with its highest bit it is negative."""
    return mask - (1 << SLOTS) if mask >> (SLOTS - 1) & 1 else mask


class HookedPolicy:
    """A policy made of such a class. Raises UserError for a hook that is missing, unknown, or takes something else."""

    def __init__(self, made: type[StatefulPolicy]) -> None:
        self.made, self.name = made, made.__name__
        self.functions = self._hooks()
        self.words = self._number("scheduler_words", MOST_WORDS), self._number("warp_words", MOST_WORDS)
        self.patience = self._number("patience", MOST_PATIENCE)
        self.mask = sum(1 << hook for hook in self.functions)

    def _hooks(self) -> dict[int, Callable[..., Any]]:
        """Return the hooks of the class and of those that it inherits from."""
        own = dict(inspect.getmembers(self.made, callable))
        known = {name: (hook, parameters) for hook, (name, parameters) in TOLD.items()}
        if unknown := [name for name in own if name.startswith("on_") and name not in known]:
            raise UserError(f"the policy {self.name} has no hook to be called {unknown[0]}", hint=f"there are {', '.join(known)}, begin")
        found: dict[int, Callable[..., Any]] = {}
        for name, parameters in [*((name, parameters) for name, (_, parameters) in known.items()), ("begin", BEGIN)]:
            if name not in own:
                continue
            takes = parameters_of(own[name]) if inspect.isfunction(own[name]) else ()
            if takes != parameters:
                taken = ", ".join(takes)
                raise UserError(f"{name} of the policy {self.name} takes ({taken})", hint=f"write: def {name}({', '.join(parameters)})")
            if name in known:
                found[known[name][0]] = own[name]
        if Hook.CHOOSE not in found:
            raise UserError(f"the policy {self.name} chooses no warp", hint=f"write: def choose({', '.join(TOLD[Hook.CHOOSE][1])})")
        return found

    def _number(self, name: str, most: int) -> int:
        number = getattr(self.made, name)
        if type(number) is not int or not 0 <= number <= most:
            raise UserError(f"{name} of the policy {self.name} is {number!r}", hint=f"write a whole number from 0 to {most:,}")
        return number

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what a copy in another process needs: machine code has its address in this one."""
        return hooked, (self.made,)

    @property
    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Of a scheduler's own row, and of those of its warps."""
        return (self.words[0],), (SLOTS, self.words[1])

    @property
    def begins(self) -> bool:
        """Whether it sets its rows before cycle 0, for which it may read any field of the core."""
        return hasattr(self.made, "begin")

    def begin(self, number: int, core: Any, own: np.ndarray, warps: np.ndarray) -> None:
        """Set the rows of a scheduler of the chip, which are zero, to what they are before cycle 0."""
        if self.begins:
            self._call("begin", self.made.begin, number, core, own, warps)  # type: ignore[attr-defined]

    def tell(self, hook: int, told: tuple[int, ...], now: int, own: np.ndarray, warps: np.ndarray, age: np.ndarray) -> int:
        """Call a hook in Python; return its answer, of `choose` a slot or -1."""
        name, function = TOLD[Hook(hook)][0], self.functions[hook]
        if hook != Hook.CHOOSE:
            self._call(name, function, *told, now, own, warps)
            return 0
        shown = age.view()
        shown.flags.writeable = False
        return max(self._call(name, lambda *given: int(function(*given)), *told, shown, now, own, warps), -1)

    def _call(self, name: str, function: Callable[..., Any], *given: Any) -> Any:
        try:
            with np.errstate(divide="raise", invalid="raise", over="ignore"):
                return function(*given)
        except Exception as error:
            raise UserError(f"the policy {self.name} fails in {name}: {type(error).__name__}: {error}") from None

    def failure(self, code: int) -> UserError:
        """Return the error of a run that ended for that reason: a Failure, or the hook that raised one in machine code."""
        if code == Failure.HELD:
            hint = "let choose return an eligible slot when it has waited long enough, or raise `patience` of the policy"
            return UserError(f"the policy {self.name} issued nothing for {self.patience} cycles although warps could", hint=hint)
        if code == Failure.NOT_ELIGIBLE:
            hint = "return a slot whose bit is set in eligible, or -1 to issue nothing"
            return UserError(f"the policy {self.name} chose a warp that cannot issue", hint=hint)
        hint = "--engine simpy, or engine='simpy', says which and why"
        return UserError(f"the policy {self.name} fails in {TOLD[Hook(code)][0]}: an error, or an index beyond its rows", hint=hint)

    @cached_property
    def callback(self) -> Any:
        """All hooks as machine code, which lives as long as this object. Raises UserError when Numba cannot compile one."""
        from sim.compiled.callback import FAILED, Hooks, compiled_hooks

        def plain(hook: int, a: int, b: int, c: int, now: int, own: np.ndarray, warps: np.ndarray, age: np.ndarray) -> int:
            try:
                return self.tell(hook, (a, b, c)[: len(set(TOLD[Hook(hook)][1]) - {"age", *ROWS})], now, own, warps, age)
            except UserError:
                return FAILED

        told = {int(hook): TOLD[Hook(hook)][1] for hook in self.functions}
        return compiled_hooks(Hooks(self.name, self.functions, told, self.words), plain)

    @property
    def address(self) -> int:
        """Where that machine code is."""
        return int(self.callback.address)


@lru_cache(maxsize=32)
def hooked(made: type[StatefulPolicy]) -> HookedPolicy:
    """Return a class as a policy, the same one each time, so that it is compiled once."""
    return HookedPolicy(made)
