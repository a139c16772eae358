"""Samples of blocks: what is executed, the plan, the estimate and its bar, what is refused; slow: 25 programs against whole runs."""

import dataclasses
import json
import math
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import isa
import sim
from isa.errors import UserError
from sim.cli import app
from sim.functional import execute
from sim.launch.launch import Launch
from sim.report import text
from sim.result.result import Result
from sim.sampling import Wanted, estimate, run
from sim.sampling.estimate import Estimate, error_of_mean, student
from sim.sampling.plan import MOST, Plan, plan
from sim.traces.trace import work_of_blocks
from tests.compare import first_difference
from tests.sampled import CASES, Compared, compare, saxpy

PROGRAMS = Path(__file__).parents[2] / "programs"
GTX480 = sim.gpu("gtx480").replace({"sms": 2})
UNEVEN = """
.kernel uneven
        S2R R0, SR_CTAID.X
        LOP.AND R0, R0, 7
.Loop:  ISETP.EQ.AND P0, PT, R0, RZ, PT
   @P0  EXIT
        IADD32I R0, R0, -1
        FADD R1, R1, 1
        BRA .Loop
"""
WAITING = """
.kernel waiting
.param ptr flags
        S2R R0, SR_CTAID.X
        SHL R1, R0, 2
        IADD R2, R1, c[0x0][flags]
        MOV R3, 1
        ST [R2+4], R3
.Loop:  LD R4, [R2]
        ISETP.EQ.AND P0, PT, R4, RZ, PT
   @P0  BRA .Loop
        EXIT
"""


def small(blocks: int = 600) -> Launch:
    grid, block, args = saxpy(blocks)
    return Launch(isa.load(PROGRAMS / "saxpy.sass"), grid=grid, block=block, args=args)


def uneven(blocks: int) -> Launch:
    return Launch(isa.parse(UNEVEN), grid=(blocks,), block=(64,))


@cache
def sampled() -> Result:
    return run(small(), GTX480, 0.3)


def mistake(launch: Launch, **options: Any) -> str:
    with pytest.raises(UserError) as caught:
        sim.run(launch, options.pop("gpu", GTX480), **{"sample": True, **options})
    return str(caught.value)


# What is executed


def test_chosen_blocks_do_what_they_do_in_the_whole_launch() -> None:
    launch, chosen = uneven(40), np.array([1, 7, 8, 30, 39])
    whole, some = execute(launch), execute(launch, blocks=chosen)
    assert work_of_blocks(some).tolist() == work_of_blocks(whole)[chosen].tolist()
    assert some.launch.blocks == 5


def test_chosen_blocks_have_their_addresses_and_the_grid_of_the_whole_launch() -> None:
    launch = small(60)
    whole, some = execute(small(60)), execute(launch, blocks=np.array([3, 59]))
    base = whole.arrays.access_base.reshape(60, -1)
    assert some.arrays.access_base.reshape(2, -1).tolist() == base[[3, 59]].tolist()


def test_the_arrays_of_a_sampled_launch_stay_as_they_are() -> None:
    launch = small()
    before = launch.args[3].copy()
    run(launch, GTX480, 0.3)
    assert (launch.args[3] == before).all()


def test_block_starts_and_ends_are_the_same_in_both_engines() -> None:
    trace = execute(small(40))
    numba, simpy = (sim.simulate(trace, GTX480, engine=engine) for engine in sim.ENGINES)
    assert first_difference(numba, simpy) is None
    assert numba.block_starts.tolist() == simpy.block_starts.tolist()
    assert (np.diff(numba.block_starts) >= 0).all()
    places = GTX480.sms * numba.occupancy.blocks
    assert numba.block_starts[:places].max() < numba.block_starts[places] < numba.cycles
    assert (numba.block_starts < numba.block_ends).all()
    assert numba.block_ends.max() == numba.cycles
    for what in ("start", "end"):
        moved = {f"block_{what}s": getattr(numba, f"block_{what}s") + (np.arange(40) == 9)}
        assert f"{what} of block 9" in str(first_difference(numba, dataclasses.replace(numba, **moved)))


# The plan


