"""Conversions between number types (PTX ISA, `cvt`): every pair of floats of 16, 32, 64 bits and integers of 8 to 64 bits."""

import math

import numpy as np

from isa.semantics.doubles import QUIET_64, as_bits, as_double, dadd
from isa.semantics.floats import canonical, flush
from isa.semantics.rounding import narrow, odd_sum, whole
from isa.semantics.small import small_bits, small_value
from isa.semantics.words import WORD, as_float, as_word, word
from isa.vocabulary import NumberType

SIGN_BIT_64 = np.int64(-(2**63))


def type_bits(kind: int) -> int:
    """Return the size of a NumberType in bits."""
    if kind <= NumberType.BF16:
        return 16
    if kind <= NumberType.F64:
        return 32 if kind == NumberType.F32 else 64
    return 8 << ((kind - NumberType.U8) >> 1)


def integer_value(bits: np.int64, kind: int) -> np.int64:
    """Return the value in the low bits of an int64; of U64, the 64 bits."""
    size = type_bits(kind)
    if size == 64:
        return bits
    value = bits & ((np.int64(1) << size) - 1)
    return value - (np.int64(1) << size) if kind & 1 and value >> (size - 1) else value


def float_value(bits: np.int64, kind: int, ftz: int) -> np.float64:
    """Return the value of a float of any type, exactly; ftz: of float32 only."""
    if kind == NumberType.F64:
        return as_double(bits)
    if kind == NumberType.F32:
        single = as_float(bits & WORD)
        return np.float64(flush(single) if ftz else single)
    return small_value(int(bits & 0xFFFF), int(kind == NumberType.BF16))


def float_bits(x: np.float64, kind: int, rounding: int, ftz: int, clamp: int) -> np.int64:
    """Return the bits of x rounded to a type; clamp: to [0, 1], NaN to 0."""
    if clamp:
        x = min(x, np.float64(1.0)) if x > 0.0 else np.float64(0.0)
    if kind == NumberType.F64:
        return as_bits(x)
    if kind == NumberType.F32:
        single = narrow(x, rounding)
        return np.int64(as_word(canonical(flush(single) if ftz else single)))
    return small_bits(x, int(kind == NumberType.BF16), rounding, 0)


def integer_to_float(bits: np.int64, source: int, target: int, rounding: int) -> np.int64:
    """Return the bits of the float of an integer: its high and low words are two exact float64."""
    value = integer_value(bits, source)
    high = value >> 32
    if source == NumberType.U64:
        high &= WORD
    upper, lower = np.float64(high) * 4294967296.0, np.float64(value & WORD)
    if target == NumberType.F64:
        return as_bits(dadd(upper, lower, rounding))
    return float_bits(odd_sum(upper, lower), target, rounding, 0, 0)


def float_to_integer(x: np.float64, source: int, target: int, rounding: int, nan_to_zero: int) -> np.int64:
    """Return x rounded to a whole number and clamped to the type; NaN: 0 between types of 32 bits or less, else only the highest bit."""
    size, is_signed = type_bits(target), target & 1
    if math.isnan(x):
        if nan_to_zero or (source != NumberType.F64 and size < 64):
            return np.int64(0)
        return SIGN_BIT_64 if size == 64 else np.int64(1) << (size - 1)
    v = whole(x, rounding)
    highest = math.ldexp(1.0, int(size - 1 if is_signed else size))
    if v >= highest:
        if is_signed or size < 64:
            return ~SIGN_BIT_64 if size == 64 else (np.int64(1) << (size - 1 if is_signed else size)) - 1
        return np.int64(-1)
    lowest = -highest if is_signed else 0.0
    if v <= lowest:
        return SIGN_BIT_64 if is_signed and size == 64 else np.int64(lowest)
    if v >= 9223372036854775808.0:
        return np.int64(v - 9223372036854775808.0) ^ SIGN_BIT_64
    return np.int64(v)


def float_to_float(x: np.float64, types: int, rounding: int, ftz: int, integral: int, clamp: int) -> np.int64:
    """Return the bits of x in another type, or of the whole number nearest to it; types: NumberType of the source | of the result << 4.

    What comes from or becomes a float64 stays the NaN that it is, made quiet and cut off; between the others there is one NaN.
    """
    source, target = types & 15, types >> 4 & 15
    if math.isnan(x) and not clamp and NumberType.F64 in (source, target):
        return nan_of(np.float64(x).view(np.int64) | QUIET_64, target)
    return float_bits(whole(x, rounding) if integral else x, target, rounding, ftz, clamp)


