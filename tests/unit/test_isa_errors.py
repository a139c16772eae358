"""What a user's mistakes look like. The messages stand in tests/golden/isa_errors.txt (`pytest --update-golden` rewrites it)."""

from pathlib import Path

import pytest

import isa
from isa.diagnostics import SHOWN

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "isa_errors.txt"
MISTAKES = {
    "unknown opcode": "  FFMMA R0, R1, R2, R3\nEXIT",
    "lower case opcode": "fadd R0, R1, R2\nEXIT",
    "unknown modifier": "MUFU.SINE R0, R1\nEXIT",
    "modifier twice": "ISETP.GT.LT P0, R0, R1\nEXIT",
    "modifier missing": "SHF.U32 R0, R1, R2, R3\nEXIT",
    "undefined label": "loop: BRA lop",
    "label at the end": "BRA end\nend:",
    "label twice": "a: NOP\na: EXIT",
    "no comma": "IADD R0, R1 R2\nEXIT",
    "comma at the end": "FADD R0, R1,\nEXIT",
    "bracket not closed": "LDS R0, [R2\nEXIT",
    "operands missing": "LOP3.LUT R0, R1, R2\nEXIT",
    "operand of a wrong kind": "ISETP.GE P0, R0, [R1]\nEXIT",
    "operand too many": "BAR.SYNC 0, 64, 1\nEXIT",
    "register too high": "MOV R255, RZ\nEXIT",
    "pair at an odd register": "LDG.E.64 R3, [R2]\nEXIT",
    "quad past the last register": "LDS.128 R252, [R0]\nEXIT",
    "guard out of range": "@P8 EXIT",
    "number too long": "MOV R0, 0x1ffffffff\nEXIT",
    "fraction for an integer": "IADD R0, R1, 1.5\nEXIT",
    "float out of range": "FADD R0, R1, 1e99\nEXIT",
    "sign not taken": "IADD R0, |R1|, 1\nEXIT",
    "suffix not modelled": "MOV R0, R1.H1\nEXIT",
    "uniform register too high": "MOV R0, UR255\nEXIT",
    "descriptor that is no uniform register": "LDG.E R0, desc[R4][R2.64]\nEXIT",
    "two registers in an address": "LDG.E R0, [R2+R4]\nEXIT",
    "three registers in an address": "LDG.E R0, [R2+UR4+UR6]\nEXIT",
    "64-bit shared address": "LDS R0, [R2.64]\nEXIT",
    "registers before the kernel": ".registers 40\n.kernel one\nEXIT",
    "architecture not known": ".target sm_20\nEXIT",
    "flushed selection": "FSEL.FTZ R0, R1, R2, P0\nEXIT",
    "unaligned constant": "MOV R0, c[0x0][0x141]\nEXIT",
    "register in a constant": "MOV R0, c[0x3][R1]\nEXIT",
    "no such parameter": ".param u32 count\nMOV R0, c[0x0][cuont]\nEXIT",
    "no such special register": "S2R R0, SR_TIDX\nEXIT",
    "no such barrier": "l: BSSY B16, l\nEXIT",
    "carry-in without .X": "IADD3 R0, R1, R2, R3, P0\nEXIT",
    "carry-in of a shifted low word": "LEA.X R0, R1, R2, 3, P0\nEXIT",
    "half a saturated sum": "VIADD.S32 R0, R1, R2\nEXIT",
    "sign of what LEA.HI shifts": "LEA.HI R0, -R1, R2, R3, 3\nEXIT",
    "inversion of what LEA shifts": "LEA R0, ~R1, R2, 3\nEXIT",
    "shift of more bits than a shift has": "LEA R0, R1, R2, 0x21\nEXIT",
    "truth table of more than 8 bits": "LOP3.LUT R0, R1, R2, R3, 0x1c0, !PT\nEXIT",
    "truth table that would run into the second": "PLOP3.LUT P0, P1, P2, P3, P4, 0x180, 0x0\nEXIT",
    "carry of .WIDE": "IMAD.WIDE.X R0, R2, R3, R4\nEXIT",
    "number as a wide addend": "IMAD.WIDE R0, R2, R3, 4\nEXIT",
    ".EX without the low result": "ISETP.GE.AND.EX P0, PT, R0, R1, PT\nEXIT",
    ".X of a comparison that needs more than a carry": "ISETP.EQ.X P0, R0, R1\nEXIT",
    "predicate of a minimum": "VIMNMX R0, P0, PT, R1, R2, PT\nEXIT",
    "atomic without a function": "ATOM.E.STRONG.GPU R0, [R2], R4\nEXIT",
    "atomic with two predicates": "ATOMG.ADD P0, P1, R0, [R2], R4\nEXIT",
    "exchange that returns nothing": "RED.EXCH [R2], R4\nEXIT",
    "swap without a new value": "ATOMS.CAS R0, [R2], R4\nEXIT",
    "sum of two values": "ATOMS.ADD R0, [R2], R4, R5\nEXIT",
    "count down of 64 bits": "ATOM.DEC.64 R0, [R2], R4\nEXIT",
    "largest float": "RED.MAX.F32.FTZ.RN [R2], R4\nEXIT",
    "flush of integers": "RED.ADD.FTZ [R2], R4\nEXIT",
    "atomic pair at an odd register": "ATOM.CAS.64 R0, [R2], R4, R7\nEXIT",
    "carry of an opcode without one": "MOV R0.CC, R1\nEXIT",
    "past the end": "NOP",
    "guarded exit at the end": "@P0 EXIT",
    "no instructions": "// nothing\n",
    "comment not closed": "EXIT /* here",
    "unknown directive": ".shred 4\nEXIT",
    "directive without argument": ".shared\nEXIT",
    "directive with a name not defined": ".shared SIZE\nEXIT",
    "directive with a fraction": ".shared 1.5\nEXIT",
    "too few registers": ".registers 3\nMOV R7, RZ\nEXIT",
    "too many registers": ".registers 300\nEXIT",
    "unknown type": ".param f31 x\nEXIT",
    "parameter twice": ".param f32 x\n.param ptr x\nEXIT",
    "base after a parameter": ".param f32 x\n.parameter_base 0x160\nEXIT",
    "name twice": ".equ N 1\n.equ N 2\nEXIT",
    "label inside .rept": ".rept 3\nx: NOP\n.endr\nEXIT",
    "directive inside .rept": ".rept 3\n.shared 4\n.endr\nEXIT",
    ".rept not closed": ".rept 3\nNOP",
    ".endr alone": "EXIT\n.endr",
    ".rept too long": ".rept 1000\n.rept 1000\nNOP\nNOP\n.endr\n.endr\nEXIT",
    "code before .kernel": "NOP\n.kernel k\nEXIT",
    "kernel twice": ".kernel k\nEXIT\n.kernel k\nEXIT",
    "several kernels": ".kernel a\nEXIT\n.kernel b\nEXIT",
    "compiler-made listing": """\
\t\tFunction : k
\t.headerflags\t@"EF_CUDA_SM75"
        /*0000*/                   ARRIVES R4 ;
        /*0010*/                   BRA 0x8 ;
        /*0020*/                   FADD.XX R1, R2, R3 ;
        /*0030*/                   ARRIVES R5 ;
\t\t..........""",
    "all at once": """\
loop: FFMMA R0, R1, R2, R3
  IADD R0, R1 R2
  BRA lop
  XMADD R0, R1, R2, RZ
  LDS R0, [R1
  MOV R0, 1e99
  BRA loop""",
}


