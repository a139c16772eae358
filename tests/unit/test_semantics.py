"""Scalar semantics against NumPy, float64 and exact rationals; compiled and uncompiled give the same bits."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.semantics import floats, integers, mufu, rounding, words
from isa.vocabulary import Compare, Mufu, Rounding
from sim.compiled.kernel import kernel

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
CANONICAL = 0x7FFFFFFF
any_word = st.one_of(st.sampled_from([0, 1, 31, 32, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]), st.integers(0, 2**32 - 1)).map(np.uint32)
singles = st.one_of(
    st.sampled_from([0, 0x80000000, 1, 0x80000001, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000]),
    st.integers(0, 2**32 - 1),
).map(lambda bits: np.uint32(bits).view(np.float32))
directions = st.sampled_from([Rounding.NEAREST, Rounding.DOWN, Rounding.UP, Rounding.ZERO])


def bits(x: Any) -> int:
    return int(np.float32(x).view(np.uint32))


def halfway(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return operands whose exact a * b lies a hair off the middle between two float32, the hair being c."""
    rng = np.random.default_rng(1)
    a = (rng.integers(1 << 12, 1 << 13, count) | 1).astype(np.float32)
    b = (rng.integers(1 << 11, 1 << 12, count) | 1).astype(np.float32)
    c = np.ldexp(rng.choice([-1.0, 1.0], count), rng.integers(-60, -20, count)).astype(np.float32)
    return a, b, c


@kernel
def fill(a, b, c, out):  # type: ignore[no-untyped-def]
    for k in range(a.size):
        out[k] = rounding.fma(a[k], b[k], c[k])


def rounded(value: Fraction) -> np.float32:
    """Return the float32 nearest to a rational, halves to even, from the definition."""
    if value == 0:
        return np.float32(0)
    exponent = max(math.floor(math.log2(abs(value))) - 23, -149)
    scaled = value / Fraction(2) ** exponent
    return np.float32(math.ldexp(round(scaled), exponent))


def test_fma_rounds_once_on_halfway_cases() -> None:
    a, b, c = halfway(200_000)
    compiled, rough = np.empty_like(a), (a.astype(np.float64) * b + c).astype(np.float32)
    fill(a, b, c, compiled)
    python = np.array([rounding.fma(*row) for row in zip(a, b, c, strict=True)], np.float32)
    assert np.array_equal(compiled.view(np.uint32), python.view(np.uint32))
    for k in range(0, a.size, 100):
        assert compiled[k] == rounded(Fraction(float(a[k])) * Fraction(float(b[k])) + Fraction(float(c[k])))
    assert (rough != compiled).any(), "these cases do not tell one rounding from two"


@given(singles, singles, singles)
def test_fma_compiled_and_python_agree(a: np.float32, b: np.float32, c: np.float32) -> None:
    out = np.empty(1, np.float32)
    fill(np.array([a]), np.array([b]), np.array([c]), out)
    python = rounding.fma(a, b, c)
    assert bits(out[0]) == bits(python) or (np.isnan(out[0]) and np.isnan(python))


@given(singles, singles)
def test_add_and_multiply_are_numpys(a: np.float32, b: np.float32) -> None:
    for ours, numpys in ((floats.fadd(a, b), a + b), (floats.fmul(a, b), a * b)):
        assert bits(ours) == (CANONICAL if np.isnan(numpys) else bits(numpys))


@given(singles, singles, singles, directions)
def test_directed_rounding_brackets_the_exact_value(a: np.float32, b: np.float32, c: np.float32, direction: Rounding) -> None:
    if not all(math.isfinite(x) for x in (a, b, c)):
        return
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    value = floats.ffma_rounded(a, b, c, direction)
    if direction == Rounding.NEAREST:
        assert bits(value) == bits(floats.ffma(a, b, c))
        return
    at_most = direction == Rounding.DOWN or (direction == Rounding.ZERO and exact > 0)
    assert value <= exact if at_most else value >= exact
    neighbour = np.nextafter(value, np.float32(np.inf if at_most else -np.inf), dtype=np.float32)
    if value != exact:
        assert neighbour > exact if at_most else neighbour < exact


@given(singles, singles, directions)
def test_rounded_add_and_multiply_are_special_cases_of_fma(a: np.float32, b: np.float32, direction: Rounding) -> None:
    assert bits(floats.fadd_rounded(a, b, direction)) == bits(floats.ffma_rounded(a, np.float32(1), b, direction))
    product = floats.fmul_rounded(a, b, direction)
    if product != 0:
        assert bits(product) == bits(floats.ffma_rounded(a, b, np.float32(0), direction))


def test_flush_saturate_and_minimum() -> None:
    smallest, normal = np.uint32(0x80000001).view(np.float32), np.float32(2.0**-126)
    assert bits(floats.flush(smallest)) == 0x80000000
    assert floats.flush(normal) == normal
    assert [float(floats.saturate(np.float32(x))) for x in (-1.0, 0.25, 7.0, math.nan)] == [0.0, 0.25, 1.0, 0.0]
    nan, zero = np.float32(math.nan), np.float32(0.0)
    assert floats.fmin(nan, np.float32(3)) == floats.fmax(np.float32(3), nan) == 3
    assert bits(floats.fmin(nan, nan)) == bits(floats.fmax(nan, nan)) == CANONICAL
    assert bits(floats.fmin(zero, -zero)) == 0x80000000
    assert bits(floats.fmax(-zero, zero)) == 0


