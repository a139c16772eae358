"""What an H100 counts where groups of lanes arrive at BSYNC one after the other, in loops and in functions that call themselves."""

from collections import defaultdict

import numpy as np
import pytest

import isa
import sim
from programs.measurements.copies import H100
from programs.published import rows

LOOPS, CALLS = ("bottom", "sides", "nest", "within"), ("one", "two", "quick", "full")
TABLE = defaultdict(list)
for row in rows(H100 / "arrivals.csv"):
    TABLE[row["kernel"]].append(row)


def numbers(row: dict[str, str]) -> np.ndarray:
    """Return int32 [64]: the two numbers of each lane, from those of its group."""
    pairs = [[int(number) for number in pair.split(":")] for pair in row["numbers"].split()]
    return np.array([pairs[int(group)] for group in row["groups"]], np.int32).T.ravel()


def missed(program: isa.Program, row: dict[str, str]) -> tuple[int, int]:
    """Return how many warp and thread instructions the H100 counts beyond those counted here."""
    trace = sim.execute(sim.Launch(program, (1,), (32,), (numbers(row), np.zeros(4096, np.int32))))
    assert (trace.true_lanes <= trace.active_lanes).all()
    return int(row["warp_instructions"]) - trace.warp_instructions, int(row["thread_instructions"]) - trace.thread_instructions


def listing(kernel: str) -> isa.Program:
    return isa.load(H100 / f"{'arrivals' if kernel in LOOPS else 'calls'}.sm_90.cubin", kernel)


@pytest.mark.parametrize("kernel", LOOPS)
def test_loops_that_groups_leave_one_after_the_other_count_as_on_the_h100(kernel: str) -> None:
    program = listing(kernel)
    assert [missed(program, row) for row in TABLE[kernel]] == [(0, 0)] * 300


@pytest.mark.parametrize("kernel", CALLS)
def test_calls_of_two_and_three_groups_count_as_on_the_h100(kernel: str) -> None:
    program = listing(kernel)
    few = [row for row in TABLE[kernel] if max(row["groups"]) < "3"]
    assert len(few) >= 200
    assert {missed(program, row) for row in few} == {(0, 0)}


@pytest.mark.parametrize("kernel", ["one", "two", "quick"])
def test_calls_of_more_groups_count_as_on_the_h100(kernel: str) -> None:
    program = listing(kernel)
    many = [row for row in TABLE[kernel] if max(row["groups"]) > "2"]
    assert [missed(program, row) for row in many] == [(0, 0)] * 50


def test_sorts_of_more_groups_count_nearly_as_on_the_h100() -> None:
    """A known deviation: 11 of 50 launches, two warp instructions too many in one of them, thread instructions up to 32 apart."""
    program = listing("full")
    many = np.array([missed(program, row) for row in TABLE["full"] if max(row["groups"]) > "2"])
    assert len(many) == 50
    assert (many[:, 0].tolist().count(0), many[:, 1].tolist().count(0)) == (49, 39)
    assert (abs(many).max(axis=0).tolist(), many.sum(axis=0).tolist()) == ([2, 32], [-2, 20])
