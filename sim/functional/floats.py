"""Float32 instructions on rows. Plain, flushed and directed arithmetic have loops of their own so that the first two vectorise."""

import math

import numpy as np

from isa.semantics.floats import fadd, fadd_rounded, ffma, ffma_rounded, flush, fmax, fmin, fmul, fmul_rounded, frelation, saturate
from isa.semantics.functions import mufu
from isa.vocabulary import Operation, Rounding
from sim.functional.flags import EVERY, FTZ, SATURATE
from sim.kernel import inner


@inner
def float_arithmetic(operation: int, a: np.ndarray, b: np.ndarray, c: np.ndarray, out: np.ndarray, lanes: int) -> None:
    """Write a * b + c, a + b or a * b, rounded to nearest."""
    if operation == Operation.FFMA:
        for k in range(lanes):
            out[k] = ffma(a[k], b[k], c[k])
    elif operation == Operation.FADD:
        for k in range(lanes):
            out[k] = fadd(a[k], b[k])
    else:
        for k in range(lanes):
            out[k] = fmul(a[k], b[k])


@inner
def flushed_arithmetic(operation: int, a: np.ndarray, b: np.ndarray, c: np.ndarray, out: np.ndarray, lanes: int) -> None:
    """The same with subnormal inputs read as zero; the caller flushes the results."""
    if operation == Operation.FFMA:
        for k in range(lanes):
            out[k] = ffma(flush(a[k]), flush(b[k]), flush(c[k]))
    elif operation == Operation.FADD:
        for k in range(lanes):
            out[k] = fadd(flush(a[k]), flush(b[k]))
    else:
        for k in range(lanes):
            out[k] = fmul(flush(a[k]), flush(b[k]))


@inner
def rounded_arithmetic(
    operation: int, a: np.ndarray, b: np.ndarray, c: np.ndarray, out: np.ndarray, lanes: int, rounding: int, ftz: bool
) -> None:
    """The same rounded down, up or toward zero."""
    for k in range(lanes):
        x, y, z = a[k], b[k], c[k]
        if ftz:
            x, y, z = flush(x), flush(y), flush(z)
        if operation == Operation.FFMA:
            out[k] = ffma_rounded(x, y, z, rounding)
        elif operation == Operation.FADD:
            out[k] = fadd_rounded(x, y, rounding)
        else:
            out[k] = fmul_rounded(x, y, rounding)


@inner
def arithmetic(operation: int, a: np.ndarray, b: np.ndarray, c: np.ndarray, out: np.ndarray, lanes: int, flags: int, rounding: int) -> None:
    """Write FADD, FMUL or FFMA of the rows with the instruction's rounding, flushing and saturation."""
    ftz = (flags & FTZ) != 0
    if rounding != Rounding.NEAREST:
        rounded_arithmetic(operation, a, b, c, out, lanes, rounding, ftz)
    elif ftz:
        flushed_arithmetic(operation, a, b, c, out, lanes)
    else:
        float_arithmetic(operation, a, b, c, out, lanes)
    finish(out, lanes, flags)


@inner
def finish(out: np.ndarray, lanes: int, flags: int) -> None:
    """Apply .FTZ and .SAT to a result row."""
    if flags & FTZ:
        for k in range(lanes):
            out[k] = flush(out[k])
    if flags & SATURATE:
        for k in range(lanes):
            out[k] = saturate(out[k])


@inner
def minmax(a: np.ndarray, b: np.ndarray, out: np.ndarray, lanes: int, flags: int, smaller: int) -> None:
    """Write the smaller of a and b in the lanes of `smaller`, the larger in the others; .NAN: NaN where either is NaN."""
    for k in range(lanes):
        x, y = (flush(a[k]), flush(b[k])) if flags & FTZ else (a[k], b[k])
        if flags & EVERY and (math.isnan(x) or math.isnan(y)):
            out[k] = fadd(x, y)
        else:
            out[k] = fmin(x, y) if (smaller >> k) & 1 else fmax(x, y)


@inner
def multi_function(a: np.ndarray, out: np.ndarray, lanes: int, flags: int, function: int, turns: int) -> None:
    """Write the MUFU function of a row."""
    for k in range(lanes):
        out[k] = mufu(function, a[k], turns)
    finish(out, lanes, flags)


@inner
def float_compare(a: np.ndarray, b: np.ndarray, lanes: int, flags: int, compare: int) -> int:
    """Return the lanes in which the comparison holds."""
    result = np.int64(0)
    for k in range(lanes):
        x, y = (flush(a[k]), flush(b[k])) if flags & FTZ else (a[k], b[k])
        result |= np.int64((frelation(x, y) & compare) != 0) << k
    return result
