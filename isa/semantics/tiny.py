"""Floats of 8 bits, E4M3 and E5M2 (PTX ISA, alternate floating point formats): their values, and rounding to them. E4M3 has no infinity."""

import math

import numpy as np

from isa.semantics.rounding import whole
from isa.semantics.small import small_bits, small_value
from isa.semantics.words import word
from isa.vocabulary import NumberType, Rounding

TINY_NAN = 0x7F


def tiny_value(bits: int, kind: int) -> np.float64:
    """Return the value of the low 8 bits."""
    x = np.int64(bits) & 0xFF
    if kind == NumberType.E5M2:
        return small_value(int(x << 8), 0)  # the upper byte of a binary16
    exponent, fraction = x >> 3 & 15, x & 7
    sign = np.float64(-1.0 if x & 0x80 else 1.0)
    if exponent == 15 and fraction == 7:
        return np.float64(math.nan)
    return sign * math.ldexp(fraction, -9) if exponent == 0 else sign * math.ldexp(fraction + 8, int(exponent) - 10)


def tiny_bits(x: np.float64, kind: int, relu: int) -> np.int64:
    """Return the 8 bits of the nearest small float, the largest where that would be infinite; relu: zero where negative."""
    precision, lowest, largest = (4, -6, 0x7E) if kind == NumberType.E4M3 else (3, -14, 0x7B)
    if math.isnan(x):
        return np.int64(TINY_NAN)
    if relu and x <= 0.0:  # of -0, too
        return np.int64(0)
    sign = np.int64(0x80) if math.copysign(1.0, x) < 0.0 else np.int64(0)
    if math.isinf(x):
        return sign | largest
    exponent = max(((np.float64(abs(x)).view(np.int64) >> 52) & 0x7FF) - 1023, np.int64(lowest))
    steps = np.int64(whole(np.float64(math.ldexp(abs(x), int(precision - 1 - exponent))), Rounding.NEAREST))
    return sign | min(((exponent - lowest) << (precision - 1)) + steps, np.int64(largest))


def unpack_small(a: np.uint32, kind: int, relu: int) -> np.uint32:
    """Return two halves of the two small floats in the low half of a word, exactly; relu: zero where negative."""
    return word(widened(int(a) >> 8, kind, relu) << 16 | widened(int(a), kind, relu))


def widened(bits: int, kind: int, relu: int) -> np.int64:
    """Return the half of one small float."""
    x = tiny_value(bits, kind)
    return np.int64(0) if relu and x <= 0.0 else small_bits(x, 0, Rounding.NEAREST, 0)


def pack_small(a: np.float32, b: np.float32, kind: int, relu: int) -> np.uint32:
    """Return a above b in the low half of a word."""
    return word(tiny_bits(np.float64(a), kind, relu) << 8 | tiny_bits(np.float64(b), kind, relu))


def narrow_halves(a: np.uint32, kind: int, relu: int) -> np.uint32:
    """Return the two halves of a as small floats in the low half of a word."""
    low, high = small_value(int(a), 0), small_value(int(a) >> 16, 0)
    return word(tiny_bits(high, kind, relu) << 8 | tiny_bits(low, kind, relu))
