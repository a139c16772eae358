"""Arithmetic on two halves at once against exact rationals, binary16 also against NumPy."""

import math
from fractions import Fraction

import numpy as np
import pytest

from isa.vocabulary import Compare
from tests.unit.one_instruction import THREADS, compute
from tests.unit.test_conversions import bits_of, nearest

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
EDGES = {"F16": [0, 1, 0x3FF, 0x400, 0x3C00, 0x7BFF, 0x7C00, 0x7E00], "BF16": [0, 1, 0x7F, 0x80, 0x3F80, 0x7F7F, 0x7F80, 0x7FC0]}


def operands(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return words of two halves each, and the halves' values (float64 [THREADS, 2]: low, high)."""
    rng = np.random.default_rng(seed)
    halves = rng.integers(0, 1 << 16, (THREADS, 2)).astype(np.uint16)
    near = (EDGES[kind][4] + rng.integers(-400, 400, (THREADS, 2))).astype(np.uint16)
    edges = (rng.choice(EDGES[kind], (THREADS, 2)) | rng.choice([0, 0x8000], (THREADS, 2))).astype(np.uint16)
    halves = np.choose(rng.integers(0, 3, (THREADS, 2)), [halves, near, edges])
    values = halves.view(np.float16) if kind == "F16" else (halves.astype(np.uint32) << 16).view(np.float32)
    return halves.view(np.uint32)[:, 0], values.astype(np.float64)


def once(a: float, b: float, c: float, kind: str) -> int:
    """Return the bits of a * b + c rounded once."""
    if not all(map(math.isfinite, (a, b, c))):
        return bits_of(a * b + c if math.isfinite(c) or not math.isfinite(a * b) else c, kind)
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return bits_of(nearest(exact, kind, ""), kind) if exact else bits_of(a * b + c, kind)


def joined(low: list[int], high: list[int]) -> list[int]:
    return [y << 16 | x for x, y in zip(low, high, strict=True)]


def rows(a: np.ndarray, b: np.ndarray, c: np.ndarray, half: int, kind: str) -> list[int]:
    return [once(*row, kind) for row in zip(a[:, half].tolist(), b[:, half].tolist(), c[:, half].tolist(), strict=True)]


@pytest.mark.parametrize("kind", ["F16", "BF16"])
def test_arithmetic_rounds_once(kind: str) -> None:
    (a, x), (b, y), (c, z) = operands(kind, 1), operands(kind, 2), operands(kind, 3)
    suffix, one = ".BF16_V2" if kind == "BF16" else "", np.ones_like(x)
    assert compute(f"HFMA2{suffix} {{d}}, {{a}}, {{b}}, {{c}}", a, b, c)[0].tolist() == joined(
        rows(x, y, z, 0, kind), rows(x, y, z, 1, kind)
    )
    assert compute(f"HADD2{suffix} {{d}}, {{a}}, {{b}}", a, b)[0].tolist() == joined(rows(x, one, y, 0, kind), rows(x, one, y, 1, kind))
    product = joined(
        *(
            [bits_of(v, kind) if not math.isfinite(v) or v == 0 else bits_of(nearest(Fraction(v), kind, ""), kind) for v in (x * y)[:, k]]
            for k in (0, 1)
        )
    )
    assert compute(f"HMUL2{suffix} {{d}}, {{a}}, {{b}}", a, b)[0].tolist() == product


def test_numpys_halves_agree() -> None:
    (a, _), (b, _) = operands("F16", 4), operands("F16", 5)
    x, y = a.view(np.float16), b.view(np.float16)
    for name, expected in (("HADD2", x + y), ("HMUL2", x * y)):
        got = compute(f"{name} {{d}}, {{a}}, {{b}}", a, b)[0].view(np.float16)
        assert np.array_equal(got, expected, equal_nan=True)
        assert np.array_equal(np.signbit(got[~np.isnan(got)]), np.signbit(expected[~np.isnan(got)]))


def test_halves_are_chosen_negated_and_made_absolute() -> None:
    (a, x), (b, y) = operands("F16", 6), operands("F16", 7)
    got = compute("HADD2 {d}, -{a}.H0_H0, |{b}|.H1_H1", a, b)[0].view(np.float16).reshape(-1, 2)
    expected = (np.abs(y[:, 1]) - x[:, 0]).astype(np.float16)
    assert np.array_equal(got[:, 0], expected, equal_nan=True)
    assert np.array_equal(got[:, 1], expected, equal_nan=True)


def test_immediates_and_constant_moves() -> None:
    a, x = operands("F16", 8)
    assert compute("HFMA2.MMA {d}, -RZ, RZ, 1.9375, 0", a)[0][0] == 0x3FC00000
    assert compute("HFMA2 {d}, -RZ, RZ, 0, 2.384185791015625e-07", a)[0][0] == 4
    assert compute("HFMA2.BF16_V2 {d}, -RZ, RZ, 1, 2", a)[0][0] == 0x3F804000
    got = compute("HADD2 {d}, {a}, 2, -1", a)[0].view(np.float16).reshape(-1, 2)
    assert np.array_equal(got, (x + np.array([-1, 2])).astype(np.float16), equal_nan=True)


def test_single_results_saturation_and_flushing() -> None:
    (a, x), (b, y) = operands("F16", 9), operands("F16", 10)
    single = compute("HADD2.F32 {d}, -RZ, {a}.H1_H1", a)[0].view(np.float32)
    assert np.array_equal(single, x[:, 1].astype(np.float32), equal_nan=True)
    clamped = compute("HADD2.SAT {d}, {a}, {b}", a, b)[0].view(np.float16).reshape(-1, 2)
    assert np.array_equal(clamped, np.clip(np.nan_to_num((x + y), nan=0.0), 0, 1).astype(np.float16))
    flushed = compute("HMUL2.FTZ {d}, {a}, {b}", a, b)[0].view(np.float16).reshape(-1, 2)
    inputs = [np.where(np.abs(v) < 2.0**-14, 0 * v, v) for v in (x, y)]
    product = (inputs[0] * inputs[1]).astype(np.float16)
    assert np.array_equal(flushed, np.where(np.abs(product) < np.float16(2.0**-14), np.float16(0) * product, product), equal_nan=True)


@pytest.mark.parametrize("compare", ["LT", "EQ", "GE", "NEU", "NUM", "NAN"])
def test_compares(compare: str) -> None:
    (a, x), (b, y) = operands("F16", 11), operands("F16", 12)
    y[::3], b[::3] = x[::3], a[::3]
    nan = np.isnan(x) | np.isnan(y)
    truth = {"LT": x < y, "EQ": x == y, "GE": x >= y, "NEU": ~(x == y), "NUM": ~nan, "NAN": nan}[compare]
    assert compare in Compare.__members__
    flags = compute(f"HSETP2.{compare}.AND P0, P1, {{a}}, {{b}}, PT", a, b)[1]
    assert flags.tolist() == (truth[:, 0] + 2 * truth[:, 1]).tolist()
    both = compute(f"HSETP2.H_AND.{compare}.AND P0, P1, {{a}}, {{b}}, PT", a, b)[1]
    assert both.tolist() == np.where(truth.all(axis=1), 1, 2).tolist()
    masks = compute(f"HSET2.{compare}.AND {{d}}, {{a}}, {{b}}, PT", a, b)[0].view(np.uint16).reshape(-1, 2)
    assert masks.tolist() == (truth * 0xFFFF).tolist()
    ones = compute(f"HSET2.BF.{compare}.AND {{d}}, {{a}}, {{b}}, PT", a, b)[0].view(np.float16).reshape(-1, 2)
    assert ones.tolist() == truth.astype(float).tolist()


def test_minimum_and_maximum() -> None:
    (a, x), (b, y) = operands("F16", 13), operands("F16", 14)
    for choice, function, keeping in (("PT", np.fmin, np.minimum), ("!PT", np.fmax, np.maximum)):
        got = compute(f"HMNMX2 {{d}}, {{a}}, {{b}}, {choice}", a, b)[0].view(np.float16).reshape(-1, 2)
        assert np.array_equal(got, function(x, y).astype(np.float16), equal_nan=True)
        kept = compute(f"HMNMX2.NAN {{d}}, {{a}}, {{b}}, {choice}", a, b)[0].view(np.float16).reshape(-1, 2)
        assert np.array_equal(kept, keeping(x, y).astype(np.float16), equal_nan=True)


def test_what_is_small_is_flushed_as_on_an_h200() -> None:
    """Rounded with any exponent, (1 - 2**-11) * 2**-14 is subnormal, (1 - 2**-12) * 2**-14 is not; -0 is no result of .RELU."""
    smallest = np.full(THREADS, 0x0400, np.uint32)
    assert set(compute("HMUL2.FTZ {d}, {a}, {b}", smallest, np.full(THREADS, 0x3BFF, np.uint32))[0].tolist()) == {0}
    assert set(compute("HMUL2 {d}, {a}, {b}", smallest, np.full(THREADS, 0x3BFF, np.uint32))[0].tolist()) == {0x400}
    nearly = compute("HFMA2.FTZ {d}, {a}, {b}, {c}", smallest, np.full(THREADS, 0x3C00, np.uint32), np.full(THREADS, 0x8000, np.uint32))
    assert set(nearly[0].tolist()) == {0x400}
    minus = np.full(THREADS, 0x80008000, np.uint32)
    assert set(compute("HFMA2.RELU {d}, {a}, {b}, {c}", minus, smallest, minus)[0].tolist()) == {0}
