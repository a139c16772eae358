"""What the arrays of a program hold."""

import struct
from typing import Any

import pytest

import isa
from isa.dependences import destination_registers
from isa.vocabulary import (
    BARRIER_BASE,
    CARRY,
    PREDICATE_BASE,
    PT,
    RZ,
    AtomicFunction,
    Cache,
    Flag,
    Kind,
    Operation,
    SourceFlag,
    Space,
    Special,
    Unit,
)


def fields(text: str) -> dict[str, Any]:
    """Return the fields of the first instruction of a listing as plain values, dependences without their padding."""
    encoded = isa.parse(f"here: {text}\nNOP\nEXIT").encoded
    row = {name: column[0].tolist() for name, column in encoded._asdict().items()}
    for name in ("reads", "writes"):
        row[name] = [number for number in row[name] if number != -1]
    return row


def float_bits(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


@pytest.mark.parametrize(
    ("text", "reads", "writes"),
    [
        ("FFMA R0, R1, R2, R0", [1, 2, 0], [0]),
        ("FFMA RZ, R1, RZ, 1", [1], []),
        ("@P3 FADD R0, R1, R1", [1, PREDICATE_BASE + 3], [0]),
        ("@!PT FADD R0, R1, R2", [1, 2], [0]),
        ("LD.E.64 R4, [R2]", [2, 3], [4, 5]),
        ("LDG.128 R4, [R2]", [2], [4, 5, 6, 7]),
        ("LDS.U8 R1, [0x10]", [], [1]),
        ("STG.E.128 [R2], R4", [4, 5, 6, 7, 2, 3], []),
        ("STG.E.64 [R2.64], RZ", [2, 3], []),
        ("STS [R1], R0", [0, 1], []),
        ("ATOM.E.ADD R0, [R2], R5", [5, 2, 3], [0]),
        ("ATOMG.E.CAS.64.STRONG.GPU PT, R8, [R2], R4, R6", [4, 5, 6, 7, 2, 3], [8, 9]),
        ("ATOMS.ADD RZ, [R3], R5", [5, 3], []),
        ("@P1 RED.E.ADD.U64 [R2], R4", [4, 5, 2, 3, PREDICATE_BASE + 1], []),
        ("LDC.64 R4, c[0x3][R2+0x8]", [2], [4, 5]),
        ("IADD R8.CC, R8, 4", [8], [8, CARRY]),
        ("IADD.X R9, RZ, R9", [9, CARRY], [9]),
        ("IADD3.X R0, R1, R2, R3", [1, 2, 3, CARRY], [0]),
        ("IADD3.X R0, R1, R2, R3, P1, !PT", [1, 2, 3, PREDICATE_BASE + 1], [0]),
        ("IADD3 R0, P0, P1, R1, R2, R3", [1, 2, 3], [0, PREDICATE_BASE, PREDICATE_BASE + 1]),
        ("IMAD.WIDE R2, R0, R1, R4", [0, 1, 4, 5], [2, 3]),
        ("IMAD.HI R2, R0, R1, R4", [0, 1, 4], [2]),
        ("ISETP.GE.AND P0, P1, R0, R11, !P2", [0, 11, PREDICATE_BASE + 2], [PREDICATE_BASE, PREDICATE_BASE + 1]),
        ("ISETP.LT.X P0, R0, R1", [0, 1, CARRY], [PREDICATE_BASE]),
        ("BSSY B3, here", [], [BARRIER_BASE + 3]),
        ("BSYNC B3", [BARRIER_BASE + 3], []),
    ],
)
def test_dependences(text: str, reads: list[int], writes: list[int]) -> None:
    row = fields(text)
    assert (row["reads"], row["writes"]) == (reads, writes)


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("FADD R0, R1, 1", float_bits(1.0)),
        ("FADD R0, R1, -1.5e-3", float_bits(-1.5e-3)),
        ("FADD R0, R1, 0x1", 1),
        ("FADD R0, R1, -INF", 0xFF800000),
        ("FADD R0, R1, -QNAN", 0xFFC00000),
        ("FADD R0, R1, 1e-44", float_bits(1e-44)),
        ("IADD R0, R1, -1", 0xFFFFFFFF),
        ("IADD R0, R1, -0x80000000", 0x80000000),
        ("LOP.AND R0, R1, 0xffffffff", 0xFFFFFFFF),
    ],
)
def test_immediates(text: str, bits: int) -> None:
    row = fields(text)
    assert (row["source_kind"][1], row["source_value"][1]) == (Kind.IMMEDIATE, bits)


def test_numbers_of_mov_are_bits_unless_they_have_a_point() -> None:
    assert fields("MOV R0, 1")["source_value"][0] == 1
    assert fields("MOV R0, 1.0")["source_value"][0] == float_bits(1.0)


def test_signs_of_sources() -> None:
    assert fields("FFMA R0, -R1, |R2|, -|R3|")["source_flags"] == [1, 2, 3, 0]
    assert fields("LOP.XOR R0, R1, ~R2")["source_flags"][1] == SourceFlag.INVERT
    assert fields("FADD R0, R1, -c[0x0][0x140]")["source_flags"][1] == SourceFlag.NEGATE


def test_memory() -> None:
    row = fields("LDG.E.S8 R1, [R2+-0x4]")
    assert (row["space"], row["width"], row["address_register"], row["address_offset"]) == (Space.GLOBAL, 1, 2, -4)
    assert row["flags"] == Flag.ADDRESS64 | Flag.SIGNED
    assert fields("LDS R0, [0x10]")["address_register"] == RZ
    assert fields("STS [R3+0x8], R1")["source_value"][0] == 1
    assert fields("FADD R0, R1, R2")["address_register"] == -1
    constant = fields("LDC R1, c[0x3][R2+0x8]")
    assert (constant["source_bank"][0], constant["source_value"][0], constant["address_register"]) == (3, 8, 2)


