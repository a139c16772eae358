"""Stores that an SM joins, as measured on an H100: how fast they go, and how many reach L2."""

import json

import pytest

import isa
import sim
from programs.measurements.copies import H100
from programs.measurements.profiled import EXPERIMENTS
from programs.published import rows
from sim.launchfile import load_launch

LISTING = H100 / "joins.sm_90.sass"
STORES = 256  # of each warp
WARM = sim.gpu("h100").replace({"l2.start": "warm"})
COPIED = 1.4  # most times that a sector is counted, which goes to the other part of L2 too; the counter's own factor is 1.5


def touched(kernel: str, warps: int) -> dict[str, float]:
    """Return what was counted of so many warps, each storing to the same lines again and again."""
    of_warps = {"block": 32 * warps}
    return next(
        {name: float(row[name]) for name in ("clock_cycles", "l2_sectors_written", "global_store_sectors")}
        for row in rows(H100 / "joins.csv")
        if row["kernel"] == kernel and json.loads(row["values"]) == of_warps
    )


@pytest.mark.parametrize(
    ("kernel", "warps", "joined", "percent"),
    [
        ("touch_4_4", 2, True, 15),
        ("touch_16_16", 1, True, 3),
        ("touch_16_16", 2, False, 3),
        ("touch_16_16", 4, False, 3),
        ("touch_32_32", 1, False, 8),
        ("touch_32_32", 4, False, 3),
    ],
)
def test_stores_to_the_same_lines(kernel: str, warps: int, joined: bool, percent: float) -> None:
    counted = touched(kernel, warps)
    result = sim.run(load_launch(EXPERIMENTS / "touch.toml", isa.load(LISTING, kernel), block=32 * warps).launch, WARM)
    clocks = result.clock_reads
    cycles = clocks[:, 0].max() - clocks[:, 0].min()
    assert cycles / (STORES * warps) == pytest.approx(counted["clock_cycles"] / (STORES * warps), rel=percent / 100)
    simulated = result.counters["l2_sectors_written"] / result.counters["global_store_sectors"]
    measured = counted["l2_sectors_written"] / 1.5 / counted["global_store_sectors"]
    assert (simulated < 0.2, measured < 0.2) == (joined, joined)
    if not joined:
        assert 1 / COPIED <= measured <= COPIED
        assert simulated > 0.99
    assert (result.counters["stores_joined"] > result.counters["global_store_requests"]) == joined
