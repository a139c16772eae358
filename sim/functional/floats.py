"""What ends and what compares rows of float32."""

import numpy as np

from isa.semantics.floats import SMALLEST_NORMAL, ZERO, exact_product, flush, flush_result, frelation, saturate
from sim.compiled.kernel import inner, outlined
from sim.functional.flags import FTZ, SATURATE


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
def flush_products(has_addend: bool, x: np.ndarray, y: np.ndarray, z: np.ndarray, out: np.ndarray, lanes: int, rounding: int) -> None:
    """Flush products, with or without an addend, that rounding has made the smallest normal number."""
    rounded_up = np.int64(0)
    for k in range(lanes):
        rounded_up += np.int64(abs(out[k]) == SMALLEST_NORMAL)
    if rounded_up:
        settle_products(has_addend, x, y, z, out, lanes, rounding)


@outlined
def settle_products(has_addend: bool, x: np.ndarray, y: np.ndarray, z: np.ndarray, out: np.ndarray, lanes: int, rounding: int) -> None:
    """Flush those that are below it with 24 bits."""
    for k in range(lanes):
        exact = exact_product(flush(x[k]), flush(y[k]), flush(z[k]) if has_addend else ZERO)
        out[k] = flush_result(out[k], exact, rounding)


@inner
def float_compare(a: np.ndarray, b: np.ndarray, lanes: int, flags: int, compare: int) -> int:
    """Return the lanes in which the comparison holds."""
    result = np.int64(0)
    for k in range(lanes):
        x, y = (flush(a[k]), flush(b[k])) if flags & FTZ else (a[k], b[k])
        result |= np.int64((frelation(x, y) & compare) != 0) << k
    return result
