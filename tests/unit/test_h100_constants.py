"""How long a warp waits for a constant that no instruction named before, on an H100 and on the simulated one, with L2 warm and cold."""

import numpy as np
import pytest

import isa
import sim
from programs.measurements.copies import H100
from programs.published import rows

TABLE = list(rows(H100 / "constants.csv"))


@pytest.mark.parametrize("l2", ["cold", "warm"])
@pytest.mark.parametrize("blocks", [1, 132])
def test_a_constant_comes_as_late_as_on_the_h100(blocks: int, l2: str) -> None:
    program = isa.load(H100 / "constants.sm_90.cubin", "name_constants")
    launch = sim.Launch(program, (blocks,), (32,), (np.zeros(132 * 10, np.int32), np.float32(1)))
    clocks = sim.run(launch, sim.gpu("h100").replace({"l2.start": l2})).clock_reads
    simulated = np.diff(clocks[clocks[:, 1] == 0, 0])[1:]  # what the first takes depends on where the code comes from
    measured = [int(row["median"]) for row in TABLE if (row["blocks"], row["l2"]) == (str(blocks), l2)][1:]
    assert simulated == pytest.approx(measured, rel=0.15, abs=16)


@pytest.mark.parametrize("loads", [4, 8, 16])
@pytest.mark.parametrize(("threads", "apart", "shift"), [(32, 256, 0), (256, 256, 4096)])
def test_misses_of_ldc_go_four_at_a_time(loads: int, threads: int, apart: int, shift: int) -> None:
    shape = {"loads": loads, "blocks": 1, "threads": threads, "apart": apart, "shift": shift, "cold": 0}
    row = next(row for row in rows(H100 / "ldc.csv") if all(row[name] == str(value) for name, value in shape.items()))
    program = isa.load(H100 / "ldc.sm_90.cubin", f"_Z5loadsILi{loads}EEvPijii")
    args = (np.zeros((1 << 16) + 1, np.int32), np.uint32(0), np.int32(apart), np.int32(shift))
    clocks = sim.run(sim.Launch(program, (1,), (threads,), args), sim.gpu("h100").replace({"l2.start": "warm"})).clock_reads
    slowest = max(np.ptp(clocks[clocks[:, 2] == warp, 0]) for warp in range(threads // 32))
    assert slowest == pytest.approx(int(row["median"]), rel=0.1)
