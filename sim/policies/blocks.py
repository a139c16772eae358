"""How blocks go to SMs: a score for each SM with a free place. The highest takes the block, of equals the lowest number.

The scores of the built-in policies are in `block_scores.py`. A function of a user's, `def mine(sm, free, last, block, sms): return free`,
takes what those take, but the group, and returns any number; it must depend on nothing else.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import PlainSerializer, WrapValidator

from isa.errors import UserError
from sim.policies.stateful import parameters_of
from sim.policies.user import of_module


class BlockPolicy(IntEnum):
    """Which SM takes the next block."""

    EMPTIEST = 0
    ROUND_ROBIN = 1
    FILL_FIRST = 2
    GROUPED = 3


NamedBlockPolicy = Literal["emptiest", "round_robin", "fill_first", "grouped"]
Order = Literal["launch", "largest_first"]
PARAMETERS = ("sm", "free", "last", "block", "sms")
BY_BLOCKS = 64  # what has failed when a policy of blocks has; below that are hooks and failures of policies of warps
OTHERS = BlockPolicy.GROUPED + 1  # numbers from here on are addresses


class OwnBlockPolicy:
    """A user's function as a policy. Raises UserError when it does not take `sm, free, last, block, sms`."""

    def __init__(self, made: Callable[[int, int, int, int, int], float]) -> None:
        self.made, self.name = made, getattr(made, "__name__", "policy")
        taken = ", ".join(parameters_of(made))
        if taken != ", ".join(PARAMETERS):
            hint = f"write: def {self.name}({', '.join(PARAMETERS)}): return free"
            raise UserError(f"the block policy {self.name} takes ({taken})", hint=hint)

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what a copy in another process needs: machine code has its address in this one."""
        return own, (self.made,)

    def choose(self, free: Sequence[int], last: int, block: int) -> int:
        """Return the SM that takes the block: of those with free places, of which there is one. free: of each SM."""
        takers = [sm for sm, places in enumerate(free) if places > 0]
        try:
            scores = [self.made(sm, int(free[sm]), last, block, len(free)) for sm in takers]
            if unusable := [score for score in scores if not isinstance(score, int | float | np.number) or math.isnan(score)]:
                raise ValueError(f"its score is {unusable[0]!r}")
            return takers[scores.index(max(scores))]  # index: the first of equals
        except Exception as error:
            raise UserError(f"the block policy {self.name} fails: {type(error).__name__}: {error}") from None

    @cached_property
    def callback(self) -> Any:
        """The same choice as machine code, which lives as long as this object. Raises UserError when Numba cannot compile it."""
        from sim.compiled.callback import compiled_block_policy

        return compiled_block_policy(self.made, self.choose)

    @property
    def number(self) -> int:
        """By which the Numba engine knows it: where that machine code is."""
        return int(self.callback.address)

    def failure(self) -> UserError:
        """Return the error of a run in whose machine code it failed."""
        return UserError(f"the block policy {self.name} fails", hint="--engine simpy, or engine='simpy', says why")


@lru_cache(maxsize=32)
def own(made: Callable[..., Any]) -> OwnBlockPolicy:
    """Return a function as a policy, the same one each time, so that it is compiled once."""
    return OwnBlockPolicy(made)


def block_policy(value: Any, otherwise: Callable[[Any], Any]) -> Any:
    """Return a function as a policy; what is none as `otherwise` says."""
    if isinstance(value, OwnBlockPolicy):
        return value
    return own(value) if inspect.isfunction(value) else otherwise(value)


AnyBlockPolicy = Annotated[NamedBlockPolicy, WrapValidator(block_policy), PlainSerializer(lambda policy: policy)]  # of `blocks.policy`


def block_policy_of_file(path: Path, name: str) -> OwnBlockPolicy:
    """Return the function `name` of a Python file as a policy. Runs the file. Raises UserError: file and line."""
    return own(of_module(path, name, f"def {name}({', '.join(PARAMETERS)}): return free", inspect.isfunction))


def block_policy_number(policy: str | OwnBlockPolicy) -> int:
    """Return the number by which the Numba engine knows a policy."""
    return policy.number if isinstance(policy, OwnBlockPolicy) else int(BlockPolicy[policy.upper()])


def start_order(order: Order, work: np.ndarray) -> np.ndarray:
    """Return the blocks in the order in which they start. work: warp instructions of each block, which no hardware knows."""
    return np.argsort(-work, kind="stable") if order == "largest_first" else np.arange(len(work))
