"""Predicates out of the loop: P2R, R2P, PLOP3, ISET, FSET, FCHK."""

import numpy as np

from isa.semantics.floats import division_is_slow
from isa.semantics.integers import lop3
from isa.semantics.words import WORD, word
from isa.vocabulary import PT
from sim.compiled.kernel import inner
from sim.functional.flags import FLOAT
from sim.functional.floats import float_compare
from sim.functional.integers import combine_masks, int_compare
from sim.functional.operands import predicate, write_predicate
from sim.functional.state import FIRST, FULL, OUT, SECOND, THIRD, Code, Machine

ONE_BITS = np.int64(0x3F800000)  # 1.0


@inner
def logic_of_predicates(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Execute PLOP3: two functions of three predicates, a truth table each."""
    a, b, c = predicate(i, FIRST, w, code, machine), predicate(i, SECOND, w, code, machine), predicate(i, THIRD, w, code, machine)
    tables = code.function[i]
    first, second = lop3(word(a), word(b), word(c), tables & 0xFF), lop3(word(a), word(b), word(c), tables >> 8 & 0xFF)
    write_predicate(i, FIRST, w, np.int64(first), mask, code, machine)
    write_predicate(i, SECOND, w, np.int64(second), mask, code, machine)


@inner
def logic_of_signs(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute PLOP3 of the signs of three words: a function of them for each predicate, a truth table each."""
    a, b, c, tables = machine.rows[rows[0]], machine.rows[rows[1]], machine.rows[rows[2]], code.function[i]
    first, second = np.int64(0), np.int64(0)
    for k in range(machine.lanes[0]):
        first |= (np.int64(lop3(a[k], b[k], c[k], tables & 0xFF)) >> 31) << k
        second |= (np.int64(lop3(a[k], b[k], c[k], tables >> 8 & 0xFF)) >> 31) << k
    write_predicate(i, FIRST, w, first, mask, code, machine)
    write_predicate(i, SECOND, w, second, mask, code, machine)


@inner
def predicates_to_words(i: int, w: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute P2R: the first source with the chosen bits of one of its bytes replaced by the predicates."""
    a, chosen, out, shift = machine.rows[rows[0]], machine.rows[rows[1]], machine.rows[OUT], 8 * code.function[i]
    for k in range(machine.lanes[0]):
        held = np.int64(0)
        for p in range(PT):
            held |= ((machine.predicates[w, p] >> k) & 1) << p
        keep = np.int64(chosen[k]) << shift
        out[k] = word((np.int64(a[k]) & ~keep) | ((held << shift) & keep))


@inner
def words_to_predicates(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute R2P: the chosen predicates become the bits of one byte of the first source."""
    a, chosen, shift = machine.rows[rows[0]], machine.rows[rows[1]], 8 * code.function[i]
    for p in range(PT):
        lanes, truth = np.int64(0), np.int64(0)
        for k in range(machine.lanes[0]):
            lanes |= ((np.int64(chosen[k]) >> p) & 1) << k
            truth |= ((np.int64(a[k]) >> (shift + p)) & 1) << k
        lanes &= mask
        machine.predicates[w, p] = (machine.predicates[w, p] & ~lanes) | (truth & lanes)


@inner
def compare_words_into_register(i: int, w: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute ISET."""
    a, b = machine.rows[rows[0]], machine.rows[rows[1]]
    write_truth(i, w, int_compare(a, b, machine.lanes[0], code.flags[i], code.compare[i]), code, machine)


@inner
def compare_floats_into_register(i: int, w: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute FSET."""
    a, b = machine.floats[rows[0]], machine.floats[rows[1]]
    write_truth(i, w, float_compare(a, b, machine.lanes[0], code.flags[i], code.compare[i]), code, machine)


@inner
def write_truth(i: int, w: int, truth: int, code: Code, machine: Machine) -> None:
    """Write all ones, or 1.0 with .BF, where (truth COMBINE source predicate 0) is true, else zero."""
    truth = combine_masks(truth, predicate(i, FIRST, w, code, machine), code.combine[i]) & FULL
    value, out = ONE_BITS if code.flags[i] & FLOAT else np.int64(WORD), machine.rows[OUT]
    for k in range(machine.lanes[0]):
        out[k] = word(value if (truth >> k) & 1 else np.int64(0))


@inner
def check_division(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute FCHK."""
    a, b, truth = machine.rows[rows[0]], machine.rows[rows[1]], np.int64(0)
    for k in range(machine.lanes[0]):
        truth |= np.int64(division_is_slow(a[k], b[k])) << k
    write_predicate(i, FIRST, w, truth, mask, code, machine)
