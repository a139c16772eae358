"""Products of matrices as a GPU makes them: `python -m programs.measurements.conformance.matrices FOLDER` on a machine that has one.

Needs nvcc, CuPy and NumPy there, nothing else of this repository. Each kind of `matrices.cu` gets 1,000 random products and 1,000 that are
meant to show how sums are made; FOLDER/matrices_0.npz and matrices_1.npz have the results, and a checksum of what they were made of.
"""

import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HERE = Path(__file__).parent
LANES = np.arange(32)
COLUMNS = 8
COUNT = 1000
SEED = 24
MOVED = 28 + 6 * 32  # words of each lane that `moves` writes


class Kind(NamedTuple):
    """One product: m by 8 sums of k terms, and the types as `isa.functions.MatrixType` calls them."""

    name: str
    m: int
    k: int
    left: str
    right: str
    sums: str


KINDS = (
    Kind("f16_1688_f32", 16, 8, "F16", "F16", "F32"),
    Kind("f16_16816_f32", 16, 16, "F16", "F16", "F32"),
    Kind("f16_1688_f16", 16, 8, "F16", "F16", "F16"),
    Kind("f16_16816_f16", 16, 16, "F16", "F16", "F16"),
    Kind("bf16_1688_f32", 16, 8, "BF16", "BF16", "F32"),
    Kind("bf16_16816_f32", 16, 16, "BF16", "BF16", "F32"),
    Kind("tf32_1684_f32", 16, 4, "TF32", "TF32", "F32"),
    Kind("tf32_1688_f32", 16, 8, "TF32", "TF32", "F32"),
    Kind("s8_s8_8816", 8, 16, "S8", "S8", "S32"),
    Kind("s8_s8_16816", 16, 16, "S8", "S8", "S32"),
    Kind("s8_s8_16832", 16, 32, "S8", "S8", "S32"),
    Kind("u8_s8_16832", 16, 32, "U8", "S8", "S32"),
    Kind("s8_u8_16832", 16, 32, "S8", "U8", "S32"),
    Kind("u8_u8_16832", 16, 32, "U8", "U8", "S32"),
    Kind("s8_s8_16816_sat", 16, 16, "S8", "S8", "S32"),
    Kind("f64_884", 8, 4, "F64", "F64", "F64"),
    Kind("f64_1684", 16, 4, "F64", "F64", "F64"),
    Kind("f64_1688", 16, 8, "F64", "F64", "F64"),
    Kind("f64_16816", 16, 16, "F64", "F64", "F64"),
)


class Layout(NamedTuple):
    """A type's bits of exponent and fraction, and the words in which an element lies."""

    exponent: int
    fraction: int
    dtype: Any
    low: int = 0  # bits below, which do not count


LAYOUTS = {
    "F16": Layout(5, 10, np.uint16),
    "BF16": Layout(8, 7, np.uint16),
    "TF32": Layout(8, 10, np.uint32, 13),
    "F32": Layout(8, 23, np.uint32),
    "F64": Layout(11, 52, np.uint64),
    "S8": Layout(0, 8, np.uint8),
    "U8": Layout(0, 8, np.uint8),
    "S32": Layout(0, 32, np.uint32),
}
Matrices = tuple[np.ndarray, np.ndarray, np.ndarray]


