"""Stores of one SM of an H200: when their warps are done with them, what loads behind them wait for (h200/drain.csv, local_steps.csv)."""

from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from programs.measurements.population.score import H200
from programs.published import rows
from tests.unit.packed import unpacked

SHAPES = (
    "a line",
    "four lines",
    "a sector of 8 lines",
    "a word of 32 lines",
    "a sector of 16 lines",
    "16 of 48 bytes",
    "every second word",
)
DRAIN = {(row["shape"], int(row["warps"]), int(row["stores"])): row for row in rows(H200 / "drain.csv")}
STEPS = list(rows(H200 / "local_steps.csv"))
SECTORS = "whole sectors, one to a line, leave one every 1.2 cycles here, 1.35 to 1.6 there: D48"
LEFT = "the next block comes 126 cycles after the last store has issued there, 33 here: D48"
MISSED = {
    ("a sector of 8 lines", 8, 16): SECTORS,
    ("a sector of 16 lines", 4, 8): SECTORS,
    ("a sector of 16 lines", 8, 16): SECTORS,
    ("every second word", 8, 16): LEFT,
}


@pytest.fixture(scope="module")
def cubins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked(H200 / "stores.cubins.tar.xz", tmp_path_factory.mktemp("cubins"))


def next_block(cubins: Path, shape: str, warps: int, stores: int) -> int:
    """Return the cycles from the first clock of the warps that store until the next block of their SM begins."""
    program = isa.load(cubins / "drain.sm_90.cubin", f"_Z5drainILi{SHAPES.index(shape)}ELi{stores}EEvPfPji")
    others = 100 + int(DRAIN[shape, warps, stores]["next"]) // 24  # rounds that keep the other SMs busy for longer
    args = (np.zeros(1 << 23, np.float32), np.zeros(1024, np.uint32), np.int32(others))
    reads = sim.run(sim.Launch(program, (133,), (32 * warps,), args, 200 << 10), sim.gpu("h200")).clock_reads
    first, after = reads[reads[:, 1] == 0], reads[reads[:, 1] == 132]
    from_ = min(first[first[:, 2] == warp][-2, 0] for warp in range(warps))
    return int(after[after[:, 2] == 0][0, 0] - from_)


ALL = [(shape, warps, stores) for shape in SHAPES for warps, stores in ((4, 8), (8, 16))]
CASES = [pytest.param(*case, marks=pytest.mark.xfail(strict=True, reason=MISSED[case])) if case in MISSED else case for case in ALL]


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "warps", "stores"), CASES)
def test_how_long_stores_keep_the_place_of_a_block(cubins: Path, shape: str, warps: int, stores: int) -> None:
    """Beyond what the next block takes after one without stores; 65 cycles are 16 lines on their way."""
    there = int(DRAIN[shape, warps, stores]["next"]) - int(DRAIN[shape, warps, 0]["next"])
    here = next_block(cubins, shape, warps, stores) - next_block(cubins, shape, warps, 0)
    assert here == pytest.approx(there, abs=65, rel=0.1)


def step(cubins: Path, words: int) -> float:
    """Return the median cycles of the steps of one warp that stores and loads rows of local memory."""
    program = isa.load(cubins / "local_steps.sm_90.cubin", f"_Z5stepsILi{words}ELi1EEvPKiPfPiii")
    index = np.random.default_rng(5).integers(0, 60000, 32).astype(np.int32)
    args = (index, np.zeros(32, np.float32), np.zeros(64, np.int32), np.int32(100), np.int32(5))
    return float(np.median(np.diff(sim.run(sim.Launch(program, (1,), (32,), args), sim.gpu("h200")).clock_reads[:, 0])))


@pytest.mark.parametrize("words", [32, 64, 96, 128, 200])
def test_loads_do_not_wait_until_the_lines_of_a_store_are_written(cubins: Path, words: int) -> None:
    """Steps without a miss: 75 to 84 cycles there; of 64 words and more 89 to 96 where loads wait for the lines of a store."""
    cycles = [
        int(cycle)
        for row in STEPS
        if (row["words"], row["of"], row["wait"]) == (str(words), "each", "1500")
        for cycle in row["cycles"].split()
    ]
    there = float(np.median([cycle for cycle in cycles if cycle < 200]))
    assert step(cubins, words) == pytest.approx(there, rel=0.05)
