"""Attention on an H100, measured: `python3 -m programs.measurements.gpu.attention attention.csv`, in the folder that holds `programs`.

Needs nvcc, ncu, a driver, Python and NumPy, nothing else of simtlab. `nvcc -O3` compiles two kernels of `programs/cuda`; maps of tiles are
the driver's. Each launch of `ROWS` is checked against NumPy, then made five times under Nsight Compute with caches flushed and clocks left
alone, and once more for the other counters. One row each: sm__cycles_active.max of the five, the median of sm__cycles_elapsed.max;
instructions, the tensor pipe's share of the SMs' active cycles, the largest stall (but selected), sectors that L2 read, the largest error;
then the shares and stalls themselves.
"""

import argparse
import ctypes
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from programs.measurements.gpu import counters

CUDA = Path(__file__).parents[2] / "cuda"
REPEAT, COLUMNS, TILE_BYTES, TOLERANCE = 5, 64, 16384, 5e-4
SHARED, FLOAT16, SWIZZLE_128B = 8, 6, 3  # the driver's: attribute of a kernel; type, swizzle of a map
TIMES = {"cycles": "sm__cycles_active.max", "elapsed": "sm__cycles_elapsed.max"}
TENSOR = ("sm__pipe_tensor_cycles_active", "sm__pipe_tensor_op_gmma_cycles_active", "sm__pipe_tensor_op_hmma_cycles_active")
TOOLS = ("nvcc", "ncu")
STALLS = (*counters.STALLS, "gmma")


