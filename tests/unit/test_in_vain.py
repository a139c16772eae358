"""Options that change nothing say so, and why; numbers of which nothing would be left are refused; TOML's mistakes have a line."""

import re
from pathlib import Path

import pytest

import sim
from isa.errors import UserError, not_toml
from tests.unit.test_cli import PROGRAMS, refused, simtlab

SAXPY, SMALL = PROGRAMS / "saxpy.sass", ("--grid", "4", "--arg", "n=1024")
COMPILED = PROGRAMS / "cuda" / "transpose.sm_90.sass"


def note(*arguments: str | Path, command: str = "run") -> list[str]:
    """Return the notes of a command."""
    result = simtlab(command, *arguments)
    assert result.exit_code == 0, result.output
    return [line.strip() for line in (result.stdout + result.stderr).splitlines() if "changes nothing" in line]


def test_kept_control_words_that_nothing_would_change() -> None:
    assert note(SAXPY, *SMALL, "--keep-control-words") == [
        "note: --keep-control-words changes nothing: the listing has none that this GPU obeys"
    ]
    same = ["note: --keep-control-words changes nothing: this GPU does not differ in anything that they encode"]
    assert note(COMPILED, "--gpu", "h100", "--keep-control-words") == same
    assert note(COMPILED, "--gpu", "h100", "--keep-control-words", "--set", "units.int32.latency=9") == []
    over = ("--over", "l2.latency=300,400", "--gpu", "h100", "--keep-control-words")
    assert note(COMPILED, *over, command="sweep") == same


@pytest.mark.parametrize(
    ("listing", "options", "says"),
    [
        (SAXPY, ("--dlcm", "cs"), ["such loads go through L1 with it as without"]),
        (SAXPY, ("--dlcm", "cg"), []),
        (SAXPY, ("--dlcm", "cg", "--set", "l1.global_loads=false"), ["such loads do not go through L1 with it as without"]),
        (SAXPY, ("--dlcm", "cg", "--set", "l1=none"), ["no load goes through L1 on this GPU"]),
        (PROGRAMS / "shared" / "lds_stride_32.sass", ("--dlcm", "cg"), ["no load of global memory is without a cache operator"]),
        (PROGRAMS / "cuda" / "softmax.sm_90.sass", ("--gpu", "h100", "--dlcm", "cg"), []),
        (PROGRAMS / "cuda" / "softmax.sm_90.sass", ("--gpu", "h100", "--dlcm", "cs"), ["such loads go through L1 with it as without"]),
    ],
)
def test_a_cache_operator_that_nothing_heeds(listing: Path, options: tuple[str, ...], says: list[str]) -> None:
    found = note(listing, *(SMALL if listing is SAXPY else ()), *options)
    assert len(found) == len(says)
    assert all(text in line for text, line in zip(says, found, strict=True))


def test_two_cache_operators_are_compared() -> None:
    same = simtlab("compare", SAXPY, *SMALL, "--dlcm-b", "ca")
    other = simtlab("compare", SAXPY, *SMALL, "--dlcm-b", "cg")
    assert (same.exit_code, other.exit_code) == (0, 0)
    assert "l1_sectors" in other.stdout
    assert "l1_sectors" not in same.stdout


def test_an_architecture_for_what_is_not_compiled_is_refused() -> None:
    for command in (("run", SAXPY), ("sweep", SAXPY, "--over", "l2.latency=300,400")):
        assert "--arch sm_90 says what CUDA is compiled for, and changes nothing of a listing" in refused(*command, "--arch", "sm_90")


def test_a_field_set_to_what_it_was_is_no_change() -> None:
    gpu = sim.gpu("gtx480")
    text = simtlab("run", SAXPY, *SMALL, "--set", f"dram.bandwidth={gpu.dram.bandwidth}").stdout
    assert "as before: dram.bandwidth, set by the user to what it was" in text
    assert "changed:" not in text
    assert gpu.replace({"dram.bandwidth": gpu.dram.bandwidth}).dram == gpu.dram
    once = gpu.replace({"dram.bandwidth": 100})
    assert once.replace({"dram.bandwidth": 100}).source["dram.bandwidth"] == once.source["dram.bandwidth"]
    h100 = sim.gpu("h100")
    assert h100.clusters is not None
    same = h100.replace({"clusters.groups": list(h100.clusters.groups)}).source["clusters.groups"]
    assert same.text == "set by the user to what it was"


