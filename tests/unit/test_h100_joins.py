"""Stores that an SM joins, as measured on an H100: how fast they go, and how many reach L2."""

import json

import numpy as np
import pytest

import isa
import sim
from programs.measurements.copies import H100
from programs.measurements.profiled import EXPERIMENTS
from programs.published import rows
from sim.launch.file import load_launch

LISTING = H100 / "joins.sm_90.sass"
STORES = 256  # of each warp
WARM = sim.gpu("h100").replace({"l2.start": "warm"})
FACTOR = 1.5  # the counter's, which sees a sector in both parts of L2


def touched(kernel: str, warps: int) -> dict[str, float]:
    """Return what was counted of so many warps, each storing to the same lines again and again."""
    of_warps = {"block": 32 * warps}
    return next(
        {name: float(row[name]) for name in ("clock_cycles", "l2_sectors_written", "global_store_sectors")}
        for row in rows(H100 / "joins.csv")
        if row["kernel"] == kernel and json.loads(row["values"]) == of_warps
    )


def simulated(kernel: str, warps: int) -> tuple[float, float]:
    """Return cycles, and sectors that reach L2 of each sector stored."""
    launch = load_launch(EXPERIMENTS / "touch.toml", isa.load(LISTING, kernel), block=32 * warps).launch
    result = sim.run(launch, WARM)
    clocks = result.clock_reads[:, 0]
    share = result.counters["l2_sectors_written"] / result.counters["global_store_sectors"]
    return float(clocks.max() - clocks.min()), share


# A line that becomes whole leaves here, and begins anew; on the H100 it stays: of touch_4_4 and touch_8_8 an eighth is written, not 1 %.
JOINED, WHOLE = 0.03, 0.26


IN_BURSTS = pytest.mark.xfail(strict=True, reason="40 % too slow: queues empty one after another, stores of one queue are slower: D3")


@pytest.mark.parametrize(
    ("kernel", "warps", "percent", "most"),
    [
        ("touch_4_4", 1, 4, WHOLE),
        ("touch_4_4", 2, 14, WHOLE),
        pytest.param("touch_4_4", 4, 21, WHOLE, marks=IN_BURSTS),
        ("touch_8_8", 1, 15, WHOLE),
        ("touch_16_1", 1, 3, JOINED),
        ("touch_16_16", 1, 3, JOINED),
    ],
)
def test_stores_that_are_joined(kernel: str, warps: int, percent: float, most: float) -> None:
    counted = touched(kernel, warps)
    cycles, share = simulated(kernel, warps)
    assert cycles == pytest.approx(counted["clock_cycles"], rel=percent / 100)
    assert share < most
    assert counted["l2_sectors_written"] / FACTOR < 0.1 * counted["global_store_sectors"]


@pytest.mark.parametrize(
    ("kernel", "warps", "percent"),
    [("touch_16_16", 2, 3), ("touch_16_16", 3, 3), ("touch_16_16", 4, 3), ("touch_32_32", 1, 8), ("touch_32_32", 4, 3)],
)
def test_stores_that_are_not_joined(kernel: str, warps: int, percent: float) -> None:
    cycles, share = simulated(kernel, warps)
    assert cycles == pytest.approx(touched(kernel, warps)["clock_cycles"], rel=percent / 100)
    assert share > 0.99


@pytest.mark.xfail(
    reason="lines leave when they are whole, so that 32 of them find room; columns of whole sectors come too fast", strict=True
)
@pytest.mark.parametrize(("kernel", "warps"), [("touch_8_8", 2), ("touch_8_8", 3), ("touch_8_8", 4), ("touch_16_1", 2), ("touch_16_1", 4)])
def test_stores_that_miss(kernel: str, warps: int) -> None:
    assert simulated(kernel, warps)[0] == pytest.approx(touched(kernel, warps)["clock_cycles"], rel=0.15)


@pytest.mark.parametrize(
    "behind", ["LDG.STRONG.GPU R5, [R2]\nFADD R6, R5, R5", "RED.ADD [R2], R4", "ATOM.ADD R5, [R2], R4\nIADD R6, R5, R4"]
)
def test_what_goes_to_l2_behind_a_kept_store_finds_what_it_stored(behind: str) -> None:
    program = isa.parse(
        ".kernel behind\n.param ptr data\nMOV R2, c[0x0][data]\nS2R R7, SR_TID.X\nSHL R7, R7, 2\nIADD R2, R2, R7\n"
        f"STG [R2], R4\n{behind}\nEXIT\n"
    )
    result = sim.run(sim.Launch(program, (1,), (8,), (np.zeros(8, np.int32),)), sim.gpu("h100"))  # eight lanes: a sector, whole
    assert result.counters["l2_sectors_written"] > 0
    assert result.counters["dram_bytes_read"] == 0
