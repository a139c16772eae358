"""What Blackwell adds to integers: sums and minima of 64 bits with carries, four bytes at once, uniform forms; exchanges of 128 bits."""

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from tests.unit.one_instruction import compute, words

A, B = words(21), words(22)
EDGES = np.array([0, 1, 0xFFFFFFFFFFFFFFFF, 0x8000000000000000, 0x7FFFFFFFFFFFFFFF, 0x100000000, 0xFFFFFFFF], np.uint64)
SUMS = """
.target sm_120
.param ptr a
.param ptr b
.param ptr out
    S2R R0, SR_TID.X
    IMAD.WIDE R2, R0, 8, c[0x0][a]
    IMAD.WIDE R4, R0, 8, c[0x0][b]
    LDG.E.64 R2, [R2.64]
    LDG.E.64 R4, [R4.64]
    IADD.64 R8, P0, R2, SIGNR4
    IADD.64.X R10, R2, R4, P0
    IMNMX.U64 PT, PT, R12, R2, R4, !PT, !PT
    IMNMX.S64 R14, R2, R4, PT
    SHL R0, R0, 5
    IADD R0, R0, c[0x0][out]
    STG.128 [R0], R8
    STG.128 [R0+0x10], R12
    EXIT
"""


@pytest.mark.parametrize("sign", ["", "-"])
def test_sums_of_64_bits_carry(sign: str) -> None:
    a, b = (grid.reshape(-1) for grid in np.meshgrid(EDGES, EDGES))
    out = np.zeros((a.size, 4), np.uint64)
    sim.execute(sim.Launch(isa.parse(SUMS.replace("SIGN", sign)), (1,), (a.size,), (a, b, out)))
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    first = [x + (~y % 2**64 + 1 if sign else y) for x, y in pairs]
    signed = [min(pair, key=lambda v: v - (v >> 63 << 64)) for pair in pairs]
    expected = zip(first, ((x + y + (s >> 64)) for (x, y), s in zip(pairs, first, strict=True)), map(max, pairs), signed, strict=True)
    assert out.tolist() == [[v % 2**64 for v in row] for row in expected]


@pytest.mark.parametrize(("predicate", "pick"), [("PT", np.minimum), ("!PT", np.maximum)])
@pytest.mark.parametrize("kind", ["u1", "i1"])
def test_four_bytes_at_once(predicate: str, pick: np.ufunc, kind: str) -> None:
    expected = pick(A.view(kind), B.view(kind)).view(np.uint32)
    assert compute(f"VIMNMX.{kind[0].upper().replace('I', 'S')}8x4 {{d}}, {{a}}, {{b}}, {predicate}", A, B)[0].tolist() == expected.tolist()
    assert compute("VIADD.U8x4 {d}, {a}, {b}", A, B)[0].tolist() == (A.view("u1") + B.view("u1")).view(np.uint32).tolist()
    assert compute("VIADD.U8x4 {d}, {a}, -{b}", A, B)[0].tolist() == (A.view("u1") - B.view("u1")).view(np.uint32).tolist()


def test_exchanges_of_four_words() -> None:
    text = """
.target sm_90
.param ptr m
    MOV R0, c[0x0][m]
    CS2R R4, SRZ
    CS2R R6, SRZ
    MOV R8, 5
    MOV R9, 6
    MOV R10, 7
    MOV R11, 8
    ATOMG.CAS.128 PT, R12, [R0], R4, R8
    ATOMG.CAS.128 PT, R16, [R0], R4, R4
    STG.128 [R0+0x10], R16
    ATOMG.EXCH.128 PT, R16, [R0+0x20], R8
    EXIT
"""
    memory = np.zeros(12, np.uint32)
    sim.execute(sim.Launch(isa.parse(text), (1,), (1,), (memory,)))
    assert memory.tolist() == [5, 6, 7, 8] * 3


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("IADD.64.X R2, -R4, R6, P0", "64-bit"),
        ("IMAD.U32.S32.HI R0, R1, R2, R4", "signed and an unsigned"),
        ("IMAD R0, P0, R1, R2, -R3", "less an addend"),
        ("ATOMG.E.ADD.F64.FTZ.RN PT, R4, [R2], R6", ".FTZ is of .F32 only"),
        ("ATOMG.E.ADD.128 PT, R4, [R2], R8", "EXCH and .CAS"),
        ("VIMNMX.RELU.S8x4 R0, R1, R2, PT", ".RELU of four bytes"),
        ("IMNMX PT, PT, R2, R4, R6, PT, P0", "last predicate of IMNMX"),
        ("F2IP.U8.F16 R0, R1, R2, R3", "no modifier .F16"),
        ("F2IP.S16.F32 R0, R1, R2, R3", "no modifier .S16"),
    ],
)
def test_what_nobody_has_measured_is_refused(line: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        isa.parse(f".target sm_90\n{line}\nEXIT\n")
