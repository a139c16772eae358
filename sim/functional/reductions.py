"""UBLKRED, UTMAREDG: each element that comes and the one that is there, reduced to one (PTX `cp.reduce.async.bulk`).

Integers as of atomics, NaNs too; minima and maxima of halves as of HMNMX2; subnormals are kept but for float32 of a map with FTZ; TF32 is
added as float32. All of that is equal to an H100 to the bit (`programs/measurements/h100/reductions.csv`). Elements are taken one by one,
in ascending order.
"""

import numpy as np

from isa.semantics.atomics import atomic
from isa.semantics.floats import fadd, flush
from isa.semantics.halves import half_input, half_minmax, half_result, half_sum
from isa.semantics.words import as_float, as_word, high_word, pair, wide, word
from isa.vocabulary import BulkReduction, NumberType
from sim.compiled.kernel import inner, outlined
from sim.functional.atomics import UNSIGNED64, sum_left
from sim.functional.flags import BF16, FLOAT, SIGNED

FLUSHED, UNKNOWN = 32, 33  # further types of elements beside NumberType: float32 with FTZ; what no reduction takes
F16, BFLOAT, F32, F64 = int(NumberType.F16), int(NumberType.BF16), int(NumberType.F32), int(NumberType.F64)
U32, S32, U64, S64 = int(NumberType.U32), int(NumberType.S32), int(NumberType.U64), int(NumberType.S64)
ELEMENT_OF_MAP = np.array([UNKNOWN, UNKNOWN, U32, S32, U64, S64, F16, F32, FLUSHED, F64, BFLOAT], np.int64)  # by number
ADD, MIN, MAX, INC, DEC = (int(BulkReduction(k)) for k in range(1, 6))


@inner
def element_of(width: int, flags: int) -> int:
    """Return the type of the elements of a UBLKRED: a NumberType."""
    if flags & FLOAT:
        return (BFLOAT if flags & BF16 else F16) if width == 2 else F32 if width == 4 else F64
    return np.int64((U64 if width == 8 else U32) + (flags & SIGNED != 0))


@inner
def is_reducible(reduction: int, element: int) -> bool:
    """Return whether a tile of such elements has a reduction, as of an H100; `isa.checks` says it of bytes."""
    if element == UNKNOWN or (element == S64 and reduction not in (MIN, MAX)):
        return False
    if reduction == ADD:
        return True
    if reduction in (INC, DEC):
        return element == U32
    if reduction in (MIN, MAX):
        return element < F32 or U32 <= element <= S64
    return U32 <= element <= S64


@outlined
def reduce_words(at: int, words: np.ndarray, came_at: int, came: np.ndarray, count: int, reduction: int, element: int) -> None:
    """Reduce `count` words of `came` into those of `words`; at, came_at: the first."""
    step = 2 if element in (F64, U64, S64) else 1
    for k in range(0, count, step):
        old, new = words[at + k], came[came_at + k]
        if step == 2:
            left = reduced_pair(pair(old, words[at + k + 1]), pair(new, came[came_at + k + 1]), reduction, element)
            words[at + k], words[at + k + 1] = word(left), high_word(left)
        elif element < F32:
            low = reduced_half(np.int64(old), np.int64(new), reduction, element)
            words[at + k] = word(low | reduced_half(np.int64(old) >> 16, np.int64(new) >> 16, reduction, element) << 16)
        elif element == F32:
            words[at + k] = as_word(fadd(as_float(old), as_float(new)))
        elif element == FLUSHED:
            words[at + k] = as_word(flush(fadd(flush(as_float(old)), flush(as_float(new)))))
        else:
            is_signed = element == S32
            a = wide(new, is_signed)
            words[at + k] = word(atomic(reduction - 1, wide(old, is_signed), a, a, np.int64(0)))


@outlined
def reduced_half(old: int, new: int, reduction: int, element: int) -> int:
    """Return the bits of the sum, the smaller or the larger of two halves."""
    is_bfloat = element == BFLOAT
    x, y = half_input(old, is_bfloat, 0), half_input(new, is_bfloat, 0)
    value = half_sum(x, y) if reduction == ADD else half_minmax(x, y, reduction == MIN, 0)
    return half_result(value, is_bfloat, 0, 0)


@outlined
def reduced_pair(old: int, new: int, reduction: int, element: int) -> int:
    """Return what is left of 64 bits in memory and those that come."""
    if element == F64:
        return sum_left(old, new)
    return atomic(reduction - 1, old, new, new, np.int64(0) if element == S64 else UNSIGNED64)
