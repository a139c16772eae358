"""The opcode table: complete, consistent, and every row read."""

import pytest

import isa
from isa.opcodes import BY_ERA, SpellingError, decode, load_table
from isa.vocabulary import Compare, Flag, Operation, Rounding
from tests.unit.isa_examples import EXAMPLES

ROW = 'NOP = { operation = "NOP", unit = "NONE", operands = "" }'


def test_every_opcode_has_an_example() -> None:
    assert list(EXAMPLES) == list(isa.OPCODES)


def test_every_operation_has_an_opcode() -> None:
    opcodes = [opcode for opcodes in BY_ERA.values() for opcode in opcodes.values()]
    effects = [effect for opcode in opcodes for names in opcode.modifiers.values() for effect in names.values()]
    changed = {value for effect in effects for field, _, value in effect.fields if field == "operation"}
    made = {Operation.IMAD_CARRY, Operation.PLOP3_SIGNS}  # of IMAD and PLOP3, by isa.encode
    assert {opcode.operation for opcode in opcodes} | changed | made == set(Operation)


@pytest.mark.parametrize("text", [text for texts in EXAMPLES.values() for text in texts])
def test_example_reads(text: str) -> None:
    canonical = isa.parse(f"here: {text}\nEXIT").instructions[0].text
    assert isa.parse(f"here: {canonical}\nEXIT").instructions[0].text == canonical


@pytest.mark.parametrize("opcode", isa.OPCODES.values(), ids=lambda opcode: opcode.name)
def test_every_modifier_decodes(opcode: isa.opcodes.Opcode) -> None:
    needed = {group: next(iter(opcode.modifiers[group])) for group in opcode.required}
    for group, names in opcode.modifiers.items():
        for name in names:
            chosen = {**needed, group: name}
            if group == "nearest":  # of floats only
                chosen |= {other: "F32" for other, types in opcode.modifiers.items() if "F32" in types}
            assert decode(".".join([opcode.name, *(chosen[g] for g in opcode.modifiers if g in chosen)])).opcode is opcode


def test_modifiers_say_what_they_mean() -> None:
    assert decode("ISETP.GE.U32.AND").modifiers.flags == 0
    assert decode("ISETP.GE.AND").modifiers.flags == Flag.SIGNED
    assert decode("FSETP.NEU.FTZ.AND").modifiers.compare == Compare.NEU
    assert decode("F2I.FTZ.U32.F32.TRUNC").modifiers.rounding == Rounding.ZERO
    assert decode("SHF.L.W.U32.HI").modifiers.flags == Flag.LEFT | Flag.WRAP | Flag.HIGH
    assert [decode(f"LDG.E{size}").modifiers.width for size in ("", ".U8", ".S16", ".32", ".64", ".128")] == [4, 1, 2, 4, 8, 16]


@pytest.mark.parametrize("spelling", ["FFMMA", "ffma", "FADD.X", "ISETP", "ISETP.GT.GT", "LDG.E.64.128", "MUFU", "BAR"])
def test_wrong_spelling_is_refused(spelling: str) -> None:
    with pytest.raises(SpellingError):
        decode(spelling)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('operation = "NOP"', 'operation = "NOOP"'),
        ('unit = "NONE"', 'unit = "ALU"'),
        ('operands = ""', 'operands = "Rd e"'),
        ('operands = ""', 'operands = "", cycles = 4'),
        ('operands = ""', 'operands = "", modifiers = ["speed"]'),
        ('operands = ""', 'operands = "", numbers = "roman"'),
        ('operands = ""', 'operands = "", required = ["compare"]'),
        ('operands = "" }', 'operands = "" }\n' + ROW),
    ],
)
def test_table_with_an_unknown_name_is_refused(old: str, new: str) -> None:
    head = "[modifiers]\n[opcodes]\n"
    assert list(load_table(head + ROW)) == ["NOP"]
    with pytest.raises((ValueError, KeyError)):
        load_table(head + ROW.replace(old, new))
