"""Reductions by all SMs to tables on one, two, eight slices of L2 and more, beside an H100's: how long the slices take, and the SMs."""

import numpy as np
import pytest

import isa
import sim
from programs.measurements.copies import H100
from programs.published import rows
from sim.launch.launch import Launch
from sim.result.result import Result

PATTERNS = {"lanes": 1, "sectors": 2}
TABLE = list(rows(H100 / "hot_atomics.csv"))
BOUND = 20_000  # elapsed cycles: what takes longer is mostly the slices' time


def simulated(row: dict[str, str]) -> Result:
    program = isa.load(H100 / "hot_atomics.sm_90.cubin")
    elements = int(row["elements"])
    arguments = (np.zeros(max(elements, 1024), np.uint32), np.uint32(elements), np.int32(PATTERNS[row["pattern"]]), np.int32(row["times"]))
    return sim.run(Launch(program, (int(row["grid"]),), (int(row["threads"]),), arguments), sim.gpu("h100"))


def waiting(elements: int, pattern: str = "lanes", threads: int = 64, times: int = 64) -> dict[str, str]:
    wanted = ("132", str(threads), str(elements), pattern, str(times))
    return next(row for row in TABLE if (row["grid"], row["threads"], row["elements"], row["pattern"], row["times"]) == wanted)


@pytest.mark.slow
def test_slices_take_as_long_as_on_the_h100() -> None:
    """Whole sectors are updated as fast as they are looked up: at `l2.atomic_cycles` each they took 22 to 26 % too long."""
    slow = [row for row in TABLE if float(row["elapsed_cycles"]) > BOUND]
    errors = [simulated(row).elapsed_cycles / float(row["elapsed_cycles"]) - 1 for row in slow]
    assert len(errors) == 12
    assert max(map(abs, errors)) < 0.11


@pytest.mark.slow
@pytest.mark.parametrize(
    "row",
    [
        waiting(32),
        waiting(32, threads=512, times=16),
        waiting(32, "sectors", times=16),
        pytest.param(waiting(256), marks=pytest.mark.xfail(strict=True, reason="63 % too slow: more wait at two slices than at one, D40")),
        pytest.param(waiting(1024), marks=pytest.mark.xfail(strict=True, reason="64 % too slow: all of it waits at eight slices, D40")),
    ],
    ids=lambda row: f"{row['elements']} {row['pattern']} {row['threads']}",
)
def test_sms_wait_as_long_as_on_the_h100(row: dict[str, str]) -> None:
    assert simulated(row).counters["sm_active_cycles_max"] == pytest.approx(float(row["cycles"]), rel=0.12)
