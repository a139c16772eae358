"""Floating point: IEEE 754 binary32 with NVIDIA's NaN rule."""

import math

import numpy as np

from isa.semantics.rounding import fma, narrow, odd_sum
from isa.semantics.words import EQUAL, GREATER, LESS, UNORDERED
from isa.vocabulary import Rounding

NAN = np.uint32(0x7FFFFFFF).view(np.float32)
SMALLEST_NORMAL = np.float32(2.0**-126)
ZERO, ONE = np.float32(0.0), np.float32(1.0)


def canonical(x: np.float32) -> np.float32:
    """Return x, or the one NaN that the hardware makes."""
    return NAN if math.isnan(x) else x


def flush(x: np.float32) -> np.float32:
    """Return x with a subnormal replaced by the zero of its sign (.FTZ)."""
    return x * ZERO if abs(x) < SMALLEST_NORMAL else x


def saturate(x: np.float32) -> np.float32:
    """Clamp to [0, 1]; NaN becomes 0 (.SAT)."""
    return min(x, ONE) if x > ZERO else ZERO


def fadd(a: np.float32, b: np.float32) -> np.float32:
    return canonical(a + b)


def fmul(a: np.float32, b: np.float32) -> np.float32:
    return canonical(a * b)


def ffma(a: np.float32, b: np.float32, c: np.float32) -> np.float32:
    return canonical(fma(a, b, c))


def fadd_rounded(a: np.float32, b: np.float32, rounding: int) -> np.float32:
    """Return a + b rounded in any direction."""
    return round_sum(np.float64(a), np.float64(b), rounding)


def fmul_rounded(a: np.float32, b: np.float32, rounding: int) -> np.float32:
    """Return a * b rounded in any direction: the float64 product is exact."""
    return canonical(narrow(np.float64(a) * np.float64(b), rounding))


def ffma_rounded(a: np.float32, b: np.float32, c: np.float32, rounding: int) -> np.float32:
    """Return a * b + c rounded once in any direction."""
    return round_sum(np.float64(a) * np.float64(b), np.float64(c), rounding)


def round_sum(x: np.float64, y: np.float64, rounding: int) -> np.float32:
    """Return x + y in float32; an exact zero of two opposite numbers is -0 when rounding down (IEEE 754, 6.3)."""
    total = odd_sum(x, y)
    if total == 0.0 and rounding == Rounding.DOWN and (x != 0.0 or math.copysign(1.0, x) != math.copysign(1.0, y)):
        return -ZERO
    return canonical(narrow(total, rounding))


def fmin(a: np.float32, b: np.float32) -> np.float32:
    """Return the smaller; the other operand when one is NaN; -0 is smaller than +0."""
    if math.isnan(a):
        return canonical(b)
    if math.isnan(b) or a < b:
        return a
    return a if a == b and math.copysign(1.0, a) < 0.0 else b


def fmax(a: np.float32, b: np.float32) -> np.float32:
    """Return the larger; the other operand when one is NaN; +0 is larger than -0."""
    return NAN if math.isnan(a) and math.isnan(b) else -fmin(-a, -b)


def frelation(a: np.float32, b: np.float32) -> int:
    """Return LESS, EQUAL, GREATER or UNORDERED; a comparison is true when it shares a bit with its Compare code."""
    return (
        (LESS if a < b else 0) | (EQUAL if a == b else 0) | (GREATER if a > b else 0) | (UNORDERED if math.isnan(a) or math.isnan(b) else 0)
    )


def fmul_scaled(a: np.float32, b: np.float32, power: int, rounding: int) -> np.float32:
    """Return a * b * 2**power rounded once: the product and the scale are exact in float64."""
    return canonical(narrow(np.float64(a) * np.float64(b) * 2.0**power, rounding))


def division_is_slow(a: np.uint32, b: np.uint32) -> bool:
    """Return whether a / b leaves the range in which Newton's iteration on MUFU.RCP rounds correctly (FCHK).

    The rule is our own, on the safe side: hardware's is not documented, and both paths of a compiled division give the same
    quotient. The remainder a - b * q has bits down to 2**-46 of a, which must be above the smallest subnormal, 2**-149; the
    reciprocal and the quotient must be normal.
    """
    exponent_a, exponent_b = np.int64(a) >> 23 & 0xFF, np.int64(b) >> 23 & 0xFF
    outside = exponent_a < 27 or exponent_a > 227 or exponent_b < 27 or exponent_b > 227
    return bool(outside or abs(exponent_a - exponent_b) > 100)
