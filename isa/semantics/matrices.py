"""Sums of products of tensor cores: floats of 16 and 19 bits taken apart, cut to a common exponent, added exactly, cut or rounded once.

A number is size * 2**(exponent - fraction bits). Facts: Xie et al., "MMA-Sim", arXiv 2511.10909; measured on an
H200 (programs/measurements/conformance).
"""

import math

import numpy as np

from isa.semantics.doubles import as_bits, as_double, dfma, is_nan, propagated
from isa.semantics.small import small_bits
from isa.semantics.words import as_word
from isa.vocabulary import MatrixType, Rounding

OF_ZERO = np.int64(-4096)  # exponent of a zero: below all others
OF_INFINITY, OF_NAN = np.int64(4096), np.int64(8192)
E4M3_EXPONENT = np.int64(4)  # bits; the only type without infinities, and with one NaN
SINGLE_BITS, HALF_BITS, BFLOAT_BITS = np.int64(23), np.int64(10), np.int64(7)
NAN_WORD, NAN = 0x7FFFFFFF, np.int64(2)  # bits of a result; what `special_product` says


def fraction_of(kind: int) -> np.int64:
    """Return how many bits stand behind the point of a type of floats."""
    if kind == MatrixType.F32:
        return SINGLE_BITS
    if kind == MatrixType.E4M3:
        return np.int64(3)
    if kind == MatrixType.E5M2:
        return np.int64(2)
    return BFLOAT_BITS if kind == MatrixType.BF16 else HALF_BITS


def exponent_bits_of(kind: int) -> np.int64:
    """Return how many bits a type's exponent has."""
    if kind == MatrixType.E4M3:
        return E4M3_EXPONENT
    is_half = kind == MatrixType.F16 or kind == MatrixType.E5M2  # noqa: PLR1714  Numba finds no member of a set of members
    return np.int64(5 if is_half else 8)


def taken_apart(bits: np.int64, fraction: np.int64, exponents: np.int64) -> tuple[np.int64, np.int64]:
    """Return size and exponent of a float of so many bits of fraction and exponent; the size has its sign."""
    highest = (np.int64(1) << exponents) - 1
    exponent, size = (bits >> fraction) & highest, bits & ((np.int64(1) << fraction) - 1)
    sign = -((bits >> (fraction + exponents)) & 1)
    special = exponent == highest and (exponents != E4M3_EXPONENT or size == 7)
    kind = OF_NAN if size else OF_INFINITY
    size |= np.int64(exponent != 0) << fraction
    number = max(exponent, np.int64(1)) - (highest >> 1) if size else OF_ZERO
    return (size ^ sign) - sign, kind if special else number


def cut(size: np.int32, down: np.int32) -> np.int32:
    """Return a size of 32 bits moved down by 0 to 31, what falls out cut off, whatever its sign."""
    sign = np.int32(size >> 31)
    fewer = np.int32(down & np.int32(31))  # which says that the shift fits: it stays one of 32 bits
    return np.int32((np.int32(np.int32(np.int32(size ^ sign) - sign) >> fewer) ^ sign) - sign)


def single_of_sum(total: np.int64, exponent: np.int64, fraction: int) -> np.uint32:
    """Return the bits of total * 2**(exponent - fraction) as float32, cut to `fraction` bits behind the point where it would have more."""
    if total == 0:
        return np.uint32(0)
    x = np.float64(total) * as_double((exponent - fraction + 1023) << 52)
    if abs(x) < 2.0**-126:
        return as_word(np.float32(math.trunc(x * 2.0**149) * 2.0**-149))
    if abs(x) >= 2.0**128:
        return np.uint32(0xFF800000 if x < 0.0 else 0x7F800000)
    dropped = 52 - min(fraction, int(SINGLE_BITS))
    return as_word(np.float32(as_double(np.float64(x).view(np.int64) >> dropped << dropped)))


def half_of_sum(total: np.int64, exponent: np.int64, fraction: int) -> np.uint32:
    """Return the bits of total * 2**(exponent - fraction) as binary16, rounded to nearest even; a zero has no sign."""
    if total == 0:
        return np.uint32(0)
    bits = small_bits(np.float64(total) * as_double((exponent - fraction + 1023) << 52), 0, Rounding.NEAREST, 0)
    return np.uint32(bits if bits & 0x7FFF else 0)


def special_product(a: int, a_size: int, b: int, b_size: int) -> np.int64:
    """Return what a product with these exponents and sizes is where one is no number: 0 = a number, 1 or -1 = infinite, 2 = NaN."""
    largest = max(a, b)
    if largest < OF_INFINITY:
        return np.int64(0)
    if largest == OF_NAN or min(a, b) == OF_ZERO:
        return NAN
    return np.int64(1 if (a_size < 0) == (b_size < 0) else -1)


def special_sum(x: np.int64, y: np.int64) -> np.int64:
    """Return the sum of two such: of infinities of both signs NaN."""
    if x == 0:
        return y
    return x if y in (0, x) else NAN


def saturated(total: np.int64) -> np.int64:
    """Return a sum of IMMA.SAT."""
    return min(max(total, np.int64(-(2**31))), np.int64(2**31 - 1))


def added_product(a: np.int64, b: np.int64, total: np.int64) -> np.int64:
    """Return the bits of a float64, and of a product of two others, added with one rounding; a NaN is taken over as by DFMA."""
    bits = as_bits(dfma(as_double(a), as_double(b), as_double(total)))
    return propagated(a, b, total) if is_nan(bits) else bits
