"""The products of matrices whose results on an H200 are kept: run here, compared bit for bit.

`h200/matrices.sm_90.sass.xz` is the code that ran (nvcc 13.0), `h200/matrices.npz` what it gave for the products of `numbers()`; what they
were made of, `matrices.py` makes again.
"""

import itertools
import lzma
from functools import cache
from pathlib import Path

import numpy as np

import isa
from programs.measurements.conformance.matrices import COUNT, KINDS, LAYOUTS, MOVED, SEED, Kind, addend, factor, inputs
from sim.functional import execute
from sim.launch.launch import Launch

FOLDER = Path(__file__).with_name("h200")
RANDOM, ADVERSARIAL = 8, 24  # kept of each kind
SOURCE = "matrices.sm_90.sass"


def numbers() -> np.ndarray:
    """Return which products of each kind are kept."""
    return np.concatenate([np.arange(RANDOM), COUNT + np.arange(ADVERSARIAL)])


@cache
def listing() -> str:
    """Return the code that ran."""
    return lzma.decompress((FOLDER / f"{SOURCE}.xz").read_bytes()).decode()


def kept(kind: Kind) -> list[np.ndarray]:
    """Return what the lanes hold of the kept products' matrices: words [products, 32, registers] of each."""
    chosen, last = set(numbers().tolist()), int(numbers().max())
    made = [given for number, given in enumerate(itertools.islice(inputs(kind), last + 1)) if number in chosen]
    left, right, sums = LAYOUTS[kind.left], LAYOUTS[kind.right], LAYOUTS[kind.sums]
    parts = [(factor(a, left), factor(b.T, right), addend(c, sums)) for a, b, c in made]
    return [np.stack(part) for part in zip(*parts, strict=True)]


def run(kind: Kind) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums [products, 32, elements] of the kept products of a kind: as executed here, and as the H200 made them."""
    given = kept(kind)
    out, dtype = np.zeros_like(given[2]), LAYOUTS[kind.sums].dtype
    execute(Launch(isa.parse(listing(), SOURCE, kind.name), grid=(len(out),), block=(32,), args=(out, *given)))
    with np.load(FOLDER / "matrices.npz") as expected:
        return out.view(dtype), expected[kind.name].reshape(out.shape).view(dtype)


def run_moves() -> tuple[np.ndarray, np.ndarray]:
    """Return the words that `moves` wrote, here and there."""
    words = np.random.default_rng(SEED).integers(0, 1 << 32, 1024, np.uint32)
    out = np.zeros(MOVED * 32, np.uint32)
    execute(Launch(isa.parse(listing(), SOURCE, "moves"), grid=(1,), block=(32,), args=(out, words)))
    with np.load(FOLDER / "matrices.npz") as expected:
        return out, expected["moves"]


def keep(results: Path, source: Path) -> None:
    """Write the kept set. results: folder of matrices_0.npz and matrices_1.npz; source: the listing."""
    found = {name: value for part in (0, 1) for name, value in np.load(results / f"matrices_{part}.npz").items()}
    chosen = {kind.name: found[kind.name][numbers()] for kind in KINDS}
    np.savez_compressed(FOLDER / "matrices.npz", moves=found["moves"], **chosen)
    (FOLDER / f"{SOURCE}.xz").write_bytes(lzma.compress(source.read_bytes(), preset=9))
