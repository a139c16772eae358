"""Sums and products of words with their carries: the functions of the forms SUM and PRODUCT."""

import numpy as np

from isa.vocabulary import PT
from sim.compiled.kernel import inner
from sim.functional.flags import CC, HIGH, WIDE, X
from sim.functional.integers import add, add3, add_plain, multiply, multiply_wide, shift_add
from sim.functional.operands import predicate, write_carry, write_predicate
from sim.functional.state import FIRST, OUT, SECOND, ZERO, Code, Machine

PREDICATES = 2  # carry_from: the source predicates


@inner
def add_two(i: int, a: np.ndarray, b: np.ndarray, carries: tuple[int, int], code: Code, machine: Machine) -> int:
    """Write the sum of IADD to row OUT; return the lanes that carry out."""
    lanes, out = machine.lanes[0], machine.rows[OUT]
    if carries[0] == 0 and not code.flags[i] & CC and code.predicate_destination[i, FIRST] == PT:
        add_plain(a, b, out, lanes, code.addend[i])
        return np.int64(0)
    return add(a, b, out, lanes, code.addend[i], carries[0])


@inner
def add_three(
    i: int, w: int, mask: int, a: np.ndarray, b: np.ndarray, c: np.ndarray, carries: tuple[int, int], code: Code, machine: Machine
) -> int:
    """Write the sum of IADD3 to row OUT; return the lanes that carry out at least once, those that do twice go to predicate 1."""
    once, twice = add3(a, b, c, machine.rows[OUT], machine.lanes[0], code.addend[i], carries[0], carries[1])
    write_predicate(i, SECOND, w, twice, mask, code, machine)
    return once


@inner
def shift_and_add(i: int, a: np.ndarray, b: np.ndarray, code: Code, machine: Machine) -> int:
    """Write the sum of LEA to row OUT; return the lanes that carry out."""
    return shift_add(a, b, machine.rows[OUT], machine.lanes[0], code.function[i], code.addend[i])


@inner
def carries_in(i: int, w: int, code: Code, machine: Machine) -> tuple[int, int]:
    """Return the lanes whose first and second carry is set."""
    if code.carry_from[i] == 0:
        return np.int64(0), np.int64(0)
    if code.carry_from[i] == PREDICATES:
        return predicate(i, FIRST, w, code, machine), predicate(i, SECOND, w, code, machine)
    return machine.carry[w], np.int64(0)


@inner
def multiply_add(i: int, w: int, mask: int, first: int, second: int, third: int, code: Code, machine: Machine) -> None:
    """Execute IMAD: low, HIGH, WIDE, or both: the high half of 64 bits. The carry out is that of (half of a * b) + c + carry."""
    flags, lanes, out, upper = code.flags[i], machine.lanes[0], machine.rows[OUT], machine.rows[OUT + 1]
    a, b, c = machine.rows[first], machine.rows[second], machine.rows[third]
    if flags & WIDE:
        low, high = (upper, out) if flags & HIGH else (out, upper)
        multiply_wide(a, b, c, machine.rows[third + 1], low, high, lanes, flags)
    elif flags & (X | CC):
        multiply(a, b, machine.rows[ZERO], out, lanes, flags)
        once, twice = carries_in(i, w, code, machine)
        carried, _ = add3(out, c, machine.rows[ZERO], out, lanes, np.int64(0), once, twice)
        if flags & CC:
            write_carry(w, carried, mask, machine)
    else:
        multiply(a, b, c, out, lanes, flags)
