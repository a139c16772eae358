"""Binary64: IEEE 754. A result takes the NaN of a source; where no source is one, it is 0xFFF8000000000000."""

import math
from fractions import Fraction

import numpy as np

from isa.semantics.rounding import exact_error
from isa.semantics.words import EQUAL, GREATER, LESS, UNORDERED
from isa.vocabulary import Rounding

DOUBLE_NAN = np.int64(-(1 << 51))
SIGN_64, QUIET_64, INFINITY_64 = np.int64(-(2**63)), np.int64(1 << 51), np.int64(0x7FF << 52)
FAR = 200  # powers of two between numbers of which the lesser cannot change how the greater is rounded, but for a tie


def as_double(bits: np.int64) -> np.float64:
    """Return the float64 with these bits."""
    return np.int64(bits).view(np.float64)


def as_bits(x: np.float64) -> np.int64:
    """Return the bits of a float64; of a NaN, those of the one that operations on numbers give."""
    return DOUBLE_NAN if math.isnan(x) else np.float64(x).view(np.int64)


def is_nan(bits: np.int64) -> bool:
    """Return whether these are the bits of a NaN."""
    return bool(bits & ~SIGN_64 > INFINITY_64)


def propagated(a: np.int64, b: np.int64, c: np.int64) -> np.int64:
    """Return the bits of the NaN that an operation on a, b and c takes over, made quiet, else the one that operations on numbers give.

    Measured on an H200: that of b, else of c, else of a (of DADD, whose sources stand in the fields of A and C: of its second, else of its
    first), with its own sign whatever sign or magnitude the instruction asks for.
    """
    return b | QUIET_64 if is_nan(b) else c | QUIET_64 if is_nan(c) else a | QUIET_64 if is_nan(a) else DOUBLE_NAN


