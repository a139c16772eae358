"""XMAD, LEA.HI, dot products and the other integer operations of one or two generations, against Python integers."""

import numpy as np
import pytest

from tests.unit.one_instruction import THREADS, compute, words

MASK = 0xFFFFFFFF


def signed(x: int) -> int:
    return x - (1 << 32) if x >> 31 else x


def half(x: int, high: bool, is_signed: bool = False) -> int:
    value = x >> (16 if high else 0) & 0xFFFF
    return value - 0x10000 if is_signed and value >> 15 else value


def rows(*arrays: np.ndarray) -> list[tuple[int, ...]]:
    return list(zip(*(array.tolist() for array in arrays), strict=True))


def test_products_that_compilers_build_from_xmad() -> None:
    """The sequences of ptxas for a 32-bit product, low and high word: the sum of their parts is Python's product."""
    a, b = words(1), words(2)
    low = "XMAD R16, {a}, {b}, RZ\nXMAD.MRG R17, {a}, {b}.H1, RZ\nXMAD.PSL.CBCC {d}, {a}.H1, R17.H1, R16"
    assert compute(low, a, b)[0].tolist() == [x * y & MASK for x, y in rows(a, b)]
    high = (
        "XMAD R16, {a}, {b}, RZ\nXMAD R17, {a}, {b}.H1, RZ\nXMAD R18, {a}.H1, {b}.H1, RZ\n"
        "XMAD.CHI R19, {a}.H1, {b}, R16\nIADD3.RS {d}, R17, R19, R18"
    )
    assert compute(high, a, b)[0].tolist() == [x * y >> 32 for x, y in rows(a, b)]


def test_signed_high_word_by_fix_up() -> None:
    """ptxas: signed high words take the unsigned parts of the low halves and fix the high ones up (.CSFU)."""
    a, b = words(3), words(4)
    text = (
        "XMAD R16, {a}, {b}, RZ\nXMAD.U16.S16 R17, {a}, {b}.H1, RZ\nXMAD.S16.S16.CSFU R18, {a}.H1, {b}.H1, RZ\n"
        "XMAD.S16.U16.CHI R19, {a}.H1, {b}, R16\nIADD3.RS {d}, R17, R19, R18"
    )
    assert compute(text, a, b)[0].tolist() == [signed(x) * signed(y) >> 32 & MASK for x, y in rows(a, b)]


@pytest.mark.parametrize("types", ["", ".U16.S16", ".S16.U16", ".S16.S16"])
@pytest.mark.parametrize("parts", [("", ""), (".H1", ""), ("", ".H1"), (".H1", ".H1")])
@pytest.mark.parametrize("mode", ["", ".PSL", ".MRG", ".CLO", ".CHI", ".PSL.CBCC"])
def test_xmad(types: str, parts: tuple[str, str], mode: str) -> None:
    a, b, c = words(5), words(6), words(7)
    result, _ = compute(f"XMAD{types}{mode} {{d}}, {{a}}{parts[0]}, {{b}}{parts[1]}, {{c}}", a, b, c)
    for x, y, z, got in rows(a, b, c, result):
        product = half(x, parts[0] == ".H1", types.startswith(".S16")) * half(y, parts[1] == ".H1", types.endswith(".S16"))
        product <<= 16 if "PSL" in mode else 0
        addend = {".CLO": z & 0xFFFF, ".CHI": z >> 16, ".PSL.CBCC": z + (y << 16)}.get(mode, z)
        total = product + addend & MASK
        assert got == ((total & 0xFFFF) | (y & 0xFFFF) << 16 if mode == ".MRG" else total)


def test_xmad_carries_through_cc() -> None:
    a, b, c = words(8), words(9), words(10)
    for x, y, z, got in rows(a, b, c, compute("XMAD R16.CC, {a}, {b}, {c}\nXMAD.X {d}, RZ, RZ, RZ", a, b, c)[0]):
        assert got == half(x, False) * half(y, False) + z >> 32


