"""One of the two halves of HADD2, HMUL2, HFMA2 and their kin: binary16 or bfloat16, rounded once."""

import math

import numpy as np

from isa.semantics.floats import canonical, flush
from isa.semantics.rounding import narrow, odd_sum
from isa.semantics.small import flush_small, small_bits, small_value
from isa.semantics.words import EQUAL, GREATER, LESS, UNORDERED, as_word
from isa.vocabulary import Rounding


def half_input(bits: int, is_bfloat: int, ftz: int) -> np.float64:
    """Return the value of a half, subnormals flushed or not."""
    value = small_value(bits, is_bfloat)
    return flush_small(value, is_bfloat) if ftz else value


def half_sum(a: np.float64, b: np.float64) -> np.float64:
    """Return a + b rounded to odd: rounding that to 24 bits or less is rounding the exact value."""
    return odd_sum(a, b)


def half_product(a: np.float64, b: np.float64) -> np.float64:
    """Return a * b, which of halves is exact in float64."""
    return a * b


def half_multiply_add(a: np.float64, b: np.float64, c: np.float64) -> np.float64:
    """Return a * b + c rounded to odd."""
    return odd_sum(a * b, c)


def half_result(x: np.float64, is_bfloat: int, ftz: int, clamp: int) -> np.int64:
    """Return the bits of a result; clamp: to [0, 1], NaN to 0."""
    if clamp:
        x = min(x, np.float64(1.0)) if x > 0.0 else np.float64(0.0)
    return small_bits(x, is_bfloat, Rounding.NEAREST, ftz)


def half_as_single(x: np.float64, ftz: int, clamp: int) -> np.uint32:
    """Return the bits of a result of type .F32."""
    if clamp:
        x = min(x, np.float64(1.0)) if x > 0.0 else np.float64(0.0)
    single = narrow(x, Rounding.NEAREST)
    return as_word(canonical(flush(single) if ftz else single))


def half_minmax(a: np.float64, b: np.float64, smaller: int, keep_nan: int) -> np.float64:
    """Return the smaller or the larger; of one NaN the other operand, or NaN with .NAN; -0 is smaller than +0."""
    if math.isnan(a) or math.isnan(b):
        return np.float64(math.nan) if keep_nan or (math.isnan(a) and math.isnan(b)) else b if math.isnan(a) else a
    if a == b:
        is_first = (math.copysign(1.0, a) < 0.0) == (smaller != 0)
        return a if is_first else b
    return a if (a < b) == (smaller != 0) else b


def half_minmax_of_three(a: np.float64, b: np.float64, c: np.float64, smaller: int, keep_nan: int) -> np.float64:
    """Return the smallest or the largest of three."""
    return half_minmax(half_minmax(a, b, smaller, keep_nan), c, smaller, keep_nan)


def half_minmax_of_magnitudes(a: np.float64, b: np.float64, smaller: int, keep_nan: int) -> np.float64:
    """Return the smaller or the larger magnitude, negative where one of the signs is (PTX `.xorsign.abs`)."""
    return np.float64(math.copysign(half_minmax(abs(a), abs(b), smaller, keep_nan), math.copysign(1.0, a) * math.copysign(1.0, b)))


def half_relation(a: np.float64, b: np.float64) -> int:
    """Return LESS, EQUAL, GREATER or UNORDERED."""
    if math.isnan(a) or math.isnan(b):
        return UNORDERED
    return LESS if a < b else EQUAL if a == b else GREATER
