"""HMMA, IMMA, DMMA: fragments of a warp's registers put together to matrices, multiplied, and dealt back; MOVM, which transposes.

Lane l holds, of each register of a factor of m by k elements, those of row l / 4 and columns 4 p + l % 4, packed p to a register; a second
register the rows 8 below, where there are 16, and the next ones the columns behind (PTX ISA, `mma.sync`).
"""

import sys

import numpy as np

from isa.matrices import BITS, SHAPES
from isa.operations import Form
from isa.semantics.matrices import (
    NAN,
    NAN_WORD,
    OF_INFINITY,
    added_product,
    cut,
    exponent_bits_of,
    fraction_of,
    half_of_sum,
    saturated,
    single_of_sum,
    special_product,
    special_sum,
    taken_apart,
)
from isa.semantics.words import high_word, pair, word
from isa.vocabulary import MatrixType
from sim.compiled.kernel import first_bit, inner, outlined
from sim.functional.arms import by_kernels, kernels
from sim.functional.flags import SATURATE
from sim.functional.operands import row_of
from sim.functional.stack import fault
from sim.functional.state import FIRST, FULL, OUT, SECOND, THIRD, Code, Fault, Machine, Progress

ROWS = tuple(np.int64(SHAPES[shape][0]) for shape in sorted(SHAPES))
TERMS = tuple(np.int64(SHAPES[shape][2]) for shape in sorted(SHAPES))
BYTES = tuple(np.int64(BITS[kind] // 8) for kind in sorted(BITS))
COLUMNS = 8  # of every product
A, B, C = np.int64(0), np.int64(1), np.int64(2)  # rows of Machine.bits: left factor, right one, sums
SIZE, EXPONENT = np.int64(0), np.int64(3)  # rows of Machine.parts: SIZE + A, ...; the sizes have the signs
MOST_SHIFT = np.int32(31)  # after which nothing is left


@outlined
def multiply_halves_of_warp(i: int, w: int, code: Code, machine: Machine) -> None:
    """Execute HMMA i: as many terms at a time as the architecture adds at once, each sum rounded."""
    function, kept, most = code.function[i], code.adder[0], code.adder[1]
    m, terms, left, total = ROWS[function & 15], TERMS[function & 15], (function >> 4) & 15, (function >> 12) & 15
    gather(row_of(code.operand[i, FIRST], w, code, machine), A, m, terms, BYTES[left], machine)
    gather(row_of(code.operand[i, SECOND], w, code, machine), B, np.int64(COLUMNS), terms, BYTES[left], machine)
    gather_sums(row_of(code.operand[i, THIRD], w, code, machine), m, BYTES[total], machine)
    special = take_apart(A, m * terms, left, kept - 2 * fraction_of(left), machine)  # their products have `kept` bits behind the point
    special |= take_apart(B, COLUMNS * terms, left, np.int64(0), machine)
    step = min(most // BYTES[left], terms)
    for start in range(0, terms, step):
        again = take_apart(C, COLUMNS * m, total, kept - fraction_of(total), machine)
        add_products(m, terms, start, start + step, total == MatrixType.F16, kept, machine)
        if special | again:
            add_specials(m, terms, start, start + step, total == MatrixType.F16, machine)
    deal_sums(code.destination[i], w, m, BYTES[total], code, machine)


@outlined
def multiply_bytes_of_warp(i: int, w: int, code: Code, machine: Machine) -> None:
    """Execute IMMA i: exact sums, of which 32 bits stay, or saturated."""
    function = code.function[i]
    m, terms = ROWS[function & 15], TERMS[function & 15]
    gather(row_of(code.operand[i, FIRST], w, code, machine), A, m, terms, np.int64(1), machine)
    gather(row_of(code.operand[i, SECOND], w, code, machine), B, np.int64(COLUMNS), terms, np.int64(1), machine)
    gather_sums(row_of(code.operand[i, THIRD], w, code, machine), m, np.int64(4), machine)
    extend(A, m * terms, (function >> 4) & 15, machine)
    extend(B, COLUMNS * terms, (function >> 8) & 15, machine)
    add_bytes(m, terms, code.flags[i] & SATURATE != 0, machine)
    deal_sums(code.destination[i], w, m, np.int64(4), code, machine)


@outlined
def multiply_doubles_of_warp(i: int, w: int, code: Code, machine: Machine) -> None:
    """Execute DMMA i: one product after another, each sum rounded once."""
    function = code.function[i]
    m, terms = ROWS[function & 15], TERMS[function & 15]
    gather(row_of(code.operand[i, FIRST], w, code, machine), A, m, terms, np.int64(8), machine)
    gather(row_of(code.operand[i, SECOND], w, code, machine), B, np.int64(COLUMNS), terms, np.int64(8), machine)
    gather_sums(row_of(code.operand[i, THIRD], w, code, machine), m, np.int64(8), machine)
    a, b, sums = machine.bits[A], machine.bits[B], machine.bits[C]
    for place in range(m * COLUMNS):
        line, column, total = place // COLUMNS * terms, place % COLUMNS * terms, sums[place]
        for t in range(terms):
            total = added_product(a[line + t], b[column + t], total)
        sums[place] = total
    deal_sums(code.destination[i], w, m, np.int64(8), code, machine)


@outlined
def gather(first: int, target: int, lines: int, terms: int, size: int, machine: Machine) -> None:
    """Put a factor's elements of `size` bytes, in registers from row `first` on, to row `target` of `bits`: line * terms + term."""
    packed, registers, out = max(4 // size, 1), max(size // 4, 1), machine.bits[target]
    row, mask = first, (np.int64(1) << (8 * min(size, 4))) - 1
    for block in range(terms // (4 * packed)):
        for upper in range(lines // 8):
            for k in range(machine.lanes[0]):
                bits, place = np.int64(machine.rows[row, k]), (8 * upper + k // 4) * terms + (block * 4 + k % 4) * packed
                if registers == 2:
                    out[place] = pair(machine.rows[row, k], machine.rows[row + 1, k])
                else:
                    for part in range(packed):
                        out[place + part] = (bits >> (8 * size * part)) & mask
            row += registers


@outlined
def gather_sums(first: int, lines: int, size: int, machine: Machine) -> None:
    """Put the addend's bits to row C of `bits`: line * 8 + column."""
    out, row = machine.bits[C], first
    for upper in range(lines // 8):
        for k in range(machine.lanes[0]):
            place = (8 * upper + k // 4) * COLUMNS + 2 * (k % 4)
            if size == 2:
                out[place], out[place + 1] = machine.rows[row, k] & 0xFFFF, machine.rows[row, k] >> 16
            elif size == 4:
                out[place], out[place + 1] = machine.rows[row, k], machine.rows[row + 1, k]
            else:
                out[place] = pair(machine.rows[row, k], machine.rows[row + 1, k])
                out[place + 1] = pair(machine.rows[row + 2, k], machine.rows[row + 3, k])
        row += size // 2


@outlined
def deal_sums(register: int, w: int, lines: int, size: int, code: Code, machine: Machine) -> None:
    """Write row C of `bits` to the result's registers, as `gather_sums` reads it; nowhere when there is none (-1)."""
    if register < 0:
        return
    sums, row = machine.bits[C], row_of(register, w, code, machine)
    for upper in range(lines // 8):
        for k in range(machine.lanes[0]):
            place = (8 * upper + k // 4) * COLUMNS + 2 * (k % 4)
            low, high = sums[place], sums[place + 1]
            if size == 2:
                machine.rows[row, k] = word(low | high << 16)
            elif size == 4:
                machine.rows[row, k], machine.rows[row + 1, k] = word(low), word(high)
            else:
                machine.rows[row, k], machine.rows[row + 1, k] = word(low), high_word(low)
                machine.rows[row + 2, k], machine.rows[row + 3, k] = word(high), high_word(high)
        row += size // 2


@outlined
def take_apart(which: int, count: int, kind: int, up: int, machine: Machine) -> bool:
    """Write sizes, moved up so far (down where negative), and exponents of floats to `parts`; return whether one is no number."""
    bits, sizes, exponents = machine.bits[which], machine.parts[SIZE + which], machine.parts[EXPONENT + which]
    fraction, width, special = fraction_of(kind), exponent_bits_of(kind), np.int64(0)
    down = np.int64(13 if kind == MatrixType.TF32 else 0)
    for x in range(count):
        size, exponent = taken_apart(bits[x] >> down, fraction, width)
        sizes[x], exponents[x] = size << up if up >= 0 else cut(size, -up), exponent
        special |= np.int64(exponent >= OF_INFINITY)
    return special != 0


@outlined
def extend(which: int, count: int, kind: int, machine: Machine) -> None:
    """Write bytes to `parts`, with their signs where they have one."""
    sign = np.int64(0x80 if kind == MatrixType.S8 else 0)
    for x in range(count):
        machine.parts[SIZE + which, x] = machine.bits[which, x] - ((machine.bits[which, x] & sign) << 1)


@outlined
def add_bytes(m: int, terms: int, clamp: bool, machine: Machine) -> None:
    """Add the products of whole numbers to the sums, exactly, of which 32 bits stay, or saturated."""
    a, b, sums = machine.parts[SIZE + A], machine.parts[SIZE + B], machine.bits[C]
    for place in range(m * COLUMNS):
        line, column = place // COLUMNS * terms, place % COLUMNS * terms
        total = np.int64(0)
        for t in range(terms):
            total += np.int64(a[line + t]) * np.int64(b[column + t])
        total += np.int64(np.int32(sums[place]))
        sums[place] = (saturated(total) if clamp else total) & FULL


@outlined
def add_products(m: int, terms: int, start: int, end: int, of_halves: bool, kept: int, machine: Machine) -> None:
    """Add the products of the terms from `start` to `end` to the sums. kept: bits behind the point.

    Sizes of products have at most 28 bits, so that 16 of them stay below 2**31: loops over terms are of 32-bit numbers, and vectorise.
    Places are unsigned: signed ones may count from the end, and terms would be gathered one by one.
    """
    parts = machine.parts
    a, a_exponent, b, b_exponent = parts[SIZE + A], parts[EXPONENT + A], parts[SIZE + B], parts[EXPONENT + B]
    c, c_exponent, sums = parts[SIZE + C], parts[EXPONENT + C], machine.bits[C]
    for place in range(m * COLUMNS):
        line, column = np.uint64(place // COLUMNS * terms + start), np.uint64(place % COLUMNS * terms + start)
        top, total = c_exponent[place], np.int32(0)
        for t in range(end - start):
            x, y = line + np.uint64(t), column + np.uint64(t)
            top = max(top, np.int32(a_exponent[x] + b_exponent[y]))
        for t in range(end - start):
            x, y = line + np.uint64(t), column + np.uint64(t)
            product = np.int32(a[x] * b[y])
            down = min(np.int32(top - np.int32(a_exponent[x] + b_exponent[y])), MOST_SHIFT)
            total = np.int32(total + cut(product, down))
        exact = np.int64(total) + np.int64(cut(c[place], min(np.int32(top - c_exponent[place]), MOST_SHIFT)))
        sums[place] = half_of_sum(exact, np.int64(top), kept) if of_halves else single_of_sum(exact, np.int64(top), kept)


@outlined
def add_specials(m: int, terms: int, start: int, end: int, of_halves: bool, machine: Machine) -> None:
    """Write the sums of which a term or the addend is infinite or NaN."""
    parts = machine.parts
    a, a_exponent, b, b_exponent = parts[SIZE + A], parts[EXPONENT + A], parts[SIZE + B], parts[EXPONENT + B]
    for place in range(m * COLUMNS):
        line, column = place // COLUMNS * terms, place % COLUMNS * terms
        found = special_product(parts[EXPONENT + C, place], parts[SIZE + C, place], np.int64(0), np.int64(1))
        for t in range(start, end):
            x, y = line + t, column + t
            found = special_sum(found, special_product(a_exponent[x], a[x], b_exponent[y], b[y]))
        if found:
            infinity = np.int64(0x7C00 if of_halves else 0x7F800000)
            sign = np.int64(0 if found > 0 else 0x8000 if of_halves else 0x80000000)
            nan = np.int64(NAN_WORD >> 16 if of_halves else NAN_WORD)
            machine.bits[C, place] = nan if found == NAN else infinity | sign


GIVEN, KNOWN = "i, w, code, machine", kernels([sys.modules[__name__]])
multiplied = by_kernels("multiplied", Form.PRODUCT_OF_MATRICES, GIVEN, KNOWN, "RUNNING")


@outlined
def multiply_matrices(i: int, w: int, mask: int, code: Code, machine: Machine, progress: Progress) -> int:
    """Execute a product of matrices, which needs all lanes."""
    if mask != FULL:
        return fault(Fault.MATRIX_IN_PART, w, first_bit(mask), i, progress)
    return multiplied(code.operation[i], i, w, code, machine)


@inner
def transpose_matrix(rows: tuple[int, int, int], machine: Machine) -> None:
    """Execute MOVM: lane k gets two neighbours of column k / 4 of the matrix whose rows four lanes hold each."""
    for k in range(machine.lanes[0]):
        source, shift = machine.rows[rows[0]], 16 * (k // 4 % 2)
        first = k % 4 * 8 + k // 8
        low, high = np.int64(source[first]) >> shift, np.int64(source[first + 4]) >> shift
        machine.rows[OUT, k] = word((low & 0xFFFF) | (high & 0xFFFF) << 16)