@given(singles, singles, st.sampled_from(Compare))
def test_float_compare(a: np.float32, b: np.float32, compare: Compare) -> None:
    unordered = bool(np.isnan(a) or np.isnan(b))
    ordered = {"LT": a < b, "EQ": a == b, "LE": a <= b, "GT": a > b, "NE": a < b or a > b, "GE": a >= b}
    name = compare.name
    expected = {"F": False, "T": True, "NUM": not unordered, "NAN": unordered} | ordered
    value = expected[name] if name in expected else ordered[name.removesuffix("U")] or unordered
    assert bool(floats.frelation(a, b) & compare) == bool(value)


@given(any_word, any_word, any_word)
def test_integers_are_pythons(a: np.uint32, b: np.uint32, c: np.uint32) -> None:
    x, y, z = int(a), int(b), int(c)
    u, v = int(np.int32(a)), int(np.int32(b))
    mask, n = 0xFFFFFFFF, int(b) & 63
    assert int(integers.iadd(a, b, 1)) == x + y + 1
    assert int(integers.iadd3(a, b, c, 2)) == x + y + z + 2
    assert int(integers.imad(a, b, c)) == (x * y + z) & mask
    assert int(integers.imad_high(a, b, c, 1)) == ((u * v >> 32) + z) & mask
    assert int(integers.imad_high(a, b, c, 0)) == ((x * y >> 32) + z) & mask
    addend = words.pair(c, a)
    assert int(integers.imad_wide(a, b, addend, 1)) & (2**64 - 1) == (u * v + (x << 32 | z)) & (2**64 - 1)
    assert int(integers.imad_wide(a, b, addend, 0)) & (2**64 - 1) == (x * y + (x << 32 | z)) & (2**64 - 1)
    assert int(integers.imnmx(a, b, 1, 1)) == min(u, v) & mask
    assert int(integers.imnmx(a, b, 0, 0)) == max(x, y)
    assert int(integers.shl(a, np.uint32(n), 0)) == (x << n) & mask
    assert int(integers.shl(a, b, 1)) == (x << (y & 31)) & mask
    assert int(integers.shr(a, b, 0, 0)) == x >> min(y, 32)
    assert int(integers.shr(a, b, 0, 1)) == (u >> min(y, 32)) & mask
    assert int(integers.lea(a, b, n & 31, 1)) == (x << (n & 31) & mask) + y + 1
    assert int(integers.popc(a)) == x.bit_count()


@given(any_word, any_word | st.integers(0, 130).map(np.uint32), any_word, *[st.booleans()] * 4)
def test_funnel_shift(low: np.uint32, count: np.uint32, high: np.uint32, wrap: bool, upper: bool, wide: bool, is_signed: bool) -> None:
    """The count of a type of 64 bits ends at 64, of 32 bits at 32: PTX's shl.b64 and shr.u64 shift everything out."""
    size = 64 if wide else 32
    n = int(count) % size if wrap else min(int(count), size)
    value = int(high) << 32 | int(low)
    left = (value << n >> (32 if upper else 0)) & 0xFFFFFFFF
    assert int(integers.shf_left(low, count, high, wrap, upper, size)) == left
    value -= (1 << 64) if is_signed and value >> 63 else 0
    right = (value >> n >> (32 if upper else 0)) & 0xFFFFFFFF
    assert int(integers.shf_right(low, count, high, wrap, upper, size, is_signed)) == right


@given(any_word, any_word, any_word, st.integers(0, 255))
def test_lop3_is_its_table(a: np.uint32, b: np.uint32, c: np.uint32, table: int) -> None:
    result = int(integers.lop3(a, b, c, table))
    for bit in range(32):
        index = (int(a) >> bit & 1) << 2 | (int(b) >> bit & 1) << 1 | int(c) >> bit & 1
        assert result >> bit & 1 == table >> index & 1


@pytest.mark.parametrize(
    ("function", "reference", "samples"),
    [
        (Mufu.RCP, lambda x: 1 / x, (3.0, -0.1, 1e38)),
        (Mufu.RSQ, lambda x: 1 / math.sqrt(x), (3.0, 0.1)),
        (Mufu.SQRT, math.sqrt, (3.0, 0.0, 1e38)),
        (Mufu.EX2, lambda x: 2.0**x, (0.5, -130.5, 100.0)),
        (Mufu.LG2, math.log2, (3.0, 1e-40)),
        (Mufu.SIN, math.sin, (0.5, -3.0)),
        (Mufu.COS, math.cos, (0.5, -3.0)),
        (Mufu.TANH, math.tanh, (0.5, -3.0)),
    ],
)
def test_multi_function_unit(function: Mufu, reference: Callable[[float], float], samples: tuple[float, ...]) -> None:
    for x in samples:
        x32 = np.float32(x)
        expected = reference(float(x32))
        if function == Mufu.LG2 and abs(x32) < 2.0**-126:  # counts as zero
            assert mufu.mufu(function, x32, 0) == -math.inf
        else:
            assert mufu.mufu(function, x32, 0) == pytest.approx(expected, rel=1e-4 if function == Mufu.TANH else 3e-7, abs=2.0**-126)
    assert bits(mufu.mufu(function, np.float32(math.nan), 0)) == CANONICAL


def test_multi_function_unit_at_its_edges() -> None:
    zero, infinity, minus = np.float32(0), np.float32(math.inf), np.float32(-1)
    assert mufu.mufu(Mufu.RCP, -zero, 0) == -math.inf
    assert mufu.mufu(Mufu.LG2, zero, 0) == -math.inf
    assert mufu.mufu(Mufu.RSQ, infinity, 0) == 0
    assert mufu.mufu(Mufu.EX2, infinity, 0) == math.inf
    for function, x in ((Mufu.SQRT, minus), (Mufu.RSQ, minus), (Mufu.LG2, minus), (Mufu.SIN, infinity)):
        assert bits(mufu.mufu(function, x, 0)) == CANONICAL
    assert mufu.mufu(Mufu.COS, np.float32(0.5), 1) == -1
