"""Listings of every architecture and format read to the same functions."""

import time

import pytest

from isa import sass
from isa.sass import RawFunction
from isa.sass.statement import StatementError, operands, statement
from tests.unit.sass_data import LISTINGS, functions, text, without_lines

FORMATS = [(name, f"{name.rsplit('.', 2)[0]}.sass") for name in LISTINGS if name.endswith(".dis")]
FORMATS = [(name, plain) for name, plain in FORMATS if plain in LISTINGS]


def one(name: str) -> RawFunction:
    (function,) = functions(name)
    return function


@pytest.mark.parametrize("name", LISTINGS)
def test_a_listing_is_read_whole(name: str) -> None:
    """Every line with an address and an instruction is one instruction, in the architecture that the file's name says."""
    code = [line for line in text(name).splitlines() if line.strip().startswith("/*0") and not line.split("*/")[1].strip().startswith(".")]
    code = [line for line in code if not line.strip().startswith("/* 0x") and not line.strip().startswith("/*0x")]
    assert sum(map(len, functions(name))) == len(code) > 0
    assert {function.architecture for function in functions(name)} == {name.split(".")[1]}


@pytest.mark.parametrize("name", LISTINGS)
def test_printing_reads_back_to_the_same(name: str) -> None:
    assert without_lines(sass.parse(sass.listing(functions(name)))) == without_lines(functions(name))


@pytest.mark.parametrize(("other", "plain"), FORMATS)
def test_formats_agree(other: str, plain: str) -> None:
    """nvdisasm names labels where cuobjdump prints addresses; everything else is the same."""
    by_name = {function.name: function for function in functions(plain)}
    for function in functions(other):
        twin = by_name[function.name]
        if ".hex." in other:
            assert [i.word for i in function.instructions] == [i.word for i in twin.instructions]
            assert function.control_words == twin.control_words
        for labelled, numeric in zip(function.instructions, twin.instructions[: len(function)], strict=True):
            assert (labelled.address, labelled.guard, labelled.opcode) == (numeric.address, numeric.guard, numeric.opcode)
            if labelled.operands != numeric.operands:
                label = labelled.operands[-1].removeprefix("`(").removesuffix(")")
                assert labelled.operands[:-1] == numeric.operands[:-1]
                assert twin.index_at(int(numeric.operands[-1], 16)) == function.labels[label]


def test_several_functions_and_mangled_names() -> None:
    names = [function.name for function in functions("templates.sm_90.sass")]
    assert names[0] == "_Z5copyNI6float4Li4EEvPT_PKS1_"
    assert len(names) > 1


def test_indirect_branches_keep_their_targets() -> None:
    jumps = [(i, f) for f in functions("ext.sm_61.full.dis") for i in f.instructions if i.opcode == "BRX"]
    assert jumps[0][0].operands == ("R0", "-0x100")
    assert all(target in function.labels for jump, function in jumps for target in jump.targets)
    assert all(len(jump.targets) == 3 for jump, _ in jumps)


def test_a_branch_before_volta_may_name_a_control_word() -> None:
    function = one("histogram.sm_52.sass")
    first = function.instructions[3]
    assert first.address == 0x28
    assert function.index_at(0x20) == function.index_at(0x28) == 3
    assert function.index_at(0x24) is None
    assert function.index_at(function.addresses[-1] + 8) == len(function)
    assert one("histogram.sm_75.sass").index_at(0x8) is None


def test_the_last_padding_of_kepler_has_no_control_words() -> None:
    function = one("saxpy.sm_35.sass")
    assert max(function.control_words) == 0x80
    assert function.addresses[-8:] == list(range(0xC0, 0x100, 8))


def test_an_instruction_is_split_into_its_parts() -> None:
    parts = statement("@!P1 LDG.E.128 R4, desc[UR4][R2.64+0x10] &req={1} &wr=0x4 ?trans1;")
    assert (parts.guard, parts.opcode, parts.operands) == ("@!P1", "LDG.E.128", ("R4", "desc[UR4][R2.64+0x10]"))
    assert statement("{ @P0 IADD R2.CC, R6, c[0x0] [0x8].H1 ;") == ("@P0", "IADD", ("R2.CC", "R6", "c[0x0][0x8].H1"), (), True, False)
    assert statement("DEPBAR.LE SB0, 0x1, {3,2}         }").operands == ("SB0", "0x1", "{3,2}")
    assert statement('SYNC  (*"BRANCH_TARGETS .L_x_1,.L_x_2"*);').targets == (".L_x_1", ".L_x_2")
    assert statement('SSY `(.L_x_1) (*"TARGET= .L_x_1 "*);').targets == (".L_x_1",)
    assert operands("R4 -0x150") == ("R4", "-0x150")
    assert operands("R6 `($foo$_Z3fibi)") == ("R6", "`($foo$_Z3fibi)")


@pytest.mark.parametrize(
    "text", ["FFMA R0, R1", "ffma R0;", "FFMA R0,, R1;", "LDG R0, [R2;", "LDG R0, R2];", ";", "@P9 EXIT;", "FFMA R0, ;"]
)
def test_what_is_no_instruction_is_refused(text: str) -> None:
    with pytest.raises(StatementError):
        statement(text)


def test_the_time_of_reading_grows_with_the_instructions_not_with_their_square() -> None:
    def seconds(count: int) -> float:
        lines = "\n".join(
            f"/*{16 * i:04x}*/ FFMA R{i % 200}, R{i % 199}, R{i % 198}, R{i % 197} ; /* {i:#018x} */\n/* {i:#018x} */" for i in range(count)
        )
        start = time.process_time()
        (function,) = sass.parse(lines, architecture="sm_80")
        assert len(function) == count
        return time.process_time() - start

    assert min(seconds(10_000) for _ in range(2)) < 40 * min(seconds(1_000) for _ in range(3))
