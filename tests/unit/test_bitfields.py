"""Bits, bytes and predicates as words, against PTX's rules over Python integers."""

import numpy as np
import pytest

import isa
from tests.unit.one_instruction import compute, words

MASK = 0xFFFFFFFF


def signed(x: int) -> int:
    return x - (1 << 32) if x >> 31 else x


def pairs(*arrays: np.ndarray) -> list[tuple[int, ...]]:
    return list(zip(*(array.tolist() for array in arrays), strict=True))


@pytest.mark.parametrize("suffix", ["", ".U32", ".SH", ".U32.SH"])
def test_find_leading_one(suffix: str) -> None:
    a = words(1)
    for x, result in pairs(a, compute(f"FLO{suffix} {{d}}, {{a}}", a)[0]):
        bits = x if "U32" in suffix or x < 1 << 31 else ~x & MASK
        position = bits.bit_length() - 1
        assert result == (MASK if position < 0 else 31 - position if "SH" in suffix else position)
    assert compute("FLO.U32 {d}, ~{a}", a)[0].tolist() == compute("FLO.U32 {d}, {a}", ~a)[0].tolist()


def test_reverse_and_count() -> None:
    a, b = words(2), words(3)
    assert compute("BREV {d}, {a}", a)[0].tolist() == [int(f"{x:032b}"[::-1], 2) for x in a.tolist()]
    assert compute("POPC {d}, {a}, {b}", a, b)[0].tolist() == [(x & y).bit_count() for x, y in pairs(a, b)]
    assert compute("POPC {d}, {a}", a)[0].tolist() == [x.bit_count() for x in a.tolist()]


@pytest.mark.parametrize("suffix", ["", ".U32", ".BREV", ".U32.BREV"])
def test_extract(suffix: str) -> None:
    a, place = words(4), words(5) & np.uint32(0x3F3F)
    place[:64] = words(6)[:64]
    for x, control, result in pairs(a, place, compute(f"BFE{suffix} {{d}}, {{a}}, {{b}}", a, place)[0]):
        source = int(f"{x:032b}"[::-1], 2) if "BREV" in suffix else x
        position, length = control & 255, control >> 8 & 255
        fill = 0 if "U32" in suffix or length == 0 else source >> min(position + length - 1, 31) & 1
        bits = [source >> position + i & 1 if i < length and position + i <= 31 else fill for i in range(32)]
        assert result == sum(bit << i for i, bit in enumerate(bits))


def test_insert() -> None:
    a, place, c = words(7), words(8) & np.uint32(0x3F3F), words(9)
    for x, control, y, result in pairs(a, place, c, compute("BFI {d}, {a}, {b}, {c}", a, place, c)[0]):
        position, length = control & 255, control >> 8 & 255
        expected = y
        for i in range(min(length, 32 - position)):
            expected = expected & ~(1 << position + i) | (x >> i & 1) << position + i
        assert result == expected


@pytest.mark.parametrize("wrap", ["", ".W"])
def test_mask_and_sign(wrap: str) -> None:
    a, b = words(10), words(11) & np.uint32(63)
    a[::2] &= np.uint32(63)
    for x, y, mask in pairs(a, b, compute(f"BMSK{wrap} {{d}}, {{a}}, {{b}}", a, b)[0]):
        start, count = (x & 31, y & 31) if wrap else (min(x, 32), min(y, 32))
        assert mask == ((1 << count) - 1 << start) & MASK
    for x, y, extended, plain in pairs(
        a, b, compute(f"SGXT{wrap} {{d}}, {{a}}, {{b}}", a, b)[0], compute(f"SGXT.U32{wrap} {{d}}, {{a}}, {{b}}", a, b)[0]
    ):
        count = y & 31 if wrap else min(y, 32)
        low = x & ((1 << count) - 1)
        assert plain == low
        assert extended == (low - (1 << count) if count and low >> (count - 1) else low) & MASK


TABLES = {  # selector 0 to 3 -> bytes 3, 2, 1, 0 of the result: PTX ISA, `prmt`
    "F4E": ("3210", "4321", "5432", "6543"),
    "B4E": ("5670", "6701", "7012", "0123"),
    "RC8": ("0000", "1111", "2222", "3333"),
    "ECL": ("3210", "3211", "3222", "3333"),
    "ECR": ("0000", "1110", "2210", "3210"),
    "RC16": ("1010", "3232", "1010", "3232"),
}


