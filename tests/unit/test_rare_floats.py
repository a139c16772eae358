"""FSET, FCMP, FCHK and scaled products; the division that compilers write, right for every operand."""

import numpy as np
import pytest

from tests.unit.one_instruction import THREADS, compute, floats

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
DIVISION = """
    MUFU.RCP R16, {b}
    FCHK P0, {a}, {b}
    FFMA R17, -{b}, R16, 1
    FFMA R16, R16, R17, R16
    FFMA R17, {a}, R16, RZ
    FFMA R18, -{b}, R17, {a}
    FFMA R17, R16, R18, R17
    FFMA R18, -{b}, R17, {a}
    FFMA {d}, R16, R18, R17
"""


@pytest.mark.parametrize("seed", range(8))
def test_division_is_correctly_rounded_where_fchk_is_false(seed: int) -> None:
    """The fast path as ptxas writes it; where FCHK is true, the program calls its slow path."""
    rng = np.random.default_rng(seed)
    a, b = floats(seed), floats(seed + 100)
    a[::2] = np.ldexp(1 + rng.random(THREADS // 2), rng.integers(-127, 128, THREADS // 2)).astype(np.float32)
    b[::2] = np.ldexp(1 + rng.random(THREADS // 2), rng.integers(-127, 128, THREADS // 2)).astype(np.float32)
    result, slow = compute(DIVISION, a, b)
    fast = slow == 0
    assert fast.sum() > THREADS // 8
    assert result[fast].tolist() == (a / b).view(np.uint32)[fast].tolist()
    awkward = ~np.isfinite(a) | ~np.isfinite(b) | (b == 0) | (np.abs(b) < 2.0**-126)
    assert slow[awkward].all()


def test_ordinary_quotients_do_not_take_the_slow_path() -> None:
    a, b = np.linspace(1e-20, 1e20, THREADS, dtype=np.float32), np.linspace(-7, 9, THREADS, dtype=np.float32)
    assert not compute("FCHK.DIVIDE P0, {a}, {b}", a, b)[1].any()


def test_fchk_depends_on_exponents_as_on_an_h200() -> None:
    exponents = np.array([0, 1, 2, 24, 25, 26, 100, 127, 151, 152, 226, 227, 251, 252, 254, 255], np.uint32)
    a, b = (x.ravel() for x in np.meshgrid(exponents, exponents, indexing="ij"))
    slow = (a < 25) | (a == 255) | (b < 2) | (b > 251)
    slow |= (a.astype(int) - b > 126) | (a.astype(int) - b < -124)
    pad = np.resize(np.arange(len(a)), THREADS)
    for mantissa in (0, 0x7FFFFF, 0x80123456):
        given = [((x[pad] << 23) | np.uint32(mantissa)).view(np.float32) for x in (a, b)]
        assert compute("FCHK P0, {a}, {b}", *given)[1].tolist() == slow[pad].astype(int).tolist()


def test_compare_into_a_register() -> None:
    a, b = floats(1), floats(2)
    b[::3] = a[::3]
    truth = ~(np.abs(a) <= b)
    assert compute("FSET.GTU.AND {d}, |{a}|, {b}, PT", a, b)[0].tolist() == np.where(truth, 0xFFFFFFFF, 0).tolist()
    assert compute("FSET.BF.GTU.AND {d}, |{a}|, {b}, PT", a, b)[0].view(np.float32).tolist() == truth.astype(float).tolist()
    flushed = np.where(np.abs(a) < 2.0**-126, 0, a) == 0
    assert compute("FSET.EQ.FTZ.AND {d}, {a}, RZ, PT", a)[0].tolist() == np.where(flushed, 0xFFFFFFFF, 0).tolist()


def test_select_by_sign() -> None:
    a, b, c = floats(3), floats(4), floats(5)
    expected = np.where(c > 0, a.view(np.uint32), b.view(np.uint32))
    assert compute("FCMP.GT {d}, {a}, {b}, {c}", a, b, c)[0].tolist() == expected.tolist()


@pytest.mark.parametrize(("scale", "factor"), [("D2", 0.5), ("D4", 0.25), ("D8", 0.125), ("M2", 2.0), ("M4", 4.0), ("M8", 8.0)])
def test_scaled_products_round_once(scale: str, factor: float) -> None:
    a, b = floats(6), floats(7)
    expected = (a.astype(np.float64) * b * factor).astype(np.float32)
    result = compute(f"FMUL.{scale} {{d}}, {{a}}, {{b}}", a, b)[0].view(np.float32)
    assert np.array_equal(result, expected, equal_nan=True)
    finite = np.isfinite(expected)
    assert (compute(f"FMUL.{scale}.RM {{d}}, {{a}}, {{b}}", a, b)[0].view(np.float32)[finite] <= expected[finite]).all()


def test_products_below_the_smallest_normal_number_are_flushed_though_rounding_makes_them_normal() -> None:
    """0x3f7fffff * 0x00800000 is 0 with .FTZ on an H200 (a random kernel), 0x00800000 without."""
    a = np.array([0x3F7FFFFF, 0xBF7FFFFF, 0x3F800000, 0x3F800001, 0x3F7FFFFF], np.uint32)
    b = np.array([0x00800000, 0x00800000, 0x00800000, 0x00800000, 0x00800001], np.uint32)
    a, b = np.resize(a, THREADS), np.resize(b, THREADS)
    kept = [0x00800000, 0x80800000, 0x00800000, 0x00800001, 0x00800000]
    assert compute("FMUL {d}, {a}, {b}", a, b)[0][:5].tolist() == kept
    flushed = [0, 0x80000000, *kept[2:]]
    assert compute("FMUL.FTZ {d}, {a}, {b}", a, b)[0][:5].tolist() == flushed
    assert compute("FFMA.FTZ {d}, {a}, {b}, -RZ", a, b)[0][:5].tolist() == flushed
    assert compute("FMUL.RZ.FTZ {d}, {a}, {b}", a, b)[0][4] == 0x00800000
