"""Integer products and sums that only some generations have: XMAD, dot products, three-input minima, absolute differences."""

import numpy as np

from isa.semantics.words import WORD, Integer, signed, wide, word
from isa.vocabulary import Dot, XmadAddend

PSL, MRG, SIGNED_A, SIGNED_B = 16, 32, 64, 128  # bits of XMAD's and IDP's Encoded.function


def half(a: np.uint32, high: int, is_signed: int) -> np.int64:
    """Return the value of one half of a word."""
    value = (np.int64(a) >> (16 if high else 0)) & 0xFFFF
    return value - 0x10000 if is_signed and value & 0x8000 else value


def xmad(a: np.uint32, b: np.uint32, c: np.uint32, function: int, high_a: int, high_b: int, carry: int) -> np.int64:
    """Return Maxwell's 16-bit product of halves plus an addend, 33 bits; .MRG: its low half below that of b.

    Checked by what compilers build from it: 32-bit products (.MRG, .PSL.CBCC), high words (.CHI, .CSFU). The last one undoes
    what reading signed factors as unsigned adds in the high half; a low half of zero adds nothing.
    """
    product = half(a, high_a, function & SIGNED_A) * half(b, high_b, function & SIGNED_B)
    if function & PSL:
        product <<= 16
    total = (product & WORD) + xmad_addend(a, b, c, function & 15) + carry
    if function & MRG:
        return (total & 0xFFFF) | (np.int64(b) & 0xFFFF) << 16
    return total


def xmad_addend(a: np.uint32, b: np.uint32, c: np.uint32, mode: int) -> np.int64:
    """Return what XMAD adds to the product, as a word."""
    addend = np.int64(c)
    if mode == XmadAddend.CLO:
        return addend & 0xFFFF
    if mode == XmadAddend.CHI:
        return addend >> 16
    if mode == XmadAddend.CBCC:
        return (addend + (np.int64(b) << 16)) & WORD
    if mode == XmadAddend.CSFU:
        if signed(a) < 0 and np.int64(b) & 0xFFFF:
            addend -= 0x10000
        if signed(b) < 0 and np.int64(a) & 0xFFFF:
            addend -= 0x10000
    return addend & WORD


def iadd3_shifted(a: np.uint32, b: np.uint32, c: np.uint32, left: int) -> np.uint32:
    """Return the 33-bit a + b shifted by 16 bits, plus c (IADD3.RS, .LS)."""
    first = np.int64(a) + np.int64(b)
    return word((first << 16 if left else first >> 16) + np.int64(c))


def lea_high(a: np.uint32, upper: np.int64, b: np.uint32, shift: int, carry: int) -> np.int64:
    """Return the 33-bit sum of the high word of the pair upper:a shifted left (0 to 31), b and a carry; upper: 32 bits, or a's sign."""
    high = ((upper << shift) | (np.int64(a) >> (32 - shift))) & WORD
    return high + np.int64(b) + carry


def dot(a: np.uint32, b: np.uint32, c: np.uint32, function: int) -> np.uint32:
    """Return the sum of products of bytes (of halves of a by bytes of b with Dot.TWO_...) and c (PTX `dp4a`, `dp2a`)."""
    total, mode = np.int64(c), function & 15
    if mode == Dot.FOUR:
        for k in range(4):
            total += byte(a, k, function & SIGNED_A) * byte(b, k, function & SIGNED_B)
        return word(total)
    first = 2 if mode == Dot.TWO_HIGH else 0
    for k in range(2):
        total += half(a, k, function & SIGNED_A) * byte(b, first + k, function & SIGNED_B)
    return word(total)


def byte(a: np.uint32, number: int, is_signed: int) -> np.int64:
    """Return the value of one byte of a word."""
    value = (np.int64(a) >> 8 * number) & 0xFF
    return value - 0x100 if is_signed and value & 0x80 else value


def absolute_difference(a: np.uint32, b: np.uint32, c: np.uint32, is_signed: int) -> np.uint32:
    """Return |a - b| + c (PTX `sad`)."""
    return word(abs(wide(a, is_signed) - wide(b, is_signed)) + np.int64(c))


