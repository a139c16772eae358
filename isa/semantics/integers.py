"""Integers: worked out in int64, whose wrap-around keeps the bits asked for."""

import numpy as np

from isa.semantics.words import EQUAL, GREATER, LESS, WORD, high_word, pair, wide, word
from isa.vocabulary import Combine, Reduction


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


def popc(a: np.uint32) -> np.int64:
    """Return how many bits of a word are set."""
    x = np.int64(a) & WORD
    x -= x >> 1 & 0x55555555
    x = (x & 0x33333333) + (x >> 2 & 0x33333333)
    x = x + (x >> 4) & 0x0F0F0F0F
    return (x * 0x01010101 & WORD) >> 24
