"""The population measured on an H200, and another sample of it on an H100, beside the simulated ones.

`../h200/population.csv`, `../h100/population.csv`: per launch the counters of Nsight Compute, cold caches; `cycles` and `elapsed_cycles`
with the clocks as they boost, medians of four GPUs' medians of nine launches on the H200, of nine on the H100; on the H200 `warm_...` after
matrix products that had drawn the power limit, so that the SM ran at `warm_core_mhz` and L2 at `warm_l2_mhz`. The median of an ensemble of
places (`placements.py`) is compared with that of the launches.
"""

import statistics
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import isa
import sim
from isa.errors import UserError
from programs.measurements.placements import placed
from programs.measurements.population.case import Case
from programs.measurements.population.cases import SAMPLES, everything, kernels, population, sample_of, template
from programs.measurements.profiled import Profiled, largest_stall
from programs.published import rows
from sim.gpus.model import Gpu
from sim.launch.launch import Launch

H200 = Path(__file__).parents[1] / "h200"
FOLDERS = {sample: H200.parent / sample for sample in SAMPLES}
HALVES = ("seen", "kept")
CLOCKS = ("boost", "warm")


@dataclass(frozen=True)
class Score:
    """One launch: cycles of the busiest SM and of the launch, measured and simulated; the largest stall of each."""

    case: Case
    cycles: tuple[float, float]
    elapsed: tuple[float, float]
    stall: tuple[str, str]

    @property
    def error(self) -> float:
        """Percent of the measured cycles; positive = simulated too slow."""
        return 100 * (self.cycles[1] / self.cycles[0] - 1)

    @property
    def elapsed_error(self) -> float:
        """The same of the whole launch."""
        return 100 * (self.elapsed[1] / self.elapsed[0] - 1)


def score(half: str, clocks: str = "boost", changes: dict[str, Any] | None = None, sample: str = "h200") -> Iterator[Score]:
    """Yield the launches of a half of a sample, "seen" or "kept", at clocks "boost" or "warm". Raises UserError.

    changes: of the sample's GPU, by field; at "warm" its clocks are those measured with each launch, which only the H200's has.
    """
    known = {"half": (half, HALVES), "clocks": (clocks, CLOCKS if sample == "h200" else CLOCKS[:1]), "sample": (sample, tuple(SAMPLES))}
    for name, (given, choices) in known.items():
        if given not in choices:
            raise UserError(f"the population has no {name} '{given}'", hint=f"{name}: {', '.join(choices)}")
    machine = sim.gpu(sample).replace(changes or {})
    for case, row in launches(sample):
        if case.kept == (half == "kept"):
            yield one(case, row, machine, "" if clocks == "boost" else "warm_")


def launches(sample: str) -> list[tuple[Case, dict[str, str]]]:
    """Return the launches of a sample, each with its row of measurements."""
    cases = {case.name: case for case in population(sample)}
    return [(cases[row["launch"]], row) for row in rows(FOLDERS[sample] / "population.csv")]


def one(case: Case, row: dict[str, str], gpu: Gpu, prefix: str = "") -> Score:
    """Return the score of a launch, measured as a row of the table says. prefix: of its columns, "" or "warm_"."""
    if prefix:
        gpu = gpu.replace({f"clock.{name}": float(row[f"warm_{name}"]) for name in ("core_mhz", "l2_mhz")})
    results = placed(sim.execute(_launch(case)), gpu)
    measured = Profiled(
        case.name,
        FOLDERS[sample_of(case)],
        None,
        FOLDERS[sample_of(case)],
        {},
        {name: float(row[name]) for name in row if name.startswith("stall_")},
    )
    return Score(
        case,
        (float(row[f"{prefix}cycles"]), statistics.median(int(found.counters["sm_active_cycles_max"]) for found in results)),
        (float(row[f"{prefix}elapsed_cycles"]), statistics.median(found.elapsed_cycles for found in results)),
        (measured.largest_stall, largest_stall(results[0])),
    )


def _launch(case: Case) -> Launch:
    args: tuple[Any, ...] = (*case.arrays(), np.int32(case.n), np.int32(case.p))
    return Launch(_program(sample_of(case), case.body), (case.grid,), (case.block,), args, shared_dynamic=case.shared)


def summary(scores: list[Score]) -> dict[str, float]:
    """Return percent: mean, median and worst absolute error of the cycles, their signed mean, the mean of elapsed; equal largest stalls."""
    errors = [abs(one.error) for one in scores]
    return {
        "launches": len(scores),
        "mean": statistics.mean(errors),
        "median": statistics.median(errors),
        "worst": max(errors),
        "signed": statistics.mean(one.error for one in scores),
        "elapsed": statistics.mean(abs(one.elapsed_error) for one in scores),
        "stalls": sum(one.stall[0] == one.stall[1] for one in scores),
    }


@cache
def _program(sample: str, body: str) -> isa.Program:
    return isa.load(_cubins(sample) / f"{template(body)}.cubin", _names(sample)[body])


@cache
def _names(sample: str) -> dict[str, str]:
    return kernels(everything(sample))


@cache
def _cubins(sample: str) -> Path:
    """Return a folder with the cubins that were measured, for as long as the process runs."""
    folder = tempfile.TemporaryDirectory(prefix="simtlab-population-")
    _KEPT.append(folder)
    with tarfile.open(FOLDERS[sample] / "population.cubins.tar.xz") as archive:
        archive.extractall(folder.name, filter="data")
    return Path(folder.name)


_KEPT: list[tempfile.TemporaryDirectory] = []  # folders that go when the process ends
