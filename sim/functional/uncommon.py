"""The arms of forms out of the loop, compiled once: the loop calls them, so that they neither slow it down nor are inlined into it."""

from isa.operations import Form
from isa.semantics.doubles import DOUBLE_NAN, as_bits, propagated
from isa.semantics.words import high_word, pair, word
from sim.compiled.kernel import inner, outlined
from sim.functional import crosslane, doubles, halves, matrices, predicates, products, windows
from sim.functional.arms import OF_PAIRS, OF_WORDS, by_forms, by_kernels, kernels, lane_function
from sim.functional.flags import HIGH, PAIRS, WIDE
from sim.functional.halves import compute_halves
from sim.functional.operands import operand, predicate, wide_operand, write
from sim.functional.state import FIRST, OUT, SECOND, THIRD, ZERO, Code, Machine

GIVEN = "i, w, mask, rows, code, machine"
word_of = lane_function("word_of", Form.RARE_WORD, "a, b, c, chosen, flags, function, compare, rounding", OF_WORDS, "uint32(0)")
pair_of = lane_function("pair_of", Form.PAIR, "a, b, c, chosen, flags, function, rounding", {}, "int64(0)")
double_of = lane_function("double_of", Form.DOUBLE, "a, b, c, chosen, flags, rounding", OF_PAIRS, "float64(0.0)")
KNOWN = kernels([predicates, crosslane, doubles, halves, products, windows, matrices])
by_itself = by_kernels("by_itself", Form.KERNEL, GIVEN, KNOWN, "RUNNING")


@inner
def execute_kernel(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute an operation that has a kernel."""
    by_itself(code.operation[i], i, w, mask, rows, code, machine)


@inner
def compute_words(i: int, w: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute an operation of up to three words."""
    a, b, c, out = machine.rows[rows[0]], machine.rows[rows[1]], machine.rows[rows[2]], machine.rows[OUT]
    operation, flags, function, chosen = code.operation[i], code.flags[i], code.function[i], predicate(i, FIRST, w, code, machine)
    for k in range(machine.lanes[0]):
        out[k] = word_of(operation, a[k], b[k], c[k], (chosen >> k) & 1, flags, function, code.compare[i], code.rounding[i])


@inner
def sources(rows: tuple[int, int, int], k: int, flags: int, machine: Machine) -> tuple[int, int, int]:
    """Return the 64 bits of each source of a lane; of words the upper half is zero."""
    up = 1 if flags & PAIRS else 0
    a = pair(machine.rows[rows[0], k], machine.rows[rows[0] + 1 if up else ZERO, k])
    b = pair(machine.rows[rows[1], k], machine.rows[rows[1] + 1 if up else ZERO, k])
    return a, b, pair(machine.rows[rows[2], k], machine.rows[rows[2] + 1 if up else ZERO, k])


@inner
def compute_pairs(i: int, w: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute an operation whose result has 64 bits, or as many of them as its type has."""
    operation, flags, function, chosen = code.operation[i], code.flags[i], code.function[i], predicate(i, FIRST, w, code, machine)
    for k in range(machine.lanes[0]):
        a, b, c = sources(rows, k, flags, machine)
        bits = pair_of(operation, a, b, c, (chosen >> k) & 1, flags, function, code.rounding[i])
        machine.rows[OUT, k], machine.rows[OUT + 1, k] = word(bits), high_word(bits)


@inner
def compute_doubles(i: int, w: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute an operation of up to three float64."""
    operation, flags, chosen = code.operation[i], code.flags[i], predicate(i, FIRST, w, code, machine)
    for k in range(machine.lanes[0]):
        a, b, c = sources(rows, k, flags, machine)
        bits = as_bits(double_of(operation, a, b, c, (chosen >> k) & 1, flags, code.rounding[i]))
        bits = propagated(a, b, c) if bits == DOUBLE_NAN else bits
        machine.rows[OUT, k], machine.rows[OUT + 1, k] = word(bits), high_word(bits)


ARMS = {
    Form.KERNEL: execute_kernel,
    Form.RARE_WORD: compute_words,
    Form.PAIR: compute_pairs,
    Form.DOUBLE: compute_doubles,
    Form.HALVES: compute_halves,
}
compute_form = by_forms("compute_form", ARMS, GIVEN, {})


@outlined
def compute_uncommon(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Execute instruction i for the lanes of `mask`: each arm leaves its result in row OUT, pairs in two."""
    flags = code.flags[i]
    if flags & PAIRS:
        rows = wide_operand(i, FIRST, w, code, machine), wide_operand(i, SECOND, w, code, machine), wide_operand(i, THIRD, w, code, machine)
    else:
        rows = operand(i, FIRST, w, code, machine), operand(i, SECOND, w, code, machine), operand(i, THIRD, w, code, machine)
    compute_form(code.form[i], i, w, mask, rows, code, machine)
    write(OUT, i, FIRST, w, mask, code, machine)
    if flags & WIDE and not flags & HIGH:
        write(OUT + 1, i, SECOND, w, mask, code, machine)