def dfma(a: np.float64, b: np.float64, c: np.float64) -> np.float64:
    """Return a * b + c with one rounding, to nearest even. Kernels use the machine's own instruction instead."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return np.float64(a * b + c if math.isinf(a) or math.isinf(b) or math.isnan(a * b) else c)
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:
        return a * b + c if a == 0.0 or b == 0.0 else np.float64(0.0)
    try:
        rounded = np.float64(float(exact))
    except OverflowError:
        return np.float64(math.copysign(math.inf, 1 if exact > 0 else -1))
    return np.float64(math.copysign(rounded, 1 if exact > 0 else -1))


def directed(nearest: np.float64, error: np.float64, rounding: int) -> np.float64:
    """Return the float64 beside `nearest` where the direction asks for it; error: what the exact value has more, or its sign."""
    if rounding == Rounding.NEAREST or math.isnan(nearest):
        return nearest
    downward = rounding == Rounding.DOWN or (rounding == Rounding.ZERO and nearest > 0.0)
    upward = rounding == Rounding.UP or (rounding == Rounding.ZERO and nearest < 0.0)
    if error < 0.0 and downward:
        return -next_double(-nearest)
    return next_double(nearest) if error > 0.0 and upward else nearest


def next_double(x: np.float64) -> np.float64:
    """Return the smallest float64 above x (not NaN, not infinite upwards)."""
    if x == 0.0:
        return as_double(np.int64(1))
    bits = np.float64(x).view(np.int64)
    return as_double(bits - 1 if bits < 0 else bits + 1)


def dadd(a: np.float64, b: np.float64, rounding: int) -> np.float64:
    """Return a + b; an exact zero of two opposite numbers is -0 when rounding down (IEEE 754, 6.3)."""
    total = a + b
    if rounding == Rounding.NEAREST or not (math.isfinite(a) and math.isfinite(b)):
        return total
    if total == 0.0:
        opposite = a != 0.0 or math.copysign(1.0, a) != math.copysign(1.0, b)
        return np.float64(-0.0) if rounding == Rounding.DOWN and opposite else total
    if math.isinf(total):
        return directed(total, np.float64(-total), rounding)
    return directed(total, exact_error(a, b, total), rounding)


def dmul(a: np.float64, b: np.float64, rounding: int) -> np.float64:
    """Return a * b."""
    nearest = a * b
    if rounding == Rounding.NEAREST or not (math.isfinite(a) and math.isfinite(b)):
        return nearest
    return directed(nearest, product_error(a, b, np.float64(0.0), nearest), rounding)


def dfma_directed(a: np.float64, b: np.float64, c: np.float64, rounding: int) -> np.float64:
    """Return a * b + c with one rounding; an exact zero of two opposite numbers is -0 when rounding down (IEEE 754, 6.3)."""
    nearest = dfma(a, b, c)
    if rounding == Rounding.NEAREST or not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return nearest
    error = product_error(a, b, c, nearest)
    if nearest == 0.0 and error == 0.0:
        opposite = math.copysign(1.0, a) * math.copysign(1.0, b) != math.copysign(1.0, c)
        return np.float64(-0.0) if rounding == Rounding.DOWN and opposite else nearest
    return directed(nearest, error, rounding)


def product_error(a: np.float64, b: np.float64, c: np.float64, nearest: np.float64) -> np.float64:
    """Return a number with the sign of a * b + c - nearest, exactly; nearest: a * b + c rounded; a, b, c finite.

    All is scaled so that the product lies between 1/4 and 1: nothing overflows, and no error is lost below the subnormal numbers.
    """
    if math.isinf(nearest):
        return np.float64(-nearest)
    if a == 0.0 or b == 0.0:
        return np.float64(0.0)
    x, x_exponent = math.frexp(a)
    y, y_exponent = math.frexp(b)
    z, z_exponent = math.frexp(c)
    exponent = x_exponent + y_exponent
    apart = z_exponent - exponent
    product = np.float64(x * y)
    if z != 0.0 and apart > FAR:  # nearest is c
        return product
    addend = np.float64(math.ldexp(z, max(apart, -FAR)))  # one that far below has no effect but its sign's
    rest = dfma(np.float64(x), np.float64(y), -product)
    return sign_of_sum(product, rest, addend, np.float64(-math.ldexp(nearest, -exponent)))


def sign_of_sum(a: np.float64, b: np.float64, c: np.float64, d: np.float64) -> np.float64:
    """Return a number with the sign of a + b + c + d (Shewchuk, Adaptive Precision Floating-Point Arithmetic, 1997: Grow-Expansion)."""
    top = a + b
    low = exact_error(a, b, top)
    first = c + low
    low = exact_error(c, low, first)
    second = first + top
    middle, top = exact_error(first, top, second), second
    first = d + low
    low = exact_error(d, low, first)
    second = first + middle
    middle = exact_error(first, middle, second)
    third = second + top
    high = exact_error(second, top, third)
    return third if third != 0.0 else high if high != 0.0 else middle if middle != 0.0 else low


def dmin(a: np.float64, b: np.float64) -> np.float64:
    """Return the smaller; the other operand when one is NaN; -0 is smaller than +0."""
    if math.isnan(a):
        return b
    if math.isnan(b) or a < b:
        return a
    return a if a == b and math.copysign(1.0, a) < 0.0 else b


def dmax(a: np.float64, b: np.float64) -> np.float64:
    """Return the larger; the other operand when one is NaN; +0 is larger than -0."""
    return b if math.isnan(a) else a if math.isnan(b) else -dmin(-a, -b)


def dminmax(a: np.float64, b: np.float64, smaller: int) -> np.float64:
    """Return the smaller or the larger."""
    return dmin(a, b) if smaller else dmax(a, b)


def drelation(a: np.float64, b: np.float64) -> int:
    """Return LESS, EQUAL, GREATER or UNORDERED; a comparison is true when it shares a bit with its Compare code."""
    return (
        (LESS if a < b else 0) | (EQUAL if a == b else 0) | (GREATER if a > b else 0) | (UNORDERED if math.isnan(a) or math.isnan(b) else 0)
    )
