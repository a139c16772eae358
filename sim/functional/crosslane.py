"""What lanes of a warp do together: SHFL, VOTE, MATCH, REDUX."""

import numpy as np

from isa.semantics.crosslane import shuffle_source
from isa.semantics.floats import fminmax
from isa.semantics.words import as_word, pair, wide, word
from isa.vocabulary import PT, Reduction, Vote
from sim.compiled.kernel import first_bit, inner
from sim.functional.flags import EVERY, FLOAT, PAIRS, SIGNED
from sim.functional.operands import predicate, write_predicate
from sim.functional.state import FIRST, FULL, OUT, ZERO, Code, Machine


@inner
def shuffle_words(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute SHFL; the predicate: the lanes whose source lies inside the segment."""
    a, b, c = machine.rows[rows[0]], machine.rows[rows[1]], machine.rows[rows[2]]
    write_predicate(i, FIRST, w, shuffle(a, b, c, machine.rows[OUT], machine.lanes[0], code.function[i]), mask, code, machine)


@inner
def vote_of_lanes(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Execute VOTE: the lanes of `mask` that vote yes; the predicate: the answer."""
    ballot = predicate(i, FIRST, w, code, machine) & mask
    fill(machine.rows[OUT], machine.lanes[0], ballot)
    write_predicate(i, FIRST, w, FULL if answer(ballot, mask, code.function[i]) else np.int64(0), mask, code, machine)


@inner
def match_values(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute MATCH on words or pairs; the predicate: whether all lanes of `mask` hold the same."""
    low, high = machine.rows[rows[0]], machine.rows[rows[0] + 1 if code.flags[i] & PAIRS else ZERO]
    write_predicate(i, FIRST, w, match(low, high, machine.rows[OUT], machine.lanes[0], mask, code.function[i]), mask, code, machine)


@inner
def reduce_words(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute REDUX."""
    lanes, result = machine.lanes[0], machine.rows[OUT]
    if code.flags[i] & FLOAT:
        smaller, keep_nan = code.function[i] == Reduction.MIN, code.flags[i] & EVERY
        fill(result, lanes, np.int64(as_word(reduce_floats(machine.floats[rows[0]], lanes, mask, smaller, keep_nan))))
    else:
        fill(result, lanes, reduce(machine.rows[rows[0]], lanes, mask, code.function[i], code.flags[i] & SIGNED))


@inner
def reduce_floats(x: np.ndarray, lanes: int, mask: int, smaller: int, keep_nan: int) -> np.float32:
    """Return the smallest or the largest float of the lanes of `mask`."""
    result = x[first_bit(mask)]
    for k in range(lanes):
        if (mask >> k) & 1:
            result = fminmax(result, x[k], 0, keep_nan, smaller)
    return result


@inner
def elect(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Execute ELECT: the first lane of `mask` in a uniform register; the predicate: that lane alone."""
    leader = first_bit(mask)
    fill(machine.rows[OUT], machine.lanes[0], leader)
    p = code.predicate_destination[i, FIRST]
    if p != PT:
        machine.predicates[w, p] = (machine.predicates[w, p] & ~mask) | np.int64(1) << leader


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
