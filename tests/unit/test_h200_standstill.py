"""Loops written by hand: what a scheduler that waits for registers, or passes a product on twice, costs its other warps' stall counts."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from programs.measurements.core import one_sm
from programs.measurements.gpu.standstill import LENGTH, ROUNDS
from programs.measurements.population.score import H200
from programs.published import rows
from tests.unit.packed import unpacked

ONE_SM = one_sm(sim.gpu("h200"))
COLUMNS = ("operation", "reads", "stall", "rounds", "threads")
TABLE = {tuple(row[name] for name in COLUMNS): int(row["cycles"]) for row in rows(H200 / "standstill.csv")}
LOOPS = sorted({key[:3] for key in TABLE})
OWN_PORT = "a cycle more there: D45"
IN_STEP = "two warps: here they fall into a step in which neither waits for the other's third register: D45"
MISSED = {
    ("FFMA", "two", "4"): OWN_PORT,
    ("FFMA", "two", "6"): OWN_PORT,
    ("FFMA", "three", "6"): OWN_PORT,
    ("IMAD", "three", "6"): IN_STEP,
    ("LOP3", "three", "6"): IN_STEP,
}


@pytest.fixture(scope="module")
def cubins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked(H200 / "standstill.cubins.tar.xz", tmp_path_factory.mktemp("cubins"))


@cache
def simulated(cubins: Path, operation: str, reads: str, stall: str, rounds: int, threads: int) -> int:
    """Return cycles from the first clock that a warp of the block reads to the last."""
    program = isa.load(cubins / f"{operation}-{reads}-{stall}-{rounds}.cubin", "probe")
    clocks = sim.run(sim.Launch(program, (1,), (threads,), (np.zeros(1024, np.int32), np.int32(1))), ONE_SM).clock_reads
    cycle, instruction = clocks[:, 0], clocks[:, 3]
    return int(cycle[instruction == instruction.max()].max() - cycle[instruction == instruction.min()].min())


def period(few: int, many: int, operation: str) -> float:
    """Return cycles per instruction of each warp, from those of the loop with few and with many rounds."""
    return (many - few) / ((ROUNDS[1] - ROUNDS[0]) * LENGTH[operation])


def measured_period(operation: str, reads: str, stall: str, threads: int) -> float:
    return period(*(TABLE[operation, reads, stall, str(rounds), str(threads)] for rounds in ROUNDS), operation)


def simulated_period(cubins: Path, operation: str, reads: str, stall: str, threads: int) -> float:
    return period(*(simulated(cubins, operation, reads, stall, rounds, threads) for rounds in ROUNDS), operation)


@pytest.mark.parametrize(
    "loop", [pytest.param(one, marks=pytest.mark.xfail(strict=True, reason=MISSED[one])) if one in MISSED else one for one in LOOPS]
)
def test_a_loop_takes_as_long_as_there(cubins: Path, loop: tuple[str, str, str]) -> None:
    for threads in (32, 256, 512, 1024):
        assert simulated_period(cubins, *loop, threads) == pytest.approx(measured_period(*loop, threads), rel=0.05), threads


def test_the_table_shows_that_stall_counts_stand_still() -> None:
    """Of the data alone. Two warps, a count of 6: a cycle more for the other's third register of a bank, two for its second pass."""
    for loop, cycles in (
        (("LOP3", "three", "6"), 7),
        (("IMAD", "three", "6"), 7),
        (("LOP3", "two", "6"), 6),
        (("IMAD.WIDE", "none", "6"), 10),
    ):
        assert measured_period(*loop, 256) == pytest.approx(cycles, rel=0.04)
    assert measured_period("IMAD.WIDE", "none", "6", 32) == pytest.approx(8, rel=0.04)