@given(st.integers(1, 400_000), st.integers(1, 900), st.integers(0, 60), st.floats(0.5, 300), st.booleans())
def test_a_plan_is_whole_waves_in_launch_order_and_not_most_of_the_launch(
    blocks: int, places: int, cold: int, affordable: float, even: bool
) -> None:
    found = plan(blocks, places, cold, affordable, even)
    if found is None:
        assert blocks // places < 15 / MOST
        return
    chosen = found.chosen
    assert (np.diff(chosen) > 0).all()
    assert chosen[0] == 0
    assert chosen[-1] == blocks - 1
    assert all(count % places == 0 for _, count in found.pieces[:-1])
    assert len(chosen) % places == blocks % places
    assert len(chosen) <= MOST * blocks + places
    assert len(chosen) <= max(affordable, 15) * places + blocks % places + places
    assert found.cold + found.left + found.end == blocks
    assert 0 < found.filled <= 1


# The estimate


def regular(found: Plan, cycles: int) -> np.ndarray:
    """Return when the blocks of a sample start on a chip that takes so many cycles for each wave."""
    return np.arange(len(found.chosen)) // found.places * cycles


def test_the_estimate_of_equal_waves_is_exact_and_its_bar_is_what_nothing_shows() -> None:
    found = plan(1_000_007, 16, 6, 100, True)
    assert found is not None
    work = np.full(len(found.chosen), 50)
    starts = regular(found, 300)
    issued = estimate.instructions(1_000_007, work[:32])
    time = estimate.cycles(found, starts, int(starts[-1]) + 300, work, issued)
    assert issued == (50_000_350, 0)
    assert time.value == pytest.approx(300 * math.ceil(1_000_007 / 16), rel=1e-4)
    assert time.bar == pytest.approx(estimate.UNSEEN * time.value, rel=0.01)


