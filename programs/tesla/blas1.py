"""BLAS1 on GPUs of compute capability 1.x: scaling a column is bound by the launch, swapping rows by how a matrix lies in memory."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from programs.reproduction import Check
from programs.tesla.products import FOLDER
from sim.functional import execute
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.launch.file import load_launch
from sim.result.result import Result
from sim.timing import simulate

THREADS = 64
LENGTHS = (1024, 4096, 8192)  # of a column; 8192 x 8192 numbers fill the 256 MB of an 8600 GTS
ROW = 2048  # numbers of the rows that are swapped
SIMILAR = 1.4  # "runtimes are similar": the slower one takes at most so many times as long


def scale(gpu: Gpu, length: int) -> Result:
    """Scale a column of that many numbers."""
    launch = load_launch(FOLDER / "scale_column.toml").launch
    args = (np.ones(length, np.float32), np.float32(2), np.uint32(length))
    return simulate(execute(replace(launch, grid=(-(-length // THREADS),), args=args)), gpu)


def swap(gpu: Gpu, size: int, by_columns: bool) -> Result:
    """Swap the first two rows of a square matrix of that size, which lies by columns or by rows."""
    launch = load_launch(FOLDER / "swap_rows.toml").launch
    step, second = (4 * size, 4) if by_columns else (4, 4 * size)
    args = (np.zeros((size, size), np.float32), np.uint32(0), np.uint32(second), np.uint32(step), np.uint32(size))
    return simulate(execute(replace(launch, grid=(-(-size // THREADS),), args=args)), gpu)


def checks(row: Mapping[str, Any]) -> Iterator[Check]:
    """Yield the judged statements on BLAS1."""
    slow, fast = load(row["slow"]), load(row["fast"])
    ratio = fast.dram.bandwidth / slow.dram.bandwidth
    said = f"{row['bandwidths']} times"
    yield Check(f"bandwidth of {fast.name} and {slow.name}", said, f"{ratio:.1f} times", round(ratio, 1) == row["bandwidths"])
    for length in LENGTHS:
        yield _column(slow, fast, length)
    for gpu in (slow, fast):
        yield _rows(gpu)


def _column(slow: Gpu, fast: Gpu, length: int) -> Check:
    times = [microseconds(scale(gpu, length)) for gpu in (slow, fast)]
    bare = [microseconds(scale(gpu, length), launch=False) for gpu in (slow, fast)]
    simulated = f"{times[0]:.1f} and {times[1]:.1f} us, {times[0] / times[1]:.2f} times"
    note = (
        f"{bare[0]:.1f} and {bare[1]:.1f} us without the launch ({bare[0] / bare[1]:.1f} times), of {slow.blocks.launch_us:g} us, assumed"
    )
    return Check(f"scale a column of {length}", "similar: overhead-bound", simulated, times[0] / times[1] <= SIMILAR, note)


def _rows(gpu: Gpu) -> Check:
    columns, rows = (swap(gpu, ROW, by_columns) for by_columns in (True, False))
    bare = [microseconds(run, launch=False) for run in (columns, rows)]
    simulated = f"{bare[0]:.1f} us by columns, {bare[1]:.1f} by rows: {bare[0] / bare[1]:.1f} times"
    per = [run.counters["global_load_sectors"] / run.counters["global_load_requests"] for run in (columns, rows)]
    note = f"{per[0]:.0f} and {per[1]:.0f} sectors per load; open pages of DRAM and TLBs are not modelled, and the launch is not counted"
    return Check(f"{gpu.name}: swap rows of {ROW}", "very slow in column-major layout", simulated, bare[0] > 3 * bare[1], note)


def microseconds(run: Result, launch: bool = True) -> float:
    """Return the time of a run, with what its launch takes or without."""
    return (run.elapsed_cycles if launch else run.cycles) / run.gpu.clock.core_mhz
