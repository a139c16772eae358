"""The multi-function unit, bit for bit: quadratic interpolation in fixed point, as Oberman and Siu describe it
("A High-Performance Area-Efficient Multifunction Interpolator", 2005).

The highest bits of the fraction choose a segment, a row of `mufu.csv`, the others are x: c0 + c1 * x + c2 * x**2, where the squarer
leaves out the columns below its 15 highest. Tables and squarer reproduce all results of an H200, 2**23 fractions of each function's octaves
(`programs/measurements/conformance`); they are taken to be those of all architectures.
"""

import math
from importlib import resources

import numpy as np

from isa.semantics.floats import NAN
from isa.semantics.small import small_bits, small_value
from isa.semantics.words import Integer, as_float, as_word, word
from isa.vocabulary import Mufu, Rounding

ROWS = [line.split(",") for line in resources.files("isa.semantics").joinpath("mufu.csv").read_text("utf-8").split()[1:]]
COEFFICIENTS = np.array([[int(number) for number in row[1:]] for row in ROWS], np.int64)  # c0, c1, c2 of each segment
NAMES = [row[0] for row in ROWS]
RCP, RSQ, SQRT, EX2, LG2, SIN, TANH = (NAMES.index(name) for name in ("rcp", "rsq", "sqrt", "ex2", "lg2", "sin", "tanh"))
TANH_LOWEST, TANH_HIGHEST = 119, 129  # exponents with rows: below tanh(x) is x, above it is 1
TANH_BITS = np.array([0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3])  # of the fraction of each exponent, that choose a segment
TANH_ROWS = TANH + np.cumsum(1 << TANH_BITS) - (1 << TANH_BITS)  # first row of each exponent
SQUARE_BITS = 15
PLACES = 17  # binary places of an interpolated value, whose unit is the last place of a float32
LOGARITHM_STEP = 32  # 2**-36
FRACTION, HIDDEN = (1 << 23) - 1, 1 << 23
INFINITY, SIGN = 0x7F800000, 0x80000000
NAN_BITS = 0x7FFFFFFF


def squared(x: Integer, size: int) -> Integer:
    """Return the highest 15 of the 2 * size bits of x * x as the unit has them: folded partial products, lower columns left out."""
    total = np.int64(0)
    for i in range(size):
        row = (((x >> (i + 1)) << (2 * i + 2)) | (1 << 2 * i)) >> (2 * size - SQUARE_BITS)
        total += row & -((x >> i) & 1)
    return total


def interpolated(first: Integer, fraction: Integer, size: int) -> Integer:
    """Return a function's value at a fraction of 23 bits; first: its first row; size: how many of the bits are not the segment's number."""
    row, x = first + (fraction >> size), fraction & ((1 << size) - 1)
    return COEFFICIENTS[row, 0] + COEFFICIENTS[row, 1] * x + COEFFICIENTS[row, 2] * squared(x, size)


def mufu(function: int, x: np.float32, turns: int) -> np.float32:
    """Return the multi-function unit's `function` of x.

    turns: SIN and COS take x in turns of 2 pi (from Volta, after a multiplication by 0.15915494) and not in radians.
    """
    bits = np.int64(as_word(x))
    if math.isnan(x):
        return NAN
    if function in (Mufu.SIN, Mufu.COS):
        return as_float(wave(bits, function == Mufu.COS)) if turns else radians(function, np.float64(x))
    if function == Mufu.EX2:
        return as_float(power(bits))
    if function == Mufu.TANH:
        return as_float(hyperbolic_tangent(bits))
    if function == Mufu.RCP:
        return as_float(reciprocal(bits))
    return as_float(root(function, bits))


def reciprocal(bits: Integer) -> Integer:
    """Return the bits of 1 / x; x and the result are zero where they are subnormal."""
    sign, exponent = bits & SIGN, (bits >> 23) & 0xFF
    if exponent == 0:
        return sign | INFINITY
    result = ((253 - exponent) << 23) + (interpolated(RCP, bits & FRACTION, 16) >> PLACES) - HIDDEN
    return sign | result if result >= HIDDEN and exponent < 255 else sign


def root(function: int, bits: Integer) -> Integer:
    """Return the bits of the square root of x, of its reciprocal, or of the binary logarithm; x is zero where it is subnormal."""
    exponent, fraction = (bits >> 23) & 0xFF, bits & FRACTION
    if exponent == 0:
        return bits & SIGN if function == Mufu.SQRT else INFINITY | (SIGN if function == Mufu.LG2 else bits & SIGN)
    if bits & SIGN:
        return NAN_BITS
    if exponent == 255:
        return 0 if function == Mufu.RSQ else INFINITY
    if function == Mufu.LG2:
        return logarithm(exponent - 127, fraction)
    half, odd = (exponent - 127) >> 1, (exponent - 127) & 1
    if function == Mufu.SQRT:
        return (interpolated(SQRT + 64 * odd, fraction, 17) >> PLACES) + ((127 + half) << 23) - HIDDEN
    return root_reciprocal(fraction, odd) + ((126 - half) << 23) - HIDDEN


def root_reciprocal(fraction: Integer, odd: Integer) -> Integer:
    """Return the mantissa of 1 / sqrt(x), 2**23 to 2**24; odd: whether the exponent is."""
    if fraction == 0 and not odd:
        return 2 * HIDDEN
    return interpolated(RSQ + 64 * odd, fraction, 17) >> PLACES


