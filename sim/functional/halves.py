"""Two halves of a word at once: HADD2 and its kin, and comparisons."""

import numpy as np

from isa.operations import Form
from isa.semantics.halves import half_as_single, half_input, half_relation, half_result
from isa.semantics.words import word
from sim.compiled.kernel import inner, outlined
from sim.functional.arms import lane_function
from sim.functional.flags import BF16, EVERY, FLOAT, FTZ, RELU, SATURATE
from sim.functional.integers import combine_masks
from sim.functional.operands import predicate, write_predicate
from sim.functional.state import FIRST, FULL, OUT, SECOND, Code, Machine

value_of = lane_function("value_of", Form.HALVES, "x, y, z, chosen, flags", {}, "float64(0.0)")


@inner
def compute_halves(i: int, w: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute an operation of up to three words on each of their halves, or with .F32 on the low ones, to a float32."""
    a, b, c = machine.rows[rows[0]], machine.rows[rows[1]], machine.rows[rows[2]]
    chosen, operation, flags, out = predicate(i, FIRST, w, code, machine), code.operation[i], code.flags[i], machine.rows[OUT]
    for k in range(machine.lanes[0]):
        x, y, z, smaller = np.int64(a[k]), np.int64(b[k]), np.int64(c[k]), (chosen >> k) & 1
        low = half_of(operation, flags, x, y, z, smaller)
        if flags & FLOAT:
            out[k] = word(low)
        else:
            out[k] = word(half_of(operation, flags, x >> 16, y >> 16, z >> 16, smaller) << 16 | low)


@outlined
def half_of(operation: int, flags: int, a: int, b: int, c: int, chosen: int) -> int:
    """Return the result of one half, or with .F32 the float32 of the low one."""
    is_bfloat, ftz, clamp = flags & BF16, flags & FTZ, flags & SATURATE
    x, y, z = half_input(a, is_bfloat, ftz), half_input(b, is_bfloat, ftz), half_input(c, is_bfloat, ftz)
    value = value_of(operation, x, y, z, chosen, flags)
    if flags & RELU and value <= 0.0:
        value = np.float64(0.0)  # of -0, too
    if flags & FLOAT:
        return np.int64(half_as_single(value, ftz, clamp))
    return half_result(value, is_bfloat, ftz, clamp)


@outlined
def relation_of(a: int, b: int, is_bfloat: int, ftz: int) -> int:
    """Return LESS, EQUAL, GREATER or UNORDERED of two halves."""
    return np.int64(half_relation(half_input(a, is_bfloat, ftz), half_input(b, is_bfloat, ftz)))


@inner
def relations(i: int, w: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> tuple[int, int]:
    """Return the lanes in which the comparison holds for the low halves and for the high ones; .H_AND: for both, and not for both."""
    a, b, flags, compare = machine.rows[rows[0]], machine.rows[rows[1]], code.flags[i], code.compare[i]
    low, high, is_bfloat, ftz = np.int64(0), np.int64(0), flags & BF16, flags & FTZ
    for k in range(machine.lanes[0]):
        x, y = np.int64(a[k]), np.int64(b[k])
        low |= np.int64((relation_of(x, y, is_bfloat, ftz) & compare) != 0) << k
        high |= np.int64((relation_of(x >> 16, y >> 16, is_bfloat, ftz) & compare) != 0) << k
    if flags & EVERY:
        low, high = low & high, FULL & ~(low & high)
    other, combine = predicate(i, FIRST, w, code, machine), code.combine[i]
    return combine_masks(low, other, combine), combine_masks(high, other, combine)


@inner
def compare_halves(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute HSETP2: a predicate for each."""
    low, high = relations(i, w, rows, code, machine)
    write_predicate(i, FIRST, w, low, mask, code, machine)
    write_predicate(i, SECOND, w, high, mask, code, machine)


@inner
def compare_halves_into_register(i: int, w: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute HSET2: all ones, or 1.0 with .BF, in each half where it holds."""
    low, high = relations(i, w, rows, code, machine)
    flags, out = code.flags[i], machine.rows[OUT]
    true = np.int64(0xFFFF) if not flags & FLOAT else np.int64(0x3F80) if flags & BF16 else np.int64(0x3C00)
    for k in range(machine.lanes[0]):
        out[k] = word((true << 16 if (high >> k) & 1 else np.int64(0)) | (true if (low >> k) & 1 else np.int64(0)))
