"""The arms of forms out of the loop that compute: each leaves its result in row OUT, of a pair in two. `families` puts them together."""

from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from isa.operations import OPERATIONS, Form
from isa.semantics.doubles import DOUBLE_NAN, as_bits, propagated
from isa.semantics.words import high_word, pair, word
from sim.compiled.generated import generated
from sim.compiled.kernel import inner
from sim.functional.arms import NAMES, OF_PAIRS, OF_WORDS, by_forms, by_kernels, kernels, lane_function, rows_of
from sim.functional.flags import HIGH, PAIRS, WIDE
from sim.functional.halves import compute_halves
from sim.functional.operands import operand, predicate, wide_operand, write
from sim.functional.state import FIRST, OUT, SECOND, THIRD, ZERO, Code, Machine

GIVEN = "i, w, mask, rows, code, machine"
word_of = lane_function("word_of", Form.RARE_WORD, "a, b, c, chosen, flags, function, compare, rounding", OF_WORDS, "uint32(0)")
pair_of = lane_function("pair_of", Form.PAIR, "a, b, c, chosen, flags, function, rounding", {}, "int64(0)")
double_of = lane_function("double_of", Form.DOUBLE, "a, b, c, chosen, flags, rounding", OF_PAIRS, "float64(0.0)")


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


@inner
def sources_of(i: int, w: int, code: Code, machine: Machine) -> tuple[int, int, int]:
    """Return the rows of the sources of instruction i, the first ones of pairs."""
    if code.flags[i] & PAIRS:
        return wide_operand(i, FIRST, w, code, machine), wide_operand(i, SECOND, w, code, machine), wide_operand(i, THIRD, w, code, machine)
    return operand(i, FIRST, w, code, machine), operand(i, SECOND, w, code, machine), operand(i, THIRD, w, code, machine)


@inner
def write_result(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Write row OUT, of a pair two, to the destination of instruction i."""
    write(OUT, i, FIRST, w, mask, code, machine)
    if code.flags[i] & WIDE and not code.flags[i] & HIGH:
        write(OUT + 1, i, SECOND, w, mask, code, machine)


BY_ITSELF: list[Any] = []  # the kernels made by `computing` for operations that have a kernel
BY_LANES = {Form.RARE_WORD: compute_words, Form.PAIR: compute_pairs, Form.DOUBLE: compute_doubles, Form.HALVES: compute_halves}


def kernels_of(modules: Iterable[ModuleType]) -> dict[int, Any]:
    """Return the rows of the table of operations whose kernels these modules define."""
    known = kernels(modules)
    return {operation: row for operation, row in rows_of(Form.KERNEL, OPERATIONS).items() if row.call and row.call.name in known}


def computing(name: str, forms: Iterable[Form], modules: Iterable[ModuleType]) -> Mapping[Form, Any]:
    """Return the arm, one for all, of these forms and of the operations whose kernels are in these modules."""
    arms: dict[Form, Any] = {form: BY_LANES[form] for form in forms}
    names: dict[str, Any] = {"sources_of": sources_of, "write_result": write_result}
    if table := kernels_of(modules):
        by_itself = by_kernels(f"{name}_by_itself", Form.KERNEL, GIVEN, kernels(modules), "RUNNING", table)
        BY_ITSELF.append(by_itself)
        arms[Form.KERNEL] = generated(
            f"{name}_kernel", GIVEN, [f"{name}_by_itself(code.operation[i], {GIVEN})"], {f"{name}_by_itself": by_itself}, inner
        )
    names["compute_form"] = by_forms(f"{name}_of_form", arms, GIVEN, {})
    lines = ["rows = sources_of(i, w, code, machine)", f"compute_form(code.form[i], {GIVEN})", "write_result(i, w, mask, code, machine)"]
    arm = generated(f"compute_{name}", "i, w, mask, code, machine", [*lines, "return RUNNING"], NAMES | names, inner)
    return dict.fromkeys(arms, arm)
