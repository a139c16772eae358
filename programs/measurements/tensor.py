"""Tensor cores, measured on an H200 and simulated: `python -m programs.measurements.tensor`.

`h200/tensor.csv` has chains of products and matrix loads (`gpu/tensor.cu`), from which the numbers of the presets come; `h200/products.csv`
four kernels of `programs/cuda` in four sizes, which nothing is fitted to.
"""

import csv
import json
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import isa
from programs.published import ends_with_status
from sim.causes.advice import utilisation
from sim.gpus.loader import load
from sim.launch.file import load_launch
from sim.launch.launch import Launch
from sim.result.result import Result

HERE = Path(__file__).parent
CHAINS, PRODUCTS = HERE / "h200" / "tensor.csv", HERE / "h200" / "products.csv"
CODE = HERE / "h200" / "tensor.sm_90.cubin"
STEPS = 512  # of a chain: UNROLLED * LOOPS
Row = dict[str, str]


class Scored(NamedTuple):
    """One measurement beside what was simulated; cycles."""

    name: str
    measured: float
    simulated: float
    row: Row
    result: Result

    @property
    def error(self) -> float:
        """Return the relative error."""
        return self.simulated / self.measured - 1


def rows(table: Path, wanted: Callable[[Row], bool]) -> list[Row]:
    """Return the rows of a table that are wanted."""
    with table.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if wanted(row)]


@cache
def kernel(operation: str, beside: str, chains: str) -> isa.Program:
    """Return the kernel of a chain."""
    second = "S0_" if beside == operation else f"{len(beside)}{beside}"
    return isa.load(CODE, f"_Z6chainsI{len(operation)}{operation}{second}Li{chains}EEvPiiii")


def chains(wanted: Callable[[Row], bool] = lambda _: True) -> Iterator[Scored]:
    """Yield the chains on one SM, cycles for each step, as `gpu/tensor.cu` counts them."""
    for row in rows(CHAINS, lambda row: row["blocks"] == "1" and not row["operation"].startswith("cp_") and wanted(row)):
        warps, arguments = int(row["warps"]), [np.int32(row[name]) for name in ("stride", "around")]
        program = kernel(row["operation"], row["beside"], row["chains"])
        result = _simulated(Launch(program, grid=(1,), block=(32 * warps,), args=(np.zeros(66, np.int32), np.int32(0), *arguments)))
        reads = [result.clock_reads[result.clock_reads[:, 2] == warp, 0] for warp in range(warps)]
        cycles = max(int(cycles[-1]) for cycles in reads) - min(int(cycles[0]) for cycles in reads)
        name = " ".join(row[key] for key in ("operation", "beside", "chains", "warps", "stride"))
        yield Scored(name, float(row["cycles"]), cycles / STEPS, row, result)


def products(wanted: Callable[[Row], bool] = lambda _: True) -> Iterator[Scored]:
    """Yield the kernels, active cycles of the busiest SM."""
    for row in rows(PRODUCTS, wanted):
        values: dict[str, Any] = json.loads(row["values"])
        program = isa.load(HERE.parent / "cuda" / row["listing"])
        file = load_launch(HERE / "gpu" / row["file"], program, args={"n": values["n"]}, grid=values["grid"])
        result = median_run(file.launch, "h200")
        name = f"{program.name} {values['n']}"
        stall = max((float(value), column) for column, value in row.items() if column.startswith("stall_"))[1].removeprefix("stall_")
        yield Scored(name, float(row["cycles"]), float(result.counters["sm_active_cycles_max"]), row | {"stall": stall}, result)


def _simulated(launch: Launch) -> Result:
    from sim import run

    return run(launch, load("h200"))


def median_run(given: Launch, gpu: str) -> Result:
    """Return the launch on a GPU where its arrays lie at the median of several places."""
    from programs.measurements.placements import median_placed
    from sim import execute

    return median_placed(execute(given), load(gpu))


def tensor_share(score: Scored) -> float:
    """Return the share of the SMs' active cycles in which the tensor cores multiply, 0 to 1."""
    use = utilisation(score.result)
    return max(use.get(pipe, 0.0) for pipe in ("wgmma pipe", "tensor pipe"))


def largest(result: Result) -> str:
    """Return the largest stall."""
    return max((cause for cause in result.stalls if cause != "selected"), key=lambda cause: result.stalls[cause])


def written(score: Scored) -> str:
    """Return a line of the table."""
    digits = 0 if score.measured >= 100 else 2
    line = f"{score.name:35} {score.measured:8.{digits}f} {score.simulated:8.{digits}f} {score.error:+7.1%}"
    if "stall" not in score.row:
        return line + "\n"
    measured = f", measured {float(score.row['tensor_percent']):4.1f} %" if score.row.get("tensor_percent") else ""
    share = f"tensor cores {100 * tensor_share(score):4.1f} %{measured}; " if measured or tensor_share(score) else ""
    return f"{line}  {share}{largest(score.result)}, measured {score.row['stall']}\n"


def main() -> None:
    """Print both tables and their mean errors."""
    report({"chains": chains(), "products": products()})


def report(tables: dict[str, Iterator[Scored]]) -> None:
    """Print tables and their mean errors."""
    for title, scores in tables.items():
        errors, alike, apart = [], 0, []
        for score in scores:
            sys.stdout.write(written(score))
            errors.append(score.error)
            if "stall" in score.row:
                alike += largest(score.result) == score.row["stall"]
            if score.row.get("tensor_percent"):
                apart.append(abs(100 * tensor_share(score) - float(score.row["tensor_percent"])))
        if not errors:
            sys.stdout.write(f"{title}: no rows\n\n")
            continue
        sys.stdout.write(f"{title}: {len(errors)}, mean error {np.mean(np.abs(errors)):.1%}, worst {max(errors, key=abs):+.1%}\n")
        if "stall" in score.row:
            off = f"off by {np.mean(apart):.1f} points, at most {max(apart):.1f}" if apart else "was not counted"
            sys.stdout.write(f"largest stall equal in {alike}; the tensor cores' share {off}\n")
        sys.stdout.write("\n")


if __name__ == "__main__":
    ends_with_status(main)
