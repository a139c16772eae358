"""Conversions between every pair of number types, against NumPy and exact rationals."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.unit.one_instruction import THREADS, compute, doubles, floats, words

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
ROUND = {"": round, ".RM": math.floor, ".RP": math.ceil, ".RZ": math.trunc}
WHOLE = {".ROUND": round, ".FLOOR": math.floor, ".CEIL": math.ceil, ".TRUNC": math.trunc}
FLOAT = {"F16": np.float16, "F32": np.float32, "F64": np.float64}
INTEGER = {f"{sign}{size}": np.dtype(f"{'i' if sign == 'S' else 'u'}{size // 8}").type for sign in "SU" for size in (8, 16, 32, 64)}
HALVES = np.arange(1 << 16, dtype=np.uint16)


def source(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the register words (uint32, or uint64 for pairs) and the values that they hold in the type."""
    wide = kind.endswith("64")
    if kind == "F64":
        raw = doubles(seed).view(np.uint64)
    elif kind == "F32":
        raw = floats(seed).view(np.uint32)
    elif wide:
        rng = np.random.default_rng(seed)
        raw = rng.integers(0, 1 << 64, THREADS, dtype=np.uint64) >> rng.integers(0, 64, THREADS, dtype=np.uint64)
        raw[::3] = -raw[::3].view(np.int64)
    else:
        raw = words(seed)
    dtype = np.dtype((FLOAT | INTEGER)[kind])
    return raw, raw.view(dtype).reshape(THREADS, -1)[:, 0]


def nearest(value: Fraction, kind: str, rounding: str) -> float:
    """Return the float of a type nearest to a rational in a direction, from the definition."""
    digits, lowest, highest = {"F16": (11, -14, 15), "BF16": (8, -126, 127), "F32": (24, -126, 127), "F64": (53, -1022, 1023)}[kind]
    if value == 0:
        return 0.0
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    exponent = max(exponent - (abs(value) < Fraction(2) ** exponent), lowest)
    step = Fraction(2) ** (exponent - digits + 1)
    result = ROUND[rounding](value / step) * step
    if abs(result) >= Fraction(2) ** (highest + 1):
        outward = rounding in ("", ".RP" if value > 0 else ".RM")
        return math.copysign(math.inf, value) if outward else math.copysign((2 - 2.0 ** (1 - digits)) * 2.0**highest, value)
    return math.copysign(float(result), value)


def bits_of(value: float, kind: str) -> int:
    if kind == "BF16":
        return 0x7FFF if math.isnan(value) else int(np.float32(value).view(np.uint32)) >> 16
    if math.isnan(value):
        return {"F16": 0x7FFF, "F32": 0x7FFFFFFF, "F64": 0xFFF8 << 48}[kind]
    return int.from_bytes(FLOAT[kind](value).tobytes(), "little")


@pytest.mark.parametrize("rounding", ROUND)
@pytest.mark.parametrize("target", ["F16", "BF16", "F32", "F64"])
@pytest.mark.parametrize("kind", INTEGER)
def test_integers_to_floats(kind: str, target: str, rounding: str) -> None:
    raw, values = source(kind, 1)
    result, _ = compute(f"I2F.{target}.{kind}{rounding} {{d}}, {{a}}", raw, wide=target == "F64")
    for value, got in zip(values.tolist()[:300], result.tolist(), strict=False):
        assert got == bits_of(nearest(Fraction(value), target, rounding), target)


