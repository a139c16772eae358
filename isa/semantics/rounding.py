"""Rounding of exact values and of sums to binary32."""

import math

import numpy as np

from isa.semantics.words import SIGN, WORD, as_float, as_word
from isa.vocabulary import Rounding


def fma(a: np.float32, b: np.float32, c: np.float32) -> np.float32:
    """Return a * b + c with one rounding, to nearest even. Kernels use the machine's own instruction instead.

    The float64 product of two float32 is exact; the sum is rounded to odd, after which rounding to 24 bits is exact
    (Boldo and Melquiond, Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd, 2008).
    """
    return np.float32(odd_sum(np.float64(a) * np.float64(b), np.float64(c)))


def odd_sum(x: np.float64, y: np.float64) -> np.float64:
    """Return x + y rounded to odd: the exact sum when float64 holds it, else the neighbour with an odd last bit."""
    total = x + y
    error = exact_error(x, y, total)
    if not (error < 0.0 or error > 0.0):  # exact, or not finite
        return total
    bits = np.float64(total).view(np.int64)
    if bits & 1:
        return total
    return np.int64(bits + 1 if (error > 0.0) == (total > 0.0) else bits - 1).view(np.float64)


def exact_error(x: np.float64, y: np.float64, total: np.float64) -> np.float64:
    """Return x + y - total, `total` being the float64 nearest to x + y (Knuth's TwoSum: exact)."""
    back = total - x
    return (x - (total - back)) + (y - back)


def narrow(x: np.float64, rounding: int) -> np.float32:
    """Round a float64 to float32 in the given direction."""
    nearest = np.float32(x)
    back = np.float64(nearest)
    if rounding == Rounding.NEAREST or back == x or math.isnan(x):
        return nearest
    if rounding == Rounding.ZERO:
        return toward_zero(nearest) if abs(back) > abs(x) else nearest
    if rounding == Rounding.DOWN:
        return -next_up(-nearest) if back > x else nearest
    return next_up(nearest) if back < x else nearest


def toward_zero(x: np.float32) -> np.float32:
    """Return the neighbour of x (not zero) that is smaller in magnitude; of an infinity, the largest finite number."""
    return as_float(np.int64(as_word(x)) - 1)


def next_up(x: np.float32) -> np.float32:
    """Return the smallest float32 above x (not NaN)."""
    bits = np.int64(as_word(x))
    if bits & WORD >> 1 == 0:
        return as_float(np.int64(1))
    return as_float(bits - 1 if bits & SIGN else bits + 1)


def whole(v: np.float64, rounding: int) -> np.float64:
    """Return the whole number nearest to v in a direction, with the sign of v when it is zero."""
    if not abs(v) < 4503599627370496.0:  # 2**52: whole already, infinite or NaN
        return v
    below = np.int64(math.floor(v))
    fraction = v - np.float64(below)
    up = fraction > 0.0 and (rounding == Rounding.UP or (rounding == Rounding.ZERO and v < 0.0))
    if rounding == Rounding.NEAREST:
        up = fraction > 0.5 or (fraction == 0.5 and below & 1 != 0)
    return np.float64(math.copysign(np.float64(below + 1 if up else below), v))
