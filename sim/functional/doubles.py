"""Binary64 instructions: operands and results are register pairs."""

import numpy as np

from isa.semantics.doubles import as_bits, as_double, dadd, dfma_directed, dmax, dmin, dmul, drelation, mufu64
from isa.semantics.words import high_word, pair, word
from isa.vocabulary import Operation
from sim.functional.integers import combine_masks
from sim.functional.operands import predicate, write_predicate
from sim.functional.state import FIRST, FULL, OUT, SECOND, Code, Machine
from sim.kernel import inner, outlined

SMALLER = 1  # function of DSETP.MIN; of .MAX 2, of a comparison 0


@inner
def double(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute a binary64 instruction, or MUFU.RCP64H and .RSQ64H, which take and give high words."""
    operation, low, high, truth = code.operation[i], machine.rows[OUT], machine.rows[OUT + 1], np.int64(0)
    if operation == Operation.MUFU64:
        source = machine.rows[rows[0]]
        for k in range(machine.lanes[0]):
            low[k] = mufu64(code.function[i], source[k])
        return
    first, second = rows[0], rows[1]
    third, chosen, neither = rows[2], predicate(i, FIRST, w, code, machine), np.int64(0)
    for k in range(machine.lanes[0]):
        a, b, c = double_at(first, k, machine), double_at(second, k, machine), double_at(third, k, machine)
        if operation == Operation.DSETP and code.function[i]:
            truth |= np.int64(is_chosen(a, b, code.function[i] == SMALLER)) << k
            neither |= np.int64(a != a and b != b) << k  # noqa: PLR0124  NaN
        elif operation == Operation.DSETP:
            truth |= np.int64((drelation(a, b) & code.compare[i]) != 0) << k
        else:
            bits = as_bits(result_of(operation, a, b, c, code.rounding[i], (chosen >> k) & 1))
            low[k], high[k] = word(bits), high_word(bits)
    if operation == Operation.DSETP:
        write_predicate(i, FIRST, w, combine_masks(truth, chosen, code.combine[i]), mask, code, machine)
        other = neither if code.function[i] else FULL & ~truth
        write_predicate(i, SECOND, w, combine_masks(other, chosen, code.combine[i]), mask, code, machine)


@outlined
def is_chosen(a: np.float64, b: np.float64, smaller: bool) -> bool:
    """Return whether DSETP.MIN or .MAX, which say which source a minimum or maximum is, name the first."""
    return as_bits(dmin(a, b) if smaller else dmax(a, b)) == as_bits(a)


@inner
def double_at(row: int, lane: int, machine: Machine) -> np.float64:
    """Return the float64 that a lane holds in a pair of rows."""
    return as_double(pair(machine.rows[row, lane], machine.rows[row + 1, lane]))


@outlined
def result_of(operation: int, a: np.float64, b: np.float64, c: np.float64, rounding: int, smaller: int) -> np.float64:
    """Return what an arithmetic operation makes of its sources."""
    if operation == Operation.DADD:
        return dadd(a, b, rounding)
    if operation == Operation.DMUL:
        return dmul(a, b, rounding)
    if operation == Operation.DFMA:
        return dfma_directed(a, b, c, rounding)
    return dmin(a, b) if smaller else dmax(a, b)
