"""Loads beside stores on an H100: how much longer they take when DRAM writes, and only then."""

from functools import cache

import numpy as np
import pytest

import isa
import sim
from programs.measurements.copies import H100, part_of
from programs.published import rows
from sim.gpus.model import Gpu

PART = part_of(sim.gpu("h100"))
STORES = ("none", "dram", "l2")  # in the order of turnarounds.cu


@cache
def measured(stores: str, warps: int) -> float:
    """Return the mean cycles of a pass: load a line, wait, store one of that kind. One block of so many warps per SM."""
    wanted = ("in turn", stores, str(warps))
    return next(
        float(row["mean"]) for row in rows(H100 / "turnarounds.csv") if (row["order"], row["stores"], row["warps_per_sm"]) == wanted
    )


def pass_cycles(stores: str, gpu: Gpu, warps: int) -> float:
    """Return the same, simulated, once few warps begin theirs together any more."""
    passes = 16 * max(64 // warps, 4)
    program = isa.load(H100 / "turnarounds.sm_90.cubin", f"_Z4loopILi{STORES.index(stores)}EEvPiS0_S0_iiPt")
    lines = np.zeros(passes * gpu.sms * warps * 32, np.int32)
    arguments = (
        lines,
        np.zeros_like(lines),
        np.zeros(1 << 18, np.int32),
        np.int32(0),
        np.int32(passes),
        np.zeros(4 * warps * passes, np.uint16),
    )
    run = sim.run(sim.Launch(program, (gpu.sms,), (warps * 32,), arguments), gpu)
    cycle, block, warp = run.clock_reads[np.lexsort(run.clock_reads[:, [0, 2, 1]].T)][:, :3].T
    same = (np.diff(block) == 0) & (np.diff(warp) == 0) & (cycle[:-1] > 0.3 * run.cycles)
    return float(np.diff(cycle)[same].mean())


@pytest.mark.parametrize("warps", [4, 16, 32])
def test_a_load_takes_longer_when_dram_writes(warps: int) -> None:
    alone, beside = pass_cycles("none", PART.replace({"l2.start": "cold"}), warps), pass_cycles("dram", PART, warps)
    assert alone == pytest.approx(measured("none", warps), rel=0.06)
    assert beside == pytest.approx(measured("dram", warps), rel=0.08)
    assert beside - alone == pytest.approx(measured("dram", warps) - measured("none", warps), rel=0.3)


def test_stores_that_stay_in_l2_cost_loads_nothing() -> None:
    assert measured("l2", 16) == pytest.approx(measured("none", 16), rel=0.02)
    assert measured("dram", 16) > 1.2 * measured("none", 16)
    whole = PART.replace({"l2.start": "cold", "l2.bytes": sim.gpu("h100").l2.bytes // 4})  # the small L2 has no room for what is stored
    assert pass_cycles("l2", whole, 16) == pytest.approx(pass_cycles("none", whole, 16), rel=0.06)


def test_without_turnarounds_loads_do_not_wait_for_writes() -> None:
    assert pass_cycles("dram", PART.replace({"dram.turnaround": 0}), 16) < 0.9 * pass_cycles("dram", PART, 16)
