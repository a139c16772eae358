"""ATOM: read, modify and write a word or a pair in memory, lane after lane.

Lanes are applied in ascending order, each finding what the lanes before it left: hardware promises no order, so a program
whose results depend on it gets those of this one. A float sum is rounded once per lane, in that order. A lane's result is
the value that it found. Addresses are checked by `sim.functional.memory` before any lane is applied.
"""

import numpy as np

from isa.semantics.atomics import atomic
from isa.semantics.doubles import as_bits, as_double, is_nan
from isa.semantics.floats import fadd, flush
from isa.semantics.halves import half_input, half_result, half_sum
from isa.semantics.words import as_float, as_word, high_word, pair, wide, word
from isa.vocabulary import AtomicFunction, Space
from sim.compiled.kernel import inner, outlined
from sim.functional.flags import BF16, EVERY, FLOAT, FTZ, SIGNED, VECTOR
from sim.functional.marks import STORED, mark
from sim.functional.operands import row_of
from sim.functional.state import FIRST, SCRATCH, SECOND, Code, Machine, Memory
from sim.traces.trace import SCATTERED

UNSIGNED64 = np.int64(-(2**63))  # flips the sign bit, after which int64 compares as unsigned


@inner
def update(i: int, w: int, mask: int, space: int, code: Code, machine: Machine, memory: Memory) -> None:
    """Execute ATOM i for the lanes of `mask`, whose addresses have been checked."""
    if space == Space.SHARED:
        apply(i, w, mask, np.int64(0), memory.shared, code, machine)
    else:
        mark(mask, code.width[i], np.int64(SCATTERED), STORED, machine, memory)
        apply(i, w, mask, np.int64(memory.base), memory.words, code, machine)


@inner
def apply(i: int, w: int, mask: int, base: int, words: np.ndarray, code: Code, machine: Machine) -> None:
    """Apply the lanes to a memory whose first word has byte address `base`."""
    result = row_of(code.destination[i], w, code, machine) if code.destination[i] >= 0 else SCRATCH
    first, second = row_of(code.operand[i, FIRST], w, code, machine), row_of(code.operand[i, SECOND], w, code, machine)
    function, flags = code.function[i], code.flags[i]
    for k in range(machine.lanes[0]):
        if (mask >> k) & 1:
            index = (machine.target[k] - base) >> 2
            if flags & FLOAT:
                if flags & VECTOR:
                    for part in range(code.width[i] >> 2):
                        add_float(index + part, first + part, result + part, k, flags, words, machine)
                elif flags & EVERY or code.width[i] == 8:
                    add_floats(index, first, result, k, flags, words, machine)
                else:
                    add_float(index, first, result, k, flags, words, machine)
            elif code.width[i] == 16:
                exchange_quad(index, first, second, result, k, function, words, machine)
            elif code.width[i] == 4:
                modify_word(index, first, second, result, k, function, flags, words, machine)
            else:
                modify_pair(index, first, second, result, k, function, flags, words, machine)


@inner
def modify_word(
    index: int, first: int, second: int, result: int, k: int, function: int, flags: int, words: np.ndarray, machine: Machine
) -> None:
    """Apply lane k to one word."""
    rows, old, is_signed = machine.rows, words[index], flags & SIGNED
    new = atomic(function, wide(old, is_signed), wide(rows[first, k], is_signed), wide(rows[second, k], is_signed), np.int64(0))
    words[index] = word(new)
    rows[result, k] = np.uint32(old == rows[first, k]) if function == AtomicFunction.CAST else old


@inner
def modify_pair(
    index: int, first: int, second: int, result: int, k: int, function: int, flags: int, words: np.ndarray, machine: Machine
) -> None:
    """Apply lane k to two words, the low one first."""
    rows, low, high = machine.rows, words[index], words[index + 1]
    a, b = pair(rows[first, k], rows[first + 1, k]), pair(rows[second, k], rows[second + 1, k])
    new = atomic(function, pair(low, high), a, b, np.int64(0) if flags & SIGNED else UNSIGNED64)
    words[index], words[index + 1] = word(new), high_word(new)
    if function == AtomicFunction.CAST:
        low, high = np.uint32(pair(low, high) == a), np.uint32(0)
    rows[result, k], rows[result + 1, k] = low, high


@outlined
def exchange_quad(index: int, first: int, second: int, result: int, k: int, function: int, words: np.ndarray, machine: Machine) -> None:
    """Exchange lane k's four words with those in memory; CAS: if these are the ones to compare with."""
    rows, alike = machine.rows, True
    for part in range(4):
        alike = alike and words[index + part] == rows[first + part, k]
    for part in range(4):
        old = words[index + part]
        if function == AtomicFunction.EXCH:
            words[index + part] = rows[first + part, k]
        elif alike:
            words[index + part] = rows[second + part, k]
        rows[result + part, k] = old


@inner
def add_float(index: int, first: int, result: int, k: int, flags: int, words: np.ndarray, machine: Machine) -> None:
    """Add lane k's float to one in memory."""
    old = words[index]
    words[index] = as_word(sum_of_floats(as_float(old), machine.floats[first, k], flags & FTZ))
    machine.rows[result, k] = old


@inner
def sum_of_floats(x: np.float32, y: np.float32, is_flushed: int) -> np.float32:
    """Return the sum; is_flushed: without subnormals."""
    return flush(fadd(flush(x), flush(y))) if is_flushed else fadd(x, y)


@outlined
def add_floats(index: int, first: int, result: int, k: int, flags: int, words: np.ndarray, machine: Machine) -> None:
    """Add lane k's float64, or its two halves, to those in memory."""
    rows, low = machine.rows, words[index]
    if flags & EVERY:
        words[index] = word(sum_of_halves(np.int64(low), np.int64(rows[first, k]), flags & BF16))
    else:
        high = words[index + 1]
        total = sum_left(pair(low, high), pair(rows[first, k], rows[first + 1, k]))
        words[index], words[index + 1] = word(total), high_word(total)
        rows[result + 1, k] = high
    rows[result, k] = low


@outlined
def sum_left(a: int, b: int) -> int:
    """Return what an atomic addition of float64 b leaves of a in memory; a NaN stays as it is, of two that of b (measured on an H200)."""
    return b if is_nan(b) else a if is_nan(a) else as_bits(as_double(a) + as_double(b))


@outlined
def sum_of_halves(a: int, b: int, is_bfloat: int) -> int:
    """Return two words of halves, added half by half."""
    total = np.int64(0)
    for place in range(0, 32, 16):
        x, y = half_input(a >> place, is_bfloat, 0), half_input(b >> place, is_bfloat, 0)
        total |= half_result(half_sum(x, y), is_bfloat, 0, 0) << place
    return total