class Made:
    """Makes elements of the three matrices of a kind: arrays of bits, [m, k], [k, 8] and [m, 8]."""

    def __init__(self, kind: Kind, rng: np.random.Generator) -> None:
        self.kind, self.rng = kind, rng
        self.shapes = (kind.m, kind.k), (kind.k, COLUMNS), (kind.m, COLUMNS)
        self.layouts = LAYOUTS[kind.left], LAYOUTS[kind.right], LAYOUTS[kind.sums]

    def bits(self, of: int) -> np.ndarray:
        """Return any bits. of: 0 = the left factor, 1 = the right one, 2 = the addend."""
        return self.rng.integers(0, 1 << 64, self.shapes[of], np.uint64)

    def floats(self, of: int, low: int, high: int, fraction: int | None = None, sign: int | None = None) -> np.ndarray:
        """Return floats of exponents from `low` to `high` (without it), cut to what there is; fraction: so many of its bits are random."""
        layout, shape = self.layouts[of], self.shapes[of]
        bias = (1 << layout.exponent - 1) - 1
        field = np.clip(self.rng.integers(low, max(high, low + 1), shape) + bias, 0, 2 * bias).astype(np.uint64)
        kept = layout.fraction if fraction is None else min(fraction, layout.fraction)
        part = (self.bits(of) >> np.uint64(64 - kept) if kept else np.zeros(shape, np.uint64)) << np.uint64(layout.fraction - kept)
        signs = self.rng.integers(0, 2, shape).astype(np.uint64) if sign is None else np.full(shape, sign, np.uint64)
        top = layout.exponent + layout.fraction
        below = self.bits(of) & np.uint64((1 << layout.low) - 1)  # of TF32: bits that do not count
        return (signs << np.uint64(top) | field << np.uint64(layout.fraction) | part) << np.uint64(layout.low) | below

    def negated(self, of: int, bits: np.ndarray) -> np.ndarray:
        """Return floats with the other sign."""
        layout = self.layouts[of]
        return bits ^ np.uint64(1 << (layout.exponent + layout.fraction + layout.low))

    def sprinkled(self, bits: np.ndarray, other: np.ndarray, one_in: int) -> np.ndarray:
        """Return `bits` with one element in so many taken from `other`."""
        return np.where(self.rng.integers(0, one_in, bits.shape) == 0, other, bits)


def near_one(made: Made) -> Matrices:
    """Exponents from -4 to 3."""
    return made.floats(0, -4, 4), made.floats(1, -4, 4), made.floats(2, -4, 4)


def products_of_few_bits(made: Made) -> Matrices:
    """Short fractions, so that few sums are cut."""
    return made.floats(0, -2, 3, 3), made.floats(1, -2, 3, 3), made.floats(2, -2, 3, 6)


def any_exponent(made: Made) -> Matrices:
    """Finite, of any exponent."""
    ends = [((1 << layout.exponent - 1) - 1) for layout in made.layouts]
    return tuple(made.floats(of, -ends[of], ends[of] + 1) for of in range(3))  # type: ignore[return-value]


def any_bits(made: Made) -> Matrices:
    """Any bits, NaNs and infinities included."""
    return made.bits(0), made.bits(1), made.bits(2)


def few_specials(made: Made) -> Matrices:
    """Ordinary numbers with a few of any bits, which are mostly finite, and infinities."""
    found = []
    for of, ordinary in enumerate(near_one(made)):
        layout = made.layouts[of]
        infinity = np.uint64(((1 << layout.exponent) - 1) << (layout.fraction + layout.low))
        signs = made.bits(of) >> np.uint64(63) << np.uint64(layout.exponent + layout.fraction + layout.low)
        found.append(made.sprinkled(made.sprinkled(ordinary, infinity | signs, 40), made.bits(of), 40))
    return found[0], found[1], found[2]


def cancelling(made: Made) -> Matrices:
    """Terms in pairs that cancel, or nearly, and a small addend."""
    a, b, c = made.floats(0, -6, 7), made.floats(1, -6, 7), made.floats(2, -34, -4)
    a[:, 1::2], b[1::2] = made.negated(0, a[:, ::2]), b[::2]
    low = np.uint64(made.layouts[0].low)
    a = a ^ ((made.rng.integers(0, 6, a.shape) == 0).astype(np.uint64) << low)
    return a, b, c


def one_large(made: Made) -> Matrices:
    """One large term beside small ones whose last bits lie about where sums are cut."""
    half = int(made.rng.integers(8, 17)) // 2
    a, b, c = made.floats(0, -half, -half + 2), made.floats(1, -half, -half + 2), made.floats(2, -2 * half - 2, 3)
    at = int(made.rng.integers(0, made.kind.k))
    a[:, at], b[at] = made.floats(0, 2, 6)[:, at], made.floats(1, 2, 6)[at]
    return a, b, c


