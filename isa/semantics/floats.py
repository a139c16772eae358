"""Floating point: IEEE 754 binary32 with NVIDIA's NaN rule."""

import math

import numpy as np

from isa.semantics.rounding import fma, narrow, odd_sum
from isa.semantics.words import EQUAL, GREATER, LESS, SIGN, UNORDERED, WORD, as_float, as_word, pair, word
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


def flush_result(x: np.float32, exact: np.float64, rounding: int) -> np.float32:
    """Return a result flushed (.FTZ): to zero also where x became the smallest normal number only because subnormals have fewer bits.

    exact: what was rounded, or that rounded to odd. What counts is whether 24 bits with any exponent are below it, as measured on an H200
    with FMUL to nearest; of other roundings and operations taken to be alike.
    """
    if abs(x) != SMALLEST_NORMAL:
        return flush(x)
    away = rounding == (Rounding.UP if x > ZERO else Rounding.DOWN)
    limit = 2.0**-126 * (1.0 - 2.0**-25 if rounding == Rounding.NEAREST else 1.0 - 2.0**-24 if away else 1.0)
    return x * ZERO if abs(exact) < limit or (away and abs(exact) == limit) else x


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


def fminmax(a: np.float32, b: np.float32, ftz: int, keep_nan: int, smaller: int) -> np.float32:
    """Return the smaller or the larger, of flushed inputs where ftz; keep_nan: NaN where either is NaN."""
    x, y = (flush(a), flush(b)) if ftz else (a, b)
    if keep_nan and (math.isnan(x) or math.isnan(y)):
        return NAN
    return fmin(x, y) if smaller else fmax(x, y)


def fminmax_of_magnitudes(a: np.float32, b: np.float32, ftz: int, keep_nan: int, smaller: int) -> np.uint32:
    """Return the bits of the smaller or the larger magnitude, negative where one of the signs is (PTX `.xorsign.abs`)."""
    magnitude = fminmax(abs(a), abs(b), ftz, keep_nan, smaller)
    sign = (np.int64(as_word(a)) ^ np.int64(as_word(b))) & SIGN
    return as_word(magnitude) if math.isnan(magnitude) else word(np.int64(as_word(magnitude)) | sign)


def fminmax_of_three(a: np.float32, b: np.float32, c: np.float32, ftz: int, keep_nan: int, smaller: int) -> np.uint32:
    """Return the bits of the smallest or the largest of three."""
    return as_word(fminmax(fminmax(a, b, ftz, keep_nan, smaller), c, ftz, keep_nan, smaller))


def fused_or_not(a: np.float32, b: np.float32, c: np.float32, operation: int, rounding: int, ftz: int) -> np.float32:
    """Return a + b (operation 0), a * b (1) or a * b + c (2) rounded once in any direction; ftz: inputs and result flushed."""
    x, y, z = (flush(a), flush(b), flush(c)) if ftz else (a, b, c)
    if operation == 0:
        result = fadd_rounded(x, y, rounding)
    elif operation == 1:
        result = fmul_rounded(x, y, rounding)
    else:
        result = ffma_rounded(x, y, z, rounding)
    if not ftz:
        return result
    return flush(result) if operation == 0 else flush_result(result, exact_product(x, y, z if operation == 2 else ZERO), rounding)


def exact_product(a: np.float32, b: np.float32, c: np.float32) -> np.float64:
    """Return a * b + c, rounded to odd where float64 does not hold it."""
    return odd_sum(np.float64(a) * np.float64(b), np.float64(c))


def of_both(a: np.int64, b: np.int64, c: np.int64, operation: int, rounding: int, ftz: int) -> np.int64:
    """Return the same of the float32 in the low and in the high words of 64 bits."""
    low = fused_or_not(as_float(a & WORD), as_float(b & WORD), as_float(c & WORD), operation, rounding, ftz)
    high = fused_or_not(as_float(a >> 32 & WORD), as_float(b >> 32 & WORD), as_float(c >> 32 & WORD), operation, rounding, ftz)
    return pair(as_word(low), as_word(high))


def fadd_pair(a: np.int64, b: np.int64, rounding: int, ftz: int) -> np.int64:
    """Return a + b of two float32 side by side."""
    return of_both(a, b, np.int64(0), 0, rounding, ftz)


def fmul_pair(a: np.int64, b: np.int64, rounding: int, ftz: int) -> np.int64:
    """Return a * b of two float32 side by side."""
    return of_both(a, b, np.int64(0), 1, rounding, ftz)


def ffma_pair(a: np.int64, b: np.int64, c: np.int64, rounding: int, ftz: int) -> np.int64:
    """Return a * b + c of two float32 side by side."""
    return of_both(a, b, c, 2, rounding, ftz)


def frelation(a: np.float32, b: np.float32) -> int:
    """Return LESS, EQUAL, GREATER or UNORDERED; a comparison is true when it shares a bit with its Compare code."""
    return (
        (LESS if a < b else 0) | (EQUAL if a == b else 0) | (GREATER if a > b else 0) | (UNORDERED if math.isnan(a) or math.isnan(b) else 0)
    )


def fmul_scaled(a: np.float32, b: np.float32, power: int, rounding: int) -> np.float32:
    """Return a * b * 2**power rounded once: the product and the scale are exact in float64."""
    return canonical(narrow(np.float64(a) * np.float64(b) * 2.0**power, rounding))


def scaled_product(a: np.float32, b: np.float32, power: int, rounding: int, ftz: int, clamp: int) -> np.uint32:
    """Return the bits of a * b * 2**power rounded once, flushed and saturated."""
    x, y = (flush(a), flush(b)) if ftz else (a, b)
    result = fmul_scaled(x, y, power, rounding)
    result = flush_result(result, np.float64(x) * np.float64(y) * 2.0**power, rounding) if ftz else result
    return as_word(saturate(result) if clamp else result)


def fcmp(a: np.uint32, b: np.uint32, c: np.float32, ftz: int, compare: int) -> np.uint32:
    """Return the word a where c compares so with zero, else b."""
    return a if frelation(flush(c) if ftz else c, ZERO) & compare else b


def division_is_slow(a: np.uint32, b: np.uint32) -> bool:
    """Return whether a / b leaves the range in which Newton's iteration on MUFU.RCP rounds correctly (FCHK).

    Measured on an H200, where the slow path takes 200 cycles more: all pairs of exponents with six pairs of mantissas and signs, on which
    nothing depends (`programs/measurements/conformance/mufu.cu`).
    """
    exponent_a, exponent_b = np.int64(a) >> 23 & 0xFF, np.int64(b) >> 23 & 0xFF
    outside = exponent_a < 25 or exponent_a == 255 or exponent_b < 2 or exponent_b > 251
    return bool(outside or exponent_a - exponent_b > 126 or exponent_a - exponent_b < -124)
