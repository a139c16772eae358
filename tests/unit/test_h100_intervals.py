"""The interval-analysis kernels as measured on an H100: what comes out, and the counters that say what does not."""

from itertools import islice

import pytest

import sim
from programs.intervals.kernels import part_of
from programs.measurements import intervals

H100 = sim.gpu("h100")


def test_every_measured_launch_is_read() -> None:
    found = list(intervals.measured())
    assert len(found) == 48
    assert {one.kernel for one in found} == set(intervals.KERNELS)


@pytest.mark.parametrize(("kernel", "warps", "percent"), [("mxv_lcs", 4, 20), ("mxv_per_thd", 1, 10), ("add_one", 2, 8)])
def test_few_warps_take_as_long_as_measured(kernel: str, warps: int, percent: float) -> None:
    one = next(one for one in intervals.measured() if (one.kernel, one.warps) == (kernel, warps))
    assert intervals.simulated(one, part_of(H100, intervals.PARTS)) == pytest.approx(one.milliseconds, rel=percent / 100)


def test_requests_sectors_and_hits_are_the_counters() -> None:
    exact, shown = islice(intervals.counter_checks(H100), 2)
    assert exact.passed
    assert (shown.published[:6], shown.simulated[:5]) == ("90.55%", "90.6%")


def test_stores_not_loads_are_what_many_warps_lose() -> None:
    hits, joined, ports = intervals.mechanism(H100)
    assert set(hits.published.split(", ")) == {"87.5"}  # 14 of 16 loads, with 1 warp as with 32
    assert joined.published.split(", ")[:3] == ["0.12", "0.13", "0.21"]  # 1, 2, 4 warps: a sector of 8 stores goes to L2 once
    assert joined.published.endswith("0.97, 0.98, 1.00")
    busy, counted = ([int(percent) for percent in text.split(", ")] for text in (ports.published, ports.simulated))
    assert busy == pytest.approx(counted, abs=4)
    assert ports.passed
