"""What NumPy says where an expression in a launch file would be too long.

`python -m programs.cuda.references` writes the .npy files of this folder.
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sim.launch.arrays import Array, build_arrays
from sim.launch.expectation import fma
from sim.launch.table import SCALARS

FOLDER = Path(__file__).parent
Arrays = dict[str, np.ndarray]


def black_scholes(price: Any, strike: Any, years: Any, rate: Any, volatility: Any, **_: Any) -> Arrays:
    """Return the prices in float64."""
    price, strike, years, rate, volatility = (np.float64(each) for each in (price, strike, years, rate, volatility))
    d1 = (np.log(price / strike) + (rate + volatility**2 / 2) * years) / (volatility * np.sqrt(years))
    d2 = d1 - volatility * np.sqrt(years)
    discounted = strike * np.exp(-rate * years)
    call = price * _normal(d1) - discounted * _normal(d2)
    return {"call": call, "put": call + discounted - price}


def _normal(d: np.ndarray) -> np.ndarray:
    k = 1 / (1 + 0.2316419 * np.abs(d))
    series = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = np.exp(-d * d / 2) / np.sqrt(2 * np.pi) * series
    return np.where(d > 0, 1 - tail, tail)


def convolution(source: np.ndarray, **_: Any) -> Arrays:
    """Return the image filtered by the binomial weights, in float64."""
    row = np.array([1, 4, 6, 4, 1]) / 16
    padded = np.pad(np.float64(source), 2, mode="edge")
    height, width = source.shape
    return {"out": sum(row[j] * row[i] * padded[j : j + height, i : i + width] for j in range(5) for i in range(5))}


def mandelbrot(steps: np.ndarray, left: Any, top: Any, pixel: Any, most: Any, **_: Any) -> Arrays:
    """Return the counts, every operation in float32."""
    height, width = steps.shape
    column, row = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    cx, cy = fma(column, pixel, left), fma(row, -pixel, top)
    x, y, count, inside = np.zeros_like(cx), np.zeros_like(cy), np.zeros_like(steps), np.ones(steps.shape, bool)
    for _step in range(int(most)):
        inside &= x * x + y * y <= np.float32(4)
        count += inside
        x, y = np.where(inside, (x * x - y * y + cx, fma(x + x, y, cy)), (x, y))
    return {"steps": count}


def monte_carlo(seed: Any, draws: Any, **_: Any) -> Arrays:
    """Return the number of hits of 6 x 128 generators."""
    state = np.arange(6 * 128, dtype=np.uint32) * np.uint32(2654435761) ^ seed
    hits = 0
    for _draw in range(int(draws)):
        squares = np.zeros(state.shape, np.uint64)
        for _coordinate in range(2):
            state = state ^ state << np.uint32(13)
            state = state ^ state >> np.uint32(17)
            state = state ^ state << np.uint32(5)
            squares += np.uint64(state) ** 2 >> np.uint64(1)
        hits += int(np.count_nonzero(squares < np.uint64(1 << 63)))
    return {"inside": np.array([hits], np.uint64)}


def spmv() -> Arrays:
    """Return the matrix: 1000 rows of 0 to 19 elements, columns in order."""
    random = np.random.default_rng(24)
    lengths = random.integers(0, 20, 1000)
    columns = [np.sort(random.choice(1000, length, replace=False)) for length in lengths]
    starts = np.concatenate(([0], np.cumsum(lengths)))
    return {
        "starts": starts.astype(np.int32),
        "columns": np.concatenate(columns).astype(np.int32),
        "values": random.uniform(-1, 1, starts[-1]).astype(np.float32),
    }


INPUTS: dict[str, Callable[[], Arrays]] = {"spmv": spmv}
RESULTS: tuple[Callable[..., Arrays], ...] = (black_scholes, convolution, mandelbrot, monte_carlo)


def arrays() -> Iterator[tuple[Path, np.ndarray]]:
    """Yield every file of this folder and what it holds."""
    yield from files(FOLDER, INPUTS, RESULTS)


def files(
    folder: Path, inputs: Mapping[str, Callable[[], Arrays]], results: Iterable[Callable[..., Arrays]]
) -> Iterator[tuple[Path, np.ndarray]]:
    """Yield `KERNEL.ARRAY.npy` and what it holds, inputs first; results have the type of the array that they are compared with."""
    made = {kernel: make() for kernel, make in inputs.items()}
    for kernel, values_of in made.items():
        for name, values in values_of.items():
            yield folder / f"{kernel}.{name}.npy", values
    for compute in results:
        kernel = compute.__name__
        given = arguments(folder / f"{kernel}.toml", made.get(kernel, {}))
        for name, values in compute(**given).items():
            yield folder / f"{kernel}.{name}.npy", np.asarray(values).astype(given[name].dtype)


def arguments(launch_file: Path, made: Arrays) -> dict[str, Any]:
    """Return the arguments of a launch file by name, its .npy files from `made`. What it expects may not be there yet."""
    given = tomllib.loads(launch_file.read_text("utf-8"))["args"]
    scalars = {each["name"]: SCALARS[each["type"]](each["value"]) for each in given if "type" in each}
    return scalars | build_arrays([Array(**each) for each in given if "type" not in each], made, launch_file)


def save(found: Iterable[tuple[Path, np.ndarray]]) -> None:
    """Write the files."""
    for path, values in found:
        np.save(path, values)


if __name__ == "__main__":
    save(arrays())
