"""Instructions on two halves of a word at once: HADD2 to HSET2."""

import numpy as np

from isa.semantics.halves import half_arithmetic, half_as_single, half_input, half_minmax, half_relation, half_result
from isa.semantics.words import word
from isa.vocabulary import Operation
from sim.functional.flags import BF16, EVERY, FLOAT, FTZ, RELU, SATURATE
from sim.functional.integers import combine_masks
from sim.functional.operands import predicate, write_predicate
from sim.functional.state import FIRST, FULL, OUT, SECOND, Code, Machine
from sim.kernel import inner, outlined


@inner
def halves(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute an instruction on halves."""
    first, second = rows[0], rows[1]
    third, out = rows[2], machine.rows[OUT]
    a, b, c = machine.rows[first], machine.rows[second], machine.rows[third]
    if code.operation[i] in (Operation.HSETP2, Operation.HSET2):
        compare_halves(i, w, mask, a, b, code, machine)
        return
    chosen, operation, flags = predicate(i, FIRST, w, code, machine), code.operation[i], code.flags[i]
    for k in range(machine.lanes[0]):
        x, y, z, smaller = np.int64(a[k]), np.int64(b[k]), np.int64(c[k]), (chosen >> k) & 1
        low = half_of(operation, flags, x, y, z, smaller)
        if flags & FLOAT:
            out[k] = word(low)
        else:
            out[k] = word(half_of(operation, flags, x >> 16, y >> 16, z >> 16, smaller) << 16 | low)


@outlined
def half_of(operation: int, flags: int, a: int, b: int, c: int, smaller: int) -> int:
    """Return the result of one half, or with .F32 the float32 of the low one."""
    is_bfloat, ftz, clamp = flags & BF16, flags & FTZ, flags & SATURATE
    x, y, z = half_input(a, is_bfloat, ftz), half_input(b, is_bfloat, ftz), half_input(c, is_bfloat, ftz)
    if operation == Operation.HMNMX2:
        return half_result(half_minmax(x, y, smaller, flags & EVERY), is_bfloat, ftz, 0)
    value = half_arithmetic(operation, x, y, z)
    if flags & RELU and value < 0.0:
        value = np.float64(0.0)
    if flags & FLOAT:
        return np.int64(half_as_single(value, ftz, clamp))
    return half_result(value, is_bfloat, ftz, clamp)


@outlined
def relation_of(a: int, b: int, is_bfloat: int, ftz: int) -> int:
    """Return LESS, EQUAL, GREATER or UNORDERED of two halves."""
    return np.int64(half_relation(half_input(a, is_bfloat, ftz), half_input(b, is_bfloat, ftz)))


@inner
def compare_halves(i: int, w: int, mask: int, a: np.ndarray, b: np.ndarray, code: Code, machine: Machine) -> None:
    """Execute HSETP2 (predicate 0: the low half, 1: the high one; .H_AND: both halves, and not both) or HSET2."""
    flags, compare, low, high = code.flags[i], code.compare[i], np.int64(0), np.int64(0)
    is_bfloat, ftz = flags & BF16, flags & FTZ
    for k in range(machine.lanes[0]):
        x, y = np.int64(a[k]), np.int64(b[k])
        low |= np.int64((relation_of(x, y, is_bfloat, ftz) & compare) != 0) << k
        high |= np.int64((relation_of(x >> 16, y >> 16, is_bfloat, ftz) & compare) != 0) << k
    if flags & EVERY:
        low, high = low & high, FULL & ~(low & high)
    other, combine = predicate(i, FIRST, w, code, machine), code.combine[i]
    low, high = combine_masks(low, other, combine), combine_masks(high, other, combine)
    if code.operation[i] == Operation.HSETP2:
        write_predicate(i, FIRST, w, low, mask, code, machine)
        write_predicate(i, SECOND, w, high, mask, code, machine)
        return
    out = machine.rows[OUT]
    true = np.int64(0xFFFF) if not flags & FLOAT else np.int64(0x3F80) if is_bfloat else np.int64(0x3C00)
    for k in range(machine.lanes[0]):
        out[k] = word((true << 16 if (high >> k) & 1 else np.int64(0)) | (true if (low >> k) & 1 else np.int64(0)))