@pytest.mark.parametrize("shift", [0, 1, 2, 17, 31])
def test_shift_and_add_high_words(shift: int) -> None:
    a, b, c = words(11), words(12), words(13)
    for x, y, z, got in rows(a, b, c, compute(f"LEA.HI {{d}}, {{a}}, {{b}}, {{c}}, {shift:#x}", a, b, c)[0]):
        assert got == ((z << 32 | x) << shift >> 32) + y & MASK
    for x, y, got in rows(a, b, compute(f"LEA.HI.SX32 {{d}}, {{a}}, {{b}}, {shift:#x}", a, b)[0]):
        assert got == (signed(x) << shift >> 32) + y & MASK
    low = f"LEA R21, P0, {{a}}, {{c}}, {shift:#x}\n"
    for x, y, z, got in rows(a, b, c, compute(f"{low}LEA.HI.X {{d}}, {{a}}, {{b}}, RZ, {shift:#x}, P0", a, b, c)[0]):
        assert got == ((x << shift) + (y << 32 | z) >> 32) & MASK
    for x, y, z, got in rows(a, b, c, compute(f"{low}LEA.HI.X.SX32 {{d}}, {{a}}, {{b}}, {shift:#x}, P0", a, b, c)[0]):
        assert got == ((signed(x) << shift) + (y << 32 | z) >> 32) & MASK
    assert compute(f"LEA {{d}}, -{{a}}, {{b}}, {shift:#x}", a, b)[0].tolist() == [(-x << shift) + y & MASK for x, y in rows(a, b)]
    a[::3] = 0
    low = f"LEA R21, P0, -{{a}}, {{b}}, {shift:#x}\n"  # of b less a product: no borrow carries, also when 0 is subtracted, as on an H200
    for x, y, z, got in rows(a, b, c, compute(f"{low}IADD3.X {{d}}, {{c}}, -0x1, RZ, P0, !PT", a, b, c)[0]):
        assert got == z - (y < x << shift & MASK) & MASK
    for x, y, z, got in rows(a, b, c, compute(f"LEA.HI {{d}}, {{a}}, -{{b}}, {{c}}, {shift:#x}", a, b, c)[0]):
        assert got == ((z << 32 | x) << shift >> 32) - y & MASK


def test_shifted_sums_and_subtraction() -> None:
    a, b, c = words(14), words(15), words(16)
    assert compute("IADD3.RS {d}, {a}, {b}, {c}", a, b, c)[0].tolist() == [(x + y >> 16) + z & MASK for x, y, z in rows(a, b, c)]
    assert compute("IADD3.LS {d}, {a}, {b}, {c}", a, b, c)[0].tolist() == [(x + y << 16) + z & MASK for x, y, z in rows(a, b, c)]
    assert compute("ISUB {d}, {a}, {b}", a, b)[0].tolist() == [x - y & MASK for x, y in rows(a, b)]
    assert compute("ISUB {d}, {a}, 0x7", a)[0].tolist() == [x - 7 & MASK for x in a.tolist()]
    borrow = "ISUB R16.CC, {a}, {b}\nISUB.X {d}, {c}, {a}"
    assert compute(borrow, a, b, c)[0].tolist() == [z - x - (x < y) & MASK for x, y, z in rows(a, b, c)]


def test_sums_compares_and_moves_of_64_bits() -> None:
    rng = np.random.default_rng(17)
    a, b = (rng.integers(0, 1 << 64, THREADS, dtype=np.uint64) for _ in range(2))
    b[::3] = a[::3]
    assert compute("IADD.64 {d}, {a}, {b}", a, b, wide=True)[0].tolist() == [(x + y) % 2**64 for x, y in rows(a, b)]
    assert compute("IADD.64 {d}, {a}, -{b}", a, b, wide=True)[0].tolist() == [(x - y) % 2**64 for x, y in rows(a, b)]
    assert compute("IADD.64 {d}, {a}, -0x10", a, wide=True)[0].tolist() == [(x - 16) % 2**64 for x in a.tolist()]
    assert compute("MOV.64 {d}, {a}", a, wide=True)[0].tolist() == a.tolist()
    assert compute("ISETP.GE.U64.AND P0, P1, {a}, {b}, PT", a, b)[1].tolist() == [1 if x >= y else 2 for x, y in rows(a, b)]
    signs = a.view(np.int64), b.view(np.int64)
    assert compute("ISETP.LT.S64.AND P0, P1, {a}, {b}, PT", a, b)[1].tolist() == [1 if x < y else 2 for x, y in rows(*signs)]


