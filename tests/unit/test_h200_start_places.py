"""How launches begin, on an H200 and on the simulated one: where the code lies, and what DRAM's refresh delays.

`h200/start_places.csv`: 36 launches of each size, each with code and memory elsewhere; here as many placements.
"""

from functools import cache

import numpy as np
import pytest

import isa
import sim
from programs.measurements.population.score import H200
from programs.published import rows
from sim.result.result import Result

TABLE = [{name: int(value) for name, value in row.items()} for row in rows(H200 / "start_places.csv")]
LATE, WAITED = 500, 330  # cycles: more than launches of nothing take from either part of L2, than a parameter that no refresh delays
NOTHING, BEGUN = "_Z7nothingILi0EEvi", "_Z5begunILi0EEvPKiiiPj"


def measured(name: str, grid: int, threads: int) -> list[int]:
    return [row[name] for row in TABLE if (row["grid"], row["threads"]) == (grid, threads)]


@cache
def kernel(name: str) -> isa.Program:
    return isa.load(H200 / "start_places.sm_90.cubin", name)


def run(name: str, grid: int, threads: int, placement: int) -> Result:
    first, second = np.random.default_rng(placement).integers(0, 1 << 15, 2) * 32  # any line of 4 MB, as there
    args = (
        (0,)
        if "nothing" in name
        else (np.zeros(8 << 20, np.int32), int(first), (4 << 20) + int(second - first), np.zeros(1 << 18, np.uint32))
    )
    return sim.run(sim.Launch(kernel(name), (grid,), (threads,), args, placement=placement), sim.gpu("h200"))


def cycles(name: str, grid: int, threads: int, placement: int) -> int:
    return int(run(name, grid, threads, placement).counters["sm_active_cycles_max"])


@pytest.mark.parametrize("threads", [32, 128])
def test_code_lies_in_one_part_of_l2_or_the_other(threads: int) -> None:
    here = sorted(cycle for cycle in measured("nothing", 1, threads) if cycle < LATE)
    near, far = np.median(here[: len(here) // 2]), np.median(here[len(here) // 2 :])
    assert cycles(NOTHING, 1, threads, 1) == pytest.approx(near, rel=0.15)
    assert cycles(NOTHING, 1, threads, 0) == pytest.approx(far, rel=0.15)


def test_code_is_late_no_longer_than_a_refresh() -> None:
    ones = [row["nothing"] for row in TABLE if row["grid"] == 1]
    found = [cycles(NOTHING, 1, 32, placement) for placement in range(144)]
    share = np.mean([cycle > LATE for cycle in ones])  # 24 of 288; here a warp's end waits for its LDC, too
    assert share / 2 < np.mean([cycle > LATE for cycle in found]) < 2.5 * share
    assert max(found) < 412 + 2 * 512


def test_parameters_are_late_as_often_as_dram_refreshes_them() -> None:
    ones = [row["parameter"] for row in TABLE if row["grid"] == 1]
    share = np.mean([wait > WAITED for wait in ones])  # 20 of 288
    reads = [run(BEGUN, 1, 32, placement).clock_reads[:2, 0] for placement in range(144)]
    assert share / 2 < np.mean([after - before > WAITED for before, after in reads]) < 2 * share


@pytest.mark.parametrize(
    ("grid", "threads"), [(1, 32), (1, 256), (1, 1024), (4, 32), (4, 256), (4, 1024), (132, 32), (132, 256), (132, 1024)]
)
def test_launches_that_load_twice_take_as_long_in_the_mean(grid: int, threads: int) -> None:
    found = [cycles(BEGUN, grid, threads, placement) for placement in range(108 if grid < 132 else 24)]
    assert np.mean(found) == pytest.approx(np.mean(measured("begun", grid, threads)), rel=0.07)
