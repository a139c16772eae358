"""Loads beside stores on an H100: how much longer they take when DRAM writes, and only then."""

import pytest

import isa
import sim
from programs.intervals.kernels import FOLDER, launch, part_of
from programs.measurements.copies import H100
from programs.published import rows
from sim.analysis.curve import fresh
from sim.gpus.model import Gpu

PARTS = 4  # of the chip; one is simulated
PART = part_of(sim.gpu("h100"), PARTS)
ADD_ONE = (FOLDER / "add_one.sass").read_text(encoding="utf-8")
STORE = "        STG.E [R6], R8\n"


def measured(warps: int) -> float:
    """Return the cycles that stores of as many lines add to a pass that loads a line, one block of so many warps per SM."""
    means = {
        row["stores"]: float(row["mean"])
        for row in rows(H100 / "turnarounds.csv")
        if row["order"] == "in turn" and int(row["warps_per_sm"]) == warps
    }
    return means["dram"] - means["none"]


def pass_cycles(text: str, gpu: Gpu, warps: int) -> float:
    """Return the cycles of a pass once few warps begin theirs together any more."""
    program, few = isa.parse(text), 8 * max(64 // warps, 4)
    short, long = (sim.run(fresh(launch("add_one", gpu.sms, warps, passes, program)), gpu).cycles for passes in (few, 2 * few))
    return (long - short) / few


@pytest.mark.parametrize(("warps", "percent"), [(4, 50), (8, 20), (16, 15), (24, 20), (32, 25)])
def test_a_load_takes_longer_when_dram_writes(warps: int, percent: float) -> None:
    alone = pass_cycles(ADD_ONE.replace(STORE, ""), PART.replace({"l2.start": "cold"}), warps)
    beside = pass_cycles(ADD_ONE, PART, warps)
    assert beside - alone == pytest.approx(measured(warps), rel=percent / 100)


def test_stores_that_stay_in_l2_cost_loads_nothing() -> None:
    alone, beside = (
        next(float(row["mean"]) for row in rows(H100 / "turnarounds.csv") if (row["order"], row["stores"], row["warps_per_sm"]) == key)
        for key in (("in turn", "none", "16"), ("in turn", "l2", "16"))
    )
    assert beside == pytest.approx(alone, rel=0.02)
    assert measured(16) > 0.2 * alone


def test_without_turnarounds_loads_do_not_wait_for_writes() -> None:
    without = PART.replace({"dram.turnaround": 0})
    assert pass_cycles(ADD_ONE, without, 16) < 0.9 * pass_cycles(ADD_ONE, PART, 16)
