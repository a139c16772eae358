"""Comparisons of words and floats to predicates: the functions of the form COMPARISON."""

import numpy as np

from isa.vocabulary import Compare
from sim.compiled.kernel import inner
from sim.functional.flags import EXTENDED, X
from sim.functional.floats import float_compare
from sim.functional.integers import combine_masks, int_compare
from sim.functional.operands import predicate, write_predicate
from sim.functional.state import FIRST, FULL, SECOND, Code, Machine


@inner
def compare_floats(i: int, first: int, second: int, code: Code, machine: Machine) -> int:
    """Return the lanes in which the comparison of FSETP holds between two rows."""
    return float_compare(machine.floats[first], machine.floats[second], machine.lanes[0], code.flags[i], code.compare[i])


@inner
def compare_words(i: int, w: int, first: int, second: int, code: Code, machine: Machine) -> int:
    """Return the lanes in which the comparison of ISETP holds between two rows, or between 64 bits whose upper halves they are."""
    a, b = machine.rows[first], machine.rows[second]
    truth = int_compare(a, b, machine.lanes[0], code.flags[i], code.compare[i])
    return extend(i, w, truth, a, b, code, machine) if code.flags[i] & (EXTENDED | X) else truth


@inner
def extend(i: int, w: int, truth: int, a: np.ndarray, b: np.ndarray, code: Code, machine: Machine) -> int:
    """Return the lanes in which the 64-bit comparison holds whose high words are compared here.

    The low words' result comes from source predicate 1 (.EX), or from the carry of their subtraction (.X): set = not below.
    """
    equal = int_compare(a, b, machine.lanes[0], code.flags[i], np.int64(Compare.EQ))
    if code.flags[i] & EXTENDED:
        low = predicate(i, SECOND, w, code, machine)
    else:
        low = machine.carry[w] if code.compare[i] == Compare.GE else FULL & ~machine.carry[w]
    if code.compare[i] == Compare.NE:
        return truth | (equal & low)
    return (truth & ~equal) | (equal & low)


@inner
def conclude(i: int, w: int, mask: int, truth: int, code: Code, machine: Machine) -> None:
    """Write predicate 0, (truth COMBINE source predicate 0), and predicate 1, (its negation COMBINE source predicate 0)."""
    other, combine = predicate(i, FIRST, w, code, machine), code.combine[i]
    write_predicate(i, FIRST, w, combine_masks(truth, other, combine), mask, code, machine)
    write_predicate(i, SECOND, w, combine_masks(FULL & ~truth, other, combine), mask, code, machine)
