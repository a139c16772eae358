"""Clusters, measured on an H100 and simulated: `python -m programs.measurements.clusters`.

`h100/clusters.csv` has what one cluster takes (`gpu/clusters.cu`), from which the numbers of the preset come; `h100/cluster_kernels.csv`
launches of three kernels of `programs/cuda`, which nothing is fitted to.
"""

import statistics
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import isa
import sim
from programs.measurements.tensor import Row, Scored, median_run, report
from programs.measurements.tiles import BARRIER_BYTES, BUFFER_BYTES, RESULT_BYTES
from programs.measurements.warpgroups import LISTINGS, TILE, halves, median, simulated
from programs.published import ends_with_status, rows
from sim.launch.launch import Launch

HERE = Path(__file__).parent / "h100"
CODE, TIMES, KERNELS = HERE / "clusters.sm_90.cubin", HERE / "clusters.csv", HERE / "cluster_kernels.csv"
ARGUMENTS = {"chase": 3, "chase_near": 1, "chase_atomic": 3, "copies": 2} | dict.fromkeys(("barriers", "barriers_release"), 1)
ARGUMENTS |= dict.fromkeys(("tokens_arrive", "tokens_async"), 1)
SHARED = 200 << 10  # bytes per block; of tiles 220 KB
COLUMNS, ROWS = 32, 8192  # of the array whose tiles are loaded


def launch_of(row: Row) -> Launch:
    """Return the launch of a row of clusters.csv."""
    name, ranks, warps = row["what"], int(row["cluster"]), int(row["warps"])
    numbers = [np.int32(row[letter]) for letter in "abcd"]
    program, out = isa.load(CODE, name), np.zeros(1 << 14, np.uint32)
    if name.startswith("tiles"):
        tile_map = sim.tensor_map(np.zeros((ROWS, COLUMNS), np.float32), (int(row["b"]), COLUMNS))
        grid = int(row["c"]) or ranks
        return Launch(program, (grid,), (32 * warps,), (out, tile_map, *numbers[:2]), shared_dynamic=220 << 10, cluster=(ranks,))
    arguments = (out, *numbers[: ARGUMENTS.get(name, 4)])
    return Launch(program, (ranks,), (32 * warps,), arguments, shared_dynamic=SHARED, cluster=() if name == "chase_near" else (ranks,))


def timed(row: Row) -> Scored:
    """Return the cycles between the last two clocks of the warp that takes longest, of tiles of many blocks in the mean."""
    result = simulated(launch_of(row))
    clocks: dict[tuple[int, int], list[int]] = {}
    for cycle, block, warp, _ in result.clock_reads.tolist():
        clocks.setdefault((block, warp), []).append(cycle)
    taken = [cycles[-1] - cycles[-2] for cycles in clocks.values()]
    simulated_cycles = statistics.mean(taken) if row["what"].startswith("tiles") and int(row["c"]) else max(taken)
    name = " ".join(row[key] for key in ("what", "cluster", "warps", "a", "b", "c", "d"))
    return Scored(name, float(row["cycles"]), float(simulated_cycles), row, result)


def times(*what: str, most: float = 1e9) -> Iterator[Scored]:
    """Yield rows of clusters.csv. what: names, all but the latencies of single tiles unless given; most: cycles measured."""
    for row in rows(TIMES):
        wanted = row["what"] in what if what else not row["what"].startswith("tile_latency")
        if wanted and float(row["cycles"]) <= most:
            yield timed(row)


def kernel_of(row: Row) -> Launch:
    """Return the launch of a row of cluster_kernels.csv."""
    program = isa.load(LISTINGS / f"{row['kernel']}.sm_90.sass")
    m, n, k, stages = (int(row[name]) for name in ("m", "n", "k", "stages"))
    if row["kernel"] == "histogram_cluster":
        values = np.arange(k, dtype=np.uint32) * np.uint32(2654435761)
        values = (values ^ values >> np.uint32(15)) * np.uint32(0x846CA68B)
        values = ((values ^ values >> np.uint32(16)) & np.uint32(4095)).astype(np.int32)
        return Launch(program, (m,), (n,), (np.int32(k), values, np.zeros(4096, np.int32)), cluster=(4,))
    several = row["kernel"] == "hgemm_multicast"
    a, b, c = halves(m * k, 1).reshape(m, k), halves(n * k, 2).reshape(k, n), np.zeros((m, n), np.float32)
    boxes = ((a, (TILE // 2 if several else TILE, 64)), (b, (64, 64)), (c, (64, 32)))
    return Launch(
        program,
        grid=(n // TILE, m // TILE),
        block=(384,),
        args=(*(sim.tensor_map(array, box, "128B") for array, box in boxes), np.int32(k), np.int32(stages)),
        shared_dynamic=stages * BUFFER_BYTES + RESULT_BYTES + BARRIER_BYTES,
        cluster=(2,) if several else (),
    )


def kernels(*names: str, most: float = 1e9) -> Iterator[Scored]:
    """Yield launches of kernels, all unless named, active cycles of the busiest SM. most: cycles measured."""
    for row in rows(KERNELS):
        if (not names or row["kernel"] in names) and median(row) <= most:
            result = median_run(kernel_of(row), "h100")
            name = " ".join(row[key] for key in ("kernel", "m", "n", "k", "stages"))
            yield Scored(name, median(row), float(result.counters["sm_active_cycles_max"]), row, result)


def main() -> None:
    """Print both tables and their mean errors."""
    report({name: times(*names) for name, names in GROUPS.items()} | {name: kernels(name) for name in NAMES})


GROUPS = {
    "loads one after another": ("chase", "chase_atomic"),
    "barriers": ("barriers", "barriers_release"),
    "tokens": ("tokens_arrive", "tokens_async"),
    "copies": ("copies",),
    "loads": ("loads_4", "loads_8", "loads_16"),
    "stores": ("stores_4", "stores_16", "reds_4"),
    "tiles": ("tiles_each", "tiles_all"),
}
NAMES = ("hgemm_tma", "hgemm_multicast", "histogram_cluster")

if __name__ == "__main__":
    ends_with_status(main)
