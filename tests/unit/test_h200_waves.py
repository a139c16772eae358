"""One wave of blocks that load vectors, or copy them, on an H200: how long a warp's loads take when nothing is in L2."""

import numpy as np
import pytest

import isa
import sim
from programs.measurements.population.score import H200
from programs.published import rows

COLUMNS = ("load_mean", "load_p90", "load_most")


def simulated(vectors: int, mode: str, grid: int, block: int) -> dict[str, float]:
    """Return cycles from a warp's first load to when it has all: of all warps."""
    program = isa.load(H200 / "waves.sm_90.cubin", f"_Z4waveILi{vectors}ELi{('load', 'copy').index(mode)}EEvPK4int4PS0_Pii")
    words, warps = 4 * vectors * grid * block, grid * block // 32
    arguments = (np.zeros(words, np.int32), np.zeros(words, np.int32), np.zeros(3 * warps, np.int32), np.int32(5))
    clocks = sim.run(sim.Launch(program, (grid,), (block,), arguments), sim.gpu("h200")).clock_reads
    order = np.lexsort((clocks[:, 0], clocks[:, 2], clocks[:, 1]))
    read = clocks[order, 0].reshape(warps, 3)
    loads = read[:, 1] - read[:, 0]
    return {"load_mean": loads.mean(), "load_p90": float(np.sort(loads)[warps * 9 // 10]), "load_most": loads.max()}


def measured(vectors: int, mode: str, grid: int, block: int) -> dict[str, float]:
    wanted = str(vectors), mode, str(grid), str(block)
    row = next(row for row in rows(H200 / "waves.csv") if (row["vectors"], row["mode"], row["grid"], row["block"]) == wanted)
    return {column: float(row[column]) for column in COLUMNS}


@pytest.mark.parametrize(
    ("case", "percent"),  # percent off: on the mean, at the ninetieth percentile, at most
    [
        ((1, "load", 132, 512), (5, 7, 9)),
        ((1, "copy", 132, 512), (6, 8, 5)),
        ((1, "load", 132, 1024), (4, 5, 4)),
        ((1, "copy", 132, 1024), (4, 8, 4)),
        ((1, "copy", 528, 256), (4, 8, 9)),
        ((4, "load", 132, 512), (9, 9, 15)),
        ((4, "copy", 132, 512), (8, 5, 19)),
    ],
)
def test_loads_take_as_long_as_on_an_h200(case: tuple[int, str, int, int], percent: tuple[int, int, int]) -> None:
    found, wanted = simulated(*case), measured(*case)
    for column, most in zip(COLUMNS, percent, strict=True):
        assert found[column] == pytest.approx(wanted[column], rel=most / 100), column


def test_stores_delay_loads_that_come_after_them() -> None:
    """With loads that no store delays the slowest tenth would take as long in both, as it did before what DRAM sends waited for a port."""
    alone, beside = (simulated(1, mode, 132, 1024)["load_p90"] for mode in ("load", "copy"))
    there = [measured(1, mode, 132, 1024)["load_p90"] for mode in ("load", "copy")]
    assert beside / alone > 1 + 0.8 * (there[1] / there[0] - 1) > 1.08
