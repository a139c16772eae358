"""The measurements of an H100: a few copies and strides of each kind."""

from itertools import islice

import pytest

import sim
from programs.measurements import copies, memory, strides

H100 = sim.gpu("h100")


def test_every_measured_launch_is_read() -> None:
    found = list(copies.measured())
    assert len(found) == 360
    assert len({copy.kernel for copy in found}) == 12
    assert len(list(strides.shared_loads())) == 66


@pytest.mark.parametrize(("resident", "percent"), [(1, 30), (8, 15), (32, 5)])  # what lies between one block and all is a known miss
def test_copies_of_one_float_by_small_blocks(resident: int, percent: float) -> None:
    copy = next(copy for copy in copies.measured() if (copy.elements, copy.threads, copy.resident) == (1, 64, resident))
    assert abs(memory.error((copy, copies.simulated(copy, copies.part_of(H100))))) < percent


def test_bandwidth_of_a_copy_is_read_and_written_bytes() -> None:
    copy = copies.Copy("float4", 2, 64, 1, 1000, 0.0)
    assert copy.bandwidth(1.0) == pytest.approx(2 * 32 * 64 * 1000 / 1e6)


@pytest.mark.parametrize(("stride", "threads"), [(1, 512), (2, 256), (32, 128)])
def test_shared_loads_at_a_stride(stride: int, threads: int) -> None:
    measured = {(s, t): cycles for s, t, cycles in strides.shared_loads()}[stride, threads]
    assert strides.shared_cycles(stride, threads, H100) == pytest.approx(measured, rel=0.05)


def test_requests_and_sectors_are_the_counters() -> None:
    checks = list(islice(strides.counter_checks(H100), 4))
    assert [check.passed for check in checks] == [True, None, True, None]
