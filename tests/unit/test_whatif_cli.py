"""The what-if commands: sweep, compare, sensitivity, and the figures; one line and status 2 for every mistake."""

import json
from pathlib import Path

import pandas as pd
import pytest

import sim
from isa.errors import UserError
from sim.analysis.difference import OVERHEAD, difference
from sim.cli.axes import axes, combined
from sim.launch.file import load_launch
from sim.report.sweep_figures import front
from tests.unit.test_cli import CHAIN, LOOP, PROGRAMS, refused, simtlab

SAXPY = PROGRAMS / "saxpy.sass"
SMALL = ("--grid", "30", "--arg", "n=7680")
PNG = b"\x89PNG"


def run(name: str, gpu: str, **changes: object) -> sim.Launch:
    return sim.run(load_launch(PROGRAMS / name, **changes).launch, sim.gpu(gpu))


def test_over_takes_lists_ranges_and_factors() -> None:
    found = axes(["a=1,2.5,x", "b=200:400:100", "c=1:9:x2,10", "policy=lrr,gto", "block=64,16x16", "d=0.5:1.5:0.25"])
    assert found["a"] == [1, 2.5, "x"]
    assert found["b"] == [200, 300, 400]
    assert found["c"] == [1, 2, 4, 8, 10]
    assert found["block"] == [64, "16x16"]
    assert found["d"] == [0.5, 0.75, 1.0, 1.25, 1.5]
    assert combined({"a": [1, 2], "b": [3, 4]}, zipped=False) == [{"a": i, "b": k} for i in (1, 2) for k in (3, 4)]
    assert combined({"a": [1, 2], "b": [3, 4]}, zipped=True) == [{"a": 1, "b": 3}, {"a": 2, "b": 4}]


def test_sweep_prints_writes_and_equals_single_runs(tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("r.parquet", "r.json", "r.png")}
    over = ["--over", "dram.latency=500:700:100", "--over", "policy=lrr,gto"]
    result = simtlab("sweep", SAXPY, *SMALL, *over, "-o", files["r.parquet"], "--json", files["r.json"], "--figure", files["r.png"])
    assert result.exit_code == 0, result.output
    assert "The best of 6 points on GeForce GTX 480 by cycles" in result.stdout
    rows = json.loads(files["r.json"].read_text())
    assert [row["cycles"] for row in rows] == pd.read_parquet(files["r.parquet"])["cycles"].tolist()
    assert files["r.png"].read_bytes().startswith(PNG)
    single = simtlab("run", SAXPY, *SMALL, "--set", "dram.latency=600", "--policy", "gto", "--json", tmp_path / "s.json")
    assert single.exit_code == 0
    assert rows[3]["cycles"] == json.loads((tmp_path / "s.json").read_text())["cycles"]


def test_the_sweeps_table_has_values_as_the_command_line_takes_them_and_no_one_gpu_of_several() -> None:
    result = simtlab("sweep", SAXPY, *SMALL, "--over", "l2.bytes=393216,786432", "--over", "gpu=gtx480,gtx460")
    assert result.exit_code == 0, result.output
    assert "The best of 4 points by seconds" in result.stdout
    assert " 393216 " in result.stdout


def test_sweep_varies_listings_warps_and_arguments(tmp_path: Path) -> None:
    other = PROGRAMS / "volkov" / "ffma_ilp2.sass"
    options = ["--over", "warps=4,40", "--over", "arg.iterations=1,2", "--json", tmp_path / "r.json"]
    result = simtlab("sweep", CHAIN, other, *options)
    assert result.exit_code == 0, result.output
    rows = json.loads((tmp_path / "r.json").read_text())
    assert len(rows) == 8
    for row in (rows[1], rows[6]):
        what = ["run", row["listing"], "--warps", str(row["warps"]), "--arg", f"iterations={row['arg.iterations']}"]
        assert simtlab(*what, "--json", tmp_path / "s.json").exit_code == 0
        assert json.loads((tmp_path / "s.json").read_text())["counters"]["cycles"] == row["cycles"]


