"""The language: labels, comments, targets, directives, several kernels, and the listings of the lecture notes."""

import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import isa
from isa import parser
from isa.vocabulary import Operation
from tests.unit.isa_programs import same

PROGRAMS = Path(__file__).resolve().parents[2] / "programs"


def texts(listing: str) -> list[str]:
    return [instruction.text for instruction in isa.parse(listing).instructions]


def test_comments_and_blank_lines_change_nothing() -> None:
    plain = isa.parse("MOV R0, RZ\nEXIT")
    noisy = isa.parse("# one\n// two\n\nMOV R0, /* three\nfour */ RZ // five\n\t EXIT ; # six\n".replace("three\nfour", "three"))
    assert same(plain, noisy)
    assert isa.parse("/* a\nb */ MOV R0, RZ\nEXIT").instructions[0].line == 2


@pytest.mark.parametrize("definition", ["there:", ".there:", "there :", ".there", "a: there: b:", "x: .there :"])
def test_labels(definition: str) -> None:
    name = ".there" if ".there" in definition else "there"
    program = isa.parse(f"NOP\n{definition}\nBRA {name}")
    assert program.labels[name] == 1
    assert program.encoded.target.tolist() == [-1, 1]


@pytest.mark.parametrize("target", [".L_2", "`(.L_2)", "'(.L_2)", "`( .L_2 )"])
def test_branch_targets(target: str) -> None:
    assert texts(f".L_2: BRA {target}") == ["BRA `(.L_2);"]


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("@!P0   FFMA  R0,R1 , -R2.reuse,c[0x0] [0x10]", "@!P0 FFMA R0, R1, -R2, c[0x0][0x10];"),
        ("LDS R0, [ R2 + 0x4 ]", "LDS R0, [R2+0x4];"),
        ("LDS R0, [R2+-0x4]", "LDS R0, [R2+-0x4];"),
        ("LDS R0, [R2-4]", "LDS R0, [R2+-0x4];"),
        ("LDS R0, [0x10]", "LDS R0, [0x10];"),
        ("LDS R0, [RZ]", "LDS R0, [RZ];"),
        ("LDG R0, [R2.64+0xc]", "LDG R0, [R2.64+0xc];"),
        ("LDC R0, c[0x3] [R4+8]", "LDC R0, c[0x3][R4+0x8];"),
        ("FADD R0, -|R1|.reuse, |c[0x0][0x8]|", "FADD R0, -|R1|, |c[0x0][0x8]|;"),
        ("FADD R0, R1, .5", "FADD R0, R1, 0.5;"),
        ("MUFU.RSQ R2, -QNAN", "MUFU.RSQ R2, -QNAN;"),
    ],
)
def test_canonical_text(written: str, canonical: str) -> None:
    assert texts(f"{written}\nEXIT")[0] == canonical


def test_parameters_are_packed_with_natural_alignment() -> None:
    listing = ".param u32 n\n.param ptr x\n.param f32 a\n.param f64 d\nMOV R0, c[0x0][x+4]\nEXIT"
    program = isa.parse(listing)
    assert [parameter.offset for parameter in program.parameters] == [0x140, 0x148, 0x150, 0x158]
    assert [parameter.size for parameter in program.parameters] == [4, 8, 4, 8]
    assert program.encoded.source_value[0, 0] == 0x14C
    assert isa.parse(".parameter_base 0x160\n.param u32 n\nMOV R0, c[0x0][n]\nEXIT").encoded.source_value[0, 0] == 0x160


EQU = """
.equ N 4
.equ M N
.registers M
.shared M
.rept N
    IADD R0, R0, -N
.endr
    LDS R1, [R0+N]
    MOV R2, c[0x0][N]
    ISCADD R0, R1, R2, N
    EXIT
"""


def test_equ_names_numbers_everywhere() -> None:
    program = isa.parse(EQU)
    assert (program.registers, program.shared_bytes, len(program)) == (4, 4, 8)
    assert program.encoded.source_value[0, 1] == 0xFFFFFFFC
    assert (program.encoded.address_offset[4], program.encoded.source_value[5, 0], program.encoded.function[6]) == (4, 4, 4)


def test_rept_nests() -> None:
    program = isa.parse(".rept 2\nNOP\n.rept 3\nMOV R0, RZ\n.endr\n.endr\nend: EXIT")
    assert [i.opcode for i in program.instructions] == (["NOP"] + ["MOV"] * 3) * 2 + ["EXIT"]
    assert [i.index for i in program.instructions] == list(range(9))
    assert program.labels == {"end": 8}
    assert len(isa.parse(".rept 0\nNOP\n.endr\nEXIT")) == 1


