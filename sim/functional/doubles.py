"""Kernels of binary64: comparisons, whose sources are register pairs."""

import math

import numpy as np

from isa.semantics.doubles import as_bits, as_double, dminmax, drelation
from isa.semantics.words import pair
from sim.compiled.kernel import inner, outlined
from sim.functional.comparisons import conclude
from sim.functional.integers import combine_masks
from sim.functional.operands import predicate, write_predicate
from sim.functional.state import FIRST, SECOND, Code, Machine

SMALLER = 1  # function of DSETP.MIN; of .MAX 2, of a comparison 0


@inner
def compare_doubles(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute DSETP. .MIN and .MAX, which say which source a minimum or maximum is: whether the first; whether both are NaN."""
    truth, neither, function = np.int64(0), np.int64(0), code.function[i]
    for k in range(machine.lanes[0]):
        a, b = double_at(rows[0], k, machine), double_at(rows[1], k, machine)
        if function:
            truth |= np.int64(is_chosen(a, b, function == SMALLER)) << k
            neither |= np.int64(a != a and b != b) << k  # noqa: PLR0124  NaN
        else:
            truth |= np.int64((drelation(a, b) & code.compare[i]) != 0) << k
    conclude(i, w, mask, truth, code, machine)
    if function:
        other = predicate(i, FIRST, w, code, machine)
        write_predicate(i, SECOND, w, combine_masks(neither, other, code.combine[i]), mask, code, machine)


@outlined
def is_chosen(a: np.float64, b: np.float64, smaller: int) -> bool:
    """Return whether the smaller or the larger is the first; of two NaNs it is the second."""
    return not math.isnan(a) and as_bits(dminmax(a, b, smaller)) == as_bits(a)


@inner
def double_at(row: int, lane: int, machine: Machine) -> np.float64:
    """Return the float64 that a lane holds in a pair of rows."""
    return as_double(pair(machine.rows[row, lane], machine.rows[row + 1, lane]))
