"""Loads from L1 whose lanes are far apart, on an H100: passes over the banks, lines looked up, warps that wait for the same line."""

from functools import cache

import numpy as np
import pytest

import isa
import sim
from programs.measurements.copies import H100
from programs.measurements.core import one_sm
from programs.published import rows

ONE_SM = one_sm(sim.gpu("h100"))
LOOPS, LOADS = 40, 16  # of a rate
CHAIN = 32
PATTERNS = list(dict.fromkeys(row["pattern"] for row in rows(H100 / "banks.csv")))
VECTORS = ("8 bytes", "16 bytes")  # whose words are joined after the load: 4 to 6 cycles more than here


@cache
def measured(what: str, pattern: str) -> dict[int, tuple[float, float]]:
    """Return by number of warps: cycles, and those until the last warp's."""
    chosen = [row for row in rows(H100 / "banks.csv") if (row["what"], row["pattern"]) == (what, pattern)]
    return {int(row["warps"]): (float(row["cycles"]), float(row["last"] or 0)) for row in chosen}


def simulated(what: str, pattern: str, warps: int) -> tuple[float, float]:
    """Return cycles from the first clock read to the first, and the last, of the second ones."""
    loops = "ii" if what == "rate" else ""
    program = isa.load(H100 / "banks.sm_90.cubin", f"_Z{len(what)}{what}ILi{PATTERNS.index(pattern)}EEvPKiPxPi{loops}")
    arguments = (np.zeros(1 << 16, np.int32), np.zeros(64, np.int64), np.zeros(1, np.int32), np.int32(LOOPS), np.int32(0))
    reads = sim.run(sim.Launch(program, (1,), (32 * warps,), arguments[: 5 if loops else 3]), ONE_SM).clock_reads
    cycle, instruction = reads[:, 0], reads[:, 3]
    start, stops = cycle[instruction == instruction.min()].min(), cycle[instruction == instruction.max()]
    return float(stops.min() - start), float(stops.max() - start)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_hit_takes_longer_by_passes_and_lines(pattern: str) -> None:
    cycles = simulated("chain", pattern, 1)[1] / CHAIN
    assert cycles == pytest.approx(measured("chain", pattern)[1][0], rel=0.11 if pattern in VECTORS else 0.03)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("warps", [1, 32])
def test_hits_per_cycle(pattern: str, warps: int) -> None:
    cycles = simulated("rate", pattern, warps)[1] / (LOOPS * LOADS * warps)
    assert cycles == pytest.approx(measured("rate", pattern)[warps][0], rel=0.13 if warps == 1 else 0.05)


TWICE = pytest.mark.xfail(reason="warps that load once have their data two cycles apart, here one: D41", strict=True)
FEW_PASSES = ("same word", "next words", "2 lines", "4 lines")


@pytest.mark.parametrize("pattern", [pytest.param(one, marks=TWICE) if one in FEW_PASSES else one for one in PATTERNS])
def test_loads_of_the_same_lines_are_served_one_after_another(pattern: str) -> None:
    for warps in (4, 8):
        (first, last), (on_chip, last_on_chip) = simulated("wait", pattern, warps), measured("wait", pattern)[warps]
        assert first == pytest.approx(on_chip, rel=0.12)
        assert last - first == pytest.approx(last_on_chip - on_chip, rel=0.25)
