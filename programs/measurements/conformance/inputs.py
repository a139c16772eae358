"""What a random kernel computes on: words by seed, with the edges of each type mixed in."""

import numpy as np

from programs.measurements.conformance.kernels import COLUMNS, THREADS, WORDS
from programs.measurements.conformance.memory import COMMON, OWN

MEMORY_WORDS = THREADS * OWN + COMMON
F32_EDGES = (
    *(0, 1, 2, 0x7FFFFF, 0x800000, 0x800001, 0x3F800000, 0x3F800001, 0x3F7FFFFF),
    *(0x3F000000, 0x3FC00000, 0x40200000, 0x42FE0000, 0x437F0000, 0x43800000, 0x477FFF00, 0x47800000, 0x4B000000),
    *(0x4B000001, 0x4F000000, 0x4EFFFFFF, 0x4F800000, 0x5F000000, 0x5F800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001),
    *(0x7FC00000, 0x7FFFFFFF, 0x7FA12345, 0x33000000, 0x38800000, 0x387FC000),
)
F64_EDGES = (
    *(0, 1, 0xFFFFFFFFFFFFF, 0x10000000000000, 0x3FF0000000000000),
    *(0x3FEFFFFFFFFFFFFF, 0x3FF0000000000001, 0x3FE0000000000000, 0x3FF8000000000000, 0x4004000000000000),
    *(0x41DFFFFFFFC00000, 0x41E0000000000000, 0x41EFFFFFFFE00000, 0x41F0000000000000, 0x43E0000000000000),
    *(0x43F0000000000000, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF0000000000001, 0x7FF8000000000000),
    *(0x7FF4000012345678, 0x47EFFFFFE0000000, 0x47EFFFFFF0000000, 0x3810000000000000, 0x36A0000000000000),
    *(0x3690000000000000,),
)
U32_EDGES = (
    *(0, 1, 2, 3, 7, 8, 0xF, 0x10, 0x1F),
    *(0x20, 0x21, 0x3F, 0x40, 0x41, 0x7F, 0x80, 0xFF, 0x100),
    *(0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE),
    *(0xFFFF8000, 0xFFFFFF80, 0x1010101, 0x80808080, 0xFFFF, 0xFFFF0000),
)
F16_EDGES = (
    *(0, 1, 0x3FF, 0x400, 0x3C00, 0x3C01, 0x3BFF, 0x3800, 0x4100),
    *(0x7BFF, 0x7C00, 0x7C01, 0x7E00, 0x7FFF, 0x6400, 0x7D12),
)
BF16_EDGES = (
    *(0, 1, 0x7F, 0x80, 0x3F80, 0x3F81, 0x3F7F, 0x3F00, 0x4020),
    *(0x7F7F, 0x7F80, 0x7F81, 0x7FC0, 0x7FFF, 0x4300, 0x7FA1),
)


def inputs(seed: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what one kernel finds: uint32 [INPUT_WORDS * THREADS] in `in`, uint32 [MEMORY_WORDS] in `mem`. The same everywhere."""
    random = np.random.RandomState((seed * 1_000_003 + number) % (1 << 32))  # its stream is fixed for good
    rows: list[np.ndarray] = []
    for kind, count in COLUMNS.items():
        for _ in range(count):
            value = MAKERS[kind](random)
            rows += [(value >> np.uint64(32 * w)).astype(np.uint32) for w in range(WORDS.get(kind, 1))]
    memory = np.concatenate([floats(random).astype(np.uint32) for _ in range(-(-MEMORY_WORDS // THREADS))])[:MEMORY_WORDS]
    return np.concatenate(rows), memory


def _bits(random: np.random.RandomState) -> np.ndarray:
    return np.frombuffer(random.bytes(8 * THREADS), "<u8").copy()


def _mixed(random: np.random.RandomState, edges: tuple[int, ...], sign: int, near: np.ndarray) -> np.ndarray:
    """Return uint64: any bits, numbers of ordinary size, and edges of both signs."""
    which, chosen = random.randint(0, 4, THREADS), np.array(edges, np.uint64)[random.randint(0, len(edges), THREADS)]
    flip = np.where(random.randint(0, 2, THREADS) == 1, np.uint64(sign), np.uint64(0))
    return np.choose(which, [_bits(random), near, near, chosen ^ flip]).astype(np.uint64)


def words(random: np.random.RandomState) -> np.ndarray:
    small = (_bits(random) & np.uint64(0xFFFFFFFF)) >> random.randint(0, 32, THREADS).astype(np.uint64)
    return _mixed(random, U32_EDGES, 0, small) & np.uint64(0xFFFFFFFF)


def longs(random: np.random.RandomState) -> np.ndarray:
    small = _bits(random) >> random.randint(0, 64, THREADS).astype(np.uint64)
    edges = tuple(x << s for x in U32_EDGES for s in (0, 16, 32) if x << s < 1 << 64)
    value = _mixed(random, edges, 0, small)
    return np.where(random.randint(0, 4, THREADS) == 0, ~value + np.uint64(1), value)


def floats(random: np.random.RandomState) -> np.ndarray:
    """Return float32 whose sums and products round, cancel and stay in range: 24 bits near one another, some whole."""
    raw = _bits(random)
    exponent = (127 + random.randint(-12, 13, THREADS)).astype(np.uint64)
    mantissa = raw & np.uint64(0x7FFFFF) & np.where(random.randint(0, 3, THREADS) == 0, np.uint64(0x7C0000), np.uint64(0x7FFFFF))
    near = (raw >> np.uint64(63)) << np.uint64(31) | exponent << np.uint64(23) | mantissa
    return _mixed(random, F32_EDGES, 1 << 31, near) & np.uint64(0xFFFFFFFF)


def doubles(random: np.random.RandomState) -> np.ndarray:
    raw = _bits(random)
    exponent = (1023 + random.randint(-30, 66, THREADS)).astype(np.uint64)
    mantissa = (
        raw & np.uint64((1 << 52) - 1) & np.where(random.randint(0, 3, THREADS) == 0, np.uint64(0x1F << 47), np.uint64((1 << 52) - 1))
    )
    near = raw & np.uint64(1 << 63) | exponent << np.uint64(52) | mantissa
    return _mixed(random, F64_EDGES, 1 << 63, near)


def _two(random: np.random.RandomState, edges: tuple[int, ...], place: int, bias: int) -> np.ndarray:
    parts = []
    for _ in range(2):
        raw = _bits(random)
        exponent = (bias + random.randint(-6, 7, THREADS)).astype(np.uint64)
        near = (raw >> np.uint64(63)) << np.uint64(15) | exponent << np.uint64(place) | raw & np.uint64((1 << place) - 1)
        parts.append(_mixed(random, edges, 1 << 15, near) & np.uint64(0xFFFF))
    return parts[0] | parts[1] << np.uint64(16)


def halves(random: np.random.RandomState) -> np.ndarray:
    return _two(random, F16_EDGES, 10, 15)


def bfloats(random: np.random.RandomState) -> np.ndarray:
    return _two(random, BF16_EDGES, 7, 127)


MAKERS = {"u": words, "f": floats, "l": longs, "d": doubles, "h": halves, "b": bfloats}
