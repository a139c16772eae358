"""Launches that hardly do more than begin and end, beside an H200's, and what it costs there where the code lies."""

import statistics

import numpy as np
import pytest

import isa
import sim
from programs.measurements.population.score import H200
from programs.published import rows
from sim.gpus.model import Gpu

BEGINS, PLACES = list(rows(H200 / "begins.csv")), list(rows(H200 / "places.csv"))
FAR = ("unstored", "store", "store_4")  # kernels whose code lay far from the first GPC, as here
NEAR = ("empty", "stores")
LATE = 215  # cycles without an instruction: between those of both parts of L2


def errors(kernels: tuple[str, ...], grids: range, gpu: Gpu) -> list[float]:
    """Return the percent that each launch is too slow, beside the median of eight."""
    found = []
    for row in BEGINS:
        if row["kernel"] in kernels and int(row["grid"]) in grids:
            program = isa.load(H200 / "begins.sm_90.cubin", row["kernel"])
            arguments = (np.zeros(1 << 20, np.float32), np.int32(1))[: len(program.parameters)]
            result = sim.run(sim.Launch(program, (int(row["grid"]),), (int(row["threads"]),), arguments), gpu)
            found.append(100 * (result.counters["sm_active_cycles_max"] / float(row["cycles"]) - 1))
    return found


@pytest.mark.parametrize(
    ("kernels", "grids", "changes", "percent"),  # in the mean
    [
        (FAR, range(1, 265), {}, 5),
        (NEAR, range(132, 265), {}, 6.5),  # all parts of the chip have blocks
        (NEAR, range(1, 9), {"fetch.far": 0}, 10),  # only the first GPC has, to which their code lies near
    ],
)
def test_launches_begin_and_end_as_on_an_h200(kernels: tuple[str, ...], grids: range, changes: dict[str, int], percent: float) -> None:
    found = errors(kernels, grids, sim.gpu("h200").replace(changes))
    assert statistics.mean(map(abs, found)) < percent
    assert max(map(abs, found)) < 30


def test_code_in_the_other_part_of_l2_comes_as_much_later_as_there() -> None:
    waits: dict[tuple[str, str], list[float]] = {}
    for row in PLACES:
        waits.setdefault((row["lines"], row["offset"]), []).append(float(row["no_instruction"]))
    near, far = ([wait for both in waits.values() for wait in both if (wait > LATE) == late] for late in (False, True))
    assert statistics.mean(far) - statistics.mean(near) == pytest.approx(sim.gpu("h200").fetch.far, abs=2)
    assert sum(len({wait > LATE for wait in both}) == 1 for both in waits.values()) >= len(waits) - 1  # the same in another process
