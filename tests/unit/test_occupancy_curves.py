"""Bandwidth against occupancy: a few points of each kernel, and the tables."""

import pytest

from isa.errors import UserError
from programs.measurements.occupancy import curves

ROWS = {row["name"]: row for row in curves.measured()}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_every_gpu_has_a_number_per_occupancy_and_kernel(row: dict) -> None:
    assert {len(row[kernel]) for kernel in curves.KERNELS} == {len(row["warps"])}
    assert curves.machine(row).dram.bandwidth >= max(row["read"] + row["scale"])


@pytest.mark.parametrize(("gpu", "kernel", "warps"), [("V100", "read", 1), ("V100", "scale", 48), ("A40", "read", 4)])
def test_a_point_is_near_the_measured_one(gpu: str, kernel: str, warps: int) -> None:
    row = ROWS[gpu]
    measured = row[kernel][row["warps"].index(warps)]
    assert curves.bandwidth(row, kernel, warps) == pytest.approx(measured, rel=0.1)


def test_another_gpu_is_refused() -> None:
    with pytest.raises(UserError, match="its own GPU"):
        curves.reproduce("h100")
