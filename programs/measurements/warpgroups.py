"""Products of warpgroups (wgmma), measured on an H100 and simulated: `python -m programs.measurements.warpgroups`.

`h100/warpgroups.csv` has chains of products on one SM (`gpu/warpgroups.py`), from which the numbers of the presets come;
`h100/warpgroup_products.csv` two kernels of `programs/cuda` in 24 launches, which nothing is fitted to.
"""

import statistics
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np

import isa
from programs.measurements.tensor import Row, Scored, median_run
from programs.published import ends_with_status, rows
from sim.causes.advice import utilisation
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


def tensor_share(score: Scored) -> float:
    """Return the share of the SMs' active cycles in which the tensor cores multiply, 0 to 1."""
    use = utilisation(score.result)
    return max(use.get(pipe, 0.0) for pipe in ("wgmma pipe", "tensor pipe"))


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


def largest(result: Result) -> str:
    """Return the largest stall."""
    return max((cause for cause in result.stalls if cause != "selected"), key=lambda cause: result.stalls[cause])


def written(score: Scored) -> str:
    """Return a line of the table."""
    line = f"{score.name:35} {score.measured:8.0f} {score.simulated:8.0f} {score.error:+7.1%}"
    if "stall" not in score.row:
        return line + "\n"
    measured = f", measured {float(score.row['tensor_percent']):4.1f} %" if "tensor_percent" in score.row else ""
    return f"{line}  tensor cores {100 * tensor_share(score):4.1f} %{measured}; {largest(score.result)}, measured {score.row['stall']}\n"


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
            if "tensor_percent" in score.row:
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
