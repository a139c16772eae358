"""An ensemble: the same work with arrays elsewhere and blocks shuffled; bands, whiskers, and what is within noise."""

import dataclasses
import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import isa
import sim
from isa.errors import UserError
from sim.causes.sensitivity import Bar, Removed, binding, sensitivity
from sim.causes.sensitivity.limits import LIMITS
from sim.causes.sensitivity.steps import Step
from sim.launch.file import load_launch
from sim.launch.placement import GAP, NEXT_PIECES, PIECE, Placed, Places
from sim.report.sensitivity import as_dict, verdict
from sim.report.sweeps import certainty, within_noise
from sim.sweeps.noise import LITTLE, costs_little
from sim.traces.ensemble import MEMBERS, member, members, moved, shuffled
from sim.traces.trace import Trace
from tests.unit.test_cli import PROGRAMS, refused, simtlab

GTX480 = sim.gpu("gtx480")


def trace(name: str = "saxpy.sass", **changes: object) -> Trace:
    return sim.execute(load_launch(PROGRAMS / name, **changes).launch)


def test_a_placement_moves_each_array_to_where_memory_is_allocated_and_keeps_them_apart() -> None:
    launch = load_launch(PROGRAMS / "saxpy.sass").launch

    def placed(number: int) -> list[Placed]:
        return Places(dataclasses.replace(launch, placement=number)).allocations

    plain, other = placed(0), placed(3)
    assert [item.address for item in plain] != [item.address for item in other]
    for here, there in zip(plain, other, strict=True):
        assert there.address >= here.address
        assert (there.address - here.address) % PIECE == 0
    assert all(first.end + GAP <= second.address for first, second in itertools.pairwise(other))
    shifts = [[there.address - here.address for here, there in zip(plain, places, strict=True)] for places in map(placed, range(1, 9))]
    assert max(shift[0] for shift in shifts) > 256 * GAP  # all together
    assert any(shift[0] % GAP for shift in shifts)  # not by whole lines of 4 KB of a part of L2
    assert max(abs(later - earlier) for shift in shifts for earlier, later in itertools.pairwise(shift)) < NEXT_PIECES * PIECE + GAP


@pytest.mark.parametrize("name", ["saxpy.sass", "cuda/spmv.sm_90.sass", "cuda/histogram.sm_90.sass"])
def test_a_moved_trace_is_what_a_launch_placed_so_executes(name: str) -> None:
    launch = load_launch(PROGRAMS / name).launch
    there = sim.execute(dataclasses.replace(load_launch(PROGRAMS / name).launch, placement=2)).arrays
    here = moved(sim.execute(launch), 2).arrays
    for field in ("access_base", "access_stride", "warp_path", "mask"):
        assert np.array_equal(getattr(here, field), getattr(there, field)), field
    assert np.array_equal(np.sort(here.scattered, axis=None), np.sort(there.scattered, axis=None))


def test_addresses_of_constants_stay_and_those_behind_them_move() -> None:
    text = "S2R R0, SR_TID.X\nSHL R0, R0, 2\nLDC R2, c[0x3][R0]\nIADD R1, R0, c[0x0][x]\nSTG [R1], R2\nEXIT\n"
    program = dataclasses.replace(isa.parse(f".param ptr x\n{text}"), constants={3: bytes(128)})
    launches = [sim.Launch(program, (1,), (32,), (np.zeros(32, np.uint32),), placement=number) for number in (0, 2)]
    plain, there = (sim.execute(launch).arrays.access_base for launch in launches)
    assert moved(sim.execute(launches[0]), 2).arrays.access_base.tolist() == there.tolist()
    assert (plain != there).tolist() == [False, True]


def test_an_access_whose_lane_0_is_idle_moves_with_its_array_too() -> None:
    """The address that lane 0 would have is below the array."""
    head = ".kernel k\n.param ptr x\n.param ptr y\nS2R R0, SR_TID.X\nISETP.EQ.U32.AND P0, PT, R0, 0, PT\n@P0 EXIT\n"
    program = isa.parse(
        head + "SHL R1, R0, 2\nIADD R1, R1, -4\nIADD R4.CC, R1, c[0x0][y]\nIADD.X R5, RZ, c[0x0][y+4]\nLDG.E R8, [R4]\nEXIT"
    )
    launch = sim.Launch(program, 1, 32, (np.zeros(64, np.float32), np.zeros(64, np.float32)))
    there = sim.execute(dataclasses.replace(launch, placement=2)).arrays
    assert np.array_equal(moved(sim.execute(launch), 2).arrays.access_base, there.access_base)


