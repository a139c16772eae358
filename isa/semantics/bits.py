"""Bits and bytes of words: find, reverse, extract, insert, mask, permute."""

import numpy as np

from isa.semantics.integers import popc
from isa.semantics.words import SIGN, WORD, Integer, signed, word
from isa.vocabulary import Permute


def flo(a: np.uint32, is_signed: int, from_top: int) -> np.uint32:
    """Return the position of the highest bit set (signed: that differs from the sign), counted from_top or not; none: all ones."""
    x = np.int64(a) ^ WORD if is_signed and np.int64(a) & SIGN else np.int64(a)
    for shift in (1, 2, 4, 8, 16):
        x |= x >> shift
    if x == 0:
        return np.uint32(WORD)
    position = popc(np.uint32(x)) - 1
    return word(31 - position if from_top else position)


def brev(a: np.uint32) -> np.uint32:
    """Return the word with its bits in reverse."""
    x = np.int64(a)
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2
    x = (x >> 4 & 0x0F0F0F0F) | (x & 0x0F0F0F0F) << 4
    x = (x >> 8 & 0x00FF00FF) | (x & 0x00FF00FF) << 8
    return word((x >> 16) | (x << 16))


def bfe(a: np.uint32, place: np.uint32, is_signed: int, reverse: int) -> np.uint32:
    """Return the field of a at place (position | length << 8), extended by its highest bit within the word when signed (PTX `bfe`)."""
    position, length = np.int64(place) & 0xFF, np.int64(place) >> 8 & 0xFF
    source = brev(a) if reverse else a
    if length == 0:
        return np.uint32(0)
    if is_signed:
        value = signed(source) >> min(position, np.int64(31))
        return sgxt(np.uint32(value & WORD), np.uint32(length), 1, 0)
    return word((np.int64(source) >> min(position, np.int64(32))) & low_bits(length))


def bfi(a: np.uint32, place: np.uint32, c: np.uint32) -> np.uint32:
    """Return c with the low bits of a in the field at place (position | length << 8); what lies past bit 31 is lost (PTX `bfi`)."""
    position, length = min(np.int64(place) & 0xFF, np.int64(32)), np.int64(place) >> 8 & 0xFF
    field = low_bits(length) << position
    return word((np.int64(c) & ~field) | ((np.int64(a) << position) & field))


def low_bits(count: Integer) -> np.int64:
    """Return a word with its lowest `count` bits set; 32 and more: all."""
    return (np.int64(1) << min(np.int64(count), np.int64(32))) - 1


def bmsk(position: np.uint32, width: np.uint32, wrap: int) -> np.uint32:
    """Return `width` bits set from `position`; both modulo 32 with wrap, else 32 at most (PTX `bmsk`)."""
    start, count = np.int64(position), np.int64(width)
    start, count = (start & 31, count & 31) if wrap else (min(start, np.int64(32)), min(count, np.int64(32)))
    return word(low_bits(count) << start)


def sgxt(a: np.uint32, width: np.uint32, is_signed: int, wrap: int) -> np.uint32:
    """Return the low `width` bits of a, extended by their highest when signed (PTX `szext`)."""
    count = np.int64(width) & 31 if wrap else min(np.int64(width), np.int64(32))
    value = np.int64(a) & low_bits(count)
    if is_signed and count > 0 and (value >> (count - 1)) & 1:
        value -= np.int64(1) << count
    return word(value)


def prmt(a: np.uint32, selector: np.uint32, b: np.uint32, mode: int) -> np.uint32:
    """Return four bytes out of the eight of b:a (PTX `prmt`)."""
    x, s, result = np.int64(a) | (np.int64(b) << 32), np.int64(selector), np.int64(0)
    for place in range(4):
        index = (s >> 4 * place) & 15 if mode == Permute.INDEX else byte_index(place, s & 3, mode)
        byte = (x >> 8 * (index & 7)) & 0xFF
        if index & 8:
            byte = np.int64(0xFF if byte & 0x80 else 0)
        result |= byte << 8 * place
    return word(result)


def byte_index(place: int, s: Integer, mode: int) -> Integer:
    """Return which of the eight bytes a mode of PRMT puts in `place`, its selector being s."""
    if mode == Permute.F4E:
        return place + s
    if mode == Permute.B4E:
        return (s - place) & 7
    if mode == Permute.RC8:
        return s
    if mode == Permute.ECL:
        return max(place, s)
    if mode == Permute.ECR:
        return min(place, s)
    return (place & 1) | (s & 1) << 1


def part_of(a: np.uint32, part: int) -> np.uint32:
    """Return the half (Part H0, H1) or the byte (B0 to B3) of a word, repeated in all of its halves or bytes; or (H0_NH1) both halves
    swapped, the one that becomes the low one with the other sign."""
    x = np.int64(a)
    if part == 0:
        return a
    if part == 7:
        return word((x & 0xFFFF) << 16 | (x >> 16) ^ 0x8000)
    if part <= 2:
        return word((x >> 16 * (part - 1) & 0xFFFF) * 0x10001)
    return word((x >> 8 * (part - 3) & 0xFF) * 0x01010101)