def test_a_sweep_says_once_what_no_point_reads_and_of_how_many_where_some_do() -> None:
    text = simtlab("sweep", SAXPY, "--arg", "n=1024", "--over", "grid=1,4", "--set", "blocks.order=largest_first").stdout
    assert text.count("blocks.order not read: the launch has one block (in 1 of 2 points)") == 1
    both = ("--set", "lsu.fence_latency=9", "--set", "lsu.store_wait=9", "--over", "dram.bandwidth=177.4,100", "--over", "lsu.depth=8,10")
    text = simtlab("sweep", SAXPY, *SMALL, *both).stdout
    assert text.count("lsu.fence_latency not read: no fence of the whole GPU is executed") == 1
    assert text.count("lsu.store_wait not read: lsu.store_lines = 0, so a store joins none") == 1


def test_a_sweep_says_what_set_leaves_unread_and_why_it_ranks_by_ipc() -> None:
    text = simtlab("sweep", SAXPY, *SMALL, "--over", "block=64,128", "--set", "lsu.fence_latency=9").stdout
    assert "lsu.fence_latency not read: no fence of the whole GPU is executed" in text
    assert "by instructions per cycle (ipc), not cycles: points that differ in block may do different work" in text
    for asked in (("--over", "block=64,128", "--metric", "ipc"), ("--over", "l2.latency=300,400")):
        assert "by instructions per cycle" not in simtlab("sweep", SAXPY, *SMALL, *asked).stdout


@pytest.mark.parametrize(
    ("gpu", "field", "value", "says"),
    [
        ("gtx480", "l1.bytes", 1, "an integer of at least 128"),
        ("gtx480", "l2.bytes", 1000, "must be at least 24576: a set of 16 lines"),
        ("h100", "constants.bytes", 32, "constants.bytes = 32 is not legal"),
        ("h100", "fetch.bytes", 64, "fetch.bytes = 64 is not legal"),
        ("h100", "compute_capability", 9.0, 'write it as text: compute_capability = "9.0"'),
    ],
)
def test_numbers_of_which_nothing_is_left_are_refused(gpu: str, field: str, value: float, says: str) -> None:
    with pytest.raises(UserError, match=says):
        sim.gpu(gpu).replace({field: value})


def test_the_least_l1_still_works() -> None:
    assert simtlab("run", SAXPY, *SMALL, "--set", "l1.bytes=128").exit_code == 0


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("sms = 1\nclock = = 3\n", ":2:9: not a TOML file: Invalid value"),
        ('sms = 1\nname = "GPU', ":2: not a TOML file: Unterminated string, and there the file ends"),
        (b'sms = 1\nname = "\xff"', ":2: not a TOML file: byte 0xff is not UTF-8"),
        (f"sms = {'9' * 5000}", ": not a TOML file: "),
    ],
)
def test_what_is_no_toml_has_a_line(text: str | bytes, place: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert f"{file}{place}" in refused("run", SAXPY, "--gpu", file)
    assert f"{file}{place}" in refused("run", SAXPY, "--launch", file)
    assert f"{file}{place}" in refused("run", SAXPY, "--energy", file)
    assert f"{file}{place}" in refused("measure", file, "--arch", "sm_90")


def test_a_mistake_without_a_place_has_none() -> None:
    assert str(not_toml(ValueError("too long"), "a.toml", "")) == "a.toml: not a TOML file: too long"


def test_every_report_says_how_many_lanes_work() -> None:
    assert re.search(
        r"^lanes +32\.0 of 32 active per instruction, [23]\d\.\d not predicated off$", simtlab("run", SAXPY, *SMALL).stdout, re.M
    )
