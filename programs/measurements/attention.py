"""Attention, measured on an H100 and simulated: `python -m programs.measurements.attention [FILE.csv]`.

The table is what `gpu/attention.py` writes, `h100/attention.csv` unless another is named. Nothing is fitted to it.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import isa
import sim
from isa.errors import UserError
from programs.measurements.gpu.attention import COLUMNS, Row, arrays
from programs.measurements.tensor import Scored, median_run, report
from programs.measurements.warpgroups import LISTINGS, median
from programs.published import ends_with_status, rows
from sim.launch.launch import Launch

TABLE = Path(__file__).parent / "h100" / "attention.csv"


def launch_of(row: Row) -> Launch:
    """Return the launch of a row."""
    grid, block, shared = row.shape
    given, out = arrays(row), np.zeros((row.heads, row.n, COLUMNS), np.float32)
    numbers = [np.int32(number) for number in (row.n, row.stages)[: 2 if row.stages else 1]]
    factors = [sim.tensor_map(array, (1, 128, COLUMNS), "128B") for array in given] if row.stages else given
    return Launch(isa.load(LISTINGS / f"{row.kernel}.sm_90.sass"), grid, (block,), (*factors, out, *numbers), shared_dynamic=shared)


def scores(table: Path) -> Iterator[Scored]:
    """Yield the launches of a table, active cycles of the busiest SM."""
    for measured in rows(table, Row._fields):
        row = Row(measured["kernel"], *(int(measured[name]) for name in ("heads", "n", "stages")))
        result = median_run(launch_of(row), "h100")
        yield Scored(" ".join(map(str, row)), median(measured), float(result.counters["sm_active_cycles_max"]), measured, result)


def main() -> None:
    """Print the table and its mean error."""
    if len(sys.argv) > 2:
        raise UserError("one file at most is compared", hint="python -m programs.measurements.attention [FILE.csv]")
    report({"attention": scores(Path(sys.argv[1]) if len(sys.argv) > 1 else TABLE)})


if __name__ == "__main__":
    ends_with_status(main)
