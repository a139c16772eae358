"""What one lane computes: scalar functions `op(a, b, c) -> value` on 32-bit words (uint32) and float32.

Plain Python over NumPy scalars, so that they run as they stand and Numba can compile them (`sim/kernel.py` makes every
public function here callable from kernels); both give identical bits. Integers are worked out in int64, whose wrap-around
keeps the bits asked for. Floating point is IEEE 754 binary32 with NVIDIA's NaN rule: a NaN result is 0x7FFFFFFF (CUDA C++
Programming Guide, floating-point standard: payloads are not preserved).

The multi-function unit here returns the float32 nearest to the true value; the hardware approximates it within 1-2 units
in the last place, so results that pass through MUFU may differ from a GPU's in their last bits.
"""

import math

import numpy as np

from isa.vocabulary import AtomicFunction, Combine, Mufu, Rounding

WORD = 0xFFFFFFFF
SIGN = 0x80000000
NAN = np.uint32(0x7FFFFFFF).view(np.float32)
SMALLEST_NORMAL = np.float32(2.0**-126)
Integer = int | np.int64
ZERO, ONE = np.float32(0.0), np.float32(1.0)
LESS, EQUAL, GREATER, UNORDERED = 1, 2, 4, 8  # bits of isa.vocabulary.Compare: LE = LESS | EQUAL, ..., T = all


# Words


def word(value: Integer) -> np.uint32:
    """Return the low 32 bits of an int64."""
    return np.uint32(value & WORD)


def signed(a: np.uint32) -> np.int64:
    """Return the two's-complement value of a word."""
    return np.int64(np.int32(a))


def wide(a: np.uint32, is_signed: int) -> np.int64:
    """Return the value of a word, signed or unsigned."""
    return signed(a) if is_signed else np.int64(a)


def pair(low: np.uint32, high: np.uint32) -> np.int64:
    """Return the 64 bits of a register pair."""
    return np.int64(low) | (np.int64(high) << 32)


def as_word(x: np.float32) -> np.uint32:
    """Return the bits of a float32."""
    return np.float32(x).view(np.uint32)


def as_float(bits: Integer) -> np.float32:
    """Return the float32 with these bits."""
    return np.uint32(bits).view(np.float32)


def high_word(value: Integer) -> np.uint32:
    """Return bits 32..63 of an int64."""
    return np.uint32((value >> 32) & WORD)


# Rounding


def fma(a: np.float32, b: np.float32, c: np.float32) -> np.float32:
    """Return a * b + c with one rounding, to nearest even. Kernels use the machine's own instruction instead.

    The float64 product of two float32 is exact; the sum is rounded to odd, after which rounding to 24 bits is exact
    (Boldo and Melquiond, Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd, 2008).
    """
    return np.float32(odd_sum(np.float64(a) * np.float64(b), np.float64(c)))


def odd_sum(x: np.float64, y: np.float64) -> np.float64:
    """Return x + y rounded to odd: the exact sum when float64 holds it, else the neighbour with an odd last bit."""
    total = x + y
    back = total - x
    error = (x - (total - back)) + (y - back)  # Knuth's TwoSum: x + y = total + error exactly
    if not (error < 0.0 or error > 0.0):  # exact, or not finite
        return total
    bits = np.float64(total).view(np.int64)
    if bits & 1:
        return total
    return np.int64(bits + 1 if (error > 0.0) == (total > 0.0) else bits - 1).view(np.float64)


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


# Floating point


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


def mufu(function: int, x: np.float32, turns: int) -> np.float32:
    """Return the multi-function unit's `function` of x: the float32 nearest to the true value.

    turns: SIN and COS take x in turns of 2 pi (from Volta, after a multiplication by 0.15915494) and not in radians.
    """
    v = np.float64(x)
    if math.isnan(v):
        return NAN
    if function == Mufu.EX2:
        return np.float32(0.0 if v < -200.0 else math.inf if v > 200.0 else math.pow(2.0, v))
    if function == Mufu.TANH:
        return np.float32(math.tanh(v))
    if function == Mufu.RCP:
        return np.float32(1.0 / v) if v != 0.0 else np.float32(math.copysign(math.inf, v))
    if function in (Mufu.SIN, Mufu.COS):
        return mufu_wave(function, v * 2.0 * math.pi if turns else v)
    return mufu_root(function, v)


