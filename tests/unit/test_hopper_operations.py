"""Minima of three, of halves and with .RELU, packed integers and small floats, carries of PT, negated products: against NumPy."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.unit.one_instruction import compute, doubles, floats, words

A, B, C = words(11), words(12), words(13)
X, Y, Z = floats(14), floats(15), floats(16)


def signed(x: np.ndarray) -> np.ndarray:
    return x.view(np.int32).astype(np.int64)


def halves(x: np.ndarray, is_signed: bool) -> np.ndarray:
    """Return int64 [2, n]: the low and the high halves."""
    return x.view(np.int16 if is_signed else np.uint16).reshape(-1, 2).T.astype(np.int64)


def joined(x: np.ndarray) -> np.ndarray:
    return ((x[0] & 0xFFFF) | (x[1] & 0xFFFF) << 16).astype(np.uint32)


@pytest.mark.parametrize(("predicate", "pick"), [("PT", np.minimum), ("!PT", np.maximum)])
@pytest.mark.parametrize("relu", ["", ".RELU"])
def test_minima_and_maxima_of_words(predicate: str, pick: np.ufunc, relu: str) -> None:
    def finished(x: np.ndarray) -> list[int]:
        return ((np.maximum(x, 0) if relu else x) & 0xFFFFFFFF).tolist()

    a, b, c = signed(A), signed(B), signed(C)
    assert compute(f"VIMNMX{relu} {{d}}, {{a}}, {{b}}, {predicate}", A, B)[0].tolist() == finished(pick(a, b))
    assert compute(f"VIMNMX3{relu} {{d}}, {{a}}, {{b}}, {{c}}, {predicate}", A, B, C)[0].tolist() == finished(pick(pick(a, b), c))
    total = (a + b & 0xFFFFFFFF).astype(np.uint32).view(np.int32).astype(np.int64)
    assert compute(f"VIADDMNMX{relu} {{d}}, {{a}}, {{b}}, {{c}}, {predicate}", A, B, C)[0].tolist() == finished(pick(total, c))
    if not relu:
        unsigned = pick(pick(A, B), C).tolist()
        assert compute(f"VIMNMX3.U32 {{d}}, {{a}}, {{b}}, {{c}}, {predicate}", A, B, C)[0].tolist() == unsigned


@pytest.mark.parametrize(("predicate", "pick"), [("PT", np.minimum), ("!PT", np.maximum)])
@pytest.mark.parametrize("kind", [".S16x2", ".S16x2.RELU", ".U16x2"])
def test_minima_and_maxima_of_halves(predicate: str, pick: np.ufunc, kind: str) -> None:
    is_signed = "S" in kind
    a, b, c = (halves(x, is_signed) for x in (A, B, C))

    def finished(x: np.ndarray) -> list[int]:
        return joined(np.maximum(x, 0) if "RELU" in kind else x).tolist()

    total = halves(joined(a + b), is_signed)
    assert compute(f"VIMNMX{kind} {{d}}, {{a}}, {{b}}, {predicate}", A, B)[0].tolist() == finished(pick(a, b))
    assert compute(f"VIMNMX3{kind} {{d}}, {{a}}, {{b}}, {{c}}, {predicate}", A, B, C)[0].tolist() == finished(pick(pick(a, b), c))
    assert compute(f"VIADDMNMX{kind} {{d}}, {{a}}, {{b}}, {{c}}, {predicate}", A, B, C)[0].tolist() == finished(pick(total, c))


@pytest.mark.parametrize(("predicate", "pick", "end"), [("PT", np.fmin, np.inf), ("!PT", np.fmax, -np.inf)])
def test_minima_and_maxima_of_three_floats(predicate: str, pick: np.ufunc, end: float) -> None:
    found = compute(f"FMNMX3 {{d}}, {{a}}, {{b}}, {{c}}, {predicate}", X, Y, Z)[0].view(np.float32)
    np.testing.assert_array_equal(found, pick(pick(X, Y), Z))
    found = compute(f"FMNMX3.NAN {{d}}, {{a}}, {{b}}, {{c}}, {predicate}", X, Y, Z)[0].view(np.float32)
    with np.errstate(invalid="ignore"):
        expected = np.where(np.isnan(X) | np.isnan(Y) | np.isnan(Z), np.nan, pick(pick(X, Y), Z))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("kind", "bits", "lowest", "highest"), [("S8", 8, -128, 127), ("U8", 8, 0, 255), ("S16", 16, -32768, 32767)])
def test_packed_integers(kind: str, bits: int, lowest: int, highest: int) -> None:
    a, b = (np.clip(signed(x), lowest, highest) & (1 << bits) - 1 for x in (A, B))
    expected = a << bits | b | (C.astype(np.int64) << 16 if bits == 8 else 0)
    assert compute(f"I2IP.{kind}.S32.SAT {{d}}, {{a}}, {{b}}, {{c}}", A, B, C)[0].tolist() == (expected & 0xFFFFFFFF).tolist()
    if bits == 8:
        expected = a << bits | b | (C & 0xFFFF0000)
        assert compute(f"I2IP.{kind}.S32.SAT {{d}}, {{a}}, {{b}}, {{c}}.H1", A, B, C)[0].tolist() == expected.tolist()


def tiny(kind: str) -> np.ndarray:
    """Return the 256 values of a float of 8 bits, by its definition."""
    codes = np.arange(256)
    mantissa, bias = (3, 7) if kind == "E4M3" else (2, 15)
    exponent, fraction = codes >> mantissa & (0x7F >> mantissa), codes & (1 << mantissa) - 1
    normal = (1 + fraction / (1 << mantissa)) * 2.0 ** (exponent - bias)
    value = np.where(exponent == 0, fraction / (1 << mantissa) * 2.0 ** (1 - bias), normal)
    value[codes & 0x7F == 0x7F] = np.nan
    if kind == "E5M2":
        value[codes & 0x7F == 0x7C], value[codes & 0x7F > 0x7C] = np.inf, np.nan
    return np.where(codes & 0x80, -value, value)


@pytest.mark.parametrize("kind", ["E4M3", "E5M2"])
def test_small_floats_are_unpacked_exactly_and_rounded_to_the_nearest(kind: str) -> None:
    table = tiny(kind)
    packed = np.resize(np.arange(65536, dtype=np.uint32), 1024 * 64).reshape(64, 1024)[::9]
    for chunk in packed:
        found = compute(f"F2FP.F16.{kind}.UNPACK_B {{d}}, {{a}}", chunk)[0].view(np.float16).reshape(-1, 2)
        np.testing.assert_array_equal(found[:, 0], table[chunk & 255])
        np.testing.assert_array_equal(found[:, 1], table[chunk >> 8])
    finite = np.flatnonzero(np.isfinite(table) & (np.arange(256) < 128))
    x = np.concatenate([table[finite], (table[finite][1:] + table[finite][:-1]) / 2, np.random.default_rng(3).standard_normal(1024) * 300])
    x = np.resize(np.concatenate([x, -x, [np.inf, -np.inf, 1e9, 1e-9]]), 1024).astype(np.float32)
    found = compute(f"F2FP.SATFINITE.{kind}.F32.PACK_AB_MERGE_C {{d}}, RZ, {{a}}, RZ", x)[0]
    distance = np.abs(np.minimum(np.abs(x), table[finite][-1])[:, None] - table[finite][None, :])
    nearest = np.argmin(distance * (1 + (finite & 1) * 1e-12), axis=1)  # of two as near, the even one
    assert (found & 0x7F).tolist() == finite[nearest].tolist()
    assert (found >> 7).tolist() == np.signbit(x).astype(int).tolist()


@pytest.mark.parametrize("kind", ["E4M3", "E5M2"])
def test_relu_of_small_floats_leaves_no_sign(kind: str) -> None:
    """Not even that of zero, as on an H200."""
    packed = np.arange(1024, dtype=np.uint32) * 63 + 128  # zeros of both signs among them
    expected = np.where(tiny(kind) <= 0, 0.0, tiny(kind))
    found = compute(f"F2FP.RELU.F16.{kind}.UNPACK_B {{d}}, {{a}}", packed)[0].view(np.float16).reshape(-1, 2)
    np.testing.assert_array_equal(found, np.stack([expected[packed & 255], expected[packed >> 8]], 1))
    assert not np.signbit(found[~np.isnan(found)]).any()
    minus = np.array([-0.0, -1e-30, -np.inf, -2.0], np.float32)
    for name, sources in ((f"SATFINITE.RELU.{kind}.F32.PACK_AB_MERGE_C", "{a}, {a}, RZ"), ("RELU.BF16.F32.PACK_AB.RZ", "{a}, {a}")):
        assert not compute(f"F2FP.{name} {{d}}, {sources}", np.resize(minus, 1024))[0].any()


@pytest.mark.parametrize(("which", "function"), [("PT", np.fmin), ("!PT", np.fmax)])
def test_minima_of_magnitudes_have_the_product_of_the_signs(which: str, function: np.ufunc) -> None:
    def expected(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        magnitude = function(np.abs(x), np.abs(y))
        return np.where(np.signbit(x) ^ np.signbit(y), -magnitude, magnitude)

    found = compute(f"FMNMX.XORSIGN {{d}}, |{{a}}|, |{{b}}|, {which}", X, Y)[0].view(np.float32)
    number = ~np.isnan(found)
    assert found[number].view(np.uint32).tolist() == expected(X, Y)[number].view(np.uint32).tolist()
    assert np.array_equal(np.isnan(found), np.isnan(X) & np.isnan(Y))
    found = compute(f"HMNMX2.XORSIGN {{d}}, |{{a}}|, |{{b}}|.H1_H1, {which}", A, B)[0].view(np.float16).reshape(-1, 2)
    x, y = A.view(np.float16).reshape(-1, 2), B.view(np.float16).reshape(-1, 2)[:, 1:]
    number = ~np.isnan(found)
    assert found[number].view(np.uint16).tolist() == expected(x, y)[number].view(np.uint16).tolist()
    assert np.array_equal(~number, np.isnan(x) & np.isnan(y))
    signs = compute(f"HMNMX2.XORSIGN {{d}}, |{{a}}|, -QNAN, -QNAN, {which}", np.full(1, 0x3C00BC00, np.uint32))[0]
    assert signs[0] == 0xBC003C00


def test_relu_and_finite_of_packed_halves() -> None:
    with np.errstate(over="ignore"):
        a, b = X.astype(np.float16), Y.astype(np.float16)
    ok = ~(np.isnan(X) | np.isnan(Y))
    found = compute("F2FP.RELU.F16.F32.PACK_AB {d}, {a}, {b}", X, Y)[0].view(np.float16).reshape(-1, 2)[ok]
    np.testing.assert_array_equal(found, np.maximum(np.stack([b, a], 1), np.float16(0))[ok])
    found = compute("F2FP.SATFINITE.F16.F32.PACK_AB {d}, {a}, {b}", X, Y)[0].view(np.float16).reshape(-1, 2)[ok]
    np.testing.assert_array_equal(found, np.clip(np.stack([b, a], 1), -65504, 65504)[ok])


def test_carry_of_pt_is_one() -> None:
    total = A.astype(np.uint64) + B + 1
    found, flags = compute("IADD3.X {d}, P0, {a}, {b}, RZ, PT, !PT", A, B)
    assert (found.tolist(), (flags & 1).tolist()) == ((total & 0xFFFFFFFF).tolist(), (total >> np.uint64(32)).tolist())
    found, _ = compute("IADD3.X {d}, {a}, {b}, RZ, PT, PT", A, B)
    assert found.tolist() == ((total + 1) & 0xFFFFFFFF).tolist()
    found, _ = compute("IMAD.X {d}, {a}, 0x3, {b}, PT", A, B)
    assert found.tolist() == ((A.astype(np.uint64) * 3 + B + 1) & 0xFFFFFFFF).tolist()


def test_iadd_with_a_carry_out_and_in() -> None:
    total = A.astype(np.uint64) + B
    found, flags = compute("IADD {d}, P0, {a}, {b}", A, B)
    assert (found.tolist(), (flags & 1).tolist()) == ((total & 0xFFFFFFFF).tolist(), (total >> np.uint64(32)).tolist())
    prologue = "ISETP.GE.U32.AND P1, PT, {b}, {a}, PT"
    found, _ = compute("IADD.X {d}, {a}, {b}, P1", A, B, prologue=prologue)
    assert found.tolist() == ((total + (B >= A)) & 0xFFFFFFFF).tolist()


@pytest.mark.parametrize(("kind", "sign"), [(".U32", False), ("", True)])
def test_negated_products_of_64_bits(kind: str, sign: bool) -> None:
    a, b = (signed(A).astype(object), signed(B).astype(object)) if sign else (A.astype(object), B.astype(object))
    c = doubles(3).view(np.uint64)
    for text, expected in (
        (f"IMAD.WIDE{kind} {{d}}, -{{a}}, {{b}}, {{c}}", -(a * b) + c.astype(object)),
        (f"IMAD.WIDE{kind} {{d}}, {{a}}, {{b}}, -{{c}}", a * b - c.astype(object)),
    ):
        assert compute(text, A, B, c, wide=True)[0].tolist() == [int(x) % (1 << 64) for x in expected]


def test_inverted_addend_of_lea() -> None:
    expected = ((A.astype(np.int64) << 3) + (~B).astype(np.int64)) & 0xFFFFFFFF
    assert compute("LEA {d}, {a}, ~{b}, 0x3", A, B)[0].tolist() == expected.tolist()


def test_saturated_sums() -> None:
    a, b = signed(A), signed(B)
    for text, total in (("{a}, {b}", a + b), ("-{a}, {b}", b - a), ("{a}, -{b}", a - b), ("{a}, -0x41", a - 65)):
        found = compute(f"VIADD.S32.ISAT {{d}}, {text}", A, B)[0]
        assert found.view(np.int32).tolist() == np.clip(total, -(2**31), 2**31 - 1).tolist()


def test_numbers_below_zero_have_64_bits_where_an_instruction_has() -> None:
    a = doubles(31).view(np.uint64)
    prologue = "S2R R0, SR_LANEID\nISETP.GE.AND P1, PT, R0, 0x8, PT"
    lanes = np.arange(a.size) % 32 >= 8
    assert compute("SEL.64 {d}, {a}, -0x1, P1", a, wide=True, prologue=prologue)[0].tolist() == np.where(lanes, a, 2**64 - 1).tolist()
    assert compute("SEL.64 {d}, -0x2, {a}, P1", a, wide=True, prologue=prologue)[0].tolist() == np.where(lanes, 2**64 - 2, a).tolist()
    assert set(compute("MOV.64 {d}, -0x5", wide=True)[0].tolist()) == {2**64 - 5}
    assert set(compute("MOV.64 {d}, 0xfffffffb", wide=True)[0].tolist()) == {0xFFFFFFFB}  # the instruction holds all 64 bits
    assert compute("ISETP.GT.U64.AND P0, P1, {a}, -0x5, PT", a)[1].tolist() == [1 if x > 2**64 - 5 else 2 for x in a.tolist()]


def test_pairs_of_floats_and_selection_of_pairs() -> None:
    a, b, c = (doubles(seed).view(np.uint64) for seed in (21, 22, 23))
    x, y, z = (pair.view(np.float32) for pair in (a, b, c))
    with np.errstate(all="ignore"):
        for text, expected in (
            ("FADD2 {d}, {a}.F32x2.HI_LO, {b}.F32x2.HI_LO", x + y),
            ("FMUL2 {d}, {a}.F32x2.HI_LO, {b}.F32x2.HI_LO", x * y),
            ("FFMA2 {d}, {a}.F32x2.HI_LO, {b}.F32x2.HI_LO, {c}.F32x2.HI_LO", (x.astype(np.longdouble) * y + z).astype(np.float32)),
        ):
            sources = (a, b, c)[: text.count("{") - 1]
            np.testing.assert_array_equal(compute(text, *sources, wide=True)[0].view(np.float32), expected)
    chosen = compute("SEL.64 {d}, {a}, {b}, P1", a, b, wide=True, prologue="S2R R0, SR_LANEID\nISETP.GE.AND P1, PT, R0, 0x8, PT")[0]
    assert chosen.tolist() == np.where(np.arange(1024) % 32 >= 8, a, b).tolist()
    assert set(compute("MOV.64 {d}, 0x123456789a", wide=True)[0].tolist()) == {0x123456789A}
    assert set(compute("MOV.64 {d}, 0xfedcba9876543210", wide=True)[0].tolist()) == {0xFEDCBA9876543210}


def test_exit_with_a_predicate_of_its_own() -> None:
    prologue = "S2R R1, SR_LANEID\nISETP.GE.AND P0, PT, R1, 0x4, PT\nISETP.GE.AND P1, PT, R1, 0x10, PT\nMOV R20, 0x0\n@P0 EXIT !P1"
    found, _ = compute("MOV {d}, 0x1", prologue="S2R R2, SR_TID.X\nSHL R2, R2, 2\n" + prologue.replace("R1", "R5"))
    assert found.tolist() == [int(lane < 4 or lane >= 16) for lane in range(32)] * 32


def test_elect_names_the_first_lane() -> None:
    prologue = "S2R R5, SR_LANEID\nISETP.GE.AND P1, PT, R5, 0x5, PT\nMOV {d}, 0x63"
    found, flags = compute("@P1 ELECT P0, UR4, PT\n@P1 MOV {d}, UR4", prologue=prologue)
    assert found.tolist() == [99 if lane < 5 else 5 for lane in range(32)] * 32
    assert (flags & 1).tolist() == [int(lane == 5) for lane in range(32)] * 32


def test_extremes_of_the_floats_of_a_warp() -> None:
    x = np.where(np.isnan(X), np.float32(1), X)
    for kind, pick in (("MIN", np.min), ("MAX", np.max)):
        found = compute(f"CREDUX.{kind}.F32 UR4, {{a}}\nMOV {{d}}, UR4", x)[0].view(np.float32)
        np.testing.assert_array_equal(found, np.repeat(pick(x.reshape(32, 32), axis=1), 32))


@pytest.mark.parametrize(("rounding", "whole"), [("", np.rint), (".TRUNC", np.trunc), (".FLOOR", np.floor)])
@pytest.mark.parametrize(("kind", "lowest", "highest"), [("U8", 0, 255), ("S8", -128, 127)])
def test_floats_are_rounded_and_packed(kind: str, lowest: int, highest: int, rounding: str, whole: Callable[..., np.ndarray]) -> None:
    def byte(x: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return np.clip(np.nan_to_num(whole(x).astype(np.float64), nan=0.0), lowest, highest).astype(np.int64) & 0xFF

    x, y = (np.where(np.arange(X.size) % 3, z, np.clip(z, -300, 300)) for z in (X, Y))
    expected = byte(x) << 8 | byte(y) | (C.astype(np.int64) & 0xFFFF) << 16
    found = compute(f"F2IP.{kind}.F32{rounding}.NTZ {{d}}, {{a}}, {{b}}, {{c}}", x.view(np.uint32), y.view(np.uint32), C)[0]
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(("predicate", "pick"), [("PT", np.fmin), ("!PT", np.fmax)])
def test_minima_and_maxima_of_three_times_two_halves(predicate: str, pick: np.ufunc) -> None:
    a, b, c = (halves(x, is_signed=False).astype(np.uint16).view(np.float16).astype(np.float32) for x in (A, B, C))
    found = halves(compute(f"VHMNMX {{d}}, {{a}}, {{b}}, {{c}}, {predicate}", A, B, C)[0], is_signed=False)
    np.testing.assert_array_equal(found.astype(np.uint16).view(np.float16).astype(np.float32), pick(pick(a, b), c))
    found = halves(compute(f"VHMNMX.NAN {{d}}, {{a}}, {{b}}, {{c}}, {predicate}", A, B, C)[0], is_signed=False)
    expected = np.where(np.isnan(a) | np.isnan(b) | np.isnan(c), np.nan, pick(pick(a, b), c))
    np.testing.assert_array_equal(found.astype(np.uint16).view(np.float16).astype(np.float32), expected)
