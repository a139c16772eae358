"""Integer instructions on rows: `out` gets the words, the return value is a mask of lanes (carry or truth) where there is one."""

import numpy as np

from isa.semantics.integers import iadd, iadd3, imad, imad_high, imad_wide, irelation, lea
from isa.semantics.words import high_word, pair, word
from isa.vocabulary import Combine
from sim.compiled.kernel import inner
from sim.functional.flags import HIGH, SIGNED


@inner
def add(a: np.ndarray, b: np.ndarray, out: np.ndarray, lanes: int, addend: int, carry: int) -> int:
    """Write a + b + addend + carry lane; return the lanes that carry out."""
    result = np.int64(0)
    for k in range(lanes):
        total = iadd(a[k], b[k], addend + ((carry >> k) & 1))
        out[k] = word(total)
        result |= ((total >> 32) & 1) << k
    return result


@inner
def add_plain(a: np.ndarray, b: np.ndarray, out: np.ndarray, lanes: int, addend: int) -> None:
    """Write a + b + addend: the loop that vectorises."""
    for k in range(lanes):
        out[k] = word(iadd(a[k], b[k], addend))


@inner
def add3(a: np.ndarray, b: np.ndarray, c: np.ndarray, out: np.ndarray, lanes: int, addend: int, first: int, second: int) -> tuple[int, int]:
    """Write a + b + c + addend + carry lanes; return the lanes that carry at least once, and twice."""
    once, twice = np.int64(0), np.int64(0)
    for k in range(lanes):
        total = iadd3(a[k], b[k], c[k], addend + ((first >> k) & 1) + ((second >> k) & 1))
        out[k] = word(total)
        once |= np.int64(total >> 32 >= 1) << k
        twice |= np.int64(total >> 32 >= 2) << k
    return once, twice


@inner
def multiply(a: np.ndarray, b: np.ndarray, c: np.ndarray, out: np.ndarray, lanes: int, flags: int) -> None:
    """Write the low or HIGH word of a * b, plus c."""
    is_signed = flags & SIGNED
    if flags & HIGH:
        for k in range(lanes):
            out[k] = imad_high(a[k], b[k], c[k], is_signed)
    else:
        for k in range(lanes):
            out[k] = imad(a[k], b[k], c[k])


@inner
def multiply_wide(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, c_high: np.ndarray, out: np.ndarray, out_high: np.ndarray, lanes: int, flags: int
) -> None:
    """Write the 64 bits of a * b + c."""
    for k in range(lanes):
        value = imad_wide(a[k], b[k], pair(c[k], c_high[k]), flags & SIGNED)
        out[k] = word(value)
        out_high[k] = high_word(value)


@inner
def nonzero(a: np.ndarray, lanes: int) -> int:
    """Return the lanes whose word is not zero."""
    result = np.int64(0)
    for k in range(lanes):
        result |= np.int64(a[k] != 0) << k
    return result


@inner
def shift_add(a: np.ndarray, b: np.ndarray, out: np.ndarray, lanes: int, count: int, addend: int) -> int:
    """Write (a << count) + b + addend; return the lanes that carry out."""
    result = np.int64(0)
    for k in range(lanes):
        total = lea(a[k], b[k], count, addend)
        out[k] = word(total)
        result |= ((total >> 32) & 1) << k
    return result


@inner
def int_compare(a: np.ndarray, b: np.ndarray, lanes: int, flags: int, compare: int) -> int:
    """Return the lanes in which the comparison holds."""
    result = np.int64(0)
    for k in range(lanes):
        result |= np.int64((irelation(a[k], b[k], flags & SIGNED) & compare) != 0) << k
    return result


@inner
def combine_masks(a: int, b: int, combine: int) -> int:
    """Return the lanes in which a AND, OR or XOR b is true."""
    if combine == Combine.AND:
        return a & b
    return a | b if combine == Combine.OR else a ^ b
