"""Binary64 against NumPy and exact rationals, NaNs and high-word reciprocals as on an H200."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from isa.semantics.doubles import dfma
from isa.vocabulary import Compare, Rounding
from tests.unit.one_instruction import THREADS, compute, doubles

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
CANONICAL = 0xFFF8 << 48


def bits(values: np.ndarray, *sources: np.ndarray) -> list[int]:
    """Return the bits of results; a NaN is the quiet one of the second source, else the third, else the first, else that of no source."""
    nan = np.full(THREADS, CANONICAL, np.uint64)
    for source in (*sources[:1], *sources[2:], *sources[1:2]):
        nan = np.where(np.isnan(source), source.view(np.uint64) | np.uint64(1 << 51), nan)
    return np.where(np.isnan(values), nan, values.view(np.uint64)).tolist()


def exact_fma(a: float, b: float, c: float) -> float:
    """Return a * b + c from the definition: the rational sum, rounded once."""
    if not all(map(math.isfinite, (a, b, c))):
        return a * b + c if math.isfinite(c) or not (math.isfinite(a) and math.isfinite(b)) else c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c if a * b == 0 and (a == 0 or b == 0) else 0.0
    try:
        return math.copysign(float(exact), 1 if exact > 0 else -1)
    except OverflowError:
        return math.copysign(math.inf, 1 if exact > 0 else -1)


def test_sums_and_products_are_numpys() -> None:
    a, b = doubles(1), doubles(2)
    assert compute("DADD {d}, {a}, {b}", a, b, wide=True)[0].tolist() == bits(a + b, a, b)
    assert compute("DADD {d}, -{a}, |{b}|", a, b, wide=True)[0].tolist() == bits(np.abs(b) - a, a, b)
    assert compute("DMUL {d}, {a}, -{b}", a, b, wide=True)[0].tolist() == bits(a * -b, a, b)
    assert compute("DMUL {d}, {a}, 0.5", a, wide=True)[0].tolist() == bits(a * 0.5, a)
    assert compute("DADD {d}, {a}, 0x3ff00000", a, wide=True)[0].tolist() == bits(a + 1.0, a)
    assert compute("DADD {d}, {a}, -RZ", a, wide=True)[0].tolist() == bits(a + -0.0, a)


def test_fused_multiply_add_rounds_once() -> None:
    a, b, c = doubles(3), doubles(4), doubles(5)
    c[::2] = -(a * b)[::2]  # what is left is the rounding error of the product
    result = compute("DFMA {d}, {a}, {b}, {c}", a, b, c, wide=True)[0]
    exact = np.array([exact_fma(*row) for row in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)])
    assert result.tolist() == bits(exact, a, b, c)
    python = np.array([dfma(*row) for row in zip(a, b, c, strict=True)])
    assert result.tolist() == bits(python, a, b, c)
    negated = compute("DFMA {d}, -{a}, {b}, |{c}|", a, b, c, wide=True)[0]
    exact = np.array([exact_fma(-x, y, abs(z)) for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)])
    assert negated.tolist() == bits(exact, a, b, c)


SUFFIXES = {Rounding.DOWN: ".RM", Rounding.UP: ".RP", Rounding.ZERO: ".RZ"}


def check_bracket(exact: Fraction, value: float, mode: Rounding) -> None:
    """Check that the value is the number next to the exact one in a direction."""
    at_most = mode == Rounding.DOWN or (mode == Rounding.ZERO and exact > 0)
    if math.isinf(value):
        assert (value > 0) != at_most
        assert abs(exact) > Fraction(1.7976931348623157e308)
        return
    neighbour = math.nextafter(value, math.inf if at_most else -math.inf)
    assert value <= exact if at_most else value >= exact
    assert value == exact or (neighbour > exact if at_most else neighbour < exact)


@pytest.mark.parametrize("mode", SUFFIXES)
def test_directed_sums_bracket_the_exact_value(mode: Rounding) -> None:
    a, b = doubles(6), doubles(7)
    result = compute(f"DADD{SUFFIXES[mode]} {{d}}, {{a}}, {{b}}", a, b, wide=True)[0].view(float)
    for x, y, value in zip(a.tolist(), b.tolist(), result.tolist(), strict=True):
        if not (math.isfinite(x) and math.isfinite(y)):
            continue
        exact = Fraction(x) + Fraction(y)
        check_bracket(exact, value, mode)
        if exact == 0 and (x != 0 or math.copysign(1, x) != math.copysign(1, y)):
            assert math.copysign(1, value) == (-1 if mode == Rounding.DOWN else 1)


def scaled(seed: int) -> np.ndarray:
    """Return float64 whose products are normal, subnormal, too large and too small."""
    random = np.random.default_rng(seed)
    return np.ldexp(random.uniform(-2, 2, THREADS), random.choice([-600, -540, -530, -30, 0, 30, 500, 513], THREADS))


@pytest.mark.parametrize("mode", SUFFIXES)
@pytest.mark.parametrize("numbers", [doubles, scaled])
def test_directed_products_bracket_the_exact_value(mode: Rounding, numbers: Callable[[int], np.ndarray]) -> None:
    """The slow path of float64 division ends in DMUL.RP."""
    a, b = numbers(8), numbers(9)
    result = compute(f"DMUL{SUFFIXES[mode]} {{d}}, {{a}}, {{b}}", a, b, wide=True)[0].view(float)
    for x, y, value in zip(a.tolist(), b.tolist(), result.tolist(), strict=True):
        if math.isfinite(x) and math.isfinite(y):
            check_bracket(Fraction(x) * Fraction(y), value, mode)
        else:
            assert np.array_equal(value, np.float64(x) * y, equal_nan=True)


@pytest.mark.parametrize("mode", SUFFIXES)
@pytest.mark.parametrize("numbers", [doubles, scaled])
def test_directed_fused_multiply_adds_bracket_the_exact_value(mode: Rounding, numbers: Callable[[int], np.ndarray]) -> None:
    """That of the square root tries the neighbours by DFMA.RM and DFMA.RP."""
    a, b, c = numbers(10), numbers(11), numbers(12)
    c[::3] = -(a * b)[::3]
    c[1::9] = 0.0
    result = compute(f"DFMA{SUFFIXES[mode]} {{d}}, {{a}}, {{b}}, {{c}}", a, b, c, wide=True)[0].view(float)
    for x, y, z, value in zip(a.tolist(), b.tolist(), c.tolist(), result.tolist(), strict=True):
        if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
            assert np.array_equal(value, exact_fma(x, y, z), equal_nan=True)
            continue
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        check_bracket(exact, value, mode)
        if exact == 0 and math.copysign(1, x) * math.copysign(1, y) != math.copysign(1, z):
            assert math.copysign(1, value) == (-1 if mode == Rounding.DOWN else 1)


@pytest.mark.parametrize("compare", Compare)
def test_compare(compare: Compare) -> None:
    a, b = doubles(8), doubles(9)
    b[::3] = a[::3]
    unordered = np.isnan(a) | np.isnan(b)
    ordered = {"LT": a < b, "EQ": a == b, "LE": a <= b, "GT": a > b, "NE": (a < b) | (a > b), "GE": a >= b}
    named = {"F": a != a + np.nan, "T": unordered | True, "NUM": ~unordered, "NAN": unordered} | ordered
    named["F"] = np.zeros(THREADS, bool)
    expected = named[compare.name] if compare.name in named else ordered[compare.name.removesuffix("U")] | unordered
    assert compute(f"DSETP.{compare.name}.AND P0, P1, {{a}}, {{b}}, PT", a, b)[1].tolist() == np.where(expected, 1, 2).tolist()


def test_minimum_and_maximum() -> None:
    a, b = doubles(10), doubles(11)
    for choice, function in (("PT", np.fmin), ("!PT", np.fmax)):
        result = compute(f"DMNMX {{d}}, {{a}}, {{b}}, {choice}", a, b, wide=True)[0].view(float)
        assert np.array_equal(result, function(a, b), equal_nan=True)
    zeros = compute("DMNMX {d}, {a}, {b}, PT", np.zeros(THREADS), np.full(THREADS, -0.0), wide=True)[0]
    assert set(zeros.tolist()) == {1 << 63}


def test_reciprocals_of_high_words() -> None:
    """An H200's: results are cut off, NaN is 0x7fffffff as of float32."""
    edges = {"RCP64H": {0: 0x7FF00000, 0x80000001: 0xFFF00000, 0x7FF00000: 0, 0xFFF00000: 0x80000000, 0x7FF00001: 0x7FFFFFFF}}
    edges["RCP64H"] |= {0x3FF00000: 0x3FF00000, 0x3FF00001: 0x3FEFFFFE, 0x3FFFFFFF: 0x3FE00000, 0x3FFFFFFE: 0x3FE00001}
    edges["RSQ64H"] = {0: 0x7FF00000, 0x80000000: 0xFFF00000, 0x7FF00000: 0, 0xBFF00000: 0x7FFFFFFF, 0x3FF00000: 0x3FF00000}
    x = doubles(12)
    high = (x.view(np.uint64) >> np.uint64(32)).astype(np.uint32)
    cut = (high.astype(np.uint64) << np.uint64(32)).view(float)
    for name, exact in (("RCP64H", 1.0 / cut), ("RSQ64H", 1.0 / np.sqrt(cut))):
        result = (compute(f"MUFU.{name} {{d}}, {{a}}", high)[0].astype(np.uint64) << np.uint64(32)).view(float)
        normal = (np.abs(cut) >= 2.0**-1022) & np.isfinite(exact) & (np.abs(exact) >= 2.0**-1022)
        assert (np.abs(result[normal] / exact[normal] - 1) < 2.0**-19).all()
        given = np.resize(np.array(list(edges[name]), np.uint32), THREADS)
        assert compute(f"MUFU.{name} {{d}}, {{a}}", given)[0][: len(edges[name])].tolist() == list(edges[name].values())