def message(text: str) -> str:
    with pytest.raises(isa.UserError) as caught:
        isa.parse(text, "k.sass")
    return str(caught.value)


def test_messages_are_those_of_the_golden_file(request: pytest.FixtureRequest) -> None:
    shown = "".join(f"== {name}\n{message(text)}\n\n" for name, text in MISTAKES.items())
    if request.config.getoption("--update-golden"):
        GOLDEN.write_text(shown)
    assert shown == GOLDEN.read_text()


def test_a_text_that_is_no_listing_is_told_in_so_many_words_and_the_rest_counted() -> None:
    shown = message("Dear reader\n" * 50)
    assert shown.startswith("k.sass: 51 mistakes")  # the last: nothing ends the program
    assert shown.count("    Dear reader") == SHOWN
    assert shown.endswith(f"... and {51 - SHOWN} more; is this file a listing?")


@pytest.mark.parametrize("name", MISTAKES)
def test_a_message_says_where(name: str) -> None:
    assert message(MISTAKES[name]).startswith("k.sass:")


def test_every_mistake_is_reported_at_once() -> None:
    shown = message(MISTAKES["all at once"])
    assert shown.startswith("k.sass: 6 mistakes")
    assert [line for line in shown.splitlines() if line.startswith("k.sass:")][1:] == [
        "k.sass:1:7: unknown opcode FFMMA",
        "k.sass:2:15: unexpected 'R2'",
        "k.sass:3:7: label lop is not defined",
        "k.sass:4:3: unknown opcode XMADD",
        "k.sass:5:14: unexpected end",
        "k.sass:6:11: 1e+99 is out of the range of a 32-bit float",
    ]


def test_a_half_that_no_float_of_16_bits_is_near() -> None:
    assert "k.sass:1:20: -2147483649 is out of the range of a 16-bit float" in message("HFMA2 R0, -RZ, RZ, -2147483649, 0\nEXIT")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(isa.UserError, match="No such file"):
        isa.load(tmp_path / "none.sass")
    (tmp_path / "binary.sass").write_bytes(b"\xff\xfe")
    with pytest.raises(isa.UserError, match="not UTF-8"):
        isa.load(tmp_path / "binary.sass")