def test_several_kernels(tmp_path: Path) -> None:
    path = tmp_path / "two.sass"
    path.write_text(".equ N 8\n.target sm_90\n.kernel one\n.shared N\nEXIT\n.kernel two\n.target sm_80\nl: BRA l\n")
    assert isa.load(path, "one").shared_bytes == 8
    assert (isa.load(path, "two").name, isa.load(path, "two").shared_bytes) == ("two", 0)
    assert [isa.load(path, name).architecture for name in ("one", "two")] == ["sm_90", "sm_80"]
    with pytest.raises(isa.UserError, match="one, two"):
        isa.load(path)
    with pytest.raises(isa.UserError, match="no kernel three"):
        isa.load(path, "three")


def test_name_is_that_of_the_kernel_or_the_file(tmp_path: Path) -> None:
    path = tmp_path / "chain.sass"
    path.write_text("EXIT")
    assert (isa.load(path).name, isa.parse("EXIT").name, isa.parse(".kernel k\nEXIT").name) == ("chain", "kernel", "k")


def test_listings_of_the_lecture_notes_read_as_printed() -> None:
    simple = isa.load(PROGRAMS / "intervals/simple_loop.sass")
    assert [i.opcode for i in simple.instructions] == ["LD.E", "FADD", "ST.E", "BRA"]
    assert simple.encoded.target.tolist() == [-1, -1, -1, 0]
    actual = isa.load(PROGRAMS / "intervals/actual_loop.sass")
    assert len(actual) == 13
    assert actual.labels[".L_2"] == 0
    assert actual.encoded.target[12] == 0
    assert actual.encoded.reconverge[12] == len(actual)
    assert actual.registers == 12


def test_markers() -> None:
    marked = isa.parse("SSY meet\n@P0 BRA meet\nSYNC\nmeet: EXIT")
    assert marked.markers
    assert (marked.encoded.reconverge == -1).all()
    assert not isa.parse("@P0 BRA meet\nmeet: EXIT").markers


LINES = [
    *("EXIT", "  @!P0 BRA there ;", "FFMA R0, R1, -R2, 1.5e3;", "FADD-R1", "@UP1 MOV R0, RZ ; ", "\tNOP", "a: EXIT"),
    *("a : b: NOP;", ".rept 3", "@P9 EXIT", "@P0EXIT", "EXIT; NOP", "EXIT ;;", ";", "FFMA .x", "FFMA.", "FFMA.. R1", "@P0"),
    *("1 2", "MOV R0,, R1", "MOV R0 , [R1", "e:", "DEPBAR.LE SB0, 0x0, {3,2} ;", "MOV R0, R1, R2 R3", "A\u00a0B"),
    *("MOV\vR0, R1", "$x", "_a R1", "PLAIN:NOT", "LOP3.LUT R0, R1,R2 ,RZ,0x3c,!PT"),
]


@given(st.sampled_from(LINES), st.text(" \t;:,.@!PR0[]{}x-", max_size=3), st.integers(0, 40))
def test_splitting_a_line_gives_what_the_grammar_gives(line: str, junk: str, place: int) -> None:
    content = line[:place] + junk + line[place:]
    match = parser._instruction_line().fullmatch(content)
    if match is None:
        return
    try:
        read = parser._lark().parse(content, start="line")
    except parser.OperandError:  # of the operands, which are read behind the split
        return
    guard, opcode, text = (group or "" for group in match.group("guard", "opcode", "operands"))
    columns = match.start("opcode") + 1, match.start("operands") + 1
    assert (guard, opcode, text, *columns) == (read.guard, read.opcode, read.text, read.column, read.text_column)
    assert not read.labels
    assert not read.directive


def test_a_long_listing_reads_fast() -> None:
    """10,000 different instructions take about 0.4 s of processor time; 5 s leaves room for slower machines."""
    random = np.random.default_rng(0).integers(0, 200, (10_000, 4))
    listing = "\n".join(f"    FFMA R{d}, R{a}, -R{b}, c[0x0][{hex(4 * c)}];  // chain" for d, a, b, c in random) + "\nEXIT"
    start = time.process_time()
    program = isa.parse(listing)
    assert time.process_time() - start < 5
    assert (program.encoded.operation[:-1] == Operation.FFMA).all()
    assert (program.encoded.source_value[:-1, 2] == 4 * random[:, 3]).all()
