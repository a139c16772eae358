"""A register file cache, counted by hand; and what its reproduction judges."""

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from programs.register_cache import savings
from programs.reproductions import reproduce
from sim.analysis.register_cache import Counts, register_cache, uses
from sim.traces.trace import Trace


def trace(*lines: str, args: tuple[np.ndarray, ...] = ()) -> Trace:
    head = [".kernel counted", *(".param ptr out" for _ in args)]
    return sim.execute(sim.Launch(isa.parse("\n".join([*head, *lines, "EXIT"]) + "\n"), (2,), (64,), args))  # 4 warps


FOUR = ("MOV R1, 1", "MOV R2, 2", "IADD R3, R1, R2", "IADD R4, R3, R3", "IADD R5, R4, R1")


@pytest.mark.parametrize(
    ("entries", "reads_left", "writes_left"),
    [
        (0, 5, 5),  # no cache: the register file sees everything
        (1, 2, 1),  # R2 pushes out R1, which is read twice yet; R2, R3 and R4 are read before they go
        (2, 1, 1),  # R3 pushes out R1, which the last instruction reads; R2 and R3 are dead when they go
        (3, 1, 1),  # R4 pushes out R1
        (4, 0, 0),  # R1 to R4 all have a place
    ],
)
def test_counts_by_hand(entries: int, reads_left: int, writes_left: int) -> None:
    left = Counts(4 * 5, 4 * 5, 4 * reads_left, 4 * writes_left, 0)
    assert register_cache(trace(*FOUR), entries) == left


def test_the_shares_are_of_what_the_program_asks_for() -> None:
    found = register_cache(trace(*FOUR), 2)
    assert (found.reads_saved, found.writes_saved) == (0.8, 0.8)


def test_an_awaited_load_empties_the_cache_and_passes_it_by() -> None:
    loaded = trace(
        "MOV R1, c[0x0][out]",
        "MOV R2, 7",
        "LDG R3, [R1]",
        "IADD R4, R2, 1",
        "IADD R5, R3, R2",
        "IADD R6, R5, R2",
        args=(np.zeros(4, np.int32),),
    )
    stays, leaves = (register_cache(loaded, 8, leaves) for leaves in (False, True))
    assert (stays.reads, stays.writes, stays.returned) == (4 * 6, 4 * 6, 4)
    assert (stays.reads_left, stays.writes_left) == (4 * 1, 4 * 1)  # R3 is not in it
    assert (leaves.reads_left, leaves.writes_left) == (4 * 3, 4 * 2)  # R2 goes back and is read there twice; R1 and R4 are dead


def test_lanes_that_are_not_overwritten_keep_a_value_alive() -> None:
    parted = ("S2R R0, SR_LANEID", "ISETP.LT.AND P0, PT, R0, 8, PT", "MOV R1, 1", "{}MOV R1, 2", "MOV R2, 3", "IADD R3, R1, R2")
    pushing = ("MOV R4, 4", "MOV R5, 5")  # R1 has gone when a part of its lanes, or all of them, is written again
    for guard, left in (("@P0 ", 1), ("", 0)):  # the first R1 goes back and is read in the register file; or it is dead
        found = register_cache(trace(*parted[:3], *pushing, *(line.format(guard) for line in parted[3:])), 2)
        assert (found.reads_left, found.writes_left) == (4 * left, 4 * left)


def test_instructions_that_no_lane_executes_touch_nothing() -> None:
    never = trace("ISETP.EQ.AND P0, PT, RZ, 1, PT", "@P0 IADD R1, R2, R3")
    assert register_cache(never, 4) == Counts(0, 0, 0, 0, 0)


def test_values_are_counted_by_their_reads() -> None:
    found = uses(trace("MOV R1, 1", "MOV R2, 2", "IADD R3, R1, R1", "MOV R1, 3", "MOV R6, 6", "IADD R4, R2, R1", "IADD R5, R3, R1"))
    # the first R1 once and at once, R2 once but late, R3 once but late, the second R1 twice; R4, R5 and R6 never
    assert found == (4 * 7, 4 * 3, 4 * 3, 4 * 1)


@pytest.mark.slow
def test_the_papers_means_come_out_and_could_fail() -> None:
    found = reproduce("register-cache")
    judged = [check for check in found.checks if check.passed is not None]
    assert [check.passed for check in judged] == [True] * 3
    counts, seldom = Counts(100, 100, 90, 80, 0), savings.uses(trace(*FOUR))._replace(once=0)
    poor = {"poor": savings.Kernel(dict.fromkeys(savings.SIZES, counts), {}, seldom)}
    said = savings.published(savings.FOLDER)
    assert [check.passed for check in savings.judged(poor, said) if check.passed is not None] == [False] * 3


def test_an_architecture_without_listings_is_named() -> None:
    with pytest.raises(UserError, match="sm_35"):
        reproduce("register-cache", "k20c")
