"""What is wrong with a listing is said with its line and a remedy; functions are chosen by name."""

from pathlib import Path

import pytest

import isa
from isa import UserError, sass
from isa.sass.choose import source_name
from tests.unit.sass_data import functions, text

VOLTA = text("histogram.sm_75.sass")
MAXWELL = text("histogram.sm_52.sass")
BRACES = text("histogram.sm_52.hex.dis")


def without(listing: str, part: str, count: int = 1) -> str:
    """Return a listing without the first line that holds `part`, or the first `count` of them."""
    lines, dropped = [], 0
    for line in listing.splitlines():
        if part in line and dropped < count:
            dropped += 1
        else:
            lines.append(line)
    assert dropped == count
    return "\n".join(lines)


def without_instruction(listing: str, address: str) -> str:
    """Return a Volta listing without one instruction, which takes two lines."""
    lines = listing.splitlines()
    place = next(i for i, line in enumerate(lines) if f"/*{address}*/" in line)
    return "\n".join(lines[:place] + lines[place + 2 :])


def brace_line() -> str:
    return next(line for line in BRACES.splitlines() if line.rstrip().endswith("}"))


BROKEN = {
    "empty": ("", "holds no instructions"),
    "headers only": ("\tcode for sm_75\n\t\tFunction : k\n", "holds no instructions"),
    "unknown architecture": (VOLTA.replace("sm_75", "sm_99").replace("SM75", "SM99"), "architecture sm_99 is not known"),
    "too old an architecture": (VOLTA.replace("sm_75", "sm_20").replace("SM75", "SM20"), "architecture sm_20 is not known"),
    "no architecture": ("/*0000*/ EXIT ;", "does not say for which architecture"),
    "instruction missing": (without_instruction(VOLTA, "0020"), "expected the instruction at 0x0020, found the one at 0x0030"),
    "first instruction missing": (without_instruction(VOLTA, "0000"), "expected the instruction at 0x0000"),
    "half an encoding": (without(VOLTA, "  /* 0x000fe400"), "1 of 2 words"),
    "end missing": (without(VOLTA, ".........."), "the line of dots at the end of function histogram is missing"),
    "end label missing": (BRACES[: BRACES.rindex(".L_x_")], "at the end of function histogram is missing"),
    "cut inside a line": (VOLTA[: VOLTA.index("IMAD") + 6], "does not end with a semicolon"),
    "control word missing": (without(MAXWELL, "  /* 0x001"), "control word at 0x0000 is missing"),
    "control word twice": (MAXWELL.replace("/* 0x001", "/* 0x0010000000000000 */\n /* 0x001", 1), "two control words"),
    "brace not closed": (BRACES.replace(brace_line(), brace_line().replace("}", ";")), "a pair is two instructions"),
    "strange line": (
        VOLTA.replace("\n        /*0020*/", "\nhello there\n        /*0020*/"),
        "expected an instruction, a label or a directive",
    ),
    "label twice": (BRACES.replace(".L_x_1:", ".L_x_0:"), "label .L_x_0 is defined twice"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_listing_is_refused_with_a_remedy(name: str) -> None:
    listing, expected = BROKEN[name]
    with pytest.raises(UserError) as caught:
        sass.parse(listing, "k.sass")
    assert expected in caught.value.message
    assert caught.value.hint
    assert str(caught.value).startswith("k.sass:")
    assert caught.value.line or "holds no instructions" in expected


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        sass.read(tmp_path / "none.sass")
    (tmp_path / "binary.sass").write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="not UTF-8"):
        sass.read(tmp_path / "binary.sass")


def test_a_listing_of_several_functions_asks_for_one(tmp_path: Path) -> None:
    path = tmp_path / "templates.sass"
    path.write_text(text("templates.sm_90.sass"))
    with pytest.raises(UserError, match="this file has 3 functions") as caught:
        isa.load(path)
    assert all(function.name in caught.value.hint for function in functions("templates.sm_90.sass"))


def test_a_function_is_chosen_by_its_name() -> None:
    found = functions("ext.sm_75.sass")
    assert sass.choose(found, "x_math").name == "x_math"
    assert sass.choose(functions("histogram.sm_75.sass")).name == "histogram"
    with pytest.raises(UserError, match="10 functions") as caught:
        sass.choose(found)
    assert "x_switch" in caught.value.hint
    with pytest.raises(UserError, match="no function x_maths") as caught:
        sass.choose(found, "x_maths")
    assert "x_math" in caught.value.hint


def test_a_mangled_function_is_chosen_by_its_name_in_the_source() -> None:
    found = functions("templates.sm_90.sass")
    assert sass.choose(found, "_Z5copyNI6float4Li4E").name == "_Z5copyNI6float4Li4EEvPT_PKS1_"
    with pytest.raises(UserError, match="that copyN may mean"):
        sass.choose(found, "copyN")


def test_a_function_for_two_architectures_needs_one_named() -> None:
    found = [*functions("histogram.sm_75.sass"), *functions("histogram.sm_80.sass")]
    assert sass.choose(found, architecture="sm_80").architecture == "sm_80"
    with pytest.raises(UserError, match="several architectures"):
        sass.choose(found, "histogram")
    with pytest.raises(UserError, match="no function for sm_90"):
        sass.choose(found, architecture="sm_90")


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("histogram", "histogram"),
        ("_Z5copyNI6float4Li4EEvPT_PKS1_", "copyN"),
        ("_ZN2ns4scanIfEEvPT_", "ns::scan"),
        ("_ZN12_GLOBAL__N_16kernelEPf", "(anonymous namespace)::kernel"),
        ("_ZL6kernelPf", "kernel"),
        ("void ns::scan<float>(float*)", "ns::scan"),
    ],
)
def test_the_name_in_the_source(symbol: str, name: str) -> None:
    assert source_name(symbol) == name
