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


@pytest.mark.parametrize(("kernel", "warps", "percent"), [("mxv_lcs", 4, 15), ("mxv_per_thd", 1, 10), ("add_one", 2, 8)])
def test_few_warps_take_as_long_as_measured(kernel: str, warps: int, percent: float) -> None:
    one = next(one for one in intervals.measured() if (one.kernel, one.warps) == (kernel, warps))
    assert intervals.simulated(one, part_of(H100, intervals.PARTS)) == pytest.approx(one.milliseconds, rel=percent / 100)


def test_requests_sectors_and_hits_are_the_counters() -> None:
    exact, shown = islice(intervals.counter_checks(H100), 2)
    assert exact.passed
    assert (shown.published[:6], shown.simulated[:5]) == ("90.55%", "90.6%")


def test_stores_not_loads_are_what_many_warps_lose() -> None:
    hits, joined, *ports = intervals.mechanism(H100)
    assert hits.published == "87.50%; 87.50%"  # of the loads, at 4 and 32 warps
    assert joined.published == "0.21; 1.00"  # sectors that reach L2 per sector of a store
    assert len(ports) == 3
    for port in ports:
        assert float(port.simulated[:-1]) == pytest.approx(float(port.published[:-1]), abs=4)
        assert port.passed
