"""Kernels of integers of one or two generations: XMAD, LEA.HI and IMAD with carries, R2UR, comparisons of 64 bits."""

import numpy as np

from isa.semantics.integers import carries64, irelation64
from isa.semantics.products import lea_high, product_sum, xmad
from isa.semantics.words import high_word, pair, signed, word
from isa.vocabulary import PT
from sim.compiled.kernel import first_bit, inner
from sim.functional.comparisons import conclude
from sim.functional.flags import CC, EVERY, HIGH, NEGATE, SIGNED, WIDE, X
from sim.functional.operands import predicate, write_carry, write_predicate
from sim.functional.state import FIRST, FULL, OUT, SECOND, Code, Machine
from sim.functional.sums import carries_in

HIGH_A, HIGH_B = 256, 512  # bits of XMAD's function


@inner
def multiply_halves(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute XMAD."""
    function, out, carried = code.function[i], machine.rows[OUT], np.int64(0)
    a, b, c = machine.rows[rows[0]], machine.rows[rows[1]], machine.rows[rows[2]]
    first, _ = carries_in(i, w, code, machine)
    for k in range(machine.lanes[0]):
        total = xmad(a[k], b[k], c[k], function, function & HIGH_A, function & HIGH_B, (first >> k) & 1)
        out[k] = word(total)
        carried |= ((total >> 32) & 1) << k
    if code.flags[i] & CC:
        write_carry(w, carried, mask, machine)


@inner
def shift_and_add_high(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute LEA.HI."""
    out, carried = machine.rows[OUT], np.int64(0)
    a, b, c = machine.rows[rows[0]], machine.rows[rows[1]], machine.rows[rows[2]]
    first, second = carries_in(i, w, code, machine)
    for k in range(machine.lanes[0]):
        upper = signed(a[k]) >> 31 if code.flags[i] & SIGNED else np.int64(c[k])
        total = lea_high(a[k], upper, b[k], code.function[i], code.addend[i] + ((first >> k) & 1) + ((second >> k) & 1))
        out[k] = word(total)
        carried |= ((total >> 32) & 1) << k
    write_predicate(i, FIRST, w, carried, mask, code, machine)
    if code.flags[i] & CC:
        write_carry(w, carried, mask, machine)


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
        total, carry = product_sum(a[k], b[k], addend, flags & SIGNED, flags & WIDE, carry, code.function[i])
        low[k], high[k] = high_word(total) if flags & HIGH else word(total), high_word(total)
        carried_out |= carry << k
    write_predicate(i, FIRST, w, carried_out, mask, code, machine)


@inner
def add_pairs(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute IADD.64; -x is ~x + 1, which carries for 0. Sums that carry have two sources (isa.checks)."""
    flags, carried = code.flags[i], np.int64(0)
    come = predicate(i, FIRST, w, code, machine) if flags & X else np.int64(0)
    for k in range(machine.lanes[0]):
        a, b = pair(machine.rows[rows[0], k], machine.rows[rows[0] + 1, k]), pair(machine.rows[rows[1], k], machine.rows[rows[1] + 1, k])
        c = pair(machine.rows[rows[2], k], machine.rows[rows[2] + 1, k])
        total = a + b + c + ((come >> k) & 1)
        machine.rows[OUT, k], machine.rows[OUT + 1, k] = word(total), high_word(total)
        of_zero = (a == 0 and code.modify[i, FIRST] & NEGATE) or (b == 0 and code.modify[i, SECOND] & NEGATE)
        carried |= np.int64(of_zero or carries64(a, total, (come >> k) & 1)) << k
    write_predicate(i, FIRST, w, carried, mask, code, machine)


@inner
def to_uniform(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute R2UR: the word of the first lane; the predicate: the lanes that hold another, with .OR those of before, too."""
    a, out, others = machine.rows[rows[0]], machine.rows[OUT], np.int64(0)
    for k in range(machine.lanes[0]):
        out[k] = a[k]
        others |= np.int64(a[k] != a[first_bit(mask)]) << k
    p = code.predicate_destination[i, 0]
    if p != PT:
        kept = np.int64(FULL) if code.flags[i] & EVERY else ~mask
        machine.predicates[w, p] = (machine.predicates[w, p] & kept) | (others & mask)


@inner
def compare_pairs(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute ISETP.U64 or .S64."""
    first, second, truth = rows[0], rows[1], np.int64(0)
    for k in range(machine.lanes[0]):
        a, b = pair(machine.rows[first, k], machine.rows[first + 1, k]), pair(machine.rows[second, k], machine.rows[second + 1, k])
        truth |= np.int64((irelation64(a, b, code.flags[i] & SIGNED) & code.compare[i]) != 0) << k
    conclude(i, w, mask, truth, code, machine)