@pytest.mark.parametrize("mode", ["", *TABLES])
def test_permute(mode: str) -> None:
    a, selector, b = words(12), words(13), words(14)
    suffix = f".{mode}" if mode else ""
    for x, s, y, result in pairs(a, selector, b, compute(f"PRMT{suffix} {{d}}, {{a}}, {{b}}, {{c}}", a, selector, b)[0]):
        source = (y << 32 | x).to_bytes(8, "little")
        if mode:
            expected = bytes(source[int(digit)] for digit in reversed(TABLES[mode][s & 3]))
        else:
            nibbles = [s >> 4 * k & 15 for k in range(4)]
            expected = bytes((255 if source[n & 7] & 128 else 0) if n & 8 else source[n & 7] for n in nibbles)
        assert result == int.from_bytes(expected, "little")


def test_predicates_to_a_register_and_back() -> None:
    a, b = words(15), words(16)
    set_all = "R2P PR, {a}, 0x7f"
    assert compute("P2R {d}, PR, {b}, 0x3", a, b, prologue=set_all)[0].tolist() == [y & ~3 | x & 3 for x, y in pairs(a, b)]
    assert compute("P2R.B2 {d}, PR, {b}, 0x7f", a, b, prologue=set_all)[0].tolist() == [
        y & ~0x7F0000 | (x & 0x7F) << 16 for x, y in pairs(a, b)
    ]
    assert compute("R2P PR, {a}.B1, 0x2", a)[1].tolist() == [x >> 8 & 2 for x in a.tolist()]
    assert compute("@P3 R2P PR, {a}, 0x3", a)[1].tolist() == [0] * len(a)


@pytest.mark.parametrize("tables", [(0x80, 0x8), (0xA8, 0x57), (0xFF, 0), (0x96, 0xE8)])
def test_three_predicates(tables: tuple[int, int]) -> None:
    a = words(17)
    text = f"PLOP3.LUT P0, P1, P2, !P3, P4, {tables[0]:#x}, {tables[1]:#x}"
    for x, flags in pairs(a, compute(text, a, prologue="R2P PR, {a}, 0x7f")[1]):
        index = (x >> 2 & 1) << 2 | (~x >> 3 & 1) << 1 | x >> 4 & 1
        assert flags == (tables[0] >> index & 1) | (tables[1] >> index & 1) << 1


@pytest.mark.parametrize("tables", [(0x80, 0x8), (0x96, 0xE8)])
def test_three_signs(tables: tuple[int, int]) -> None:
    a, b, c = words(17), words(18), words(19)
    flags = compute(f"PLOP3.LUT P0, P1, {{a}}.SIGN, {{b}}.SIGN, {{c}}.SIGN, {tables[0]:#x}, {tables[1]:#x}", a, b, c)[1]
    index = a >> 31 << 2 | b >> 31 << 1 | c >> 31
    assert flags.tolist() == [(tables[0] >> k & 1) | (tables[1] >> k & 1) << 1 for k in index.tolist()]
    with pytest.raises(isa.UserError, match=r"predicates, or the signs of registers: R1\.SIGN"):
        isa.parse("PLOP3.LUT P0, P1, R1, R2, R3, 0x80, 0x8\nEXIT")


def test_logic_with_predicates() -> None:
    a, b = words(18), words(19)
    assert compute("LOP.AND.NZ P0, RZ, {a}, {b}", a, b)[1].tolist() == [int(x & y != 0) for x, y in pairs(a, b)]
    assert compute("LOP3.LUT.NZ P1, RZ, {a}, {b}, {a}, 0xc0", a, b)[1].tolist() == [2 * int(x & y != 0) for x, y in pairs(a, b)]
    combined = compute("PSETP.OR.AND P0, P1, P2, !P3, P4", a, prologue="R2P PR, {a}, 0x7f")[1]
    for x, flags in pairs(a, combined):
        either, third = x >> 2 & 1 or not x >> 3 & 1, x >> 4 & 1
        assert flags == int(bool(either and third)) | int(bool(not either and third)) << 1
