"""Atomics: what a read-modify-write leaves in memory."""

import numpy as np

from isa.semantics.words import Integer
from isa.vocabulary import AtomicFunction


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