def mufu_wave(function: int, v: np.float64) -> np.float32:
    """Return the sine or cosine of v radians; NaN for an infinity."""
    if abs(v) == math.inf:
        return NAN
    return np.float32(math.sin(v) if function == Mufu.SIN else math.cos(v))


def mufu_root(function: int, v: np.float64) -> np.float32:
    """Return the square root, its reciprocal or the binary logarithm; NaN below zero."""
    if v == 0.0:
        return np.float32(v if function == Mufu.SQRT else math.copysign(math.inf, v) if function == Mufu.RSQ else -math.inf)
    if v < 0.0:
        return NAN
    if function == Mufu.LG2:
        return np.float32(v if v == math.inf else math.log2(v))
    return np.float32(math.sqrt(v)) if function == Mufu.SQRT else np.float32(1.0 / math.sqrt(v))


# Integers


def irelation(a: np.uint32, b: np.uint32, is_signed: int) -> int:
    """Return LESS, EQUAL or GREATER."""
    x, y = wide(a, is_signed), wide(b, is_signed)
    return (LESS if x < y else 0) | (EQUAL if x == y else 0) | (GREATER if x > y else 0)


def iadd(a: np.uint32, b: np.uint32, carry: int) -> np.int64:
    """Return the 33-bit sum of two words and a carry; bit 32 is the carry out."""
    return np.int64(a) + np.int64(b) + carry


def iadd3(a: np.uint32, b: np.uint32, c: np.uint32, carry: int) -> np.int64:
    """Return the 34-bit sum of three words and a carry."""
    return np.int64(a) + np.int64(b) + np.int64(c) + carry


def imad(a: np.uint32, b: np.uint32, c: np.uint32) -> np.uint32:
    """Return the low word of a * b + c."""
    return word(np.int64(a) * np.int64(b) + np.int64(c))


def imad_wide(a: np.uint32, b: np.uint32, c: np.int64, is_signed: int) -> np.int64:
    """Return the 64 bits of a * b + c, c being a register pair."""
    return product(a, b, is_signed) + c


def product(a: np.uint32, b: np.uint32, is_signed: int) -> np.int64:
    """Return the 64-bit product of two words."""
    return wide(a, is_signed) * wide(b, is_signed)


def imad_high(a: np.uint32, b: np.uint32, c: np.uint32, is_signed: int) -> np.uint32:
    """Return the high word of a * b, plus c."""
    return word((product(a, b, is_signed) >> 32) + np.int64(c))


def imnmx(a: np.uint32, b: np.uint32, is_signed: int, smaller: int) -> np.uint32:
    """Return the smaller or the larger word."""
    return a if (wide(a, is_signed) < wide(b, is_signed)) == (smaller != 0) else b


def shl(a: np.uint32, count: np.uint32, wrap: int) -> np.uint32:
    """Shift left; a count of 32 or more gives 0, or counts modulo 32 with wrap."""
    n = np.int64(count) & 31 if wrap else np.int64(count)
    return word(np.int64(a) << n) if n < 32 else np.uint32(0)


def shr(a: np.uint32, count: np.uint32, wrap: int, is_signed: int) -> np.uint32:
    """Shift right, filling with the sign when signed; a count of 32 or more shifts everything out."""
    n = np.int64(count) & 31 if wrap else min(np.int64(count), np.int64(32))
    return word(wide(a, is_signed) >> n)


