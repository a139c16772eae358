"""Integer operations of one or two generations: XMAD, 64-bit words, compare-and-select, dot products."""

import numpy as np

from isa.semantics.integers import imnmx, imnmx3, irelation
from isa.semantics.products import (
    absolute_difference,
    absolute_difference_of_bytes,
    dot,
    iadd3_shifted,
    lea_high,
    minmax_of_halves,
    product_sum,
    sum_of_halves,
    xmad,
)
from isa.semantics.words import EQUAL, GREATER, LESS, high_word, pair, signed, word
from isa.vocabulary import PT, Operation
from sim.functional.flags import CC, EVERY, HIGH, LEFT, SIGNED, WIDE
from sim.functional.integers import combine_masks
from sim.functional.lanes import carries_in
from sim.functional.operands import predicate, write_carry, write_predicate
from sim.functional.state import FIRST, FULL, OUT, SECOND, Code, Machine
from sim.kernel import first_bit, inner, outlined

HIGH_A, HIGH_B = 256, 512  # bits of XMAD's function
SIGN_64 = np.int64(-(2**63))


@inner
def integer(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute an integer instruction out of the hot loop."""
    operation = code.operation[i]
    if operation == Operation.IMAD_CARRY:
        multiply_with_carry(i, w, mask, rows, code, machine)
    elif operation == Operation.R2UR:
        to_uniform(i, w, mask, rows[0], code, machine)
    elif operation in (Operation.VABSDIFF4, Operation.IMNMX2, Operation.IADD2):
        one_word(i, w, rows, code, machine)
    elif operation >= Operation.IADD64:
        double_word(i, w, mask, rows, code, machine)
    elif operation in (Operation.XMAD, Operation.LEA_HI):
        carried(i, w, mask, rows, code, machine)
    else:
        one_word(i, w, rows, code, machine)


@inner
def one_word(i: int, w: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Write ICMP, IABS, IADD3.RS, IDP, VABSDIFF, VABSDIFF4, VIADDMNMX, VMNMX, VIMNMX.S16x2 or VIADD.16x2 to row OUT."""
    operation, is_signed, out = code.operation[i], code.flags[i] & SIGNED, machine.rows[OUT]
    a, b = machine.rows[rows[0]], machine.rows[rows[1]]
    c, smaller = machine.rows[rows[2]], predicate(i, FIRST, w, code, machine)
    detail = code.compare[i] if operation == Operation.ICMP else code.flags[i] & LEFT
    detail = code.function[i] if operation in (Operation.IDP, Operation.VIADDMNMX) else detail
    detail = code.flags[i] & EVERY if operation == Operation.VABSDIFF4 else detail
    for k in range(machine.lanes[0]):
        out[k] = word_of(operation, a[k], b[k], c[k], is_signed, (smaller >> k) & 1, detail)


@outlined
def word_of(operation: int, a: np.uint32, b: np.uint32, c: np.uint32, is_signed: int, smaller: int, detail: int) -> np.uint32:
    """Return the result of one lane; detail: the comparison of ICMP, LEFT of IADD3, the function of the others."""
    if operation == Operation.ICMP:
        return a if irelation(c, np.uint32(0), is_signed) & detail else b
    if operation == Operation.IABS:
        return word(abs(signed(a)))
    if operation == Operation.IADD3_SHIFTED:
        return iadd3_shifted(a, b, c, detail)
    if operation == Operation.IDP:
        return dot(a, b, c, detail)
    if operation == Operation.VABSDIFF:
        return absolute_difference(a, b, c, is_signed)
    if operation == Operation.VABSDIFF4:
        return absolute_difference_of_bytes(a, b, c, is_signed, detail)
    if operation == Operation.IMNMX2:
        return minmax_of_halves(a, b, is_signed, smaller)
    if operation == Operation.IADD2:
        return sum_of_halves(a, b)
    if detail:
        return imnmx3(a, b, c, is_signed, detail)
    return imnmx(word(np.int64(a) + np.int64(b)), c, is_signed, smaller)


@inner
def carried(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute XMAD or LEA.HI with their carries."""
    function, out, total_carry = code.function[i], machine.rows[OUT], np.int64(0)
    a, b = machine.rows[rows[0]], machine.rows[rows[1]]
    c = machine.rows[rows[2]]
    first, second = carries_in(i, w, code, machine)
    for k in range(machine.lanes[0]):
        carry = ((first >> k) & 1) + ((second >> k) & 1)
        if code.operation[i] == Operation.XMAD:
            total = xmad(a[k], b[k], c[k], function, function & HIGH_A, function & HIGH_B, carry)
        else:
            upper = signed(a[k]) >> 31 if code.flags[i] & SIGNED else np.int64(c[k])
            total = lea_high(a[k], upper, b[k], function, code.addend[i] + carry)
        out[k] = word(total)
        total_carry |= ((total >> 32) & 1) << k
    write_predicate(i, FIRST, w, total_carry, mask, code, machine)
    if code.flags[i] & CC:
        write_carry(w, total_carry, mask, machine)


@inner
def multiply_with_carry(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute an IMAD whose sum carries out to a predicate, or of 64 bits with a carry in."""
    flags, low, high, carried_out = code.flags[i], machine.rows[OUT], machine.rows[OUT + 1], np.int64(0)
    a, b = machine.rows[rows[0]], machine.rows[rows[1]]
    third = rows[2]
    first, second = carries_in(i, w, code, machine)
    for k in range(machine.lanes[0]):
        carry = ((first >> k) & 1) + ((second >> k) & 1)
        addend = pair(machine.rows[third][k], machine.rows[third + 1][k]) if flags & WIDE else np.int64(machine.rows[third][k])
        total, carry = product_sum(a[k], b[k], addend, flags & SIGNED, flags & WIDE, carry)
        low[k], high[k] = high_word(total) if flags & HIGH else word(total), high_word(total)
        carried_out |= carry << k
    write_predicate(i, FIRST, w, carried_out, mask, code, machine)


@inner
def to_uniform(i: int, w: int, mask: int, row: int, code: Code, machine: Machine) -> None:
    """Execute R2UR: the word of the first lane; the predicate: the lanes that hold another."""
    a, out, others = machine.rows[row], machine.rows[OUT], np.int64(0)
    for k in range(machine.lanes[0]):
        out[k] = a[k]
        others |= np.int64(a[k] != a[first_bit(mask)]) << k
    p = code.predicate_destination[i, 0]
    if p != PT:
        machine.predicates[w, p] = (machine.predicates[w, p] & ~mask) | (others & mask)


@inner
def double_word(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute IADD.64, MOV.64 or ISETP.U64."""
    operation = code.operation[i]
    first = rows[0]
    if operation == Operation.MOV64:
        for k in range(machine.lanes[0]):
            machine.rows[OUT, k], machine.rows[OUT + 1, k] = machine.rows[first, k], machine.rows[first + 1, k]
        return
    second, third = rows[1], rows[2]
    low, high, truth = machine.rows[OUT], machine.rows[OUT + 1], np.int64(0)
    for k in range(machine.lanes[0]):
        a, b = pair(machine.rows[first][k], machine.rows[first + 1][k]), pair(machine.rows[second][k], machine.rows[second + 1][k])
        if operation == Operation.IADD64:
            total = a + b + pair(machine.rows[third][k], machine.rows[third + 1][k])
            low[k], high[k] = word(total), high_word(total)
        else:
            flip = np.int64(0) if code.flags[i] & SIGNED else SIGN_64
            a, b = a ^ flip, b ^ flip
            relation = LESS if a < b else EQUAL if a == b else GREATER
            truth |= np.int64((relation & code.compare[i]) != 0) << k
    if operation == Operation.IADD64:
        return
    other, combine = predicate(i, FIRST, w, code, machine), code.combine[i]
    write_predicate(i, FIRST, w, combine_masks(truth, other, combine), mask, code, machine)
    write_predicate(i, SECOND, w, combine_masks(FULL & ~truth, other, combine), mask, code, machine)
