"""What products of matrices are made of: random numbers, and families of numbers that are meant to show how sums are made.

Products come in chunks of `CHUNK`, each of one family and with random numbers of its own, so that any chunk can be made again by itself.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

CHUNK = 4  # products
SEED = 24


class Kind(NamedTuple):
    """One product: m by `columns` sums of k terms, and the types as `isa.functions.MatrixType` calls them."""

    name: str
    m: int
    k: int
    left: str
    right: str
    sums: str
    columns: int = 8
    products: int = 1000  # random ones, and as many adversarial


class Layout(NamedTuple):
    """A type's bits of exponent and fraction, and the words in which an element lies."""

    exponent: int
    fraction: int
    dtype: Any
    low: int = 0  # bits below, which do not count
    infinite: bool = True  # the highest exponent is that of infinities and NaNs; else its last fraction is the NaN
    cut: int = 25  # sums of such factors are cut about so many bits below the largest exponent

    @property
    def bias(self) -> int:
        return (1 << self.exponent - 1) - 1

    @property
    def top(self) -> int:
        """The largest exponent of a number."""
        return self.bias if self.infinite else self.bias + 1

    @property
    def sign(self) -> np.uint64:
        return np.uint64(1 << self.exponent + self.fraction + self.low)

    @property
    def special(self) -> np.uint64:
        """Infinity, or the NaN where there is none."""
        return np.uint64((((1 << self.exponent) - 1) << self.fraction | (0 if self.infinite else (1 << self.fraction) - 1)) << self.low)


LAYOUTS = {
    "F16": Layout(5, 10, np.uint16),
    "BF16": Layout(8, 7, np.uint16),
    "TF32": Layout(8, 10, np.uint32, 13),
    "E4M3": Layout(4, 3, np.uint8, infinite=False, cut=13),
    "E5M2": Layout(5, 2, np.uint8, cut=13),
    "F32": Layout(8, 23, np.uint32),
    "F64": Layout(11, 52, np.uint64, cut=53),
    "S8": Layout(0, 8, np.uint8),
    "U8": Layout(0, 8, np.uint8),
    "S32": Layout(0, 32, np.uint32),
}
Matrices = tuple[np.ndarray, np.ndarray, np.ndarray]
Bound = int | np.ndarray


class Made:
    """Makes elements of the three matrices of a chunk: bits, uint64 [CHUNK, m, k], [CHUNK, k, columns] and [CHUNK, m, columns]."""

    def __init__(self, kind: Kind, rng: np.random.Generator) -> None:
        self.kind, self.rng = kind, rng
        self.shapes = (CHUNK, kind.m, kind.k), (CHUNK, kind.k, kind.columns), (CHUNK, kind.m, kind.columns)
        self.layouts = LAYOUTS[kind.left], LAYOUTS[kind.right], LAYOUTS[kind.sums]
        self.cut = self.layouts[0].cut

    def one(self, low: int, high: int) -> np.ndarray:
        """Return a number of each product, from `low` to `high` (without it): int64 [CHUNK, 1, 1]."""
        return self.rng.integers(low, high, (CHUNK, 1, 1))

    def bits(self, of: int) -> np.ndarray:
        """Return any bits. of: 0 = the left factor, 1 = the right one, 2 = the addend."""
        return self.rng.integers(0, 1 << 64, self.shapes[of], np.uint64)

    def signs(self, of: int) -> np.ndarray:
        """Return zeros of both signs."""
        return self.rng.integers(0, 2, self.shapes[of], np.uint64) * self.layouts[of].sign

    def floats(self, of: int, low: Bound, high: Bound, fraction: int | None = None) -> np.ndarray:
        """Return floats of exponents from `low` to `high` (without it), cut to what there is; fraction: so many of its bits are random."""
        layout = self.layouts[of]
        exponents = self.rng.integers(low, np.maximum(high, np.add(low, 1)), self.shapes[of])
        field = np.clip(exponents + layout.bias, 0, layout.top + layout.bias).astype(np.uint64)
        any_bits, kept = self.bits(of), layout.fraction if fraction is None else min(fraction, layout.fraction)
        part = (any_bits >> np.uint64(64 - kept) if kept else np.zeros_like(any_bits)) << np.uint64(layout.fraction - kept)
        if not layout.infinite:
            part -= (field << np.uint64(layout.fraction) | part) == layout.special  # that would be a NaN
        below = any_bits & np.uint64((1 << layout.low) - 1)  # of TF32: bits that do not count
        return (field << np.uint64(layout.fraction) | part) << np.uint64(layout.low) | below | self.signs(of)

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
    """Finite, of any exponent; in half of the products none that makes sums too large."""
    half, wide = made.layouts[2].top // 2 - 2, made.one(0, 2) == 0
    a, b = (np.where(wide, layout.top, min(layout.top, half)) for layout in made.layouts[:2])
    c = np.where(wide, made.layouts[2].top, a + b)
    return made.floats(0, -a, a + 1), made.floats(1, -b, b + 1), made.floats(2, -c, c + 1)


