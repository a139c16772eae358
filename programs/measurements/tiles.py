"""Tiles (TMA), measured on an H100 and simulated: `python -m programs.measurements.tiles`.

`h100/tiles.csv` has what tiles leave in memory, `h100/tile_times.csv` how long one SM takes for them (`gpu/tiles.cu`), from which the two
numbers of the preset come; `h100/tile_products.csv` launches of `programs/cuda/hgemm_tma`, which nothing is fitted to.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

import isa
import sim
from programs.measurements.tensor import Row, Scored, report
from programs.measurements.warpgroups import LISTINGS, TILE, halves, products_of, simulated
from programs.published import ends_with_status, rows
from sim.launch.launch import Launch
from sim.launch.pointers import Pointer
from sim.launch.tensor_maps import FILLS, MAP, SWIZZLES, encoded

HERE = Path(__file__).parent / "h100"
CODE, TIMES, PRODUCTS = HERE / "tiles.sm_90.cubin", HERE / "tile_times.csv", HERE / "tile_products.csv"
TYPES = (  # the driver's numbers
    *("uint8", "uint16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64", "bfloat16"),
    *("float32_ftz", "tfloat32", "tfloat32_ftz"),
)
WORDS, ARRAY, POISON = 4096, 16384, 0xDEADBEEF  # of shared memory and of the array; what shared memory holds before
BUFFER_BYTES, RESULT_BYTES, BARRIER_BYTES = 32768, 65536, 1024  # of hgemm_tma's shared memory


def words(count: int, salt: int) -> np.ndarray:
    """Return uint32 [count]: hashed from their place."""
    mask, factor = np.uint64(0xFFFFFFFF), np.uint64(0x45D9F3B)
    found = np.arange(count, dtype=np.uint64) + np.uint64(salt * 1000003)
    for _ in range(2):
        found = (found ^ found >> np.uint64(16)) * factor & mask
    return (found ^ found >> np.uint64(16)).astype(np.uint32)


@cache
def kernel(name: str) -> isa.Program:
    """Return a kernel of `gpu/tiles.cu`."""
    return isa.load(CODE, name)


def launch_of(row: Row) -> tuple[Launch, np.ndarray]:
    """Return the launch of a row of tiles.csv, and the array that shows its result: what shared memory held, or the array itself."""
    sizes, strides, box, steps, at = ([int(x) for x in row[name].split()] for name in ("dims", "strides", "box", "steps", "at"))
    number = int(row["number"]) % 1000
    made = encoded(sizes, strides, box, steps, TYPES[int(row["dtype"])], list(SWIZZLES)[int(row["swizzle"])], FILLS[int(row["fill"])])
    array, given, out = words(ARRAY, number), words(WORDS, number + 5000), np.zeros(WORDS + 16, np.uint32)
    tile_map = np.array((Pointer(array, int(row["offset"])), made[2:]), MAP)[()]
    place = [np.int32(value) for value in (int(row["place"]), *at, *[0] * (5 - len(at)))]
    loads = row["kind"] == "load"
    arguments = (
        (tile_map, out, np.int32(WORDS), np.uint32(POISON), np.int32(int(row["bytes"]))) if loads else (tile_map, given, np.int32(WORDS))
    )
    program = kernel(f"{row['kind']}{len(sizes)}")
    return Launch(program, (1,), (32,), (*arguments, *place), shared_dynamic=4 * WORDS), out if loads else array


def timed(row: Row) -> Scored:
    """Return cycles of loads or stores by one thread when L2 has them, until all are there or stored, from the first clock on."""
    inner, count, tile_rows, pitch = (int(row[name]) for name in ("inner", "count", "rows", "pitch"))
    array = np.zeros((tile_rows * count, pitch // 4), np.float32)
    tile_map = sim.tensor_map(array[:, : inner // 4], (tile_rows, inner // 4), list(SWIZZLES)[int(row["swizzle"])])
    numbers = inner * tile_rows, count, tile_rows, *([0] if row["what"] == "loads" else [])
    arguments = (tile_map, np.zeros(64, np.int32), *(np.int32(number) for number in numbers))
    result = simulated(Launch(kernel(row["what"]), (1,), (32,), arguments, shared_dynamic=200 << 10))
    clocks = result.clock_reads[:, 0]
    name = " ".join(row[key] for key in ("what", "inner", "rows", "pitch", "swizzle", "count"))
    return Scored(name, float(row["t5"]), float(clocks[-1] - clocks[-4]), row, result)


def times(what: str = "loads") -> Iterator[Scored]:
    """Yield the loads or stores of tile_times.csv."""
    yield from (timed(row) for row in rows(TIMES) if row["what"] == what)


def product(row: Row) -> Launch:
    """Return the launch of hgemm_tma of a row."""
    m, n, k, stages = (int(row[name]) for name in ("m", "n", "k", "stages"))
    a, b, c = halves(m * k, 1).reshape(m, k), halves(n * k, 2).reshape(k, n), np.zeros((m, n), np.float32)
    boxes = ((a, (TILE, 64)), (b, (64, 64)), (c, (64, 32)))
    return Launch(
        isa.load(LISTINGS / "hgemm_tma.sm_90.sass"),
        grid=(n // TILE, m // TILE),
        block=(384,),
        args=(*(sim.tensor_map(array, box, "128B") for array, box in boxes), np.int32(k), np.int32(stages)),
        shared_dynamic=stages * BUFFER_BYTES + RESULT_BYTES + BARRIER_BYTES,
    )


def products(most: int = 1 << 34) -> Iterator[Scored]:
    """Yield the products, active cycles of the busiest SM. most: products of two numbers, of a launch."""
    yield from products_of(PRODUCTS, product, most)


def main() -> None:
    """Print the tables and their mean errors."""
    report({"loads": times("loads"), "stores": times("stores"), "products": products()})


if __name__ == "__main__":
    ends_with_status(main)