def bits_to_integer(bits: np.int64, source: int, target: int, rounding: int, ftz: int, nan_to_zero: int) -> np.int64:
    """Return the integer of a float given by its bits."""
    return float_to_integer(float_value(bits, source, ftz), source, target, rounding, nan_to_zero)


def bits_to_float(bits: np.int64, source: int, target: int, rounding: int, ftz: int, integral: int, clamp: int) -> np.int64:
    """Return the bits of a float, given by its bits, in another type."""
    return float_to_float(float_value(bits, source, ftz), source | target << 4, rounding, ftz, integral, clamp)


def nan_of(bits: np.int64, target: int) -> np.int64:
    """Return a NaN of float64 with its sign and highest bits in another type."""
    if target == NumberType.F64:
        return bits
    size = type_bits(target)
    place = 29 if target == NumberType.F32 else 45 if target == NumberType.BF16 else 42
    return (bits >> 63 & 1) << (size - 1) | (bits >> place & ((np.int64(1) << (size - 1)) - 1))


def integer_to_integer(bits: np.int64, source: int, target: int, clamp: int) -> np.int64:
    """Return an integer cut off, or clamped, to another type of 32 bits or less."""
    value = integer_value(bits, source)
    if not clamp:
        return integer_value(value, target)
    size = type_bits(target)
    lowest, highest = (-(np.int64(1) << (size - 1)), np.int64(1) << (size - 1)) if target & 1 else (np.int64(0), np.int64(1) << size)
    return min(max(value, lowest), highest - 1)


def to_half(a: np.float32, kind: int, rounding: int, relu: int, finite: int) -> np.int64:
    """Return the bits of a half; relu: zero where negative; finite: the largest number where it is infinite (PTX `cvt`)."""
    is_bfloat = int(kind == NumberType.BF16)
    x = np.float64(0.0) if relu and a <= 0.0 else np.float64(a)  # of -0, too
    bits = small_bits(x, is_bfloat, rounding, 0)
    infinity = np.int64(0x7F80 if is_bfloat else 0x7C00)
    return bits - 1 if finite and bits & 0x7FFF == infinity else bits


def pack_halves(a: np.float32, b: np.float32, kind: int, rounding: int, relu: int, finite: int) -> np.uint32:
    """Return a in the high and b in the low half of a word."""
    return word(to_half(a, kind, rounding, relu, finite) << 16 | to_half(b, kind, rounding, relu, finite))


def merge_half(a: np.float32, kind: int, rounding: int, relu: int, finite: int) -> np.uint32:
    """Return a in the low half of a word."""
    return word(to_half(a, kind, rounding, relu, finite))


def pack_integers(a: np.uint32, b: np.uint32, c: np.uint32, kind: int) -> np.uint32:
    """Return a above b, clamped to a type; of bytes the low half of c above both (PTX `cvt.pack.sat`)."""
    high, low = integer_to_integer(np.int64(a), NumberType.S32, kind, 1), integer_to_integer(np.int64(b), NumberType.S32, kind, 1)
    return packed(high, low, c, kind)


def pack_rounded(a: np.float32, b: np.float32, c: np.uint32, kind: int, rounding: int, ftz: int, nan_to_zero: int) -> np.uint32:
    """Return the same of two floats rounded to whole numbers."""
    x, y = (flush(a), flush(b)) if ftz else (a, b)
    high = float_to_integer(np.float64(x), NumberType.F32, kind, rounding, nan_to_zero)
    return packed(high, float_to_integer(np.float64(y), NumberType.F32, kind, rounding, nan_to_zero), c, kind)


def packed(high: np.int64, low: np.int64, c: np.uint32, kind: int) -> np.uint32:
    """Return two numbers of a type side by side; of bytes the low half of c above both."""
    size = type_bits(kind)
    ones = (np.int64(1) << size) - 1
    both = (high & ones) << size | (low & ones)
    return word(both | np.int64(c) << 16 if size == 8 else both)
