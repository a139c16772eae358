"""Operands and results as rows of 32 lanes, and predicates as lane masks."""

import numpy as np

from sim.functional.flags import ABSOLUTE, INVERT, NEGATE
from sim.functional.state import FULL, SCRATCH, Code, Machine
from sim.kernel import first_bit, inner


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
    modify(row, SCRATCH + slot, code.modify[i, slot], code.is_float[i], machine)
    return SCRATCH + slot


@inner
def modify(source: int, target: int, flags: int, is_float: int, machine: Machine) -> None:
    """Write the row `source`, with SourceFlag `flags` applied, to the row `target`."""
    words, result, lanes = machine.rows[source], machine.rows[target], machine.lanes[0]
    keep = 0x7FFFFFFF if is_float and flags & ABSOLUTE else FULL
    flip = 0x80000000 if is_float and flags & NEGATE else FULL if flags & INVERT else 0
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
