"""Occupancy in words: following a next step does what it says."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sim
from sim.gpus.occupancy import occupancy
from sim.report.occupancy import Use, as_dict, largest, next_steps, report

GTX480 = sim.gpu("gtx480")


def test_report(golden: Callable[[str, str], None]) -> None:
    golden("occupancy", report(GTX480, (16, 16), 21, 4096))


def test_one_register_less_gives_one_more_block() -> None:
    assert next_steps(GTX480, Use(256, 21, 0)) == ["use 1 fewer register per thread (20) to get one more block (6 instead of 5)"]


def test_a_full_sm_has_no_next_step() -> None:
    assert next_steps(GTX480, Use(192, 20, 0)) == []
    assert "none, the SM holds all the warps it can" in report(GTX480, 192, 20, 0)


def test_shared_memory_and_registers_that_limit_together_must_shrink_together() -> None:
    use = Use(256, 32, 12288)
    assert set(occupancy(GTX480, *use).limiters) == {"registers", "shared"}
    assert "both" in next_steps(GTX480, use)[0]


def test_a_block_too_large_says_so() -> None:
    assert "A block does not fit: 2000 threads per block, at most 1024" in report(GTX480, 2000, 16, 0)


@given(st.sampled_from(["g80", "gtx480", "h100"]), st.integers(1, 512), st.integers(1, 63), st.integers(0, 49152))
def test_following_a_step_holds_more(name: str, block: int, registers: int, shared: int) -> None:
    gpu, use = sim.gpu(name), Use(block, registers, shared)
    before = occupancy(gpu, *use)
    for step in next_steps(gpu, use):
        if found := re.match(r"use \d+ fewer registers? per thread \((\d+)\)", step):
            after = occupancy(gpu, block, int(found[1]), shared)
            assert after.blocks > before.blocks
            assert occupancy(gpu, block, int(found[1]) + 1, shared).blocks == before.blocks, "the smallest saving that helps"
        elif found := re.match(r"use [\d,]+ bytes less shared memory per block \(([\d,]+)\)", step):
            assert occupancy(gpu, block, registers, int(found[1].replace(",", ""))).blocks > before.blocks
        elif found := re.match(r"use blocks of (\d+) threads", step):
            assert occupancy(gpu, int(found[1]), registers, shared).fraction > before.fraction


@given(st.integers(-5, 40), st.integers(-5, 40), st.integers(-5, 40))
def test_largest_finds_the_last_that_fits(low: int, high: int, limit: int) -> None:
    fitting = [n for n in range(low, high + 1) if n <= limit]
    assert largest(lambda n: n <= limit, low, high) == (fitting[-1] if fitting else None)


def test_plain_values_have_no_stand_in_for_unlimited() -> None:
    plain = as_dict(GTX480, Use(256, 21, 0))
    assert plain["occupancy"]["by_limiter"]["shared"] is None
    assert len(plain["curve"]) == 32


@pytest.mark.parametrize("block", [1, 31, 32, 33, 1024])
def test_the_curve_marks_the_launch_once(block: int) -> None:
    assert report(GTX480, block, 16, 0).count("<- this launch") == 1