class Row(NamedTuple):
    """One launch: heads of n rows each; stages: buffers of 16 KB, 0 where the kernel has none."""

    kernel: str
    heads: int
    n: int
    stages: int

    @property
    def shape(self) -> tuple[tuple[int, int], int, int]:
        """Return grid, block and bytes of dynamic shared memory."""
        if self.kernel == "attention_mma":
            return (self.n // 64, self.heads), 128, 0
        return (self.n // 128, self.heads), 384, 1024 + TILE_BYTES * (1 + self.stages)


ROWS = (
    *(Row("attention_wgmma", *sizes) for sizes in ((1, 128, 4), (1, 1024, 4), (2, 4096, 4), (8, 512, 4), (16, 1024, 2), (16, 1024, 3))),
    *(Row("attention_wgmma", *sizes) for sizes in ((16, 1024, 4), (16, 1024, 8), (64, 256, 4), (64, 1024, 4), (32, 2048, 4))),
    *(Row("attention_mma", *sizes) for sizes in ((1, 256, 0), (4, 512, 0), (16, 1024, 0), (32, 1024, 0))),
)


def arrays(row: Row) -> list[np.ndarray]:
    """Return q, k, v, float16 [heads, n, 64]: between -2 and 2, the last between -1 and 1."""
    made = np.random.default_rng(row.heads * row.n)
    return [(made.random((row.heads, row.n, COLUMNS)) * 2 * most - most).astype(np.float16) for most in (2, 2, 1)]


def expected(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return float64 [heads, n, 64]."""
    results = []
    for queries, keys, values in zip(*(x.astype(np.float64) for x in (q, k, v)), strict=True):
        weights = np.exp(queries @ keys.T / 8)
        results.append(weights @ values / weights.sum(1, keepdims=True))
    return np.array(results)


class Driver:
    """The CUDA driver, its first GPU and the kernels of a folder of cubins."""

    def __init__(self, folder: Path) -> None:
        self.library, self.folder = ctypes.CDLL("libcuda.so.1"), folder
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver. Raises RuntimeError where it fails."""
        status = getattr(self.library, name)(*arguments)
        if status:
            raise RuntimeError(f"{name} fails with {status}")

    def placed(self, array: np.ndarray) -> ctypes.c_uint64:
        """Return the address of a copy of an array."""
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(array.nbytes))
        self.call("cuMemcpyHtoD_v2", address, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))
        return address

    def launch(self, row: Row, given: list[np.ndarray], repeat: int) -> np.ndarray:
        """Launch a row several times; return its result, float32 [heads, n, 64]."""
        grid, block, shared = row.shape
        module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoad", ctypes.byref(module), str(self.folder / f"{row.kernel}.cubin").encode())
        self.call("cuModuleGetFunction", ctypes.byref(kernel), module, row.kernel.encode())
        if shared:
            self.call("cuFuncSetAttribute", kernel, SHARED, shared)
        out = np.full((row.heads, row.n, COLUMNS), np.nan, np.float32)
        addresses = [self.placed(array) for array in (*given, out)]
        factors = [tiled(self, address, out.shape) for address in addresses[:3]] if row.stages else addresses[:3]
        numbers = [ctypes.c_int(number) for number in (row.n, row.stages)[: 2 if row.stages else 1]]
        values = [*factors, addresses[3], *numbers]
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        for _ in range(repeat):
            self.call("cuLaunchKernel", kernel, *grid, 1, block, 1, 1, shared, None, pointers, None)
            self.call("cuCtxSynchronize")
        self.call("cuMemcpyDtoH_v2", ctypes.c_void_p(out.ctypes.data), addresses[3], ctypes.c_size_t(out.nbytes))
        for address in addresses:
            self.call("cuMemFree_v2", address)
        return out


def tiled(driver: Driver, address: ctypes.c_uint64, shape: tuple[int, ...]) -> Any:
    """Return a map of boxes of 1 x 128 x 64 halves with 128 bytes swizzled, as the driver makes it."""
    heads, n, columns = shape
    room = (ctypes.c_uint64 * 24)()
    tile_map = (ctypes.c_uint64 * 16).from_buffer(room, -ctypes.addressof(room) % 64)  # a map is aligned to 64 bytes
    sizes, strides = (ctypes.c_uint64 * 3)(columns, n, heads), (ctypes.c_uint64 * 2)(2 * columns, 2 * columns * n)
    box, steps = (ctypes.c_uint32 * 3)(columns, 128, 1), (ctypes.c_uint32 * 3)(1, 1, 1)
    driver.call("cuTensorMapEncodeTiled", tile_map, FLOAT16, 3, address, sizes, strides, box, steps, 0, SWIZZLE_128B, 0, 0)
    return tile_map


def compiled(folder: Path) -> None:
    """Compile the kernels into a folder."""
    for name, stages in {row.kernel: row.stages for row in ROWS}.items():
        made, target = folder / f"{name}.cubin", "sm_90a" if stages else "sm_90"
        subprocess.run(["nvcc", "-O3", f"-arch={target}", "-cubin", "-o", str(made), str(CUDA / f"{name}.cu")], check=True)


def launched(folder: Path, mode: str, before: tuple[str, ...] = ()) -> str:
    """Return what a process prints that launches every row, with a command before it. mode: "check", or how often."""
    command = [*before, sys.executable, "-m", "programs.measurements.gpu.attention", str(folder), mode]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def profiled(folder: Path, repeat: int, metrics: dict[str, str]) -> list[dict[str, float]]:
    """Return the counters of each launch, of all rows in order."""
    text = launched(folder, str(repeat), ("ncu", *counters.PROFILER, "--metrics", ",".join(metrics.values())))
    found = list(counters.read(text, metrics))
    if len(found) != repeat * len(ROWS):
        raise RuntimeError(f"ncu reports {len(found)} launches of {repeat * len(ROWS)}:\n{text[-2000:]}")
    return found


def known() -> set[str]:
    """Return the counters that this Nsight Compute has for the chip, and other words."""
    query = ["ncu", "--query-metrics", "--chips", "gh100"]
    return set(subprocess.run(query, capture_output=True, text=True, check=False).stdout.split())


def metrics_of(names: set[str]) -> dict[str, str]:
    """Return the counters of one more launch; of the tensor pipe and of waits for wgmma those among `names`."""
    stalls = {name: f"smsp__average_warps_issue_stalled_{name}_per_issue_active" for name in STALLS}
    metrics = {"instructions": "smsp__inst_executed.sum", "l2_sectors_read": "lts__t_sectors_op_read.sum"}
    metrics |= {name: f"{name}.avg.pct_of_peak_sustained_active" for name in TENSOR if name in names}
    return metrics | {name: f"{metric}.ratio" for name, metric in stalls.items() if name in counters.STALLS or metric in names}


def table(folder: Path, errors: list[float]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table."""
    times, counted = profiled(folder, REPEAT, TIMES), profiled(folder, 1, metrics_of(known()))
    for k, (row, counts, error) in enumerate(zip(ROWS, counted, errors, strict=True)):
        runs = times[REPEAT * k : REPEAT * (k + 1)]
        found = row._asdict() | {f"cycles_{i + 1}": int(run["cycles"]) for i, run in enumerate(runs)}
        found["elapsed"] = int(statistics.median(run["elapsed"] for run in runs))
        found["instructions"] = int(counts.pop("instructions"))
        found["tensor_percent"] = round(max(counts.get(name, 0.0) for name in TENSOR), 2)
        found["stall"] = max(STALLS, key=lambda name: counts.get(name, 0.0))
        found["l2_sectors_read"] = int(counts.pop("l2_sectors_read"))
        yield found | {"error": f"{error:.1e}"} | counts


def run(folder: Path, mode: str) -> None:
    """Launch every row from a folder of cubins; mode: as of `launched`."""
    driver = Driver(folder)
    for row in ROWS:
        given = arrays(row)
        out = driver.launch(row, given, 1 if mode == "check" else int(mode))
        if mode == "check":
            sys.stdout.write(f"{np.abs(out - expected(*given)).max()}\n")


def main(path: Path) -> None:
    """Measure every row into a table."""
    with tempfile.TemporaryDirectory() as scratch:
        compiled(Path(scratch))
        errors = [float(word) for word in launched(Path(scratch), "check").split()]
        counters.write(list(table(Path(scratch), errors)), path)
    wrong = [row for row, error in zip(ROWS, errors, strict=True) if not error <= TOLERANCE]
    if wrong:
        raise SystemExit(f"wrong results (nothing measured counts): {wrong}")


def command(arguments: list[str]) -> None:
    """Measure into the table that is named, or launch for the profiler; what cannot be ends with a message and status 2."""
    parser = argparse.ArgumentParser(prog="python3 -m programs.measurements.gpu.attention")
    parser.add_argument("table", type=Path, help="the file to write")
    parser.add_argument("mode", nargs="?", help=argparse.SUPPRESS)  # of a launch by `launched`, from a folder of cubins
    given = parser.parse_args(arguments)
    if given.mode:
        run(given.table, given.mode)
    elif not given.table.parent.is_dir():
        parser.error(f"there is no folder {given.table.parent}")
    elif absent := [tool for tool in TOOLS if not shutil.which(tool)]:
        parser.error(f"{', '.join(absent)}: not on the PATH")
    else:
        main(given.table)


if __name__ == "__main__":
    command(sys.argv[1:])
