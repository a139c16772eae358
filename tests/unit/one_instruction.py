"""Runs one instruction on many threads: their sources from arrays, their results back as arrays."""

from typing import Any

import numpy as np

import isa
from sim.functional import execute
from sim.launch.launch import Launch

THREADS = 1024
SOURCES, RESULT, FLAGS = ("R10", "R12", "R14"), "R20", "R24"
EDGES = (0, 1, 2, 3, 31, 32, 33, 0x7F, 0x80, 0xFFFF, 0x8000, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF)
FLOAT_EDGES = (0, 1, 0x007FFFFF, 0x00800000, 0x3F800000, 0x3F000000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x4F000000, 0x5F000000, 0x4B000001)


def words(seed: int, edges: tuple[int, ...] = EDGES) -> np.ndarray:
    """Return uint32 [THREADS]: edges of both signs, small numbers, and any bits."""
    rng = np.random.default_rng(seed)
    random = rng.integers(0, 1 << 32, THREADS, dtype=np.uint32)
    chosen = rng.choice(np.array(edges, np.uint32), THREADS) ^ rng.choice(np.array([0, 0x80000000], np.uint32), THREADS)
    small = random >> rng.integers(0, 32, THREADS, dtype=np.uint32)
    return np.choose(rng.integers(0, 3, THREADS), [random, chosen, small]).astype(np.uint32)


def floats(seed: int) -> np.ndarray:
    """Return float32 [THREADS] of every kind."""
    return words(seed, FLOAT_EDGES).view(np.float32)


def doubles(seed: int) -> np.ndarray:
    """Return float64 [THREADS]: any bits, numbers near one, and edges."""
    rng = np.random.default_rng(seed)
    near = rng.choice([-1.0, 1.0], THREADS) * np.ldexp(1.0 + rng.random(THREADS), rng.integers(-30, 70, THREADS))
    edges = rng.choice(
        [0.0, -0.0, 0.5, -1.5, 2.5, 5e-324, 1e-310, 2.2250738585072014e-308, 1.7976931348623157e308, np.inf, -np.inf, np.nan], THREADS
    )
    raw = rng.integers(0, 1 << 64, THREADS, dtype=np.uint64).view(np.float64)
    return np.choose(rng.integers(0, 3, THREADS), [raw, near, edges])


def compute(text: str, *sources: np.ndarray, prologue: str = "", base: int = 0x160, wide: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Run `text` on THREADS threads; return its result in {d} (uint32, or uint64 when wide) and the predicates P0 | P1 << 1.

    text: the instruction, with {a}, {b}, {c} for the sources (64-bit arrays: pairs) and {d} for the result; predicates P0 and P1 are
    false before it.
    """
    arrays = [np.ascontiguousarray(np.broadcast_to(source, THREADS)) for source in sources]
    wides = [array.dtype.itemsize == 8 for array in arrays]
    names = dict(zip("abc", SOURCES, strict=True))
    lines = [f".parameter_base {base:#x}", ".param ptr out", ".param ptr flags", *(f".param ptr x{k}" for k in range(len(arrays)))]
    lines += ["S2R R0, SR_TID.X", "SHL R1, R0, 3", "SHL R2, R0, 2"]
    for k, is_wide in enumerate(wides):
        lines += [f"IADD R3, {'R1' if is_wide else 'R2'}, c[0x0][x{k}]", f"LDG{'.64' if is_wide else ''} {SOURCES[k]}, [R3]"]
    lines += [prologue.format(**names, d=RESULT), text.format(**names, d=RESULT)]
    lines += [f"IADD R3, R1, c[0x0][out]\nSTG.64 [R3], {RESULT}", "SEL R24, 1, RZ, P0\nSEL R25, 2, RZ, P1\nLOP.OR R24, R24, R25"]
    lines += ["IADD R3, R2, c[0x0][flags]\nSTG [R3], R24\nEXIT"]
    out, flags = np.zeros(2 * THREADS, np.uint32), np.zeros(THREADS, np.uint32)
    arguments: list[Any] = [out, flags, *(array.view(np.uint32) for array in arrays)]
    execute(Launch(isa.parse("\n".join(lines)), grid=(1,), block=(THREADS,), args=tuple(arguments)))
    return (out.view(np.uint64) if wide else out[::2].copy()), flags
