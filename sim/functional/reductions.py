"""UBLKRED, UTMAREDG: each element that comes and the one that is there, reduced to one (PTX `cp.reduce.async.bulk`).

Integers, sums and NaNs are those of atomics; minima and maxima of halves are those of HMNMX2. Subnormals are kept, except in maps of
float32 with FTZ; TF32 is added as float32. Elements are taken in ascending order. Of the 143 cases measured on an H100, 72 run and leave
the same bits here; the other 71, tiles, are refused by both (`programs/measurements/h100/reductions.csv`).
"""

import numpy as np

from isa.semantics.atomics import atomic
from isa.semantics.halves import half_input, half_minmax, half_result
from isa.semantics.words import as_float, as_word, high_word, pair, wide, word
from isa.vocabulary import BulkReduction, NumberType
from sim.compiled.kernel import inner, outlined
from sim.functional.atomics import UNSIGNED64, sum_left, sum_of_floats, sum_of_halves
from sim.functional.flags import BF16, FLOAT, SIGNED
from sim.launch.tensor_maps import TYPES

FLUSHED = 32  # a further type of elements beside NumberType: float32 with FTZ
F16, BFLOAT, F32, F64 = int(NumberType.F16), int(NumberType.BF16), int(NumberType.F32), int(NumberType.F64)
U32, S32, U64, S64 = int(NumberType.U32), int(NumberType.S32), int(NumberType.U64), int(NumberType.S64)
NONE = -1  # of what no reduction takes
ELEMENT_OF_MAP = np.array([NONE, NONE, U32, S32, U64, S64, F16, F32, FLUSHED, F64, BFLOAT], np.int64)  # by number
ADD, MIN = int(BulkReduction.ADD), int(BulkReduction.MIN)
WORDS, HALVES = ("uint32", "int32", "uint64"), ("float16", "bfloat16")
OF_TILES = {  # types of maps whose tiles each reduction takes, as an H100 does; `isa.checks` says it of bytes
    BulkReduction.NONE: tuple(TYPES),
    BulkReduction.ADD: (*WORDS, *HALVES, "float32", "float32_ftz", "tfloat32", "tfloat32_ftz", "float64"),
    **dict.fromkeys((BulkReduction.MIN, BulkReduction.MAX), (*WORDS, "int64", *HALVES)),
    **dict.fromkeys((BulkReduction.INC, BulkReduction.DEC), ("uint32",)),
    **dict.fromkeys((BulkReduction.AND, BulkReduction.OR, BulkReduction.XOR), WORDS),
}
# bool [BulkReduction, number of a map's type].
IS_OF_TILES = np.array([[k in {TYPES[name][0] for name in OF_TILES[of]} for k in range(len(ELEMENT_OF_MAP))] for of in BulkReduction])


@inner
def element_of(width: int, flags: int) -> int:
    """Return the type of the elements of a UBLKRED: a NumberType."""
    if flags & FLOAT:
        return (BFLOAT if flags & BF16 else F16) if width == 2 else F32 if width == 4 else F64
    return np.int64((U64 if width == 8 else U32) + (flags & SIGNED != 0))


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
            words[at + k] = word(reduced_halves(np.int64(old), np.int64(new), reduction, np.int64(element == BFLOAT)))
        elif element in (F32, FLUSHED):
            words[at + k] = as_word(sum_of_floats(as_float(old), as_float(new), element == FLUSHED))
        else:
            is_signed = element == S32
            a = wide(new, is_signed)
            words[at + k] = word(atomic(reduction - 1, wide(old, is_signed), a, a, np.int64(0)))


@outlined
def reduced_halves(old: int, new: int, reduction: int, is_bfloat: int) -> int:
    """Return two halves: the sums, the smaller or the larger ones."""
    if reduction == ADD:
        return sum_of_halves(old, new, is_bfloat)
    left = np.int64(0)
    for place in range(0, 32, 16):
        x, y = half_input(old >> place, is_bfloat, 0), half_input(new >> place, is_bfloat, 0)
        left |= half_result(half_minmax(x, y, reduction == MIN, 0), is_bfloat, 0, 0) << place
    return left


@outlined
def reduced_pair(old: int, new: int, reduction: int, element: int) -> int:
    """Return what is left of 64 bits in memory and those that come."""
    if element == F64:
        return sum_left(old, new)
    return atomic(reduction - 1, old, new, new, np.int64(0) if element == S64 else UNSIGNED64)