def test_high_words_with_a_pair_added_from_volta_on() -> None:
    a, b = words(18), words(19)
    c = np.random.default_rng(20).integers(0, 1 << 64, THREADS, dtype=np.uint64)
    unsigned, _ = compute("IMAD.HI.U32 {d}, {a}, {b}, {c}", a, b, c)
    assert unsigned.tolist() == [x * y + z >> 32 & MASK for x, y, z in rows(a, b, c)]
    result, _ = compute("IMAD.HI {d}, {a}, {b}, {c}", a, b, c)
    assert result.tolist() == [signed(x) * signed(y) + z >> 32 & MASK for x, y, z in rows(a, b, c)]
    old = words(21)
    before, _ = compute("IMAD.U32.U32.HI {d}, {a}, {b}, {c}", a, b, old, base=0x140)
    assert before.tolist() == [(x * y >> 32) + z & MASK for x, y, z in rows(a, b, old)]


def test_minima_and_differences() -> None:
    a, b, c = words(22), words(23), words(24)
    assert compute("VIADD {d}, {a}, -{b}", a, b)[0].tolist() == [x - y & MASK for x, y in rows(a, b)]
    assert compute("VIADDMNMX.U32 {d}, {a}, {b}, {c}, PT", a, b, c)[0].tolist() == [min(x + y & MASK, z) for x, y, z in rows(a, b, c)]
    expected = [max(signed(x + y & MASK), signed(z)) & MASK for x, y, z in rows(a, b, c)]
    assert compute("VIADDMNMX {d}, {a}, {b}, {c}, !PT", a, b, c)[0].tolist() == expected
    expected = [max(signed(x - y & MASK), signed(z)) & MASK for x, y, z in rows(a, b, c)]
    assert compute("VIADDMNMX {d}, {a}, -{b}, {c}, !PT", a, b, c)[0].tolist() == expected
    assert compute("VIMNMX.U32 {d}, PT, PT, {a}, {b}, !PT", a, b)[0].tolist() == [max(x, y) for x, y in rows(a, b)]
    assert compute("VABSDIFF {d}, {a}, {b}, {c}", a, b, c)[0].tolist() == [
        abs(signed(x) - signed(y)) + z & MASK for x, y, z in rows(a, b, c)
    ]
    assert compute("VABSDIFF.U32 {d}, {a}, {b}", a, b)[0].tolist() == [abs(x - y) for x, y in rows(a, b)]
    assert compute("IABS {d}, {a}", a)[0].tolist() == [abs(signed(x)) for x in a.tolist()]


def test_compares_into_registers_and_selection_by_sign() -> None:
    a, b, c = words(25), words(26), words(27)
    b[::3], c[::3] = a[::3], 0
    assert compute("ISET.EQ.U32.AND {d}, {a}, {b}, PT", a, b)[0].tolist() == [MASK if x == y else 0 for x, y in rows(a, b)]
    assert compute("ISET.BF.LT.XOR {d}, {a}, {b}, PT", a, b)[0].tolist() == [
        0 if signed(x) < signed(y) else 0x3F800000 for x, y in rows(a, b)
    ]
    assert compute("ICMP.GT {d}, {a}, {b}, {c}", a, b, c)[0].tolist() == [x if signed(z) > 0 else y for x, y, z in rows(a, b, c)]
    assert compute("ICMP.NE {d}, {a}, {b}, {c}", a, b, c)[0].tolist() == [x if z else y for x, y, z in rows(a, b, c)]


