"""Operands and results as rows of 32 lanes, and predicates as lane masks."""

import numpy as np

from isa.operations import Numbers
from isa.semantics.bits import part_of
from isa.semantics.doubles import SIGN_64, is_nan
from isa.semantics.words import high_word, pair, word
from isa.vocabulary import PART_SHIFT
from sim.compiled.kernel import first_bit, inner, outlined
from sim.functional.flags import ABSOLUTE, INVERT, NEGATE
from sim.functional.state import FULL, SCRATCH, Code, Machine


@inner
def row_of(code_row: int, w: int, code: Code, machine: Machine) -> int:
    """Return the row of `Machine.rows` that a resolved operand names, for warp w."""
    return machine.base + w * code.registers + code_row if code_row >= 0 else ~code_row


@inner
def operand(i: int, slot: int, w: int, code: Code, machine: Machine) -> int:
    """Return the row of a source of instruction i; a sign, magnitude or inversion is applied in a scratch row."""
    row = row_of(code.operand[i, slot], w, code, machine)
    if code.modify[i, slot] == 0:
        return row
    modify(machine.rows[row], machine.rows[SCRATCH + 2 * slot], code.modify[i, slot], code.numbers[i], machine.lanes[0])
    return SCRATCH + 2 * slot


@inner
def wide_operand(i: int, slot: int, w: int, code: Code, machine: Machine) -> int:
    """Return the first of the two rows of a register pair; a sign or magnitude is applied in scratch rows."""
    row, flags = row_of(code.operand[i, slot], w, code, machine), code.modify[i, slot]
    if flags == 0:
        return row
    target = SCRATCH + 2 * slot
    low, high, low_result, high_result = machine.rows[row], machine.rows[row + 1], machine.rows[target], machine.rows[target + 1]
    for k in range(machine.lanes[0]):
        value = pair(low[k], high[k])
        if code.numbers[i] == Numbers.DOUBLES:
            value = signed_double(value, flags)
        else:
            value = ~value if flags & INVERT else value
            value = -value if flags & NEGATE or (flags & ABSOLUTE and value < 0) else value
        low_result[k], high_result[k] = word(value), high_word(value)
    return target


@inner
def signed_double(value: int, flags: int) -> int:
    """Return the bits of a float64 with its sign as SourceFlag `flags` ask; those of a NaN stay."""
    if is_nan(value):
        return value
    value = value & ~SIGN_64 if flags & ABSOLUTE else value
    return value ^ SIGN_64 if flags & NEGATE else value


@outlined
def modify(words: np.ndarray, result: np.ndarray, flags: int, numbers: int, lanes: int) -> None:
    """Write the row `words`, with SourceFlag `flags` applied, to the row `result`."""
    is_float = numbers != Numbers.WORDS
    sign = 0x80008000 if numbers == Numbers.HALVES else 0x80000000
    keep = FULL ^ sign if is_float and flags & ABSOLUTE else FULL
    flip = sign if is_float and flags & NEGATE else FULL if flags & INVERT else 0
    if flags >> PART_SHIFT:
        for k in range(lanes):
            result[k] = np.uint32((np.int64(part_of(words[k], flags >> PART_SHIFT)) & keep) ^ flip)
    else:
        for k in range(lanes):
            result[k] = np.uint32((np.int64(words[k]) & keep) ^ flip)
    if not is_float and flags & ABSOLUTE:
        for k in range(lanes):
            result[k] = np.uint32(abs(np.int64(np.int32(result[k]))) & FULL)
    if not is_float and flags & NEGATE:
        for k in range(lanes):
            result[k] = np.uint32(-np.int64(result[k]) & FULL)


@inner
def write(row: int, i: int, part: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Copy a result row to destination register `part` of instruction i, in the lanes of `mask`.

    A uniform register gets what the first of them found, in every lane.
    """
    if code.destination[i] < 0:
        return
    result, lanes = machine.rows[row], machine.lanes[0]
    target = machine.rows[machine.base + w * code.registers + code.destination[i] + part]
    if code.spread[i]:
        value = result[first_bit(mask)]
        for k in range(lanes):
            target[k] = value
    elif mask == FULL:
        for k in range(lanes):
            target[k] = result[k]
    else:
        for k in range(lanes):
            target[k] = result[k] if (mask >> k) & 1 else target[k]


@inner
def predicate(i: int, slot: int, w: int, code: Code, machine: Machine) -> int:
    """Return the lanes in which predicate operand `slot` is true."""
    return machine.predicates[w, code.predicate_source[i, slot]] ^ code.predicate_flip[i, slot]


@inner
def write_predicate(i: int, slot: int, w: int, lanes: int, mask: int, code: Code, machine: Machine) -> None:
    """Set predicate destination `slot` to the truth of `lanes`, for the lanes of `mask`."""
    p = code.predicate_destination[i, slot]
    if p != 7:
        if code.spread[i]:
            lanes, mask = FULL * ((lanes >> first_bit(mask)) & 1), FULL
        machine.predicates[w, p] = (machine.predicates[w, p] & ~mask) | (lanes & mask)


@inner
def write_carry(w: int, lanes: int, mask: int, machine: Machine) -> None:
    """Set the CC register's carry for the lanes of `mask`."""
    machine.carry[w] = (machine.carry[w] & ~mask) | (lanes & mask)