def test_nans_are_an_h200s() -> None:
    """Quiet, with their own sign and payload; a sign or magnitude asked for does not touch them. DSETP.MIN of two NaNs names the second."""
    nan = np.full(THREADS, 0xFFF4000012345678, np.uint64).view(float)
    other = np.full(THREADS, 0x7FF0000000000001, np.uint64).view(float)
    one = np.ones(THREADS)
    quiet, other_quiet = 0xFFFC000012345678, 0x7FF8000000000001
    for text, sources, expected in (
        ("DADD {d}, {a}, -{b}", (one, nan), quiet),
        ("DADD {d}, -RZ, |{a}|", (nan,), quiet),
        ("DADD.RP {d}, {a}, {b}", (nan, other), other_quiet),
        ("DMUL.RM {d}, -{a}, {b}", (nan, other), other_quiet),
        ("DFMA {d}, {a}, {b}, {c}", (nan, other, nan), other_quiet),
        ("DFMA {d}, {a}, {b}, {c}", (one, one, other), other_quiet),
        ("DADD {d}, {a}, -{a}", (one * np.inf,), CANONICAL),
    ):
        assert set(compute(text, *sources, wide=True)[0].tolist()) == {expected}, text
    assert set(compute("DSETP.MIN.AND P0, P1, {a}, {b}, PT", nan, other)[1].tolist()) == {2}
    assert set(compute("DSETP.MAX.AND P0, P1, {a}, {b}, PT", one, other)[1].tolist()) == {1}


