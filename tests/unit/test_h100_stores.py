"""Stores of single sectors by all SMs of an H100: how many L2 takes, of half of them a slice in each part (h100/stores.csv)."""

import numpy as np
import pytest

import isa
import sim
from programs.measurements.copies import H100
from programs.published import rows

pytestmark = pytest.mark.slow
JOINED = "D22: stores of four schedulers come in turn there, so that none join"


@pytest.mark.parametrize(
    ("each", "warps", "chunks", "rounds"),
    [
        (1, 8, 8, 16),
        (1, 8, 32, 4),
        (1, 32, 8, 16),
        *(pytest.param(each, 8, 8, 16, marks=pytest.mark.xfail(reason=JOINED, strict=True)) for each in (2, 4)),
    ],
)
def test_sectors_that_l2_takes(each: int, warps: int, chunks: int, rounds: int) -> None:
    wanted = (str(each), "132", str(warps), str(chunks), str(rounds))
    names = ("each", "blocks", "warps", "chunks", "rounds")
    row = next(row for row in rows(H100 / "stores.csv") if tuple(row[name] for name in names) == wanted)
    kernel = isa.load(H100 / "stores.sm_90.cubin", f"_Z7vectorsILi{each}EEvPfiiiPj")
    args = np.zeros(132 * warps * chunks * 256, np.float32), np.int32(32), np.int32(chunks), np.int32(rounds), np.zeros(132 * 64, np.uint32)
    result = sim.run(sim.Launch(kernel, (132,), (32 * warps,), args), sim.gpu("h100").replace({"l2.start": "warm"}))
    reads = result.clock_reads[np.lexsort(result.clock_reads[:, :3].T)][:, 0].reshape(-1, 3)
    assert (reads[:, 2] - reads[:, 0]).max() == pytest.approx(int(row["done"]), rel=0.13)
