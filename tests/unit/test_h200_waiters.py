"""Loads that wait for data from L2, on an H200: how many of them an SM reads per cycle, by how many wait for each line."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import isa
import sim
from programs.measurements.core import one_sm
from programs.measurements.population.score import H200
from programs.published import rows

ONE_SM = one_sm(sim.gpu("h200")).replace({"l2.start": "warm"})
PATTERNS = ("sector", "line", "halves", "two passes", "8 lines")
COLUMNS = ("pattern", "count", "warps", "places")
FEW, MANY = 4, 16  # loads of each warp
PASSES = {"sector": 1, "line": 1, "halves": 1, "two passes": 2}


@cache
def measured(pattern: str, count: int, warps: int, places: int) -> int:
    wanted = [pattern, str(count), str(warps), str(places)]
    return next(int(row["last"]) for row in rows(H200 / "waiters.csv") if [row[name] for name in COLUMNS] == wanted)


def simulated(pattern: str, count: int, warps: int, places: int) -> int:
    """Return cycles from the first warp's last look at the clock before its loads until the last warp has its data."""
    program = isa.load(H200 / "waiters.sm_90.cubin", f"_Z4waitILi{PATTERNS.index(pattern)}ELi{count}EEvPKiPii")
    arguments = (np.zeros((1 << 19) + 1024, np.int32), np.zeros(64, np.int32), np.int32(places - 1))
    reads = sim.run(sim.Launch(program, (1,), (32 * warps,), arguments), ONE_SM).clock_reads
    cycle, warp, instruction = reads[:, 0], reads[:, 2], reads[:, 3]
    *_, start, stop = np.unique(instruction)
    begin = min(cycle[(warp == w) & (instruction == start)].max() for w in range(warps))
    return int(cycle[instruction == stop].max() - begin)


def per_load(of: Callable[[str, int, int, int], int], pattern: str, warps: int, places: int) -> float:
    """Return the cycles that each further load of a warp costs the SM."""
    return (of(pattern, MANY, warps, places) - of(pattern, FEW, warps, places)) / ((MANY - FEW) * warps)


@pytest.mark.parametrize(("pattern", "passes"), PASSES.items())
@pytest.mark.parametrize("places", [1, 4])
def test_on_the_chip_a_load_that_waits_costs_a_cycle_per_pass(pattern: str, passes: int, places: int) -> None:
    for warps in (16, 32):
        assert per_load(measured, pattern, warps, places) == pytest.approx(passes, rel=0.17)


@pytest.mark.parametrize(("pattern", "places"), [("halves", 512), ("two passes", 1), ("8 lines", 64), ("8 lines", 512)])
def test_loads_whose_requests_or_passes_bound_them(pattern: str, places: int) -> None:
    assert simulated(pattern, FEW, 32, min(places, 128)) == pytest.approx(measured(pattern, FEW, 32, min(places, 128)), rel=0.1)


MANY_PLACES = pytest.mark.xfail(reason="32 warps that want sectors of 64 places each are too slow: D41", strict=True)


@pytest.mark.parametrize(
    ("pattern", "warps", "places"),
    [
        pytest.param(pattern, warps, places, marks=MANY_PLACES if (warps, places) == (32, 64) else ())
        for pattern in ("sector", "line", "halves")
        for warps, places in ((16, 1), (32, 1), (16, 4), (32, 4), (16, 64), (32, 64))
    ],
)
def test_loads_that_wait_and_take_one_pass(pattern: str, warps: int, places: int) -> None:
    assert simulated(pattern, MANY, warps, places) == pytest.approx(measured(pattern, MANY, warps, places), rel=0.1)


@pytest.mark.xfail(reason="64 bytes per cycle here: D41", strict=True)
@pytest.mark.parametrize("pattern", ["line", "two passes"])
def test_lines_of_l2_that_one_sm_alone_loads(pattern: str) -> None:
    assert simulated(pattern, MANY, 32, 512) == pytest.approx(measured(pattern, MANY, 32, 512), rel=0.2)