def test_immediates_of_float64_are_high_words() -> None:
    """The disassembler prints the double whose low word is 0: what takes a float64 or its high word takes that number's high word."""
    x = np.float64(3.0999984741210938)  # what a compiler leaves of a division by 3.1
    high = np.full(THREADS, int(x.view(np.uint64)) >> 32, np.uint32)
    for name in ("RCP64H", "RSQ64H"):
        for sign in ("", "-"):
            given = high ^ np.uint32(0x80000000 if sign else 0)
            expected = compute(f"MUFU.{name} {{d}}, {{a}}", given)[0]
            assert compute(f"MUFU.{name} {{d}}, {sign}3.0999984741210938", high)[0].tolist() == expected.tolist()
    words = np.full(THREADS, x)
    for spelling, wide in (("F2I.F64.TRUNC", False), ("F2I.S64.F64.CEIL", True), ("F2F.F32.F64", False), ("FRND.F64.FLOOR", True)):
        expected = compute(f"{spelling} {{d}}, {{a}}", words, wide=wide)[0]
        assert compute(f"{spelling} {{d}}, 3.0999984741210938", words, wide=wide)[0].tolist() == expected.tolist()
    for text in ("DADD {d}, {a}, %", "DMUL {d}, {a}, %", "DFMA {d}, {a}, {a}, %", "DFMA {d}, {a}, %, {b}", "DMNMX {d}, {a}, %, PT"):
        assert (
            compute(text.replace("%", "-3.0999984741210938"), doubles(14), words, wide=True)[0].tolist()
            == compute(text.replace("%", "{c}"), doubles(14), words, -words, wide=True)[0].tolist()
        )
    assert (
        compute("DSETP.LT.AND P0, P1, {a}, 3.0999984741210938, PT", doubles(15))[1].tolist()
        == compute("DSETP.LT.AND P0, P1, {a}, {b}, PT", doubles(15), words)[1].tolist()
    )
