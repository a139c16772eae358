"""`simtlab interval`: what it prints and writes, and how it complains."""

import json
from pathlib import Path

import pytest

from tests.unit.test_cli import refused, simtlab

INTERVALS = Path(__file__).parents[2] / "programs" / "intervals"
LOOP = str(INTERVALS / "actual_loop.sass")
NOTES = ["--gpu", "textbook", "--set", "units.fp32.latency=6", "--set", "units.int32.latency=6"]


def printed(*arguments: str | Path) -> str:
    result = simtlab("interval", *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_notes_timeline_and_table() -> None:
    text = printed(LOOP, *NOTES, "--warps-per-sm", "none")
    assert "wp0:                           I9        I10                          [I11              ]  I12" in text
    assert "I10   406   412  379 for R2 of I2 (long_scoreboard)  FADD R7, R2, 1;" in text
    assert "One warp alone: 417 cycles from one start of the interval to the next (416 to its last issue)." in text


def test_json_and_figure(tmp_path: Path) -> None:
    listing, written, drawn = INTERVALS / "add_one.sass", tmp_path / "a.json", tmp_path / "a.png"
    text = printed(listing, "--gpu", "gtx1080", "--warps-per-sm", "1,8", "--rows", "3", "--json", written, "--figure", drawn)
    assert "... 7 more issues" in text
    assert "(its iterations are redistributed over all 20 SMs; the launch itself has 8 blocks of 4 warps)" in text
    found = json.loads(written.read_text())
    assert (found["latency"], found["binding"], found["bytes_per_thread"]["dram"]) == (504, "data L2-DRAM", 8)
    assert [point["warps"] for point in found["curve"]] == [1, 8]
    assert all(point["simulated"] >= point["bound"] for point in found["curve"])
    assert drawn.stat().st_size > 10_000


def test_assumptions_about_the_caches() -> None:
    command = [INTERVALS / "mxv_lc_s.sass", "--gpu", "gtx1080", "--warps-per-sm", "none", "--rows", "0"]
    assert "512 B to L2, 128 B of DRAM" in printed(*command)  # the addresses: each sector once
    assert "512 B to L2, 640 B of DRAM" in printed(*command, "--l2-hit", "0.75")  # a quarter of what is loaded, and what is stored
    assert "512 B to L2, 64 B of DRAM" in printed(*command, "--l2-hit", "measured")  # L2 still holds what was stored


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--l2-hit", "2"], "--l2-hit 2: not a share from 0 to 1"),
        (["--l2-hit", "most"], "--l2-hit most: not a share from 0 to 1"),
        (["--l2-hit", "measured", "--l1-hit", "0.5"], "takes L1's share from the simulation"),
        (["--loop", "nowhere"], "no label is called nowhere"),
        (["--warps-per-sm", "none", "--figure", "x.png"], "which --warps-per-sm none leaves out"),
        (["--warps-per-sm", "few"], "--warps-per-sm few: not a list of numbers"),
    ],
)
def test_mistakes_are_one_message(args: list[str], message: str) -> None:
    assert message in refused("interval", LOOP, *NOTES, *args)


def test_a_launch_that_cannot_be_shared_out_says_so() -> None:
    text = printed(INTERVALS.parent / "cuda/sgemm.sm_90.sass", "--gpu", "h100", "--rows", "0")
    assert "No curve of time against threads: the launch keeps its" in text
