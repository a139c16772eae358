"""Scheduling policies: which of the ready warps a scheduler issues next. Pure functions that both engines call.

Each takes what it names of
    eligible    uint64   bit l set: warp slot l of this scheduler could issue now (never 0)
    last        int64    slot that issued last; ~slot (negative) once that warp has ended; ~63 at the start
    age         int64 [64]   launch order of the warp in each slot; smaller is older
    group_size  int64    warps per fetch group (two_level only)
    in_turn     bool     the instruction issued last yields, or the pipe of a ready warp takes one again just now (gtyr only)
and returns the chosen slot. A new policy is its name in `sim.policies.Policy` and one function here, in `FUNCTIONS`; without it the
import fails. A user's own policy (`sim.policies.user`) is called by its address.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sim.compiled.callback import BUILT_IN, call
from sim.compiled.generated import calling, generated, switch
from sim.compiled.kernel import bit, first_bit, inner, kernel
from sim.policies import Policy


@inner
def above(slot: int) -> int:
    """Return the mask of all slots after `slot`."""
    if slot >= 63:
        return np.uint64(0)
    return ~np.uint64(0) << np.uint64(slot + 1)


@inner
def can_repeat(eligible: int, last: int) -> bool:
    """Return whether the warp that issued last could issue again."""
    return last >= 0 and (eligible & bit(last)) != np.uint64(0)


@inner
def loose_round_robin(eligible: int, last: int, age: np.ndarray, group_size: int) -> int:
    """Return the next eligible slot after the last one."""
    later = eligible & above(last if last >= 0 else ~last)
    return first_bit(later) if later != np.uint64(0) else first_bit(eligible)


@inner
def first_by_age(eligible: int, age: np.ndarray, sign: int) -> int:
    """Return the eligible slot with the smallest sign * age: the oldest for 1, the youngest for -1."""
    best = first_bit(eligible)
    rest = eligible & (eligible - np.uint64(1))
    while rest != np.uint64(0):
        slot = first_bit(rest)
        if sign * age[slot] < sign * age[best]:
            best = slot
        rest &= rest - np.uint64(1)
    return best


@inner
def oldest_first(eligible: int, last: int, age: np.ndarray, group_size: int) -> int:
    """Return the eligible warp launched first."""
    return first_by_age(eligible, age, np.int64(1))


@inner
def youngest_first(eligible: int, last: int, age: np.ndarray, group_size: int) -> int:
    """Return the eligible warp launched last."""
    return first_by_age(eligible, age, np.int64(-1))


@inner
def greedy_then_oldest(eligible: int, last: int, age: np.ndarray, group_size: int) -> int:
    """Return the warp that issued last if it can go on, else the oldest."""
    return last if can_repeat(eligible, last) else oldest_first(eligible, last, age, group_size)


@inner
def greedy_then_youngest(eligible: int, last: int, age: np.ndarray, group_size: int) -> int:
    """Return the warp that issued last if it can go on, else the youngest (CGGTY of Huerta et al., MICRO 2025)."""
    return last if can_repeat(eligible, last) else youngest_first(eligible, last, age, group_size)


@inner
def greedy_then_rotate(eligible: int, last: int, age: np.ndarray, group_size: int) -> int:
    """Return the warp that issued last if it can go on, else the next slot after it."""
    return last if can_repeat(eligible, last) else loose_round_robin(eligible, last, age, group_size)


@inner
def greedy_then_youngest_or_rotate(eligible: int, last: int, age: np.ndarray, in_turn: bool) -> int:
    """Return the warp that issued last if it can go on, else the next slot after it where warps are served in turn, else the youngest.

    It comes near what an H100 and an H200 were seen to do: programs/measurements/DEVIATIONS.md, D42.
    """
    if can_repeat(eligible, last):
        return last
    return loose_round_robin(eligible, last, age, np.int64(0)) if in_turn else youngest_first(eligible, last, age, np.int64(0))


@inner
def two_level(eligible: int, last: int, age: np.ndarray, group_size: int) -> int:
    """Return the next slot, round robin, in the fetch group of the last one; the next group only when that has none ready.

    Narasiman et al., "Improving GPU performance via large warps and two-level warp scheduling", MICRO 2011.
    """
    start = ((last if last >= 0 else ~last) // group_size) * group_size
    group = above(start - 1) & ~above(start + group_size - 1) if start > 0 else ~above(group_size - 1)
    mine = eligible & group
    if mine != np.uint64(0):
        return loose_round_robin(mine, last, age, group_size)
    return loose_round_robin(eligible, start + group_size - 1, age, group_size)


FUNCTIONS = {
    Policy.LRR: loose_round_robin,
    Policy.GTO: greedy_then_oldest,
    Policy.GTY: greedy_then_youngest,
    Policy.GTR: greedy_then_rotate,
    Policy.OLDEST: oldest_first,
    Policy.TWO_LEVEL: two_level,
    Policy.GTYR: greedy_then_youngest_or_rotate,
}


def chooser(functions: Mapping[Policy, Any]) -> Any:
    """Return the kernel that calls the function of a policy by its number. Raises ValueError naming a policy without one."""
    if missing := [policy.name for policy in Policy if policy not in functions]:
        raise ValueError(f"policies without a function: {', '.join(missing)}")
    given = ["eligible", "last", "age", "group_size", "in_turn"]
    cases = {policy: [f"return {calling(function, given)}"] for policy, function in functions.items()}
    names = {function.__name__: function for function in functions.values()} | {"int64": np.int64}
    return generated("built_in", ", ".join(["policy", *given]), [*switch("policy", cases), "return int64(-1)"], names, inner)


built_in = chooser(FUNCTIONS)


@inner
def chosen(policy: int, eligible: int, last: int, age: np.ndarray, group_size: int, in_turn: bool) -> int:
    """Return the slot that the policy of that number, or at that address, picks."""
    return built_in(policy, eligible, last, age, group_size, in_turn) if policy < BUILT_IN else call(policy, eligible, last, age)


@kernel
def choose(policy: int, eligible: int, last: int, age: np.ndarray, group_size: int, in_turn: bool) -> int:
    """Return what `chosen` does, to Python."""
    return chosen(policy, eligible, last, age, group_size, in_turn)
