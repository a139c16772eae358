"""The products of Volkov and Demmel (SC 2008) come out on an 8800 GTX, and a check of them can fail."""

import pytest

from programs.published import published
from programs.reproductions import reproduce
from programs.tesla import blas1
from programs.tesla.products import FOLDER, mix_bound, rate, traced
from programs.tesla.volkov_demmel import _percent
from sim.analysis.bounds import bounds
from sim.gpus.loader import load
from sim.timing import simulate


def test_every_statement_about_the_8800_gtx_comes_out() -> None:
    checks = [check for check in reproduce("volkov-demmel", "g80").checks if check.passed is not None]
    assert not [check for check in checks if not check.passed]
    assert {"our code: 3 per SM", "CUBLAS 1.1: what fits", "scale a column of 1024"} <= {check.what for check in checks}


def test_a_wrong_percentage_fails() -> None:
    found = rate(load("g80"), "sgemm_64x16_cc1", 1)
    assert _percent("", {"blocks": 1, "percent": 32}, found).passed
    assert not _percent("", {"blocks": 1, "percent": 49}, found).passed


def test_the_bound_counts_what_the_listing_executes() -> None:
    """256 LDS of 2 cycles and FFMA of 4 per step of 16, and what else the loop holds: never more than two thirds of peak."""
    gpu = load("g80")
    short, long = traced(gpu, "sgemm_64x16_cc1", (1, 1), (32, 96))
    bound = mix_bound(gpu, short, long)
    assert bound == pytest.approx(60.2, abs=0.1)
    assert mix_bound(gpu.replace({"core.dispatch": "pipe"}), short, long) > 90  # were data moved beside the arithmetic


def test_no_run_is_faster_than_its_bounds_where_a_scheduler_waits_for_narrow_pipes() -> None:
    """An access to memory leaves the scheduler after its issue interval, however narrow its pipe: the bound once took the pipe's time."""
    gpu = load("g80")
    trace = traced(gpu, "sgemm_64x16_cc1", (2, 2), (32, 96))[1]
    found = simulate(trace, gpu)
    assert found.cycles >= max(bound.cycles for bound in bounds(trace, found))


def test_a_launch_hides_a_bandwidth_that_is_four_times_lower() -> None:
    slow, fast = (blas1.scale(load(name), 8192) for name in ("g84", "gt200"))
    assert blas1.microseconds(slow, launch=False) > 3 * blas1.microseconds(fast, launch=False)
    assert blas1.microseconds(slow) < 1.5 * blas1.microseconds(fast)
    row = published(FOLDER)["blas1"]
    assert [check.passed for check in blas1.checks(row | {"bandwidths": 5.0})].count(False) == 1
