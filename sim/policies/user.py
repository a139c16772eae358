"""A scheduling policy of the user's own: a score per warp. The scheduler issues the ready warp with the highest, of equals the lowest slot.

    def youngest(slot, age, last, again):
        return age

    gpu = sim.gpu("gtx480").replace({"core.policy": youngest})

slot: 0 to 63, the warp's place in its scheduler. age: its place in launch order, smaller is older. last: the slot that issued last, at
the start 63. again: whether this very warp issued last. What it returns must depend on nothing else. Both engines take it: the SimPy
engine calls it as it is; the Numba engine calls its machine code by address, and is not compiled again itself. That code takes about a
second to compile, and is kept on disk unless the policy names what the cache cannot follow (`sim.compiled.digest`).
One that has to remember something is a class: `sim.policies.stateful`.
"""

from __future__ import annotations

import importlib.util
import inspect
import traceback
from collections.abc import Callable
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import PlainSerializer, WrapValidator

from isa.errors import UserError
from sim.policies import Named, Policy
from sim.policies.stateful import HookedPolicy, StatefulPolicy, hooked, parameters_of
from sim.policies.supplied import stateful

if TYPE_CHECKING:
    import numpy as np

Score = Callable[[int, int, int, bool], float]
PARAMETERS = ("slot", "age", "last", "again")


class ScoredPolicy:
    """A policy made of a function. Raises UserError when it does not take `slot, age, last, again`."""

    def __init__(self, score: Score) -> None:
        self.score, self.name = score, getattr(score, "__name__", "score")
        names = parameters_of(score)
        if names != PARAMETERS:
            raise UserError(
                f"the policy {self.name} takes ({', '.join(names)})", hint=f"write: def {self.name}({', '.join(PARAMETERS)}): return age"
            )

    def __repr__(self) -> str:
        return self.name

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy in another process needs: machine code has its address in this one."""
        return {"score": self.score, "name": self.name}

    def choose(self, eligible: int, last: int, age: np.ndarray) -> int:
        """Return the slot chosen among those whose bit is set in `eligible`; last and age as in `sim.policies.builtin`."""
        place = last if last >= 0 else ~last
        slots = [slot for slot in range(64) if eligible >> slot & 1]
        try:
            return max(slots, key=lambda slot: float(self.score(slot, int(age[slot]), place, slot == last)))  # max: the first of equals
        except Exception as error:
            raise UserError(f"the policy {self.name} fails: {type(error).__name__}: {error}") from None

    @cached_property
    def callback(self) -> Any:
        """The same choice as machine code, which lives as long as this object. Raises UserError when Numba cannot compile the score."""
        from sim.compiled.callback import compiled

        return compiled(self.score, self.choose)

    @property
    def address(self) -> int:
        """Where that machine code is."""
        return int(self.callback.address)


OwnPolicy = ScoredPolicy | HookedPolicy


def own_policy(value: Any, otherwise: Callable[[Any], Any]) -> Any:
    """Return a function, or a class of hooks, as a policy; what is none as `otherwise` says."""
    if isinstance(value, OwnPolicy):
        return value
    if isinstance(value, type) and issubclass(value, StatefulPolicy):
        return hooked(value)
    return scored(value) if callable(value) else otherwise(value)


AnyPolicy = Annotated[Named, WrapValidator(own_policy), PlainSerializer(lambda policy: policy)]  # what `core.policy` may be


@lru_cache(maxsize=32)
def scored(score: Score) -> ScoredPolicy:
    """Return a function as a policy, the same one each time, so that it is compiled once."""
    return ScoredPolicy(score)


def of_file(path: Path, name: str) -> OwnPolicy:
    """Return the function, or the class of hooks, `name` of a Python file as a policy. Runs the file. Raises UserError: file and line."""
    found: OwnPolicy = own_policy(of_module(path, name, f"def {name}({', '.join(PARAMETERS)}): return age", _is_policy), scored)
    return found


def of_module(path: Path, name: str, example: str, fits: Callable[[Any], bool]) -> Any:
    """Return what a Python file defines under a name, if it fits. Runs the file. example: what to write. Raises UserError."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if path.suffix != ".py" or spec is None or spec.loader is None or not path.is_file():
        raise UserError(
            f"no policy {path}:{name}: there is no such Python file", hint="write FILE.py:NAME of a function or a class, or a policy's name"
        )
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).name == path.name]
        line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
        raise UserError(f"the file of the policy fails: {type(error).__name__}: {error}", path=str(path), line=line) from None
    own = {key: value for key, value in vars(module).items() if fits(value) and value.__module__ == module.__name__}
    if name not in own:
        what = f"no function {name}" + (", and no StatefulPolicy" if fits is _is_policy else "")
        raise UserError(what, path=str(path), hint=f"it has {', '.join(own)}" if own else f"write: {example}")
    return own[name]


def _is_policy(value: Any) -> bool:
    return inspect.isfunction(value) or (isinstance(value, type) and issubclass(value, StatefulPolicy))


def policy_number(policy: str | OwnPolicy) -> int:
    """Return the number by which the Numba engine knows a policy: its own, or the address of one with state or of a user's."""
    known = policy if isinstance(policy, ScoredPolicy) else stateful(policy)
    return known.address if known else int(Policy[str(policy).upper()])