def test_bytes_halves_and_signs_of_integers() -> None:
    a = words(2)
    for number in range(4):
        result = compute(f"I2F.U8 {{d}}, {{a}}.B{number}", a)[0].view(np.float32)
        assert result.tolist() == (a.view(np.uint8).reshape(-1, 4)[:, number]).astype(float).tolist()
    assert compute("I2F.S16 {d}, {a}.H1", a)[0].view(np.float32).tolist() == a.view(np.int16)[1::2].astype(float).tolist()
    magnitude = np.abs(a.view(np.int32).astype(np.int64))
    assert compute("I2FP.F32.U32 {d}, |{a}|", a)[0].view(np.float32).tolist() == magnitude.astype(np.float32).tolist()
    assert compute("I2I.S32.S32 {d}, -|{a}|", a)[0].tolist() == (-magnitude & 0xFFFFFFFF).tolist()
    assert compute("I2I.U8.S32.SAT {d}, {a}", a)[0].tolist() == np.clip(a.view(np.int32), 0, 255).tolist()
    assert compute("I2I.S16.S32 {d}, {a}", a)[0].view(np.int32).tolist() == a.view(np.int16)[::2].tolist()


@pytest.mark.parametrize("rounding", ["", ".FLOOR", ".CEIL", ".TRUNC"])
@pytest.mark.parametrize("target", INTEGER)
@pytest.mark.parametrize("kind", FLOAT)
def test_floats_to_integers(kind: str, target: str, rounding: str) -> None:
    raw, values = source(kind, 3)
    size, is_signed = int(target[1:]), target[0] == "S"
    lowest, highest = (-(1 << size - 1), (1 << size - 1) - 1) if is_signed else (0, (1 << size) - 1)
    result, _ = compute(f"F2I.{target}.{kind}{rounding} {{d}}, {{a}}", raw, wide=size == 64)
    for value, got in zip(values.tolist(), result.tolist(), strict=True):
        if math.isnan(value):
            expected = 0 if size < 64 and kind != "F64" else 1 << (size - 1)
        elif math.isinf(value):
            expected = highest if value > 0 else lowest
        else:
            expected = min(max({"": round, **WHOLE}[rounding](value), lowest), highest)
        assert got == expected & (2**64 - 1 if size == 64 else 0xFFFFFFFF)


def test_nan_is_zero_where_that_is_asked_for() -> None:
    nan = np.full(THREADS, np.nan)
    assert not compute("F2I.S64.F64.TRUNC.NTZ {d}, {a}", nan, wide=True)[0].any()
    assert not compute("F2I.FTZ.U32.F32.TRUNC.NTZ {d}, {a}", nan.astype(np.float32))[0].any()


@pytest.mark.parametrize("rounding", ROUND)
@pytest.mark.parametrize(("kind", "target"), [(kind, target) for kind in FLOAT for target in (*FLOAT, "BF16") if kind != target])
def test_floats_to_floats(kind: str, target: str, rounding: str) -> None:
    raw, values = source(kind, 4)
    result, _ = compute(f"F2F.{target}.{kind}{rounding} {{d}}, {{a}}", raw, wide=target == "F64")
    for value, got in zip(values.tolist()[:400], result.tolist(), strict=False):
        if math.isnan(value) and "F64" in (kind, target):
            continue  # below
        special = value == 0 or not math.isfinite(value)
        assert got == bits_of(value if special else nearest(Fraction(value), target, rounding), target)


def test_halves_and_back() -> None:
    for start in range(0, 1 << 16, 3 * THREADS):
        part = HALVES[start : start + THREADS]
        single = compute("F2F.F32.F16 {d}, {a}", part.astype(np.uint32))[0].view(np.float32)
        number = ~np.isnan(part.view(np.float16))
        assert np.array_equal(single[number].view(np.uint32), part.view(np.float16).astype(np.float32)[number].view(np.uint32))
        assert np.array_equal(compute("F2F.F16.F32 {d}, {a}", single)[0][number], part[number])


@pytest.mark.parametrize("kind", ["F32", "F64"])
@pytest.mark.parametrize("mode", WHOLE)
def test_rounding_to_whole_numbers(kind: str, mode: str) -> None:
    raw, values = source(kind, 5)
    name = f"FRND.{kind}{mode}" if kind == "F64" else f"FRND{mode}"
    functions = {".ROUND": np.rint, ".FLOOR": np.floor, ".CEIL": np.ceil, ".TRUNC": np.trunc}
    expected = [bits_of(x, kind) for x in functions[mode](values).tolist()]
    if kind == "F64":  # NaNs stay, made quiet
        expected = [int(bits) | 1 << 51 if math.isnan(x) else known for x, bits, known in zip(values, raw, expected, strict=True)]
    assert compute(f"{name} {{d}}, {{a}}", raw, wide=kind == "F64")[0].tolist() == expected
    assert compute(f"F2F.{kind}.{kind}{mode} {{d}}, {{a}}", raw, wide=kind == "F64")[0].tolist() == expected


