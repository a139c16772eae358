"""Policies with state, worked out by hand; every test runs on both engines."""

from typing import Any

import numpy as np
import pytest

from isa.errors import UserError
from sim.policies.stateful import StatefulPolicy

WAIT = "LDG R0, [R4]\nFADD R1, R0, R0\nFADD R2, R3, R3\nEXIT"
FREE = "FADD R0, R1, R2\nFADD R3, R4, R5\nEXIT"


class FromTen(StatefulPolicy):
    """The lowest slot, from cycle 10 on."""

    @staticmethod
    def choose(eligible: int, loads: int, last: int, age: np.ndarray, now: int, own: np.ndarray, warps: np.ndarray) -> int:
        if now < 10:
            return -1
        for slot in range(64):
            if eligible >> slot & 1:
                return slot
        return -1


class Never(FromTen):
    """No warp, with little patience."""

    patience = 3

    @staticmethod
    def choose(eligible: int, loads: int, last: int, age: np.ndarray, now: int, own: np.ndarray, warps: np.ndarray) -> int:
        return -1


class Polite(FromTen):
    """The second scheduler waits for cycle 24, the first does not."""

    patience = 3
    scheduler_words = 1

    @staticmethod
    def begin(number: int, core: Any, own: np.ndarray, warps: np.ndarray) -> None:
        own[0] = 24 * number

    @staticmethod
    def choose(eligible: int, loads: int, last: int, age: np.ndarray, now: int, own: np.ndarray, warps: np.ndarray) -> int:
        return 0 if now >= own[0] else -1


class Every(StatefulPolicy):
    """The lowest slot that does not load, in even cycles; loads in odd ones."""

    @staticmethod
    def choose(eligible: int, loads: int, last: int, age: np.ndarray, now: int, own: np.ndarray, warps: np.ndarray) -> int:
        wanted = loads if now % 2 else eligible & ~loads
        for slot in range(64):
            if wanted >> slot & 1:
                return slot
        return -1


class LoserFirst(FromTen):
    """The warp whose lines were replaced most often, of equals the lowest slot."""

    warp_words = 1

    @staticmethod
    def on_evict(slot: int, line: int, now: int, own: np.ndarray, warps: np.ndarray) -> None:
        warps[slot, 0] += 1

    @staticmethod
    def choose(eligible: int, loads: int, last: int, age: np.ndarray, now: int, own: np.ndarray, warps: np.ndarray) -> int:
        best = -1
        for slot in range(64):
            if eligible >> slot & 1 and (best < 0 or warps[slot, 0] > warps[best, 0]):
                best = slot
        return best


def test_a_policy_may_issue_nothing(run: Any) -> None:
    """Nothing in cycles 0 to 9: ten not selected of the warp, and of the slots; the rest as without a policy."""
    done = run(FREE, core__policy=FromTen)
    assert done.first() == [10, 11, 12]
    assert done.stalls(0) == {"selected": 1, "not_selected": 10}
    assert done.result.issue_slots == {"not_selected": 10, "selected": 3, "tail": done.result.cycles - 13}


def test_what_a_port_and_what_a_policy_withholds_are_told_apart(run: Any) -> None:
    """LDG in odd cycles only: 1, and 3 (the port of 16 lanes is held in cycle 2); FADD in even ones."""
    done = run("LDG R0, [R4]\nLDG R1, [R5]\nFADD R2, R3, R3\nEXIT", core__policy=Every)
    assert done.first() == [1, 3, 4, 6]
    assert done.stalls(1) == {"selected": 1, "lg_throttle": 1}
    assert done.result.issue_slots["not_selected"] == 2  # cycles 0 and 5
    assert done.result.issue_slots["lg_throttle"] == 1


def test_a_slot_waits_for_the_issue_interval_first(run: Any) -> None:
    done = run(FREE, core__policy=Every, core__issue_interval=3)
    assert done.first() == [0, 4, 8]  # free in 3 and 7, which are odd
    assert done.result.issue_slots["not_selected"] == 2


def test_a_policy_that_never_issues_ends_the_run(run: Any) -> None:
    with pytest.raises(UserError, match="the policy Never issued nothing for 3 cycles although warps could"):
        run(FREE, core__policy=Never)


def test_patience_counts_while_nothing_issues_on_the_sm(run: Any) -> None:
    """The other scheduler issues in every cycle to 20: only then is it certain that nobody will come to help."""
    listing = "".join(f"FADD R{number}, R40, R41\n" for number in range(20))
    done = run(f"{listing}EXIT", warps=2, core__schedulers=2, core__policy=Polite)
    assert done.first(0)[-1] == 20
    assert done.first(1)[0] == 24  # 0 to 23 withheld, the last three of them while nothing issued


def test_a_warp_that_waits_for_memory_leaves_the_active_set(run: Any) -> None:
    """One place. Warp 0 loads in 0 and leaves, warp 1 in 2 (the port). Warp 0 is back in 100 and keeps the place to its end in 102;
    warp 1, ready in 102, follows. Round robin would issue warp 1 in 102."""
    done = run(WAIT, warps=2, core__policy="two_level_active", core__group_size=1)
    assert done.first(0) == [0, 100, 101, 102]
    assert done.first(1) == [2, 103, 104, 105]
    assert run(WAIT, warps=2, core__policy="lrr").first(1)[1] == 102


def test_an_active_set_of_two_takes_turns(run: Any) -> None:
    """Three warps, two places: 0 and 1 in turn; when 0 ends in cycle 4, warp 2 has its place, and its turn comes after 1."""
    done = run(FREE, warps=3, core__policy="two_level_active", core__group_size=2)
    assert [done.first(warp) for warp in range(3)] == [[0, 2, 4], [1, 3, 5], [6, 7, 8]]


def test_a_warp_at_a_barrier_gives_its_place_to_those_that_have_to_come(run: Any) -> None:
    done = run("BAR.SYNC 0\nEXIT", warps=3, core__policy="two_level_active", core__group_size=1, core__barrier_latency=7)
    assert [done.first(warp)[0] for warp in range(3)] == [0, 1, 2]
    assert [done.first(warp)[1] for warp in range(3)] == [9, 10, 11]


def test_the_most_work_left_goes_first(run: Any) -> None:
    """Equal warps take turns, the older first; the critical one is kept to while it can go on."""
    assert [run(FREE, warps=2, core__policy="remaining_work").first(warp) for warp in range(2)] == [[0, 2, 4], [1, 3, 5]]
    assert [run(FREE, warps=2, core__policy="criticality").first(warp) for warp in range(2)] == [[0, 1, 2], [3, 4, 5]]


def test_ccws_without_lost_locality_is_greedy_then_oldest(run: Any) -> None:
    for listing in (WAIT, FREE):
        one, other = (run(listing, warps=4, core__policy=name) for name in ("ccws", "gto"))
        assert [one.first(warp) for warp in range(4)] == [other.first(warp) for warp in range(4)]
