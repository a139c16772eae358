"""`simtlab explain` and `simtlab tour`: what they print, and what they refuse."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from sim.cli import app
from sim.cli.tour import Step, steps

PROGRAMS = Path(__file__).parents[2] / "programs"
LOOP = str(PROGRAMS / "intervals" / "simple_loop.sass")
SAXPY = str(PROGRAMS / "saxpy.sass")


def simtlab(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_a_chain_is_printed_and_written(tmp_path: Path) -> None:
    result = simtlab("explain", LOOP, "--gpu", "textbook", "--warp", "0:0", "--json", tmp_path / "e.json")
    assert result.exit_code == 0, result.output
    assert "long_scoreboard: waits 399 cycles" in result.stdout
    plain = json.loads((tmp_path / "e.json").read_text())
    assert set(plain) == {"chain"}
    assert plain["chain"]["links"][0]["resource"] == "memory.global_load"
    same = simtlab("explain", LOOP, "--gpu", "textbook", "--warp", "0", "--cycle", str(plain["chain"]["begin"]))
    assert same.stdout == result.stdout


def test_the_critical_path_is_printed_with_the_longest_wait_on_it(tmp_path: Path) -> None:
    result = simtlab("explain", SAXPY, "--gpu", "gtx480", "--grid", "2", "--json", tmp_path / "e.json")
    assert result.exit_code == 0, result.output
    path = json.loads((tmp_path / "e.json").read_text())["critical_path"]
    for parts in ("causes", "lines", "resources"):
        assert sum(part["cycles"] for part in path[parts]) == path["cycles"]
    assert f"Critical path of saxpy: {path['cycles']} cycles, as long as the run" in result.stdout
    assert result.stdout.index("dram.latency  ") < result.stdout.index("LDG.E R9") < result.stdout.index("Longest wait of a warp on it")
    said = "(the table counts its cycles for lines 21 and 22, whose work the warp waited for)"
    assert f"Longest wait of a warp on it {said}:\n\nwarp 1 of block 0, line 23: FFMA" in result.stdout
    assert "interconnect.latency and lsu.latency: contained in dram.latency" in result.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--warp", "x"], "--warp x: not a warp"),
        (["--cycle", "3"], "--cycle needs a warp"),
        (["--warp", "0", "--cycle", "9999"], "there is no cycle 9999"),
        (["--warp", "2:0"], "there is no warp (2, 0)"),
        (["--warp", "0", "--grid", "200000"], "too long for chains of causes"),
    ],
)
def test_mistakes_are_answered_in_one_message(options: list[str], message: str) -> None:
    result = simtlab("explain", LOOP, "--gpu", "textbook", *options)
    assert result.exit_code == 2
    assert message in result.stderr


def test_the_tour_runs_through_and_says_what_is_true(tmp_path: Path) -> None:
    result = simtlab("tour", "--json", tmp_path / "t.json")
    assert result.exit_code == 0, result.output
    done = json.loads((tmp_path / "t.json").read_text())
    assert [step["title"] for step in done] == [step.title for step in steps()]
    printed = {step["title"]: step["printed"] for step in done}
    shares = {title: float(text.split("FP32 peak")[1].split("%")[0]) for title, text in printed.items() if "FP32 peak" in text}
    few, warps, chains, hardware = shares.values()
    assert 20 < few < 23
    assert min(warps, chains) > 98
    assert abs(hardware - 2 * few) < 1
    assert "R8 came from FFMA R8, R8, R2, R3 (line 19): units.fp32.latency, 18 cycles" in printed["Why did this warp wait?"]
    assert re.search(r"99\.\d% ████████████████████ units\.fp32\.latency", printed["What did the whole run wait for?"])


def test_a_step_of_the_tour_finds_its_command_though_only_the_tour_is_loaded() -> None:
    code = "from sim.cli.tour import Step; print(Step('', '', ['occupancy', '--block', '256', '--registers', '32']).run())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "Occupancy 66.7%" in done.stdout, done.stderr


def test_a_step_that_fails_ends_the_tour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.cli.tour.steps", lambda: [Step("title", "look", ["occupancy", "--block", "many"])])
    result = simtlab("tour")
    assert result.exit_code == 2
    assert "That was the tour" not in result.stdout


def test_a_tour_may_begin_later() -> None:
    result = simtlab("tour", "--from", str(len(steps())))
    assert result.stdout.startswith(f"\n{len(steps())}. {steps()[-1].title}")


def test_a_step_whose_package_is_not_installed_is_left_out_and_the_tour_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.cli.tour.find_spec", lambda name: None)
    result = simtlab("tour", "--from", 5)
    assert result.exit_code == 0
    assert "(left out: `simtlab explain` needs pip install 'simtlab[reference]')" in result.stdout
    assert "That was the tour" in result.stdout