def test_nans_from_and_to_float64_keep_their_bits() -> None:
    """Results of an H200: the sign and the highest bits stay, and a NaN is made quiet; between smaller floats there is one NaN."""
    for spelling, given, expected in (
        ("F2F.F64.F32", 0xFF800001, 0xFFF8000020000000),
        ("F2F.F64.F32", 0x7FA12345, 0x7FFC2468A0000000),
        ("F2F.F64.F16", 0x7C01, 0x7FF8040000000000),
        ("F2F.F64.F16", 0xFF7F, 0xFFFDFC0000000000),
        ("F2F.F32.F64", 0xFFF0000000000001, 0xFFC00000),
        ("F2F.F32.F64", 0xFFF4000012345678, 0xFFE00000),
        ("F2F.F16.F64", 0x7FF4000012345678, 0x7F00),
        ("F2F.F16.F64", 0xFFF0000000000001, 0xFE00),
        ("F2F.F32.F16", 0xFF4B, 0x7FFFFFFF),
    ):
        wide = spelling.endswith("F64")
        a = np.full(THREADS, given, np.uint64 if wide else np.uint32)
        result = compute(f"{spelling} {{d}}, {{a}}", a, wide=".F64." in spelling)[0]
        assert set(result.tolist()) == {expected}, spelling


def test_rounding_bfloat16_to_whole_numbers() -> None:
    raw = floats(8).view(np.uint32) >> 16
    values = (raw << 16).view(np.float32)
    number = ~np.isnan(values)
    found = compute("FRND.BF16 {d}, {a}", raw)[0]
    assert np.array_equal((found << 16).view(np.float32)[number], np.rint(values[number]))


def test_packing_two_halves() -> None:
    a, b = floats(6), floats(7)
    for name, kind in (("F2FP.F16.F32.PACK_AB", "F16"), ("F2FP.BF16.F32.PACK_AB", "BF16")):
        for x, y, got in zip(a.tolist(), b.tolist(), compute(f"{name} {{d}}, {{a}}, -{{b}}", a, b)[0].tolist(), strict=True):
            halves = [bits_of(v if v == 0 or not math.isfinite(v) else nearest(Fraction(v), kind, ""), kind) for v in (x, -y)]
            assert got == halves[0] << 16 | halves[1]


def test_numbers_in_the_instruction_are_of_the_sources_type() -> None:
    none = np.zeros(1, np.uint32)
    for text, expected in (("FRND.F16.CEIL {d}, 0.24365234375", 0x3C00), ("FRND.BF16.FLOOR {d}, -1.5", 0xC000), ("F2I.F16 {d}, -2.5", -2)):
        assert compute(text, none)[0][0] & 0xFFFF == expected & 0xFFFF
    assert compute("I2F.U64.RP {d}, 0x80000000", none)[0][0] == 0x5F000000  # the high word of 2**63, as in a division by it


def test_flushing_and_signs() -> None:
    a = floats(8)
    result = compute("F2F.FTZ.F32.F32 {d}, -|{a}|", a)[0].view(np.float32)
    expected = -np.abs(np.where(np.abs(a) < 2.0**-126, 0, a))
    assert np.array_equal(result, expected, equal_nan=True)
    assert compute("F2F.F32.F32.SAT {d}, {a}", a)[0].view(np.float32).tolist() == np.clip(np.nan_to_num(a, nan=0.0), 0, 1).tolist()
    assert np.array_equal(compute("RRO.SINCOS {d}, {a}", a)[0].view(np.float32), a, equal_nan=True)