def large_addend(made: Made) -> Matrices:
    """An addend far above the terms."""
    up = int(made.rng.integers(5, 24))
    top = (1 << made.layouts[2].exponent - 1) - 1
    return made.floats(0, -4, 0), made.floats(1, -4, 0), made.floats(2, min(up, top - 1), min(up, top - 1) + 2)


def small_terms(made: Made) -> Matrices:
    """Factors at the lower end, subnormal ones among them."""
    lowest = [-((1 << layout.exponent - 1) - 1) for layout in made.layouts]
    shift = int(made.rng.integers(0, 3)) * 60 if made.layouts[0].exponent == 8 else 0
    return made.floats(0, lowest[0], lowest[0] + 3), made.floats(1, shift, shift + 3), made.floats(2, lowest[2], lowest[2] + 4 + shift // 4)


def tiny_results(made: Made) -> Matrices:
    """Products near the smallest float32, which are cut to subnormals; of halves, all subnormal."""
    if made.layouts[0].exponent == 8:
        return made.floats(0, -76, -60), made.floats(1, -76, -60), made.floats(2, -127, -120)
    return made.floats(0, -15, -12), made.floats(1, -15, -12), made.floats(2, -30, -20)


def large_results(made: Made) -> Matrices:
    """Sums near the largest number of their type, and beyond."""
    top = (1 << made.layouts[2].exponent - 1) - 1
    half = top // 2 if made.layouts[0].exponent == made.layouts[2].exponent else min(top // 2, 14)
    sign = int(made.rng.integers(0, 2))
    return made.floats(0, half - 2, half + 1, sign=sign), made.floats(1, half - 2, half + 1, sign=0), made.floats(2, top - 3, top + 1)


def zeros_beside_large(made: Made) -> Matrices:
    """Zeros that meet large factors, beside small terms and addends: does a zero's exponent count?"""
    end = [(1 << layout.exponent - 1) - 1 for layout in made.layouts]
    a, b, c = made.floats(0, -8, -4), made.floats(1, -8, -4), made.floats(2, -40, -16)
    zero = np.uint64(1) << np.uint64(made.layouts[0].exponent + made.layouts[0].fraction + made.layouts[0].low)
    for at in range(0, made.kind.k, int(made.rng.integers(2, 5))):
        a[:, at], b[at] = zero * made.rng.integers(0, 2, a.shape[:1]).astype(np.uint64), made.floats(1, end[1] - 6, end[1] + 1)[at]
    if made.rng.integers(0, 2):
        a[:] = 0
    return a, b, c


def signed_zeros(made: Made) -> Matrices:
    """Zeros of both signs, and few numbers."""
    found = []
    for of in range(3):
        layout = made.layouts[of]
        zeros = (made.bits(of) >> np.uint64(63)) << np.uint64(layout.exponent + layout.fraction + layout.low)
        found.append(made.sprinkled(zeros, made.floats(of, -3, 3), 30))
    return found[0], found[1], found[2]


def powers_of_two(made: Made) -> Matrices:
    """Powers of two, far apart: which bits stay?"""
    span = int(made.rng.integers(4, 15))
    return made.floats(0, -span, span, 0), made.floats(1, -span, span, 0), made.floats(2, -2 * span, 2 * span, 2)


def extreme_bytes(made: Made) -> Matrices:
    """Bytes of the largest magnitudes, addends near both ends."""
    choice = np.array([0x7F, 0x80, 0x81, 0xFF, 0, 1], np.uint64)
    ends = np.array([0x7FFFFFFF, 0x80000000, 0x7FFF0000, 0x8000FFFF, 0, 0xFFFFFFFF], np.uint64)
    return made.rng.choice(choice, made.shapes[0]), made.rng.choice(choice[:3], made.shapes[1]), made.rng.choice(ends, made.shapes[2])


RANDOM: tuple[Callable[[Made], Matrices], ...] = (near_one, products_of_few_bits)
ADVERSARIAL: tuple[Callable[[Made], Matrices], ...] = (
    *(any_exponent, any_bits, few_specials, cancelling, one_large, large_addend, small_terms, tiny_results, large_results),
    *(zeros_beside_large, signed_zeros, powers_of_two),
)


def way(kind: Kind, number: int) -> Callable[[Made], Matrices]:
    """Return how product `number` of a kind is made."""
    if LAYOUTS[kind.left].exponent == 0:
        return any_bits if number < COUNT or number % 2 else extreme_bytes
    return RANDOM[number % len(RANDOM)] if number < COUNT else ADVERSARIAL[number % len(ADVERSARIAL)]


def inputs(kind: Kind) -> Iterator[Matrices]:
    """Yield the matrices of each product: bits [m, k], [k, 8], [m, 8], uint64."""
    rng = np.random.default_rng([SEED, *kind.name.encode()])
    for number in range(2 * COUNT):
        yield way(kind, number)(Made(kind, rng))


def factor(matrix: np.ndarray, layout: Layout) -> np.ndarray:
    """Return a factor [lines, terms] as the lanes hold it: words [32, registers] (of float64, numbers), as PTX's `mma.sync` says."""
    lines, terms = matrix.shape
    packed = max(4 // layout.dtype().itemsize, 1)
    columns = [
        matrix[LANES // 4 + 8 * upper, (4 * block + LANES % 4) * packed + part]
        for block in range(terms // (4 * packed))
        for upper in range(lines // 8)
        for part in range(packed)
    ]
    return np.ascontiguousarray(np.stack(columns, 1).astype(layout.dtype)).view(np.uint64 if layout.dtype == np.uint64 else np.uint32)


def addend(matrix: np.ndarray, layout: Layout) -> np.ndarray:
    """Return sums [m, 8] as the lanes hold them."""
    columns = [matrix[LANES // 4 + 8 * upper, 2 * (LANES % 4) + part] for upper in range(len(matrix) // 8) for part in range(2)]
    return np.ascontiguousarray(np.stack(columns, 1).astype(layout.dtype)).view(np.uint64 if layout.dtype == np.uint64 else np.uint32)


def fragments(kind: Kind) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what the lanes hold, [products, 32, registers] of the left factor, the right one and the addend."""
    left, right, sums = LAYOUTS[kind.left], LAYOUTS[kind.right], LAYOUTS[kind.sums]
    made = [(factor(a, left), factor(b.T, right), addend(c, sums)) for a, b, c in inputs(kind)]
    return tuple(np.stack(part) for part in zip(*made, strict=True))  # type: ignore[return-value]


def main(folder: str) -> None:
    """Run all kinds on this machine's GPU."""
    import cupy  # type: ignore[import-not-found]

    cubin = Path(folder) / "matrices.cubin"
    subprocess.run(["nvcc", "-w", "-O3", "-arch=native", "-cubin", "-o", str(cubin), str(HERE / "matrices.cu")], check=True)
    module, found = cupy.RawModule(path=str(cubin)), {}
    for kind in KINDS:
        given = [cupy.asarray(part) for part in fragments(kind)]
        out = cupy.empty_like(given[2])
        module.get_function(kind.name)((2 * COUNT,), (32,), (out, *given))
        found[kind.name] = out.get()
        found[f"{kind.name}.crc"] = np.array([zlib.crc32(part.get().tobytes()) for part in given], np.uint32)
    words = np.random.default_rng(SEED).integers(0, 1 << 32, 1024, np.uint32)
    moved = cupy.zeros(MOVED * 32, np.uint32)
    module.get_function("moves")((1,), (32,), (moved, cupy.asarray(words)))
    found["moves"] = moved.get()
    for number in (0, 1):  # two files, each below 16 MB
        part = {name: value for name, value in found.items() if (name.split("_")[0] in ("f16", "bf16", "tf32")) == (number == 0)}
        np.savez_compressed(Path(folder) / f"matrices_{number}.npz", **part)


if __name__ == "__main__":
    main(sys.argv[1])
