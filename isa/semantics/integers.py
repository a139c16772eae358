"""Integers: worked out in int64, whose wrap-around keeps the bits asked for."""

import numpy as np

from isa.semantics.words import EQUAL, GREATER, LESS, WORD, high_word, pair, signed, wide, word
from isa.vocabulary import Combine, Reduction

SIGN_64 = np.int64(-(2**63))


def irelation(a: np.uint32, b: np.uint32, is_signed: int) -> int:
    """Return LESS, EQUAL or GREATER."""
    x, y = wide(a, is_signed), wide(b, is_signed)
    return (LESS if x < y else 0) | (EQUAL if x == y else 0) | (GREATER if x > y else 0)


def irelation64(a: np.int64, b: np.int64, is_signed: int) -> int:
    """Return LESS, EQUAL or GREATER of 64 bits."""
    flip = np.int64(0) if is_signed else SIGN_64
    x, y = a ^ flip, b ^ flip
    return LESS if x < y else EQUAL if x == y else GREATER


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


def imnmx_relu(a: np.uint32, b: np.uint32, is_signed: int, smaller: int) -> np.uint32:
    """Return the smaller or the larger word, zero where that is negative."""
    return not_negative(imnmx(a, b, is_signed, smaller), 1)


def not_negative(a: np.uint32, relu: int) -> np.uint32:
    """Return the word, or zero where it is negative and relu asks for that."""
    return np.uint32(0) if relu and signed(a) < 0 else a


def imnmx_of_three(a: np.uint32, b: np.uint32, c: np.uint32, is_signed: int, smaller: int, relu: int) -> np.uint32:
    """Return the smallest or the largest of three words."""
    return not_negative(imnmx(imnmx(a, b, is_signed, smaller), c, is_signed, smaller), relu)


def iadd_minmax(a: np.uint32, b: np.uint32, c: np.uint32, is_signed: int, smaller: int, relu: int) -> np.uint32:
    """Return the smaller or larger of a + b, cut off, and c."""
    return not_negative(imnmx(word(np.int64(a) + np.int64(b)), c, is_signed, smaller), relu)


def imnmx3(a: np.uint32, b: np.uint32, c: np.uint32, is_signed: int, function: int) -> np.uint32:
    """Return the smaller or larger of a and b, then of that and c; function: Reduction | Reduction << 3."""
    first = imnmx(a, b, is_signed, function & 7 == Reduction.MIN)
    return imnmx(first, c, is_signed, function >> 3 & 7 == Reduction.MIN)


def shl(a: np.uint32, count: np.uint32, wrap: int) -> np.uint32:
    """Shift left; a count of 32 or more gives 0, or counts modulo 32 with wrap."""
    n = np.int64(count) & 31 if wrap else np.int64(count)
    return word(np.int64(a) << n) if n < 32 else np.uint32(0)


def shr(a: np.uint32, count: np.uint32, wrap: int, is_signed: int) -> np.uint32:
    """Shift right, filling with the sign when signed; a count of 32 or more shifts everything out."""
    n = np.int64(count) & 31 if wrap else min(np.int64(count), np.int64(32))
    return word(wide(a, is_signed) >> n)


def shf_left(low: np.uint32, count: np.uint32, high: np.uint32, wrap: int, upper: int, size: int) -> np.uint32:
    """Shift the pair high:low left and return its high word (upper) or low word.

    size: 32 or 64, of the type; counts are taken modulo it with wrap, else it is the largest.
    """
    n = shift_count(count, wrap, size)
    value = pair(low, high) << n if n < 64 else np.int64(0)
    return high_word(value) if upper else word(value)


def shf_right(low: np.uint32, count: np.uint32, high: np.uint32, wrap: int, upper: int, size: int, is_signed: int) -> np.uint32:
    """Shift the pair high:low right and return its high word (upper) or low word; size as for `shf_left`."""
    n = shift_count(count, wrap, size)
    if upper:
        return word(wide(high, is_signed) >> min(n, np.int64(32)))
    return word(wide(high, is_signed) >> (n - 32)) if n >= 32 else word(pair(low, high) >> n)


def shift_count(count: np.uint32, wrap: int, size: int) -> np.int64:
    """Return by how many bits a shift of a type of `size` bits shifts."""
    return np.int64(count) & (size - 1) if wrap else min(np.int64(count), np.int64(size))


def shf(low: np.uint32, count: np.uint32, high: np.uint32, left: int, wrap: int, upper: int, is_signed: int, is_pair: int) -> np.uint32:
    """Return the high (upper) or low word of the pair high:low shifted; is_pair: as one number of 64 bits."""
    size = 64 if is_pair else 32
    return shf_left(low, count, high, wrap, upper, size) if left else shf_right(low, count, high, wrap, upper, size, is_signed)


def select(a: np.uint32, b: np.uint32, first: int) -> np.uint32:
    """Return a or b."""
    return a if first else b


def icmp(a: np.uint32, b: np.uint32, c: np.uint32, is_signed: int, compare: int) -> np.uint32:
    """Return a where c compares so with zero, else b."""
    return a if irelation(c, np.uint32(0), is_signed) & compare else b


def iabs(a: np.uint32) -> np.uint32:
    """Return the magnitude of a signed word."""
    return word(abs(signed(a)))


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


def popc(a: np.uint32) -> np.int64:
    """Return how many bits of a word are set."""
    x = np.int64(a) & WORD
    x -= x >> 1 & 0x55555555
    x = (x & 0x33333333) + (x >> 2 & 0x33333333)
    x = x + (x >> 4) & 0x0F0F0F0F
    return (x * 0x01010101 & WORD) >> 24


def popc_of_both(a: np.uint32, b: np.uint32) -> np.uint32:
    """Return how many bits are set in both words."""
    return word(popc(np.uint32(a & b)))


def imnmx64(a: np.int64, b: np.int64, is_signed: int, smaller: int) -> np.int64:
    """Return the smaller or the larger of two numbers of 64 bits."""
    flip = np.int64(0) if is_signed else SIGN_64
    return a if (a ^ flip < b ^ flip) == (smaller != 0) else b


def carries64(a: np.int64, total: np.int64, carry: int) -> bool:
    """Return whether a + b + carry, of which total is the low 64 bits, has a 65th."""
    x, y = a ^ SIGN_64, total ^ SIGN_64
    return bool(y <= x if carry else y < x)


def imove64(a: np.int64) -> np.int64:
    """Return a."""
    return a


def select64(a: np.int64, b: np.int64, first: int) -> np.int64:
    """Return a or b."""
    return a if first else b
