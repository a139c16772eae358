"""Tables of constants at an address per lane, lines at random, on one SM of an H200 and on all, and on the simulated one."""

import numpy as np
import pytest

import isa
import sim
from programs.measurements.population.score import H200
from programs.published import rows

SMS, LOADS = 132, 64  # loads of each warp
WANTED = [(lines, threads, blocks) for lines in (64, 512) for threads, blocks in ((256, 1), (256, 66), (256, 132))]
WANTED += [(512, 1024, 1)]
HALF = pytest.mark.xfail(strict=True, reason="half of a GPC's SMs use its port with little loss there, here they are 34 % too slow: D49")


@pytest.mark.parametrize(
    ("lines", "threads", "blocks"), [pytest.param(*one, marks=HALF) if one == (64, 256, 66) else one for one in WANTED]
)
def test_lines_at_random_take_as_long_as_on_the_h200(lines: int, threads: int, blocks: int) -> None:
    shape = {"chains": 4, "distinct": 32, "lines": lines, "threads": threads, "blocks": blocks}
    row = next(row for row in rows(H200 / "scattered.csv") if all(row[name] == str(value) for name, value in shape.items()))
    program = isa.load(H200 / "scattered.sm_90.cubin", "_Z9scatteredILi4EEvPijiii")
    args = (np.zeros(128 * SMS, np.int32), np.uint32(0), np.int32(32), np.int32(lines), np.int32(LOADS // 4))
    clocks = sim.run(sim.Launch(program, (blocks,), (threads,), args), sim.gpu("h200")).clock_reads
    spans = sorted(np.ptp(clocks[clocks[:, 1] == block, 0]) for block in range(blocks))
    assert spans[len(spans) // 2] == pytest.approx(int(row["cycles"]), rel=0.25)
