"""The contract of every scheduling policy, and what distinguishes each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.policies import Policy
from sim.policies.builtin import choose

masks = st.integers(1, 2**64 - 1)
ages = st.permutations(range(64))


def pick(policy: Policy, eligible: int, last: int = ~63, age: list[int] | None = None, group_size: int = 8, in_turn: bool = False) -> int:
    order = np.array(age if age is not None else range(64), np.int64)
    return int(choose(np.int64(policy), np.uint64(eligible), np.int64(last), order, np.int64(group_size), in_turn))


@pytest.mark.parametrize("policy", list(Policy))
@given(eligible=masks, last=st.integers(-64, 63), age=ages, group_size=st.integers(1, 64))
def test_every_policy_picks_an_eligible_warp_and_always_the_same(
    policy: Policy, eligible: int, last: int, age: list[int], group_size: int
) -> None:
    slot = pick(policy, eligible, last, age, group_size)
    assert eligible >> slot & 1
    assert slot == pick(policy, eligible, last, age, group_size)


@pytest.mark.parametrize("policy", [Policy.GTO, Policy.GTY, Policy.GTR, Policy.GTYR])
@given(eligible=masks, last=st.integers(0, 63), age=ages)
def test_greedy_policies_stay_with_the_last_warp(policy: Policy, eligible: int, last: int, age: list[int]) -> None:
    assert pick(policy, eligible | 1 << last, last, age) == last


@given(eligible=masks, age=ages)
def test_oldest_and_youngest_go_by_launch_order(eligible: int, age: list[int]) -> None:
    slots = [slot for slot in range(64) if eligible >> slot & 1]
    assert pick(Policy.OLDEST, eligible, 3, age) == min(slots, key=lambda slot: age[slot])
    assert pick(Policy.GTY, eligible, ~63, age) == max(slots, key=lambda slot: age[slot])


def test_round_robin_visits_every_warp_before_returning() -> None:
    eligible, last, seen = 0b1011_0110, ~63, []
    for _ in range(10):
        last = pick(Policy.LRR, eligible, last)
        seen.append(last)
    assert seen == [1, 2, 4, 5, 7, 1, 2, 4, 5, 7]


def test_rotating_differs_from_round_robin_only_in_being_greedy() -> None:
    assert pick(Policy.LRR, 0b111, last=1) == 2
    assert pick(Policy.GTR, 0b111, last=1) == 1
    assert pick(Policy.GTR, 0b101, last=1) == 2


def test_youngest_or_rotating_goes_by_age_unless_warps_are_served_in_turn() -> None:
    age = [3, 2, 1, 0]
    assert pick(Policy.GTYR, 0b1101, last=1, age=age) == 0
    assert pick(Policy.GTYR, 0b1101, last=1, age=age, in_turn=True) == 2


def test_two_level_leaves_its_group_only_when_nothing_there_is_ready() -> None:
    assert pick(Policy.TWO_LEVEL, 0b1111_0011, last=1, group_size=4) == 0
    assert pick(Policy.TWO_LEVEL, 0b1111_0000, last=1, group_size=4) == 4
    assert pick(Policy.TWO_LEVEL, 0b0000_0001, last=6, group_size=4) == 0