@pytest.mark.parametrize("plot", ["curve", "heat", "in-flight", "pareto"])
def test_every_figure_of_a_sweep_is_drawn(plot: str, tmp_path: Path) -> None:
    over = ["--over", "core.schedulers=1,2", "--over", "dram.bandwidth=100.0,200.0"]
    result = simtlab("sweep", SAXPY, *SMALL, *over, "--plot", plot, "--figure", tmp_path / "f.png", "--cost", "dram.bandwidth=3")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "f.png").read_bytes().startswith(PNG)


def test_the_front_leaves_out_what_another_beats() -> None:
    assert front([1, 1, 2, 3, 4], [5, 6, 6, 7, 7]) == [1, 3]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--over", "l2.latancy=3"], "did you mean l2.latency? cycles"),
        (["--over", "l2.latency=3"], "must be at least"),
        (["--over", "core.schedulers=2,33"], "an integer from 1 to 32"),
        (["--over", "regsters=9"], "did you mean registers"),
        (["--over", "l2.latency"], "not of the form"),
        (["--over", "l2.latency=400:300"], "does not go up"),
        (["--over", "l2.latency=300:400:x1"], "does not go up"),
        (["--over", "l2.latency=300", "--over", "l2.latency=400"], "given twice"),
        (["--over", "l2.latency=300,310", "--over", "l1.latency=70", "--zip"], "as many values"),
        (["--over", "l2.latency=300", "--plot", "pie", "--figure", "f.png"], "no figure is called"),
        (["--over", "l2.latency=300", "--cost", "l1.latency=1"], "varies no such field"),
        (["--over", "l2.latency=300", "--metric", "cycle"], "did you mean cycles"),
        (["--over", "block=0"], "--block 0"),
        (["--over", "gpu=h10"], "did you mean h100"),
        (["--over", "l2.latency=300", "-o", "/nowhere/r.parquet"], "no folder"),
    ],
)
def test_mistakes_of_a_sweep_are_one_message(arguments: list[str], words: str) -> None:
    assert words in refused("sweep", SAXPY, *SMALL, *arguments)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("l2.latancy=300", "did you mean l2.latency? cycles from a load's issue"),
        ("l1=off", "'off' is not legal; l1: a section, 'none' takes it away; its fields: l1.bytes"),
        ("l2.latency=300ns", "'300ns' is not legal; l2.latency: cycles from a load's issue"),
        ("core.schedulers=33", "an integer from 1 to 32"),
    ],
)
@pytest.mark.parametrize(
    "command",
    ["run", "timeline", "coalesce", "sweep", "compare", "sensitivity", "occupancy", "gpus show", "gpus diff", "reproduce", "lint"],
)
def test_a_wrong_field_unit_or_value_is_one_line_in_every_command(command: str, change: str, words: str) -> None:
    arguments = {
        "sweep": (SAXPY, "--over", "l1.latency=80"),
        "compare": (SAXPY, "--gpu-b", "h100"),
        "occupancy": ("--block", "64", "--registers", "9"),
        "gpus show": ("gtx480",),
        "gpus diff": ("gtx480", "gtx480"),
        "reproduce": ("fft", "--gpu", "gtx480"),
        "lint": (PROGRAMS / "cuda" / "saxpy.sm_90.sass", "--gpu", "gtx480"),
    }.get(command, (SAXPY,))
    message = refused(*command.split(), *arguments, "--set", change)
    assert words in message
    assert len(message.strip().splitlines()) == 1


