"""The arms of the executor's loop, one per form: fetch operand rows, call what the operation computes, write the lanes that take part."""

import numpy as np

from isa.operations import Form
from isa.vocabulary import PT, Operation, Rounding, Special
from sim.compiled.kernel import inner
from sim.functional import comparisons, sums
from sim.functional.arms import FLUSHED, by_forms, by_kernels, directed, kernels, loops
from sim.functional.comparisons import conclude
from sim.functional.flags import CC, FTZ, HIGH, WIDE
from sim.functional.floats import finish, flush_products
from sim.functional.integers import combine_masks, nonzero
from sim.functional.operands import operand, predicate, write, write_carry, write_predicate
from sim.functional.special import now, read_special
from sim.functional.state import FIRST, FULL, OUT, SECOND, THIRD, Code, Machine
from sim.functional.sums import carries_in, multiply_add

ROWS = "x, y, z, out, lanes"
plain = loops("plain", Form.ARITHMETIC, ROWS)
flushed = loops("flushed", Form.ARITHMETIC, ROWS, FLUSHED)
rounded = directed("rounded", "a, b, c, out, lanes, rounding, ftz")
words = loops("words", Form.WORD, "a, b, c, out, chosen, lanes, flags, function, combine")
singles = loops("singles", Form.SINGLE, "x, y, out, chosen, lanes, flags, function, turns")
SUMMED, SUMS = "i, w, mask, a, b, c, carries, code, machine", kernels([sums])
COMPARED, COMPARISONS = "i, w, first, second, code, machine", kernels([comparisons])
summed = by_kernels("summed", Form.SUM, SUMMED, SUMS, "int64(0)")
compared = by_kernels("compared", Form.COMPARISON, COMPARED, COMPARISONS, "int64(0)")


@inner
def arithmetic(i: int, first: int, second: int, third: int, code: Code, machine: Machine) -> None:
    """Execute FADD, FMUL or FFMA with the instruction's rounding, flushing and saturation."""
    x, y, z, out = machine.floats[first], machine.floats[second], machine.floats[third], machine.floats[OUT]
    operation, lanes, ftz = code.operation[i], machine.lanes[0], (code.flags[i] & FTZ) != 0
    if code.rounding[i] != Rounding.NEAREST:
        rounded(operation, x, y, z, out, lanes, code.rounding[i], ftz)
    elif ftz:
        flushed(operation, x, y, z, out, lanes)
    else:
        plain(operation, x, y, z, out, lanes)
    if ftz and operation != Operation.FADD:
        flush_products(operation == Operation.FFMA, x, y, z, out, lanes, code.rounding[i])
    finish(out, lanes, code.flags[i])


@inner
def sum_words(i: int, w: int, mask: int, first: int, second: int, third: int, code: Code, machine: Machine) -> None:
    """Execute IADD, IADD3 or LEA with its carries."""
    a, b, c = machine.rows[first], machine.rows[second], machine.rows[third]
    carried = summed(code.operation[i], i, w, mask, a, b, c, carries_in(i, w, code, machine), code, machine)
    write_predicate(i, FIRST, w, carried, mask, code, machine)
    if code.flags[i] & CC:
        write_carry(w, carried, mask, machine)


@inner
def compare(i: int, w: int, mask: int, first: int, second: int, code: Code, machine: Machine) -> None:
    """Execute FSETP or ISETP."""
    conclude(i, w, mask, compared(code.operation[i], i, w, first, second, code, machine), code, machine)


@inner
def compute_words(i: int, w: int, mask: int, first: int, second: int, third: int, code: Code, machine: Machine) -> None:
    """Execute an operation of up to three words; predicate 0: whether the result is not zero, or source predicate 0."""
    a, b, c, out, lanes = machine.rows[first], machine.rows[second], machine.rows[third], machine.rows[OUT], machine.lanes[0]
    chosen = predicate(i, FIRST, w, code, machine)
    words(code.operation[i], a, b, c, out, chosen, lanes, code.flags[i], code.function[i], code.combine[i])
    if code.predicate_destination[i, 0] != PT:
        write_predicate(i, FIRST, w, nonzero(out, lanes) | chosen, mask, code, machine)


@inner
def compute_singles(i: int, w: int, first: int, second: int, code: Code, machine: Machine) -> None:
    """Execute an operation of one or two float32."""
    x, y, out, lanes = machine.floats[first], machine.floats[second], machine.floats[OUT], machine.lanes[0]
    singles(code.operation[i], x, y, out, predicate(i, FIRST, w, code, machine), lanes, code.flags[i], code.function[i], code.turns)
    finish(out, lanes, code.flags[i])


@inner
def special(i: int, w: int, code: Code, machine: Machine) -> None:
    """Execute S2R; the second register of a pair becomes zero, of a clock its upper word."""
    read_special(code.function[i], w, machine.rows[OUT], machine)
    if code.flags[i] & WIDE:
        is_clock = code.function[i] == Special.CLOCKLO or code.function[i] == Special.GLOBALTIMERLO
        upper = np.uint32(now(w, machine) >> 32) if is_clock else np.uint32(0)
        for k in range(machine.lanes[0]):
            machine.rows[OUT + 1, k] = upper


ARMS = {
    Form.ARITHMETIC: arithmetic,
    Form.SUM: sum_words,
    Form.PRODUCT: multiply_add,
    Form.COMPARISON: compare,
    Form.WORD: compute_words,
    Form.SINGLE: compute_singles,
    Form.SPECIAL: special,
}
to_row = by_forms("to_row", ARMS, "i, w, mask, first, second, third, code, machine", {})


@inner
def compute(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Execute an instruction of up to three sources: its arm leaves the result in row OUT, of a pair in two."""
    first, second, third = operand(i, FIRST, w, code, machine), operand(i, SECOND, w, code, machine), operand(i, THIRD, w, code, machine)
    to_row(code.form[i], i, w, mask, first, second, third, code, machine)
    write(OUT, i, FIRST, w, mask, code, machine)
    if code.flags[i] & WIDE and not code.flags[i] & HIGH:
        write(OUT + 1, i, SECOND, w, mask, code, machine)


@inner
def move(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Execute MOV."""
    write(operand(i, FIRST, w, code, machine), i, FIRST, w, mask, code, machine)


@inner
def combine_predicates(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Execute PSETP: (source 0 COMBINE source 1) and its negation, each joined with source 2."""
    third = predicate(i, THIRD, w, code, machine)
    truth = combine_masks(predicate(i, FIRST, w, code, machine), predicate(i, SECOND, w, code, machine), code.combine[i])
    write_predicate(i, FIRST, w, combine_masks(truth, third, code.function[i]), mask, code, machine)
    write_predicate(i, SECOND, w, combine_masks(FULL & ~truth, third, code.function[i]), mask, code, machine)
