"""Launches of clusters: kernels that were measured (`programs/measurements/gpu/clusters.cu`), small ones."""

import numpy as np

import isa
import sim
from programs.measurements.clusters import CODE, COLUMNS
from sim.launch.launch import Launch


def measured(name: str, ranks: int, warps: int, *numbers: int, blocks: int = 0) -> Launch:
    """Return a launch of a kernel with these arguments. ranks: blocks of a cluster; blocks: of the grid, one cluster unless said."""
    arguments = (np.zeros(1 << 13, np.uint32), *(np.int32(number) for number in numbers))
    return Launch(isa.load(CODE, name), (blocks or ranks,), (32 * warps,), arguments, shared_dynamic=100 << 10, cluster=(ranks,))


def tiles(name: str, ranks: int, count: int, rows: int) -> tuple[Launch, np.ndarray, np.ndarray]:
    """Return a launch that loads tiles, its results, and the array that they are of."""
    out, array = np.zeros(1 << 13, np.uint32), np.arange(64 * count * COLUMNS, dtype=np.float32).reshape(-1, COLUMNS)
    arguments = (out, sim.tensor_map(array, (rows, COLUMNS)), np.int32(count), np.int32(rows))
    return Launch(isa.load(CODE, name), (ranks,), (32,), arguments, shared_dynamic=100 << 10, cluster=(ranks,)), out, array


def small() -> dict[str, Launch]:
    """Return launches by name, each of which notices other numbers of a GPU's clusters."""
    return {
        "loads of a cluster": measured("loads_4", 2, 4, 2, -1, 16, 4),
        "barriers of a cluster": measured("barriers_release", 2, 4, 2),
        "words sent": measured("tokens_async", 2, 1, 4),
        "tiles for all": tiles("tiles_all", 2, 2, 32)[0],
    }
