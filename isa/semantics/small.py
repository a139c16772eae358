"""Floats of 16 bits, binary16 and bfloat16: their values as float64, and rounding to them."""

import math

import numpy as np

from isa.semantics.rounding import whole
from isa.semantics.words import as_float
from isa.vocabulary import Rounding

SMALL_NAN = 0x7FFF


def small_value(bits: int, is_bfloat: int) -> np.float64:
    """Return the value of the low 16 bits."""
    x = np.int64(bits) & 0xFFFF
    if is_bfloat:
        return np.float64(as_float(x << 16))
    sign, exponent, fraction = x >> 15, x >> 10 & 31, x & 0x3FF
    if exponent == 31:
        return np.float64(as_float(sign << 31 | 0x7F800000 | fraction << 13))
    if exponent == 0:
        return np.float64(-fraction if sign else fraction) * 2.0**-24 if fraction else np.float64(-0.0 if sign else 0.0)
    return np.float64(as_float(sign << 31 | (exponent + 112) << 23 | fraction << 13))


def small_bits(x: np.float64, is_bfloat: int, rounding: int, ftz: int) -> np.int64:
    """Return the 16 bits of the nearest small float in a direction: a whole number of steps of its binade."""
    precision, lowest, largest = (8, -126, 127) if is_bfloat else (11, -14, 15)
    if math.isnan(x):
        return np.int64(SMALL_NAN)
    sign = np.int64(0x8000) if math.copysign(1.0, x) < 0.0 else np.int64(0)
    infinity = np.int64(largest - lowest + 2) << (precision - 1)
    if math.isinf(x):
        return sign | infinity
    exponent = max(((np.float64(abs(x)).view(np.int64) >> 52) & 0x7FF) - 1023, np.int64(lowest))
    steps = np.int64(abs(whole(np.float64(math.ldexp(x, int(precision - 1 - exponent))), rounding)))
    result = ((exponent - lowest) << (precision - 1)) + steps  # a carry into the next binade is the next exponent
    if result >= infinity:
        outward = rounding in (Rounding.NEAREST, Rounding.DOWN if sign else Rounding.UP)
        return sign | (infinity if outward else infinity - 1)
    tiny = math.ldexp(
        1.0 - math.ldexp(0.5, int(-precision)), lowest
    )  # still subnormal when rounded with any exponent (measured on an H200)
    return sign if ftz and abs(x) < tiny else sign | result


def flush_small(x: np.float64, is_bfloat: int) -> np.float64:
    """Return x with what is subnormal in the small format replaced by the zero of its sign."""
    return x * 0.0 if abs(x) < (2.0**-126 if is_bfloat else 2.0**-14) else x
