"""One arm per arithmetic operation: fetch the operand rows, call the row function, write the lanes that take part."""

import numpy as np

from isa.vocabulary import PT, Compare, Operation
from sim.functional.flags import CC, EXTENDED, HIGH, WIDE, X
from sim.functional.floats import arithmetic, float_compare, minmax, multi_function
from sim.functional.integers import (
    add,
    add3,
    add_plain,
    combine_masks,
    count_bits,
    funnel_shift,
    int_compare,
    logic3,
    logic_words,
    minmax_words,
    multiply,
    multiply_wide,
    nonzero,
    select,
    shift,
    shift_add,
)
from sim.functional.operands import operand, predicate, write, write_carry, write_predicate
from sim.functional.special import read_special
from sim.functional.state import FIRST, FULL, OUT, SECOND, THIRD, ZERO, Code, Machine
from sim.kernel import inner

PREDICATES = 2  # carry_from: the source predicates


@inner
def compute(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Execute arithmetic instruction i for the lanes of `mask`."""
    operation = code.operation[i]
    if operation <= Operation.FFMA:
        a, b, c = operand(i, FIRST, w, code, machine), operand(i, SECOND, w, code, machine), operand(i, THIRD, w, code, machine)
        x, y, z, out = machine.floats[a], machine.floats[b], machine.floats[c], machine.floats[OUT]
        arithmetic(operation, x, y, z, out, machine.lanes[0], code.flags[i], code.rounding[i])
        write(OUT, i, FIRST, w, mask, code, machine)
    elif operation == Operation.MOV:
        write(operand(i, FIRST, w, code, machine), i, FIRST, w, mask, code, machine)
    elif operation in (Operation.FSETP, Operation.ISETP, Operation.PSETP):
        compare(i, w, mask, code, machine)
    elif operation in (Operation.IADD, Operation.IADD3, Operation.LEA):
        sum_words(i, w, mask, code, machine)
    elif operation == Operation.IMAD:
        multiply_add(i, w, mask, code, machine)
    else:
        compute_word(i, w, mask, code, machine)
        write(OUT, i, FIRST, w, mask, code, machine)


@inner
def compute_word(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Execute an instruction of up to three sources and one result into row OUT."""
    operation, flags, lanes = code.operation[i], code.flags[i], machine.lanes[0]
    first, second = operand(i, FIRST, w, code, machine), operand(i, SECOND, w, code, machine)
    a, b, out = machine.rows[first], machine.rows[second], machine.rows[OUT]
    x, y, result = machine.floats[first], machine.floats[second], machine.floats[OUT]
    if operation in (Operation.SHL, Operation.SHR):
        shift(operation, a, b, out, lanes, flags)
    elif operation in (Operation.SEL, Operation.FSEL):
        select(a, b, out, lanes, predicate(i, FIRST, w, code, machine))
    elif operation == Operation.LOP:
        logic_words(a, b, out, lanes, code.combine[i])
        if code.predicate_destination[i, 0] != PT:
            write_predicate(i, FIRST, w, nonzero(out, lanes), mask, code, machine)
    elif operation == Operation.LOP3:
        found = logic3(a, b, machine.rows[operand(i, THIRD, w, code, machine)], out, lanes, code.function[i])
        write_predicate(i, FIRST, w, found | predicate(i, FIRST, w, code, machine), mask, code, machine)
    elif operation == Operation.SHF:
        funnel_shift(a, b, machine.rows[operand(i, THIRD, w, code, machine)], out, lanes, flags)
    elif operation == Operation.S2R:
        read_special(code.function[i], w, out, machine)
        if flags & WIDE:
            write(ZERO, i, SECOND, w, mask, code, machine)
    elif operation == Operation.MUFU:
        multi_function(x, result, lanes, flags, code.function[i], code.turns)
    elif operation == Operation.FMNMX:
        minmax(x, y, result, lanes, flags, predicate(i, FIRST, w, code, machine))
    elif operation == Operation.IMNMX:
        minmax_words(a, b, out, lanes, flags, predicate(i, FIRST, w, code, machine))
    elif operation == Operation.POPC:
        count_bits(a, b, out, lanes)


@inner
def sum_words(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Execute IADD, IADD3 or LEA with its carries."""
    operation, lanes, out = code.operation[i], machine.lanes[0], machine.rows[OUT]
    a, b = machine.rows[operand(i, FIRST, w, code, machine)], machine.rows[operand(i, SECOND, w, code, machine)]
    first, second = carries_in(i, w, code, machine)
    if operation == Operation.IADD and first == 0 and not code.flags[i] & CC:
        add_plain(a, b, out, lanes, code.addend[i])
    elif operation == Operation.IADD3:
        c = machine.rows[operand(i, THIRD, w, code, machine)]
        once, twice = add3(a, b, c, out, lanes, code.addend[i], first, second)
        write_predicate(i, FIRST, w, once, mask, code, machine)
        write_predicate(i, SECOND, w, twice, mask, code, machine)
        if code.flags[i] & CC:
            write_carry(w, once, mask, machine)
    else:
        if operation == Operation.IADD:
            carried = add(a, b, out, lanes, code.addend[i], first)
        else:
            carried = shift_add(a, b, out, lanes, code.function[i], code.addend[i])
            write_predicate(i, FIRST, w, carried, mask, code, machine)
        if code.flags[i] & CC:
            write_carry(w, carried, mask, machine)
    write(OUT, i, FIRST, w, mask, code, machine)


@inner
def carries_in(i: int, w: int, code: Code, machine: Machine) -> tuple[int, int]:
    """Return the lanes whose first and second carry is set."""
    if code.carry_from[i] == 0:
        return np.int64(0), np.int64(0)
    if code.carry_from[i] == PREDICATES:
        return predicate(i, FIRST, w, code, machine), predicate(i, SECOND, w, code, machine)
    return machine.carry[w], np.int64(0)


@inner
def multiply_add(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Execute IMAD: low, HIGH, WIDE, or both: the high half of 64 bits. The carry out is that of (half of a * b) + c + carry."""
    flags, lanes, out = code.flags[i], machine.lanes[0], machine.rows[OUT]
    a, b = machine.rows[operand(i, FIRST, w, code, machine)], machine.rows[operand(i, SECOND, w, code, machine)]
    third = operand(i, THIRD, w, code, machine)
    if flags & WIDE:
        multiply_wide(a, b, machine.rows[third], machine.rows[third + 1], out, machine.rows[OUT + 1], lanes, flags)
        if flags & HIGH:
            write(OUT + 1, i, FIRST, w, mask, code, machine)
            return
        write(OUT + 1, i, SECOND, w, mask, code, machine)
    elif flags & (X | CC):
        multiply(a, b, machine.rows[ZERO], out, lanes, flags)
        first, second = carries_in(i, w, code, machine)
        once, _ = add3(out, machine.rows[third], machine.rows[ZERO], out, lanes, np.int64(0), first, second)
        if flags & CC:
            write_carry(w, once, mask, machine)
    else:
        multiply(a, b, machine.rows[third], out, lanes, flags)
    write(OUT, i, FIRST, w, mask, code, machine)


@inner
def compare(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Execute FSETP, ISETP or PSETP: predicate 0 is (comparison COMBINE source 0), predicate 1 (its negation COMBINE source 0)."""
    operation, lanes = code.operation[i], machine.lanes[0]
    other, combine = predicate(i, FIRST, w, code, machine), code.combine[i]
    if operation == Operation.PSETP:
        third = predicate(i, THIRD, w, code, machine)
        truth = combine_masks(other, predicate(i, SECOND, w, code, machine), combine)
        write_predicate(i, FIRST, w, combine_masks(truth, third, code.function[i]), mask, code, machine)
        write_predicate(i, SECOND, w, combine_masks(FULL & ~truth, third, code.function[i]), mask, code, machine)
        return
    a, b = operand(i, FIRST, w, code, machine), operand(i, SECOND, w, code, machine)
    if operation == Operation.FSETP:
        truth = float_compare(machine.floats[a], machine.floats[b], lanes, code.flags[i], code.compare[i])
    else:
        truth = int_compare(machine.rows[a], machine.rows[b], lanes, code.flags[i], code.compare[i])
        if code.flags[i] & (EXTENDED | X):
            truth = extend(i, w, truth, machine.rows[a], machine.rows[b], code, machine)
    write_predicate(i, FIRST, w, combine_masks(truth, other, combine), mask, code, machine)
    write_predicate(i, SECOND, w, combine_masks(FULL & ~truth, other, combine), mask, code, machine)


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