def test_shuffled_blocks_are_the_same_blocks() -> None:
    before = trace(grid=(40,), args={"n": 40 * 256})
    after = shuffled(before, 1)
    assert not np.array_equal(before.arrays.access_base, after.arrays.access_base)
    assert np.array_equal(np.sort(before.arrays.access_base), np.sort(after.arrays.access_base))
    assert sim.simulate(after, GTX480).counters["warp_instructions"] == before.warp_instructions
    firsts = [one.arrays.access_base[one.arrays.access_start[:-1][::8]] for one in (before, after)]
    assert set(firsts[0][:16]) == set(firsts[1][:16])  # within a window


def test_members_are_the_same_every_time_and_begin_with_the_trace() -> None:
    one = trace()
    found, again = members(one, 3), members(one, 3)
    assert found[0] is one
    assert [sim.simulate(each, GTX480).cycles for each in found] == [sim.simulate(each, GTX480).cycles for each in again]
    assert member(one, 0) is one


def test_arithmetic_knows_no_noise() -> None:
    chain = trace("volkov/ffma_ilp1.sass", grid=(1,), block=(64,))
    assert len({sim.simulate(each, GTX480).cycles for each in members(chain, 3)}) == 1


def test_a_bar_whose_members_disagree_is_noise() -> None:
    step = Step("l2.ways", 16, None, 18)
    assert Bar(step, None, 1.01, False, None, (0.99, 1.03)).is_noise
    assert not Bar(step, None, 1.02, False, None, (1.01, 1.03)).is_noise
    assert not Bar(step, None, 1.01).is_noise


def test_a_single_run_no_farther_off_than_the_unchanged_machine_moves_is_noise() -> None:
    step = Step("l2.ways", 16, 14, 18)
    assert Bar(step, 0.99, 1.01, noise=1.02).is_noise
    assert not Bar(step, 0.99, 1.03, noise=1.02).is_noise
    mixed = Bar(step, 0.99, 1.03, noise=1.02)
    assert [mixed.hides(speed, None) for speed in (0.97, 0.99, 1.01, 1.03)] == [False, True, True, False]
    removed = [Removed(limit, 100, 1.06, noise) for limit, noise in zip(LIMITS, (1.07, 1.0), strict=False)]
    assert [one.is_noise for one in removed] == [True, False]
    assert binding(removed[:1]) is None


def test_sensitivity_says_how_far_the_unchanged_machine_moves_by_itself() -> None:
    one = trace(grid=(40,), args={"n": 40 * 256})
    found = sensitivity(one, GTX480, parameters=False)
    cycles = [sim.simulate(each, GTX480).cycles for each in members(one, MEMBERS)]
    assert found.noise == max(cycles) / min(cycles) > 1
    assert all(row.is_noise == (1 / found.noise <= row.speed_up <= found.noise) for row in found.removed)
    assert f"5 runs with arrays elsewhere and neighbouring blocks in another order differ by {found.noise - 1:.1%}" in verdict(found)
    assert as_dict(found)["noise"] == found.noise
    still = sensitivity(trace("volkov/ffma_ilp1.sass", grid=(1,), block=(64,), args={"iterations": 2}), GTX480, parameters=False)
    assert still.noise == 1
    assert not any(row.is_noise for row in still.removed)
    assert "take the same" in verdict(still)


def test_a_sweep_says_which_points_are_no_different_from_the_best(tmp_path: Path) -> None:
    """strided at stride 32 moves by 2 % where arrays lie elsewhere."""
    file = tmp_path / "r.json"
    swept = simtlab("sweep", PROGRAMS / "access" / "strided.sass", "--over", "dram.bandwidth=177,178,100", "--json", file)
    assert swept.exit_code == 0, swept.output
    rows = {row["dram.bandwidth"]: row for row in json.loads(file.read_text())}
    assert rows[100]["cycles"] > 1.1 * rows[177]["cycles"]
    assert [rows[speed]["within_noise"] for speed in (177, 178, 100)].count(True) == 1
    assert not rows[100]["within_noise"]
    assert "within noise" in swept.stdout
    assert "1 other point is within that noise; --repeat 5 gives every point a band" in swept.stdout


