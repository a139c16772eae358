"""Products of warpgroups (wgmma), measured on an H100 and simulated: `python -m programs.measurements.warpgroups`.

`h100/warpgroups.csv` has chains of products on one SM (`gpu/warpgroups.py`), from which the numbers of the presets come;
`h100/warpgroup_products.csv` two kernels of `programs/cuda` in 24 launches, which nothing is fitted to.
"""

import statistics
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np

import isa
from programs.measurements.tensor import Row, Scored, median_run, report
from programs.published import ends_with_status, rows
from sim.gpus.loader import load
from sim.launch.launch import Launch
from sim.result.result import Result

HERE = Path(__file__).parent
CHAINS, PRODUCTS, CODE = (HERE / "h100" / name for name in ("warpgroups.csv", "warpgroup_products.csv", "warpgroups.sm_90.cubin"))
LISTINGS = HERE.parent / "cuda"
TILE, BUFFER_BYTES, BARRIER_BYTES = 128, 32768, 1024  # of both kernels; hgemm_packed has its barriers before its buffers


def median(row: Row) -> float:
    """Return the median of a row's runs."""
    return statistics.median(float(value) for name, value in row.items() if name.startswith("cycles_"))


@cache
def kernels() -> dict[str, isa.Program]:
    """Return the kernels of the chains by name."""
    return {program.name: program for program in isa.load_all(CODE)}


def chains() -> Iterator[Scored]:
    """Yield the chains on one SM: cycles between the two clocks of the last round."""
    for row in rows(CHAINS):
        arguments = (np.zeros(1, np.int32), np.zeros(128, np.float32))
        result = simulated(Launch(kernels()[row["kernel"]], grid=(1,), block=(128,), args=arguments, shared_dynamic=163840))
        reads = result.clock_reads[result.clock_reads[:, 2] == 0, 0]
        yield Scored(row["kernel"], median(row), float(reads[-1] - reads[-2]), row, result)


def launch(row: Row) -> Launch:
    """Return the launch of a row: halves from a hash of their place, both signs, between 1/2 and 1."""
    m, n, k, stages = (int(row[name]) for name in ("m", "n", "k", "stages"))
    packed = row["kernel"] == "hgemm_packed"
    a, b = halves(m * k, 3 if packed else 1), halves(n * k, 4 if packed else 2)
    numbers = (np.int32(n), np.int32(k), np.int32(stages)) if packed else (np.int32(n),)
    return Launch(
        isa.load(LISTINGS / f"{row['kernel']}.sm_90.sass"),
        grid=(n // TILE, m // TILE),
        block=(288 if packed else 256,),
        args=(a, b, np.zeros((m, n), np.float32), *numbers),
        shared_dynamic=stages * BUFFER_BYTES + (BARRIER_BYTES if packed else 0),
    )


def halves(count: int, seed: int) -> np.ndarray:
    """Return float16 [count]."""
    with np.errstate(over="ignore"):
        h: np.ndarray = (np.arange(count, dtype=np.uint32) + np.uint32(seed * 7919)) * np.uint32(2654435761)
        h = (h ^ h >> 15) * np.uint32(0x846CA68B)
    return (((h ^ h >> 16) & 0x83FF) | 0x3800).astype(np.uint16).view(np.float16)


def products(most: int = 1 << 33) -> Iterator[Scored]:
    """Yield the kernels, active cycles of the busiest SM. most: products of two numbers, of a launch."""
    yield from products_of(PRODUCTS, launch, most)


def products_of(table: Path, launched: Callable[[Row], Launch], most: int) -> Iterator[Scored]:
    """Yield the products of a table, each row's launch as `launched` makes it; as `products`."""
    for row in rows(table):
        if int(row["m"]) * int(row["n"]) * int(row["k"]) <= most:
            result = median_run(launched(row), "h100")
            name = " ".join(row[key] for key in ("kernel", "m", "n", "k", "stages"))
            yield Scored(name, median(row), float(result.counters["sm_active_cycles_max"]), row, result)


def simulated(given: Launch) -> Result:
    """Return the launch on an H100."""
    from sim import run

    return run(given, load("h100"))


def main() -> None:
    """Print both tables and their mean errors."""
    report({"chains": chains(), "products": products()})


if __name__ == "__main__":
    ends_with_status(main)