def logarithm(exponent: Integer, fraction: Integer) -> Integer:
    """Return the bits of exponent + log2(1 + fraction), in fixed point with 36 places; a negative one is its complement."""
    if exponent == 0 and fraction == 0:
        return 0
    value = (np.int64(exponent) << (24 + PLACES)) + (interpolated(LG2, fraction, 17) & -LOGARITHM_STEP)
    return rounded_down(value + LOGARITHM_STEP if value < 0 else value)


def power(bits: Integer) -> Integer:
    """Return the bits of 2**x, x in fixed point with 23 places; a negative one is its complement, but for whole numbers."""
    exponent = (bits >> 23) & 0xFF
    if exponent >= 135:
        return 0 if bits & SIGN else INFINITY
    fixed = fixed_point(bits, 23)
    if bits & SIGN:
        fixed = -fixed if fixed & FRACTION == 0 else ~fixed
    whole = fixed >> 23
    if whole < -126:
        return 0
    result = (interpolated(EX2, fixed & FRACTION, 17) >> PLACES) + ((127 + whole) << 23) - HIDDEN
    return result if whole < 128 else INFINITY


def wave(bits: Integer, is_cosine: bool) -> Integer:
    """Return the bits of the sine or cosine of x turns, x in fixed point with 25 places."""
    if (bits >> 23) & 0xFF == 255:
        return NAN_BITS
    fixed = fixed_point(bits, 25)
    quarter, part = ((fixed >> 23) + is_cosine) & 3, fixed & FRACTION
    result = rounded_down(interpolated(SIN, part ^ FRACTION if quarter & 1 else part, 17))
    return result ^ ((quarter >> 1) << 31) ^ (0 if is_cosine else bits & SIGN)


def hyperbolic_tangent(bits: Integer) -> Integer:
    """Return the bits of tanh(x); 17 bits behind those of the segment are read, the others are not."""
    sign, exponent, fraction = bits & SIGN, (bits >> 23) & 0xFF, bits & FRACTION
    if exponent < TANH_LOWEST:
        return bits
    if exponent > TANH_HIGHEST:
        return sign | 0x3F800000
    size = 23 - TANH_BITS[exponent - TANH_LOWEST]
    rest = (fraction & ((1 << size) - 1)) >> (size - 17)
    return sign | rounded_down(interpolated(TANH_ROWS[exponent - TANH_LOWEST] + (fraction >> size), rest, 17))


def fixed_point(bits: Integer, places: Integer) -> Integer:
    """Return the magnitude of a float32 cut off after so many binary places, modulo 2**32."""
    exponent, value = ((bits >> 23) & 0xFF) - 150 + places, (bits & FRACTION) | HIDDEN
    if bits & INFINITY == 0:
        return 0
    if exponent >= 0:
        return value << exponent if exponent < 32 else 0
    return value >> min(-exponent, 31)


def rounded_down(value: Integer) -> Integer:
    """Return the bits of value * 2**(-24 - PLACES) as a float32, cut off."""
    magnitude, sign = abs(np.int64(value)), SIGN if value < 0 else 0
    if magnitude == 0:
        return sign
    highest = 0
    for step in (32, 16, 8, 4, 2, 1):
        if magnitude >> (highest + step):
            highest += step
    mantissa = magnitude >> (highest - 23) if highest >= 23 else magnitude << (23 - highest)
    return sign | ((highest + 127 - 24 - PLACES) << 23) + mantissa - HIDDEN


def radians(function: int, v: np.float64) -> np.float32:
    """Return the sine or cosine of v radians, as before Volta, rounded to nearest: what RRO and MUFU do there is not measured."""
    if abs(v) == math.inf:
        return NAN
    return np.float32(math.sin(v) if function == Mufu.SIN else math.cos(v))


def mufu_half(function: int, bits: np.uint32, is_bfloat: int) -> np.uint32:
    """Return the bits of EX2 or TANH of the low half of a word: the unit's result for its value cut off (all of an H200's are so)."""
    x = np.float64(mufu(function, np.float32(small_value(int(bits), is_bfloat)), 1))
    return word(small_bits(x if x < 65536.0 or is_bfloat or math.isnan(x) else np.float64(math.inf), is_bfloat, Rounding.ZERO, 0))


def mufu64(function: int, high: np.uint32) -> np.uint32:
    """Return the high word of the reciprocal (of the square root) of the float64 with this high word, of which the low word is not read.

    The unit's float32 result cut off to 20 places; subnormal numbers count as zero (PTX `rcp.approx.ftz.f64`, `rsqrt.approx.ftz.f64`).
    """
    bits = np.int64(high)
    sign, exponent, fraction = bits & SIGN, (bits >> 20) & 0x7FF, (bits & 0xFFFFF) << 3
    if exponent == 0:
        return word(sign | 0x7FF00000)
    if (exponent == 0x7FF and fraction) or (function == Mufu.RSQ and sign):
        return np.uint32(NAN_BITS)
    if exponent == 0x7FF:
        return word(sign)
    half, odd = (exponent - 1023) >> 1, (exponent - 1023) & 1
    if function == Mufu.RSQ:
        return word(((1022 - half) << 20) + (root_reciprocal(fraction, odd) >> 3) - (1 << 20))
    result = ((2045 - exponent) << 20) + (interpolated(RCP, fraction, 16) >> (PLACES + 3)) - (1 << 20)
    return word(sign | result if result >= 1 << 20 else sign)
