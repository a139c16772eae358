"""What lanes of a warp do together: SHFL, VOTE, MATCH, REDUX."""

import numpy as np

from isa.semantics.crosslane import shuffle_source
from isa.semantics.words import pair, wide, word
from isa.vocabulary import Operation, Reduction, Vote
from sim.functional.flags import PAIRS, SIGNED
from sim.functional.operands import predicate, write_predicate
from sim.functional.state import FIRST, FULL, OUT, ZERO, Code, Machine
from sim.kernel import inner


@inner
def across_lanes(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute a cross-lane instruction; the lanes of `mask` take part."""
    operation, out, lanes = code.operation[i], machine.rows[OUT], machine.lanes[0]
    first = rows[0]
    a, truth = machine.rows[first], np.int64(0)
    if operation == Operation.SHFL:
        b, c = machine.rows[rows[1]], machine.rows[rows[2]]
        truth = shuffle(a, b, c, out, lanes, code.function[i])
    elif operation == Operation.VOTE:
        ballot = predicate(i, FIRST, w, code, machine) & mask
        truth = FULL if answer(ballot, mask, code.function[i]) else np.int64(0)
        fill(out, lanes, ballot)
    elif operation == Operation.MATCH:
        high = machine.rows[first + 1 if code.flags[i] & PAIRS else ZERO]
        truth = match(a, high, out, lanes, mask, code.function[i])
    else:
        fill(out, lanes, reduce(a, lanes, mask, code.function[i], code.flags[i] & SIGNED))
    write_predicate(i, FIRST, w, truth, mask, code, machine)


@inner
def shuffle(a: np.ndarray, b: np.ndarray, c: np.ndarray, out: np.ndarray, lanes: int, mode: int) -> int:
    """Write what each lane reads of another, or its own word; return the lanes whose source lies inside the segment.

    What a source lane holds that does not take part is undefined on hardware; here it is its register.
    """
    inside = np.int64(0)
    for k in range(lanes):
        source = shuffle_source(k, np.int64(b[k]), np.int64(c[k]), mode)
        out[k] = a[source if source >= 0 else k]
        inside |= np.int64(source >= 0) << k
    return inside


@inner
def answer(ballot: int, mask: int, mode: int) -> bool:
    """Return whether all, any, or equally all and none of the lanes of `mask` voted yes."""
    if mode == Vote.ALL:
        return ballot == mask
    return ballot != 0 if mode == Vote.ANY else ballot in (0, mask)


@inner
def fill(out: np.ndarray, lanes: int, value: int) -> None:
    """Write one word to all lanes."""
    for k in range(lanes):
        out[k] = word(value)


@inner
def match(low: np.ndarray, high: np.ndarray, out: np.ndarray, lanes: int, mask: int, mode: int) -> int:
    """Write for each lane which lanes of `mask` hold its value (ALL: `mask` when all do, else 0); return the lanes of a true ALL."""
    same = True
    for k in range(lanes):
        alike = np.int64(0)
        for other in range(lanes):
            if (mask >> other) & 1 and pair(low[other], high[other]) == pair(low[k], high[k]):
                alike |= np.int64(1) << other
        out[k] = word(alike)
        same = same and (alike == mask or not (mask >> k) & 1)
    if mode == Vote.ALL:
        fill(out, lanes, mask if same else np.int64(0))
    return FULL if same else np.int64(0)


@inner
def reduce(a: np.ndarray, lanes: int, mask: int, function: int, is_signed: int) -> int:
    """Return the words of the lanes of `mask`, joined."""
    result, empty = np.int64(0), True
    for k in range(lanes):
        if (mask >> k) & 1:
            value = wide(a[k], is_signed)
            result, empty = value if empty else joined(result, value, function), False
    return result


@inner
def joined(a: int, b: int, function: int) -> int:
    """Return two values joined by REDUX."""
    if function == Reduction.AND:
        return a & b
    if function == Reduction.OR:
        return a | b
    if function == Reduction.XOR:
        return a ^ b
    if function == Reduction.SUM:
        return a + b
    return min(a, b) if function == Reduction.MIN else max(a, b)