def absolute_difference_of_bytes(a: np.uint32, b: np.uint32, c: np.uint32, is_signed: int, summed: int) -> np.uint32:
    """Return |a - b| of each of four bytes; or their sum, plus c (PTX `vabsdiff4`)."""
    result, total = np.int64(0), np.int64(c)
    for place in range(0, 32, 8):
        x, y = np.int64(a) >> place & 0xFF, np.int64(b) >> place & 0xFF
        if is_signed:
            x, y = (x ^ 0x80) - 0x80, (y ^ 0x80) - 0x80
        result |= (abs(x - y) & 0xFF) << place
        total += abs(x - y)
    return word(total) if summed else word(result)


def sum_of_halves(a: np.uint32, b: np.uint32, negated: int) -> np.uint32:
    """Return the sums of the low halves and of the high halves; neither carries. negated: 1 those of a, 2 those of b, 3 both."""
    x, y = -1 if negated & 1 else 1, -1 if negated & 2 else 1
    low, high = x * np.int64(a & 0xFFFF) + y * np.int64(b & 0xFFFF), x * np.int64(a >> 16) + y * np.int64(b >> 16)
    return word((high & 0xFFFF) << 16 | low & 0xFFFF)


def sum_of_bytes(a: np.uint32, b: np.uint32, negated: int) -> np.uint32:
    """Return the sums of each of four bytes, as sum_of_halves."""
    x, y, result = -1 if negated & 1 else 1, -1 if negated & 2 else 1, np.int64(0)
    for place in range(0, 32, 8):
        result |= (x * (np.int64(a) >> place & 0xFF) + y * (np.int64(b) >> place & 0xFF) & 0xFF) << place
    return word(result)


def sum_saturated(a: np.uint32, b: np.uint32, negated: int) -> np.uint32:
    """Return the sum of two signed words, or the nearest word to it; negated as in sum_of_halves."""
    x, y = wide(a, 1), wide(b, 1)
    total = (-x if negated & 1 else x) + (-y if negated & 2 else y)
    return word(min(max(total, np.int64(-0x80000000)), np.int64(0x7FFFFFFF)))


def minmax_of_bytes(a: np.uint32, b: np.uint32, is_signed: int, smaller: int) -> np.uint32:
    """Return the smaller or the larger of each of four bytes."""
    result, flip = np.int64(0), 0x80 if is_signed else 0
    for place in range(0, 32, 8):
        x, y = np.int64(a) >> place & 0xFF, np.int64(b) >> place & 0xFF
        result |= (x if (x ^ flip < y ^ flip) == (smaller != 0) else y) << place
    return word(result)


def minmax_of_halves(a: np.uint32, b: np.uint32, is_signed: int, smaller: int, relu: int) -> np.uint32:
    """Return the smaller or the larger of each of two halves; relu: zero where that is negative."""
    result = np.int64(0)
    for place in range(0, 32, 16):
        x, y = np.int64(a) >> place & 0xFFFF, np.int64(b) >> place & 0xFFFF
        flip = 0x8000 if is_signed else 0
        chosen = x if (x ^ flip < y ^ flip) == (smaller != 0) else y
        result |= (np.int64(0) if relu and chosen & 0x8000 else chosen) << place
    return word(result)


def minmax_of_three_halves(a: np.uint32, b: np.uint32, c: np.uint32, is_signed: int, smaller: int, relu: int) -> np.uint32:
    """Return the smallest or the largest of three, of each of two halves."""
    return minmax_of_halves(minmax_of_halves(a, b, is_signed, smaller, 0), c, is_signed, smaller, relu)


def add_minmax_of_halves(a: np.uint32, b: np.uint32, c: np.uint32, is_signed: int, smaller: int, relu: int, negated: int) -> np.uint32:
    """Return the smaller or larger of a + b, cut off, and c, of each of two halves."""
    return minmax_of_halves(sum_of_halves(a, b, negated), c, is_signed, smaller, relu)


def product_sum(
    a: np.uint32, b: np.uint32, c: Integer, is_signed: int, is_wide: int, carry: Integer, negated: int
) -> tuple[Integer, Integer]:
    """Return a * b + c + carry, of 64 bits or of the product's low 32, and what it carries out. negated: 1 the product, 2 c, 3 both."""
    product = wide(a, is_signed) * wide(b, is_signed)
    product, c = -product if negated & 1 else product, -c if negated & 2 else c
    if not is_wide:
        total = (product & WORD) + c + carry
        return total & WORD, total >> 32 & 1
    low = (product & WORD) + (c & WORD) + carry  # in halves: of 64 bits a compiler takes an overflow for impossible
    high = (product >> 32 & WORD) + (c >> 32 & WORD) + (low >> 32)
    return (high & WORD) << 32 | low & WORD, high >> 32