def shf_left(low: np.uint32, count: np.uint32, high: np.uint32, wrap: int, upper: int, limit: int) -> np.uint32:
    """Shift the pair high:low left and return its high word (upper) or low word; limit: largest count (32 or 63)."""
    n = np.int64(count) & (limit if limit == 63 else 31) if wrap else min(np.int64(count), np.int64(limit))
    value = pair(low, high) << n
    return high_word(value) if upper else word(value)


def shf_right(low: np.uint32, count: np.uint32, high: np.uint32, wrap: int, upper: int, limit: int, is_signed: int) -> np.uint32:
    """Shift the pair high:low right and return its high word (upper) or low word; limit: largest count (32 or 63)."""
    n = np.int64(count) & (limit if limit == 63 else 31) if wrap else min(np.int64(count), np.int64(limit))
    if upper:
        return word(wide(high, is_signed) >> n)
    return word(wide(high, is_signed) >> (n - 32)) if n >= 32 else word(pair(low, high) >> n)


def logic(a: np.uint32, b: np.uint32, combine: int) -> np.uint32:
    """Return the two-input function of LOP."""
    if combine == Combine.AND:
        return np.uint32(a & b)
    if combine == Combine.OR:
        return np.uint32(a | b)
    return np.uint32(a ^ b) if combine == Combine.XOR else b


def lop3(a: np.uint32, b: np.uint32, c: np.uint32, table: int) -> np.uint32:
    """Return the three-input function whose truth table has bit (a << 2 | b << 1 | c)."""
    x, y, z = np.int64(a), np.int64(b), np.int64(c)
    result = (x & y & z & -(table >> 7 & 1)) | (x & y & ~z & -(table >> 6 & 1))
    result |= (x & ~y & z & -(table >> 5 & 1)) | (x & ~y & ~z & -(table >> 4 & 1))
    result |= (~x & y & z & -(table >> 3 & 1)) | (~x & y & ~z & -(table >> 2 & 1))
    result |= (~x & ~y & z & -(table >> 1 & 1)) | (~x & ~y & ~z & -(table & 1))
    return word(result)


def lea(a: np.uint32, b: np.uint32, shift: int, carry: int) -> np.int64:
    """Return the 33-bit sum of the low word of a << shift, b and a carry."""
    return (np.int64(a) << shift & WORD) + np.int64(b) + carry


def atomic(function: int, old: Integer, a: Integer, b: Integer, flip: Integer) -> Integer:
    """Return what an atomic leaves in memory, of which the caller keeps the low 32 or 64 bits (PTX ISA, `atom`).

    old, a, b: words extended by their sign or by zeros, or register pairs. flip: XORed to both sides before MIN and MAX
    compare them; the sign bit makes int64 compare as unsigned.
    """
    if function == AtomicFunction.ADD:
        return old + a
    if function == AtomicFunction.MIN:
        return old if old ^ flip < a ^ flip else a
    if function == AtomicFunction.MAX:
        return old if old ^ flip > a ^ flip else a
    if function == AtomicFunction.INC:
        return np.int64(0) if old >= a else old + 1
    if function == AtomicFunction.DEC:
        return a if old == 0 or old > a else old - 1
    if function == AtomicFunction.AND:
        return old & a
    if function == AtomicFunction.OR:
        return old | a
    if function == AtomicFunction.XOR:
        return old ^ a
    if function == AtomicFunction.EXCH:
        return a
    return b if old == a else old


def popc(a: np.uint32) -> np.int64:
    """Return how many bits of a word are set."""
    x = np.int64(a) & WORD
    x -= x >> 1 & 0x55555555
    x = (x & 0x33333333) + (x >> 2 & 0x33333333)
    x = x + (x >> 4) & 0x0F0F0F0F
    return (x * 0x01010101 & WORD) >> 24


# Conversions


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


def nearest_even(v: np.float64) -> np.float64:
    """Return the nearest integer (|v| < 2**51), halves to even: adding 1.5 * 2**52 leaves no bit for a fraction."""
    return (v + 6755399441055744.0) - 6755399441055744.0