def any_bits(made: Made) -> Matrices:
    """Any bits, NaNs and infinities included."""
    return made.bits(0), made.bits(1), made.bits(2)


def few_specials(made: Made) -> Matrices:
    """Ordinary numbers with a few of any bits, which are mostly finite, and infinities."""
    found = []
    for of, ordinary in enumerate(near_one(made)):
        special = made.layouts[of].special | made.signs(of)
        one_in = 3 * made.kind.k  # one or two of the terms of a sum
        found.append(made.sprinkled(made.sprinkled(ordinary, special, one_in), made.bits(of), one_in))
    return found[0], found[1], found[2]


def cancelling(made: Made) -> Matrices:
    """Terms in pairs that cancel, or nearly, and a small addend."""
    a, b, c = made.floats(0, -6, 7), made.floats(1, -6, 7), made.floats(2, -made.cut - 9, -4)
    a[:, :, 1::2], b[:, 1::2] = a[:, :, ::2] ^ made.layouts[0].sign, b[:, ::2]
    return a ^ (made.rng.integers(0, 6, a.shape) == 0).astype(np.uint64) << np.uint64(made.layouts[0].low), b, c


def beside(made: Made, small: Sequence[np.ndarray], large: Sequence[np.ndarray], again: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return factors with one large term in each sum; where `again` is true [CHUNK, 1, 1], a second one that cancels it."""
    terms, at = np.arange(made.kind.k), made.one(0, made.kind.k)
    here, there = terms == at, (terms == (at + 1) % made.kind.k) & again
    a = np.where(here, large[0][:, :, :1], np.where(there, large[0][:, :, :1] ^ made.layouts[0].sign, small[0]))
    return a, np.where((here | there).swapaxes(1, 2), large[1][:, :1], small[1])


def one_large(made: Made) -> Matrices:
    """One large term beside small ones whose last bits lie about where sums are cut."""
    half = made.one(4, 9) if made.cut > 13 else made.one(1, 5)
    small, c = [made.floats(of, -half, -half + 2) for of in (0, 1)], made.floats(2, -2 * half - 2, 3)
    return *beside(made, small, [made.floats(of, 2, 6) for of in (0, 1)], np.zeros((CHUNK, 1, 1), bool)), c


def at_the_cut(made: Made) -> Matrices:
    """One large term, or two that cancel, and small ones and an addend whose first bits lie about where sums are cut."""
    top = made.one(0, 7)
    low = 2 * top - made.cut + made.one(-3, 4)
    small = made.floats(0, low // 2, low // 2 + 2), made.floats(1, low - low // 2, low - low // 2 + 2)
    return *beside(made, small, [made.floats(of, top, top + 1) for of in (0, 1)], made.one(0, 2) > 0), made.floats(2, low - 1, low + 4)


def large_addend(made: Made) -> Matrices:
    """An addend far above the terms."""
    up = np.minimum(made.one(made.cut - 20, made.cut - 1), made.layouts[2].top - 1)
    return made.floats(0, -4, 0), made.floats(1, -4, 0), made.floats(2, up, up + 2)


def small_terms(made: Made) -> Matrices:
    """Factors at the lower end, subnormal ones among them; addends at the lower end of their type, or that of the products."""
    lowest = [-layout.bias for layout in made.layouts]
    shift = made.one(0, 3) * 60 if made.layouts[0].exponent == 8 else np.zeros((CHUNK, 1, 1), np.int64)
    end = np.where(made.one(0, 2), lowest[2], lowest[0] + shift - 6)
    return made.floats(0, lowest[0], lowest[0] + 3), made.floats(1, shift, shift + 3), made.floats(2, end, end + 4 + shift // 4)


def tiny_results(made: Made) -> Matrices:
    """Products near the smallest float32, which are cut to subnormals; of smaller factors, all subnormal."""
    if made.layouts[0].exponent == 8:
        return made.floats(0, -76, -60), made.floats(1, -76, -60), made.floats(2, -127, -120)
    a, b = -made.layouts[0].bias, -made.layouts[1].bias
    return made.floats(0, a, a + 3), made.floats(1, b, b + 3), made.floats(2, a + b, a + b + 10)


def large_results(made: Made) -> Matrices:
    """Sums near the largest number of their type, and beyond."""
    top = made.layouts[2].bias
    half = min(top // 2, *(layout.top - 1 for layout in made.layouts[:2])) - made.one(0, 4)
    a, b, c = made.floats(0, half - 2, half + 1), made.floats(1, half - 2, half + 1), made.floats(2, top - 3, top + 1)
    ones = made.layouts[0].sign - np.uint64(1), made.layouts[1].sign - np.uint64(1)
    return a & ones[0] | made.one(0, 2).astype(np.uint64) * made.layouts[0].sign, b & ones[1], c  # all terms of one sign


def zeros_beside_large(made: Made) -> Matrices:
    """Zeros that meet large factors, beside small terms and addends: does a zero's exponent count? In half of them no terms but zeros."""
    none, here, top = made.one(0, 2) == 0, np.arange(made.kind.k) % made.one(2, 5) == 0, made.layouts[1].top
    a, b = np.where(here | none, made.signs(0), made.floats(0, -8, -4)), made.floats(1, -8, -4)
    low = np.where(none, -made.layouts[2].bias, -16 - made.cut)
    return a, np.where(here.swapaxes(1, 2), made.floats(1, top - 6, top + 1), b), made.floats(2, low, low + 25)


def signed_zeros(made: Made) -> Matrices:
    """Zeros of both signs, and few numbers."""
    a, b, c = (made.sprinkled(made.signs(of), made.floats(of, -3, 3), 30) for of in range(3))
    return a, b, c


def powers_of_two(made: Made) -> Matrices:
    """Powers of two, far apart: which bits stay?"""
    span = made.one(4, min(made.layouts[0].bias, 15))
    return made.floats(0, -span, span, 0), made.floats(1, -span, span, 0), made.floats(2, -2 * span, 2 * span, 2)


def extreme_bytes(made: Made) -> Matrices:
    """Bytes of the largest magnitudes, addends near both ends."""
    choice = np.array([0x7F, 0x80, 0x81, 0xFF, 0, 1], np.uint64)
    ends = np.array([0x7FFFFFFF, 0x80000000, 0x7FFF0000, 0x8000FFFF, 0, 0xFFFFFFFF], np.uint64)
    return made.rng.choice(choice, made.shapes[0]), made.rng.choice(choice[:4], made.shapes[1]), made.rng.choice(ends, made.shapes[2])


def about_the_ends(made: Made) -> Matrices:
    """Any bytes, addends so near both ends that some sums go beyond."""
    return made.bits(0), made.bits(1), np.uint64(1 << 31) + (made.bits(2) >> np.uint64(46)) - np.uint64(1 << 17)


Family = Callable[[Made], Matrices]
RANDOM: tuple[Family, ...] = (near_one, products_of_few_bits)
ADVERSARIAL: tuple[Family, ...] = (
    *(any_exponent, any_bits, few_specials, cancelling, one_large, at_the_cut, large_addend, small_terms, tiny_results, large_results),
    *(zeros_beside_large, signed_zeros, powers_of_two),
)


def families(kind: Kind) -> tuple[tuple[Family, ...], tuple[Family, ...]]:
    """Return the families of a kind's random and of its adversarial products: one chunk of each after the other."""
    return (RANDOM, ADVERSARIAL) if LAYOUTS[kind.left].exponent else ((any_bits,), (extreme_bytes, about_the_ends))


def family(kind: Kind, chunk: int) -> Family:
    """Return how a chunk of a kind's products is made: the random ones first."""
    half = kind.products // CHUNK
    found = families(kind)[chunk // half]
    return found[chunk % half % len(found)]


def inputs(kind: Kind, chunk: int) -> Matrices:
    """Return the matrices of a chunk: bits, uint64 [CHUNK, m, k], [CHUNK, k, columns] and [CHUNK, m, columns]."""
    return family(kind, chunk)(Made(kind, np.random.default_rng([SEED, chunk, *kind.name.encode()])))