def test_bands_that_overlap_that_of_the_best_are_within_noise() -> None:
    bands = {"cycles_low": [98, 101, 104], "cycles_high": [102, 103, 106]}
    frame = pd.DataFrame({"cycles": [100, 102, 105], "ipc": [1, 100 / 102, 100 / 105], "error": None} | bands)
    for column in ("cycles", "ipc"):
        assert list(within_noise(frame, column, None)) == [False, True, False]
    assert within_noise(frame, "cycles_low", None) is None
    assert list(within_noise(frame.drop(columns=list(bands)), "ipc", 1.03)) == [False, True, False]


def test_a_sweep_without_noise_says_how_to_get_it() -> None:
    frame = pd.DataFrame({"cycles": [100, 102], "error": None})
    assert certainty(frame, "cycles", None).startswith("no noise was measured")
    assert "--repeat 5" in certainty(frame, "cycles", None)
    assert costs_little(LITTLE / MEMBERS, 0)
    assert not costs_little(LITTLE / MEMBERS + 1, 10 * LITTLE - 1)
    assert costs_little(2 * LITTLE / MEMBERS, 20 * LITTLE)


@pytest.mark.slow
def test_sensitivity_sweep_and_compare_repeat(tmp_path: Path) -> None:
    small = load_launch(PROGRAMS / "copy" / "copy_4_float.sass", grid=(64,)).launch
    found = sensitivity(sim.execute(small), GTX480, repeat=3)
    bars = {bar.step.field: bar for bar in found.bars}
    assert all(bar.lower_range for bar in found.bars if bar.lower)
    low, high = bars["dram.latency"].higher_range or (2, 2)
    assert low <= (bars["dram.latency"].higher or 0) <= high < 1
    file = tmp_path / "r.json"
    options = ("--gpu", "gtx480", "--grid", "64", "--repeat", "3", "--json", file)
    over = ("--over", "dram.bandwidth=100,200", "--figure", tmp_path / "f.png")
    swept = simtlab("sweep", PROGRAMS / "copy" / "copy_4_float.sass", *options, *over).stdout
    assert "cycles_low, cycles_high: of runs that differ in where arrays lie" in swept
    for row in json.loads(file.read_text()):
        assert row["cycles_low"] <= row["cycles_median"] <= row["cycles_high"]
    printed = simtlab("compare", PROGRAMS / "copy" / "copy_4_float.sass", *options, "--set-b", "dram.bandwidth=100").stdout
    assert "Over 3 placements" in printed
    assert len(json.loads(file.read_text())["speed_ups"]) == 3


def test_repeat_without_steps_is_refused() -> None:
    assert "--repeat is of steps" in refused("sensitivity", PROGRAMS / "saxpy.sass", "--limits-only", "--repeat", "2")


def test_repeat_is_at_least_one() -> None:
    with pytest.raises(UserError, match="repeat"):
        sim.sweep(load_launch(PROGRAMS / "saxpy.sass").launch, GTX480, {"l2.ways": [8]}, repeat=0)


def test_python_sweeps_mark_what_lies_within_noise() -> None:
    """As the command does: by five runs of the fastest point, where nobody asks for bands."""
    launch = load_launch(PROGRAMS / "copy" / "copy_4_float.sass", grid=(64,)).launch
    over = {"dram.latency": [480, 481, 960]}
    found = sim.sweep(launch, GTX480, over, workers=1)
    band = sim.sweep(launch, GTX480, {"dram.latency": [480]}, workers=1, repeat=5).iloc[0]
    assert found.attrs["noise"] == pytest.approx(band["cycles_high"] / band["cycles_low"])
    assert 1 < found.attrs["noise"] < 1.5
    assert found["within_noise"].tolist() == [False, True, False]
    single = sim.sweep(launch, GTX480, over, workers=1, repeat=1)
    assert "within_noise" not in single
    assert single["cycles"].tolist() == found["cycles"].tolist()
