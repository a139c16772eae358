"""The multi-function unit: the float32 nearest to the true value.

The hardware approximates it within 1-2 units in the last place: what passes through MUFU may differ from a GPU's in its last bits.
"""

import math

import numpy as np

from isa.semantics.floats import NAN
from isa.vocabulary import Mufu


def mufu(function: int, x: np.float32, turns: int) -> np.float32:
    """Return the multi-function unit's `function` of x: the float32 nearest to the true value.

    turns: SIN and COS take x in turns of 2 pi (from Volta, after a multiplication by 0.15915494) and not in radians.
    """
    v = np.float64(x)
    if math.isnan(v):
        return NAN
    if function == Mufu.EX2:
        return np.float32(0.0 if v < -200.0 else math.inf if v > 200.0 else math.pow(2.0, v))
    if function == Mufu.TANH:
        return np.float32(math.tanh(v))
    if function == Mufu.RCP:
        return np.float32(1.0 / v) if v != 0.0 else np.float32(math.copysign(math.inf, v))
    if function in (Mufu.SIN, Mufu.COS):
        return mufu_wave(function, v * 2.0 * math.pi if turns else v)
    return mufu_root(function, v)


def mufu_wave(function: int, v: np.float64) -> np.float32:
    """Return the sine or cosine of v radians; NaN for an infinity."""
    if abs(v) == math.inf:
        return NAN
    return np.float32(math.sin(v) if function == Mufu.SIN else math.cos(v))


def mufu_root(function: int, v: np.float64) -> np.float32:
    """Return the square root, its reciprocal or the binary logarithm; NaN below zero."""
    if v == 0.0:
        return np.float32(v if function == Mufu.SQRT else math.copysign(math.inf, v) if function == Mufu.RSQ else -math.inf)
    if v < 0.0:
        return NAN
    if function == Mufu.LG2:
        return np.float32(v if v == math.inf else math.log2(v))
    return np.float32(math.sqrt(v)) if function == Mufu.SQRT else np.float32(1.0 / math.sqrt(v))