@pytest.mark.parametrize("types", [("U8", "U8"), ("S8", "S8"), ("S8", "U8"), ("U8", "S8")])
def test_dot_products(types: tuple[str, str]) -> None:
    a, b, c = words(28), words(29), words(30)
    x8, y8 = (
        array.view(np.int8 if kind == "S8" else np.uint8).reshape(-1, 4).astype(np.int64) for array, kind in zip((a, b), types, strict=True)
    )
    expected = ((x8 * y8).sum(axis=1) + c) & MASK
    assert compute(f"IDP.4A.{types[0]}.{types[1]} {{d}}, {{a}}, {{b}}, {{c}}", a, b, c)[0].tolist() == expected.tolist()
    x16 = a.view(np.int16 if types[0] == "S8" else np.uint16).reshape(-1, 2).astype(np.int64)
    for name, part in (("LO", y8[:, :2]), ("HI", y8[:, 2:])):
        spelling = f"IDP.2A.{name}.{types[0].replace('8', '16')}.{types[1]}"
        assert compute(f"{spelling} {{d}}, {{a}}, {{b}}, {{c}}", a, b, c)[0].tolist() == (((x16 * part).sum(axis=1) + c) & MASK).tolist()


def test_funnel_shifts_without_a_type_are_maxwells() -> None:
    a, b, c = words(31), words(32) & np.uint32(63), words(33)
    for x, n, z, left, right in rows(
        a, b, c, compute("SHF.L {d}, {a}, {b}, {c}", a, b, c)[0], compute("SHF.R {d}, {a}, {b}, {c}", a, b, c)[0]
    ):
        assert left == (z << 32 | x) << min(n, 32) >> 32 & MASK
        assert right == (z << 32 | x) >> min(n, 32) & MASK
    kepler = compute("SHF.L.U64 {d}, {a}, {b}, {c}", a, b, c, base=0x140)[0]
    assert kepler.tolist() == [((z << 32 | x) << n >> 32) & MASK for x, n, z in rows(a, b, c)]


@pytest.mark.parametrize("sign", "US")
@pytest.mark.parametrize("wrap", ["", ".W"])
def test_funnel_shifts_of_64_bits_shift_everything_out(sign: str, wrap: str) -> None:
    a, b, c = words(34), words(35), words(36)
    b[:128] = np.arange(128)
    counts = b & 63 if wrap else np.minimum(b, 64)
    value = [z << 32 | x for x, z in rows(a, c)]
    extended = [v - (1 << 64) if sign == "S" and v >> 63 else v for v in value]
    spelling = f"SHF.{{side}}{wrap}.{sign}64{{part}} {{{{d}}}}, {{{{a}}}}, {{{{b}}}}, {{{{c}}}}"
    for part, place in (("", 0), (".HI", 32)):
        left = compute(spelling.format(side="L", part=part), a, b, c)[0]
        assert left.tolist() == [v << n >> place & MASK for v, n in zip(value, counts.tolist(), strict=True)]
        right = compute(spelling.format(side="R", part=part), a, b, c)[0]
        assert right.tolist() == [v >> n >> place & MASK for v, n in zip(extended, counts.tolist(), strict=True)]


def test_special_registers_of_two_words() -> None:
    ones = np.full(THREADS, 2**64 - 1, np.uint64)
    assert not compute("CS2R {d}, SRZ", ones, prologue="MOV.64 {d}, {a}", wide=True)[0].any()
    for prologue, base in (("MOV.64 {d}, {a}", {}), ("MOV R20, {a}\nMOV R21, {a}", {"base": 0x140})):
        operation = "CS2R {d}, SR_CLOCKLO" if base else "CS2R.32 {d}, SR_CLOCKLO"
        kept = compute(operation, ones, prologue=prologue, wide=True, **base)[0]
        assert set((kept >> np.uint64(32)).tolist()) == {MASK}  # the other register stays
        clocks = (kept & np.uint64(MASK)).reshape(-1, 32)
        assert (clocks == clocks[:, :1]).all()  # one for all lanes of a warp
        assert (np.diff(clocks[:, 0].astype(np.int64)) > 0).all()  # warps run in turn
