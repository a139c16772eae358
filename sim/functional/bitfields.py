"""Bits, bytes and predicates as words: FLO to PRMT, P2R, R2P, PLOP3, ISET and FSET."""

import numpy as np

from isa.semantics.bits import bfe, bfi, bmsk, brev, flo, prmt, sgxt
from isa.semantics.integers import lop3
from isa.semantics.words import WORD, word
from isa.vocabulary import PT, Operation
from sim.functional.flags import FLOAT, REVERSE, SIGNED, WRAP
from sim.functional.floats import float_compare
from sim.functional.integers import combine_masks, int_compare
from sim.functional.operands import predicate, write_predicate
from sim.functional.state import FIRST, FULL, OUT, SECOND, THIRD, Code, Machine
from sim.kernel import inner, outlined

ONE_BITS = np.int64(0x3F800000)  # 1.0


@inner
def bit_field(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute an instruction on the bits of words."""
    operation, flags, function, out = code.operation[i], code.flags[i], code.function[i], machine.rows[OUT]
    a, b = machine.rows[rows[0]], machine.rows[rows[1]]
    c = machine.rows[rows[2]]
    for k in range(machine.lanes[0]):
        out[k] = word_of(operation, a[k], b[k], c[k], flags, function)


@outlined
def word_of(operation: int, a: np.uint32, b: np.uint32, c: np.uint32, flags: int, function: int) -> np.uint32:
    """Return the result of one lane."""
    is_signed, wrap, reverse = flags & SIGNED, flags & WRAP, flags & REVERSE
    if operation == Operation.PRMT:
        return prmt(a, b, c, function)
    if operation == Operation.BFE:
        return bfe(a, b, is_signed, reverse)
    if operation == Operation.BFI:
        return bfi(a, b, c)
    if operation == Operation.FLO:
        return flo(a, is_signed, reverse)
    if operation == Operation.BREV:
        return brev(a)
    return bmsk(a, b, wrap) if operation == Operation.BMSK else sgxt(a, b, is_signed, wrap)


@inner
def move_predicates(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute P2R, R2P or PLOP3."""
    if code.operation[i] == Operation.PLOP3:
        a, b, c = predicate(i, FIRST, w, code, machine), predicate(i, SECOND, w, code, machine), predicate(i, THIRD, w, code, machine)
        tables = code.function[i]
        first, second = lop3(word(a), word(b), word(c), tables & 0xFF), lop3(word(a), word(b), word(c), tables >> 8 & 0xFF)
        write_predicate(i, FIRST, w, np.int64(first), mask, code, machine)
        write_predicate(i, SECOND, w, np.int64(second), mask, code, machine)
        return
    a, b = machine.rows[rows[0]], machine.rows[rows[1]]
    if code.operation[i] == Operation.R2P:
        words_to_predicates(a, b, w, mask, 8 * code.function[i], machine)
    else:
        predicates_to_words(a, b, machine.rows[OUT], w, 8 * code.function[i], machine)


@inner
def predicates_to_words(a: np.ndarray, chosen: np.ndarray, out: np.ndarray, w: int, shift: int, machine: Machine) -> None:
    """Write a with the chosen bits of one of its bytes replaced by the predicates."""
    for k in range(machine.lanes[0]):
        held = np.int64(0)
        for p in range(PT):
            held |= ((machine.predicates[w, p] >> k) & 1) << p
        keep = np.int64(chosen[k]) << shift
        out[k] = word((np.int64(a[k]) & ~keep) | ((held << shift) & keep))


@inner
def words_to_predicates(a: np.ndarray, chosen: np.ndarray, w: int, mask: int, shift: int, machine: Machine) -> None:
    """Set the chosen predicates to the bits of one byte of a."""
    for p in range(PT):
        lanes, truth = np.int64(0), np.int64(0)
        for k in range(machine.lanes[0]):
            lanes |= ((np.int64(chosen[k]) >> p) & 1) << k
            truth |= ((np.int64(a[k]) >> (shift + p)) & 1) << k
        lanes &= mask
        machine.predicates[w, p] = (machine.predicates[w, p] & ~lanes) | (truth & lanes)


@inner
def compare_into_register(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute ISET or FSET: all ones, or 1.0 with .BF, where (comparison COMBINE source predicate 0) is true."""
    a, b, lanes = rows[0], rows[1], machine.lanes[0]
    if code.operation[i] == Operation.FSET:
        truth = float_compare(machine.floats[a], machine.floats[b], lanes, code.flags[i], code.compare[i])
    else:
        truth = int_compare(machine.rows[a], machine.rows[b], lanes, code.flags[i], code.compare[i])
    truth = combine_masks(truth, predicate(i, FIRST, w, code, machine), code.combine[i]) & FULL
    value, out = ONE_BITS if code.flags[i] & FLOAT else np.int64(WORD), machine.rows[OUT]
    for k in range(lanes):
        out[k] = word(value if (truth >> k) & 1 else np.int64(0))
