"""`simtlab coalesce`: drawings, tables and advice of patterns and listings, and one message for every mistake."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.test_cli import refused, simtlab

PROGRAMS = Path(__file__).parents[2] / "programs"
REDUCE = str(PROGRAMS / "reduce_shared.sass")


def printed(*arguments: str | Path) -> str:
    result = simtlab("coalesce", *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("stride_2", ["--stride", "2"]),
        ("offset_1", ["--offset", "1"]),
        ("stride_33", ["--stride", "33", "--gpu", "h100"]),
        ("offset_1_gt200", ["--offset", "1", "--gpu", "gt200"]),
        ("permuted_g80", ["--pattern", "permuted", "--gpu", "g80"]),
        ("shared_stride_2", ["--shared", "--stride", "2"]),
    ],
)
def test_what_a_pattern_prints(name: str, arguments: list[str], golden: Callable[[str, str], None]) -> None:
    text = printed(*arguments)
    assert max(len(line) for line in text.splitlines()) <= 120
    golden(f"coalesce_{name}", text.rstrip("\n"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--pattern", "coalesced"], "Every byte of the 4 sectors (128 bytes) is used"),
        (["--pattern", "permuted"], "In which order the threads use them does not matter"),
        (["--pattern", "broadcast"], "nothing smaller can move"),
        (["--pattern", "random"], "The addresses are scattered"),
        (["--pattern", "aos:3"], "structure of arrays instead of an array of structures"),
        (["--pattern", "float4"], "takes them in 4 passes"),
        (["--pattern", "coalesced", "--mask", "0x1f"], "5 threads of the warp took part"),
        (["--pattern", "coalesced", "--mask", "0"], "No thread is active"),
        (["--pattern", "coalesced", "--width", "1", "--gpu", "g80"], "such as a char4"),
        (["--offset", "8"], "would move 256 bytes for 128"),
        (["--offset", "8", "--set", "lsu.coalescing=cc12"], "begin 32 bytes into a segment"),
        (["--pattern", "broadcast", "--gpu", "gt200"], "2 transactions (64 bytes) will do"),
        (["--shared", "--pattern", "broadcast"], "No bank conflict: 1 wavefront."),
        (["--shared", "--pattern", "float4"], "4 wavefronts: 128 bits per thread need them"),
        (["--shared", "--stride", "32"], "32 wavefronts where 1 would do"),
        (["--shared", "--stride", "2", "--gpu", "k20c"], "No bank conflict"),
    ],
)
def test_the_advice_names_what_is_wasted(arguments: list[str], words: str) -> None:
    assert words in " ".join(printed(*arguments).split())


def test_both_readings_of_a_stride_above_32_are_printed() -> None:
    text = printed("--stride", "33")
    assert "L2 sectors of 32 bytes               32        1,024    12.5%" in text
    assert "L1 lines of 128 bytes, if whole      32        4,096   3.125%" in text


def test_a_pattern_as_json(tmp_path: Path) -> None:
    printed("--stride", "2", "--offset", "1", "--json", tmp_path / "a.json")
    plain = json.loads((tmp_path / "a.json").read_text())
    assert (plain["addresses"][:3], plain["efficiency"], len(plain["sectors"])) == ([4, 12, 20], 0.5, 8)
    assert plain["transactions"][0] == {"address": 0, "bytes": 32}
    printed("--shared", "--stride", "2", "--json", tmp_path / "b.json")
    plain = json.loads((tmp_path / "b.json").read_text())
    assert (len(plain["wavefronts"]), plain["fewest"]) == (2, 1)
    assert plain["wavefronts"][1][0] == {"bank": 0, "row": 1, "lanes": [16]}


def test_a_listings_loads_and_stores_are_listed_worst_first(tmp_path: Path) -> None:
    text = printed(REDUCE, "--json", tmp_path / "r.json")
    lines = text.splitlines()
    table = [line for line in lines if "STG [R1], R3;" in line or "LDG R3, [R4];" in line]
    assert table[0].split()[0] == "40"
    assert table[0].split()[-1] == "7,168"
    assert "LDG" in table[1]
    assert "The least efficient request of line 40" in text
    rows = json.loads((tmp_path / "r.json").read_text())["accesses"]
    assert [(row["line"], row["requests"], row["sectors"]) for row in rows] == [(40, 256, 256), (17, 2045, 8180)]


def test_a_listings_bank_conflicts() -> None:
    text = printed(REDUCE, "--shared")
    assert text.count("LDS") == 2
    assert "No bank conflict" in text
    assert "executes no load and no store of shared memory" in printed(str(PROGRAMS / "saxpy.sass"), "--shared")


@pytest.mark.parametrize(
    "arguments", [["--stride", "33"], ["--pattern", "float2", "--gpu", "g80"], ["--shared", "--stride", "6"], [REDUCE]]
)
def test_the_figure_is_drawn(arguments: list[str], tmp_path: Path) -> None:
    assert "figure: " in printed(*arguments, "--figure", tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "a.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "which accesses?"),
        (["--stride", "2", "--pattern", "soa"], "give one of them"),
        (["--pattern", "zigzag"], "patterns: coalesced"),
        (["--stride", "2", "--width", "3"], "widths: 1, 2, 4, 8, 16"),
        (["--stride", "2", "--mask", "all"], "--mask all: not 32 bits"),
        (["--stride", "2", "--mask", "0x1ffffffff"], "not 32 bits"),
        (["--stride", "-1"], "--stride"),
        (["--stride", "2", "--grid", "4"], "a launch needs a listing"),
        (["--stride", "2", "--gpu", "gtx4800"], "did you mean gtx480?"),
        (["--stride", "2", "--set", "lsu.coalescing=cc13"], "one of sectors, cc12, cc10"),
        (["--stride", "2", "--figure", "a.txt"], "end the name in .png"),
        ([REDUCE, "--stride", "2"], "a listing has its own accesses"),
        (["nowhere.sass"], "nowhere.sass"),
        ([str(PROGRAMS / "saxpy.sass"), "--shared", "--figure", "a.png"], "there is no access to draw"),
    ],
)
def test_mistakes_have_one_message(arguments: list[str], message: str) -> None:
    assert message in refused("coalesce", *arguments)


def test_the_reproduction_passes_and_takes_no_gpu() -> None:
    result = simtlab("reproduce", "coalescing")
    assert result.exit_code == 0, result.output
    assert "47 of 47 checks passed" in result.stdout
    assert "leave --gpu out" in refused("reproduce", "coalescing", "--gpu", "h100")
