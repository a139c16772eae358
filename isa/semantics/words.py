"""Words: the 32 bits of a register as an integer or a float32, and pairs of them."""

import numpy as np

WORD = 0xFFFFFFFF
SIGN = 0x80000000
Integer = int | np.int64
LESS, EQUAL, GREATER, UNORDERED = 1, 2, 4, 8  # bits of isa.vocabulary.Compare: LE = LESS | EQUAL, ..., T = all


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
