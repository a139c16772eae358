"""Conversions between number types."""

import math

import numpy as np

from isa.semantics.rounding import narrow, nearest_even
from isa.semantics.words import wide, word
from isa.vocabulary import Rounding


def i2f(a: np.uint32, is_signed: int, rounding: int) -> np.float32:
    """Return the float32 of an integer."""
    return narrow(np.float64(wide(a, is_signed)), rounding)


def f2i(x: np.float32, is_signed: int, rounding: int) -> np.uint32:
    """Return the integer of a float32, clamped to the range of the result; NaN gives 0 (PTX ISA, cvt)."""
    v = np.float64(x)
    if math.isnan(v):
        return np.uint32(0)
    lowest, highest = (-2147483648.0, 2147483647.0) if is_signed else (0.0, 4294967295.0)
    v = np.float64(min(max(v, -1e10), 1e10))
    if rounding == Rounding.NEAREST:
        v = nearest_even(v)
    elif rounding == Rounding.DOWN:
        v = np.float64(math.floor(v))
    elif rounding == Rounding.UP:
        v = np.float64(math.ceil(v))
    else:
        v = np.float64(math.trunc(v))
    return word(np.int64(min(max(v, lowest), highest)))