def test_atomics() -> None:
    row = fields("ATOMG.E.MAX.S64.STRONG.GPU PT, R8, [R2+0x8], R4")
    assert (row["operation"], row["unit"], row["space"]) == (Operation.ATOM, Unit.GLOBAL, Space.GLOBAL)
    assert (row["function"], row["width"], row["flags"]) == (AtomicFunction.MAX, 8, Flag.ADDRESS64 | Flag.SIGNED)
    assert (row["destination"], row["destination_count"], row["source_value"][0], row["address_offset"]) == (8, 2, 4, 8)
    shared = fields("ATOMS.CAS R0, [R1], R2, R3")
    assert (shared["unit"], shared["space"], shared["source_value"][:2]) == (Unit.SHARED, Space.SHARED, [2, 3])
    reduction = fields("RED.E.ADD.F32.FTZ.RN [R2], R5")
    assert (reduction["destination"], reduction["destination_count"]) == (-1, 0)
    assert reduction["flags"] == Flag.ADDRESS64 | Flag.FLOAT | Flag.FTZ
    assert fields("ATOM.ADD R0, [R1], R2") == fields("ATOM.ADD.U32 PT, R0, [R1], R2")


@pytest.mark.parametrize(
    ("text", "cache"),
    [
        ("LDG.E R0, [R2]", Cache.DEFAULT),
        ("LDG.E.SYS R0, [R2]", Cache.DEFAULT),
        ("LD.E.CA R0, [R2]", Cache.ALL),
        ("LDG.E.CG R0, [R2]", Cache.GLOBAL),
        ("STG.E.64.CS [R2], R6", Cache.STREAMING),
        ("LDG.E.EF R0, [R2]", Cache.STREAMING),
        ("LDL.LU R0, [R2]", Cache.STREAMING),
        ("LD.E.CV R0, [R2]", Cache.VOLATILE),
        ("ST.E.WT [R2], R0", Cache.VOLATILE),
        ("LDG.E.STRONG.GPU R0, [R2]", Cache.VOLATILE),
        ("STG.E.STRONG.SYS [R2], R0", Cache.VOLATILE),
        ("LDG.E.STRONG.CTA R0, [R2]", Cache.ALL),
        ("LDG.E.CI R0, [R2]", Cache.READ_ONLY),
        ("LDG.E.CONSTANT.SYS R0, [R2]", Cache.READ_ONLY),
        ("RED.E.ADD.STRONG.GPU [R2], R0", Cache.VOLATILE),
        ("RED.E.ADD [R2], R0", Cache.DEFAULT),
        ("LDS R0, [R2]", Cache.DEFAULT),
    ],
)
def test_cache_operators(text: str, cache: Cache) -> None:
    assert fields(text)["cache"] == cache


def test_predicates() -> None:
    row = fields("@!P2 ISETP.GE.AND P0, P1, R0, R1, !P3")
    assert (row["guard"], row["guard_not"], row["predicate_destination"]) == (2, 1, [0, 1])
    assert (row["predicate_source"], row["predicate_source_not"]) == ([3, PT, PT], [1, 0, 0])
    short = fields("ISETP.GE P0, R0, R1")
    assert (short["guard"], short["predicate_destination"], short["predicate_source"]) == (PT, [0, PT], [PT, PT, PT])
    assert fields("ISETP.GE P0, R0, R1") == fields("ISETP.GE.AND P0, PT, R0, R1, PT")
    assert fields("LOP3 R0, R1, R2, R3, 0x96") == fields("LOP3.LUT R0, R1, R2, R3, 0x96, !PT")
    assert fields("IADD3.X R0, R1, R2, R3, P1") == fields("IADD3.X R0, R1, R2, R3, P1, !PT")
    assert fields("PSETP.OR P0, P1, P2") == fields("PSETP.OR.AND P0, PT, P1, P2, PT")


def test_opcodes_without_a_third_source_read_rz_there() -> None:
    for text in ("IMUL R0, R1, R2", "IADD3 R0, R1, R2"):
        row = fields(text)
        assert (row["source_kind"][2], row["source_value"][2]) == (Kind.REGISTER, RZ)


def test_function_holds_what_the_operation_needs() -> None:
    assert fields("S2R R0, SR_CTAID.Y")["function"] == Special.CTAID_Y
    assert fields("LOP3.LUT R0, R1, R2, R3, 0x96, !PT")["function"] == 0x96
    assert fields("ISCADD R0, R1, R2, 0x3")["function"] == 3
    assert fields("BSSY B7, here")["function"] == 7
    assert (fields("BSSY B7, here")["target"], fields("NOP")["target"]) == (0, -1)


def test_unit_and_operation_come_from_the_table() -> None:
    row = fields("IADD32I R0, R0, 1")
    assert (row["operation"], row["unit"]) == (Operation.IADD, Unit.INT32)


def test_destination_count() -> None:
    counts = [
        fields(text)["destination_count"] for text in ("LDG.64 R0, [R2]", "LDG.U8 R0, [R2]", "IMAD.WIDE R0, R2, R3, R4", "STS [R0], R1")
    ]
    assert counts == [2, 1, 2, 0]
    assert destination_registers(Operation.LDC, 0, 16) == 4


def test_registers_needed() -> None:
    assert isa.parse("LDG.E.128 R8, [R2]\nEXIT").registers == 12
    assert isa.parse("EXIT").registers == 1
    assert isa.parse(".registers 40\nMOV R0, RZ\nEXIT").registers == 40