def test_the_work_of_blocks_that_differ_carries_over_to_time() -> None:
    """Blocks farther down execute more: the waves measured are not those left out, their pace per instruction is."""
    found = plan(32_000, 16, 6, 100, False)
    assert found is not None
    every = 100 + np.arange(32_000) // 100
    work = every[found.chosen]
    starts = np.append(0, np.cumsum(work.reshape(-1, 16).sum(axis=1)))[np.arange(len(work)) // 16]
    end = int(work.sum())
    time = estimate.cycles(found, starts, end, work, Estimate(float(every.sum()), 0.0))
    assert time.value == pytest.approx(float(every.sum()), rel=0.01)


def test_the_bar_holds_in_19_of_20_draws() -> None:
    rng = np.random.default_rng(7)
    found = plan(10_000, 10, 6, 40, True)
    assert found is not None
    held, draws = 0, 400
    for _ in range(draws):
        waves = rng.normal(1000, 150, 1000)  # of the launch; every place of a wave takes as long
        truth = waves.sum()
        starts = np.repeat(np.append(0, np.cumsum(waves[found.chosen[::10] // 10]))[:-1], 10)
        work = np.full(len(found.chosen), 5)
        time = estimate.cycles(found, starts, int(waves[found.chosen[::10] // 10].sum()), work, Estimate(50_000.0, 0.0))
        held += abs(time.value - truth) <= time.bar - estimate.UNSEEN * 1000 * found.left / 10
    assert 0.9 < held / draws < 0.995


@pytest.mark.parametrize(("freedom", "value"), [(2, 4.303), (4, 2.776), (10, 2.228), (30, 2.042)])
def test_student_is_that_of_the_tables(freedom: int, value: float) -> None:
    assert value * 0.965 < student(freedom) <= value * 1.001


def test_a_slow_change_is_hardly_an_error() -> None:
    assert error_of_mean(np.arange(100.0)) < 0.1 < np.arange(100.0).std() / 10


# A sampled run


def test_a_sample_is_near_the_whole_run_and_says_how_near() -> None:
    whole, sample = sim.run(small(), GTX480), sampled().sample
    assert sample is not None
    assert sample.blocks < 0.45 * sample.grid == 0.45 * 600
    assert abs(sampled().cycles - whole.cycles) < min(sample.cycles_bar, 0.03 * whole.cycles)
    assert sampled().counters["warp_instructions"] == whole.counters["warp_instructions"]
    assert sampled().counters["warps"] == whole.counters["warps"]
    assert sampled().counters["dram_bytes_read"] == pytest.approx(whole.counters["dram_bytes_read"], rel=0.05)
    assert set(sampled().counters) == set(whole.counters)
    assert sampled().grid == whole.grid


def test_the_accounts_of_a_sample_are_closed() -> None:
    result = sampled()
    assert sum(result.stalls.values()) == result.counters["warp_cycles"] == result.stalls_by_instruction.sum()
    assert sum(result.issue_slots.values()) == result.counters["issue_slots"]
    assert result.counters["issue_slots"] == pytest.approx(result.cycles * 2 * 2, rel=1e-3)
    assert result.counters["cycles"] == result.cycles


def test_a_sample_is_the_same_each_time_with_any_number_of_threads() -> None:
    again = run(small(), GTX480, 0.3, Wanted(threads=2))
    assert first_difference(again, sampled()) is None
    assert again.sample == sampled().sample


def test_blocks_that_differ_are_sampled_all_over_the_launch() -> None:
    launch = uneven(6_000)
    whole, result = sim.run(launch, GTX480), run(launch, GTX480, 0.2)
    assert result.sample is not None
    assert len(result.sample.pieces) > 5
    assert abs(result.cycles - whole.cycles) < result.sample.cycles_bar
    assert result.counters["warp_instructions"] == pytest.approx(whole.counters["warp_instructions"], rel=0.01)


def test_a_launch_too_small_to_be_sampled_is_run_whole_and_says_so() -> None:
    whole, result = sim.run(small(30), GTX480), sim.run(small(30), GTX480, sample=True)
    assert result.cycles == whole.cycles
    assert result.sample is not None
    assert result.sample.whole
    assert "sampled: no, all blocks were simulated" in text.report(result)


# What is refused


def test_a_launch_of_few_long_blocks_is_refused_with_its_waves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.sampling.WHOLE", 1000)
    found = mistake(small(30))
    assert "30 blocks of some 136 warp instructions are 2.5 waves of the 12 that GeForce GTX 480 holds at once" in found
    assert "sampling takes blocks, not parts of one" in found


def test_blocks_that_wait_for_others_are_refused() -> None:
    launch = Launch(isa.parse(WAITING), grid=(600,), block=(32,), args=(np.ones(601, np.uint32) * (np.arange(601) == 0),))
    sim.run(launch, GTX480)
    again = Launch(isa.parse(WAITING), grid=(600,), block=(32,), args=((np.arange(601) == 0).astype(np.uint32),))
    assert "what is waited for may be in another one: leave the sample out" in mistake(again)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"sample": 0.8}, "no sample of 0.8 of the blocks"),
        ({"sample": 0.0}, "no sample of 0 of the blocks"),
        ({"timeline": (0, 9)}, "a sampled run has no timeline"),
        ({"check": ("race",)}, "a sampled run has no checks"),
        ({"gpu": GTX480.replace({"blocks.order": "largest_first"})}, "needs to know the work of every block"),
    ],
)
def test_what_a_sample_cannot_do_is_refused(options: dict[str, Any], part: str) -> None:
    assert part in mistake(small(), **options)


def test_a_sampled_result_has_no_moments_to_explain() -> None:
    with pytest.raises(UserError, match="a sampled run has no moments that could be explained"):
        sampled().why(0, 10)


# The command


def command(*options: str) -> tuple[int, str]:
    found = CliRunner().invoke(app, ["run", str(PROGRAMS / "saxpy.sass"), *options])
    return found.exit_code, found.output


def test_the_report_and_json_say_what_was_sampled(tmp_path: Path) -> None:
    status, out = command("--sample", "0.3", "--json", str(tmp_path / "r.json"))
    assert status == 0
    assert "sampled: 1," in out
    assert "4,096 blocks simulated" in out
    assert " ± " in out.partition("cycles of the core clock")[0]
    assert "Results equal" not in out
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["sample"]["grid"] == 4096
    assert found["sample"]["confidence"] == 0.95
    assert found["results_checked"] is False


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("--sample", "many"), "--sample many: not a share of the blocks"),
        (("--sample", "auto", "--save-trace", "t"), "no trace to write"),
        (("--sample", "auto", "--energy", "horowitz"), "does not count the instructions of all blocks"),
        (("--sample", "auto", "--timeline", "t.txt"), "no timeline"),
        (("--sample", "auto", "--check", "race"), "no checks"),
    ],
)
def test_options_that_a_sample_cannot_take_are_refused(options: tuple[str, ...], part: str) -> None:
    status, out = command(*options)
    assert status == 2
    assert part in out


# Against whole runs


compared = cache(partial(compare, share=0.15))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_sample_of_a_longer_launch_is_near_the_whole_run(name: str) -> None:
    found: Compared = compared(name)
    assert found.sampled < 0.35 * found.blocks
    assert abs(found.error) < 0.1


@pytest.mark.slow
def test_samples_are_within_3_percent_in_the_mean_and_bars_hold_in_19_of_20() -> None:
    found = [compared(name) for name in CASES]
    assert len(found) >= 20
    assert np.mean([abs(one.error) for one in found]) < 0.03
    assert np.mean([one.holds for one in found]) >= 0.95