def test_compare_splits_the_whole_difference(tmp_path: Path) -> None:
    one, other = run("saxpy.toml", "gtx480", grid=30, args={"n": 7680}), run("saxpy.toml", "h100", grid=30, args={"n": 7680})
    found = difference(one, other)
    assert found.unit == "ns"
    assert sum(share.change for share in found.causes) == pytest.approx(1e9 * (other.seconds - one.seconds))
    beside = next(share.second for share in found.causes if share.cause == OVERHEAD)
    assert beside == pytest.approx((other.elapsed_cycles - other.cycles) / 1.98)
    assert sum(row.change for row in found.rows) == other.counters["warp_cycles"] - one.counters["warp_cycles"]
    assert [abs(share.change) for share in found.causes] == sorted((abs(share.change) for share in found.causes), reverse=True)
    result = simtlab("compare", SAXPY, *SMALL, "--gpu-b", "h100", "--json", tmp_path / "c.json")
    assert result.exit_code == 0, result.output
    plain = json.loads((tmp_path / "c.json").read_text())
    assert plain["difference"]["speed_up"] == one.seconds / other.seconds
    assert plain["second"]["cycles"] == other.cycles


def test_compare_pairs_the_lines_of_two_listings() -> None:
    one, other = (
        run("volkov/ffma_ilp1.toml", "gtx480", args={"iterations": 1}),
        run("volkov/ffma_ilp2.toml", "gtx480", args={"iterations": 1}),
    )
    found = difference(one, other)
    assert found.unit == "cycles"
    assert sum(share.change for share in found.causes) == pytest.approx(other.elapsed_cycles - one.elapsed_cycles)
    assert sum(row.change for row in found.rows) == other.counters["warp_cycles"] - one.counters["warp_cycles"]
    assert {row.text: row.lines for row in found.rows}["S2R R0, SR_TID.X;"] != (0, 0)
    assert simtlab("compare", CHAIN, PROGRAMS / "volkov" / "ffma_ilp2.sass", "--arg", "iterations=1").exit_code == 0
    assert "both runs are the same" in refused("compare", CHAIN)


def test_sensitivity_says_what_binds_and_draws(tmp_path: Path) -> None:
    options = ["--gpu", "textbook", "--figure", tmp_path / "t.png", "--json", tmp_path / "t.json"]
    result = simtlab("sensitivity", LOOP, *options)
    assert result.exit_code == 0, result.output
    plain = json.loads((tmp_path / "t.json").read_text())
    assert f"What binds: {plain['binds']}" in result.stdout
    assert plain["binds"] == "bytes in flight"
    assert {"kind", "resource", "cycles"} <= plain["bounds"][0].keys()
    assert (tmp_path / "t.png").read_bytes().startswith(PNG)
    assert "parameter" not in simtlab("sensitivity", LOOP, "--gpu", "textbook", "--limits-only").stdout


def test_occupancy_draws_the_calculators_curves(tmp_path: Path) -> None:
    result = simtlab("occupancy", "--block", "256", "--registers", "41", "--figure", tmp_path / "o.svg")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "o.svg").stat().st_size > 10_000


def test_a_gpu_of_ones_own_is_swept_and_named(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('extends = "gtx480"\nname = "Mine"\n[l2]\nlatency = 400\n')
    result = simtlab("sweep", SAXPY, *SMALL, "--over", f"gpu=gtx480,{mine}", "--json", tmp_path / "r.json")
    assert result.exit_code == 0, result.output
    assert [row["gpu"] for row in json.loads((tmp_path / "r.json").read_text())] == ["gtx480", str(mine)]
    with pytest.raises(UserError, match="did you mean"):
        sim.gpu(mine).replace({"l2.latensy": 3})


def test_a_field_of_a_unit_that_no_instruction_needs_is_said_not_to_be_read() -> None:
    """n_body has no shifts, a copy no arithmetic of single precision: the same cycles whatever their latency, and why."""
    swept = simtlab("sweep", PROGRAMS / "cuda" / "n_body.sm_90.sass", "--gpu", "h100", "--over", "units.shift.latency=2,5").stdout
    assert "units.shift.latency not read: no instruction of unit shift is executed" in swept
    printed = simtlab("run", PROGRAMS / "copy" / "copy_4_float.sass", "--gpu", "gtx480", "--set", "units.fp64.latency=9").stdout
    assert "not read: no instruction of unit fp64 is executed" in printed
