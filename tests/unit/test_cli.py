"""The command line: what it prints, its exit statuses, and one message, never a traceback, for every mistake."""

import functools
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import typer
from click.testing import Result
from typer import testing
from typer.testing import CliRunner

import sim
from programs.reproductions import REPRODUCTIONS
from sim.cli import COMMANDS, app, main, reproduce
from sim.cli import output as cli_output
from sim.compiled.cores import MOST, cores

PROGRAMS = Path(__file__).parents[2] / "programs"
CHAIN = str(PROGRAMS / "volkov" / "ffma_ilp1.sass")
LOOP = str(PROGRAMS / "intervals" / "simple_loop.sass")
COMMAND = [sys.executable, "-c", "from sim.cli import main; main()"]


# Typer makes all commands anew for each invocation, which takes longer than most of them.
testing._get_command = functools.cache(testing._get_command)  # type: ignore[attr-defined]


def simtlab(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def refused(*arguments: str | Path) -> str:
    """Return the one message of a command that must fail with status 2."""
    result = simtlab(*arguments)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.stderr
    message = result.stderr[result.stderr.index("error: ") :]
    assert message.count("error: ") == 1
    return message


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    """Return a listing with a scalar argument and no launch file."""
    file = tmp_path / "f.sass"
    file.write_text(".kernel f\n.param f32 a\n.param u32 n\nFADD R0, R0, c[0x0][a]\nMOV R1, c[0x0][n]\nEXIT\n")
    return file


def test_run_reports_checks_results_and_writes_json(tmp_path: Path) -> None:
    result = simtlab("run", CHAIN, "--arg", "iterations=2", "--json", tmp_path / "r.json")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("ffma_ilp1 on GeForce GTX 480")
    assert "Results equal NumPy's: out." in result.stdout
    plain = json.loads((tmp_path / "r.json").read_text())
    assert plain["results_equal"] is True
    assert sum(plain["stalls"].values()) == plain["counters"]["warp_cycles"]


def test_wrong_results_are_listed_and_exit_1(tmp_path: Path) -> None:
    (tmp_path / "f.sass").write_text(".kernel f\n.param ptr y\nMOV R0, c[0x0][y]\nMOV R1, c[0x0][y+4]\nMOV R2, 7\nST.E [R0], R2\nEXIT\n")
    toml = 'grid = 1\nblock = 32\n[[args]]\nname = "y"\ndtype = "uint32"\nshape = 2\n[expect]\ny = "arange(2) + 7"\n'
    (tmp_path / "f.toml").write_text(toml)
    result = simtlab("run", tmp_path / "f.sass", "--json", tmp_path / "r.json")
    assert result.exit_code == 1
    assert "y[1] is 0, expected 8" in result.stdout
    assert json.loads((tmp_path / "r.json").read_text())["results_equal"] is False


def test_other_sizes_leave_nothing_to_compare_with(tmp_path: Path) -> None:
    result = simtlab("run", CHAIN, "--warps", "2", "--arg", "iterations=1", "--json", tmp_path / "r.json")
    assert result.exit_code == 0
    assert "NumPy" not in result.stdout
    assert "1 block of 64 threads: 2 warps on 1 of 15 SMs" in result.stdout
    assert json.loads((tmp_path / "r.json").read_text())["results_checked"] is False


def test_a_listing_without_launch_file_runs_from_options(kernel: Path) -> None:
    result = simtlab("run", kernel, "--grid", "2x2", "--block", "16,4", "--arg", "a=1.5", "--arg", "n=0x10", "--gpu", "h100")
    assert result.exit_code == 0, result.output
    assert "2 x 2 blocks of 16 x 4 threads: 8 warps on 4 of 132 SMs" in result.stdout


def test_options_change_the_gpu_and_the_launch(tmp_path: Path) -> None:
    options = [
        "--warps",
        "4",
        "--arg",
        "iterations=1",
        "--policy",
        "lrr",
        "--set",
        "core.schedulers=4",
        "--registers",
        "40",
        "--shared",
        "9000",
    ]
    result = simtlab("run", CHAIN, *options, "--json", tmp_path / "r.json")
    assert result.exit_code == 0, result.output
    assert "limited by shared memory" in result.stdout
    gpu = sim.gpu("gtx480").replace({"core.schedulers": 4, "core.policy": "lrr"})
    occupancy = sim.occupancy(gpu, 128, 40, 9000)
    assert json.loads((tmp_path / "r.json").read_text())["counters"]["theoretical_occupancy"] == occupancy.fraction


def test_run_writes_its_timeline(tmp_path: Path) -> None:
    for name in ("t.txt", "t.png"):
        assert simtlab("run", LOOP, "--gpu", "textbook", "--timeline", tmp_path / name).exit_code == 0
    assert (tmp_path / "t.txt").read_text().startswith("# Cycles:")
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")
    result = simtlab("run", PROGRAMS / "saxpy.sass", "--grid", "16", "--arg", "n=4096", "--timeline", tmp_path / "many.txt")
    assert "many.txt shows 64 of 128 warps" in " ".join(result.stderr.split())
    assert "b7.wp7:" in (tmp_path / "many.txt").read_text()
    assert "b8.wp0:" not in (tmp_path / "many.txt").read_text()


def test_timeline_draws_lists_and_saves(tmp_path: Path) -> None:
    figure, plain = tmp_path / "t.svg", tmp_path / "t.json"
    result = simtlab("timeline", LOOP, "--gpu", "textbook", "--to", "420", "--width", "80", "--figure", figure, "--json", plain)
    assert result.exit_code == 0, result.output
    assert "wp0:      [I0           ]" in result.stdout
    assert "399 for R2 of I0 (long_scoreboard)" in result.stdout
    assert "; . is ready, waits for its turn or a port; blank: waits" in " ".join(result.stdout.split())
    assert "t_is: cycle of the issue; t_re:" in result.stdout
    assert max(len(line) for line in result.stdout.split("warp 0")[0].splitlines()) <= 80
    assert figure.exists()
    assert json.loads(plain.read_text())[0]["issues"][0]["ready"] == 400


def test_timeline_names_a_result_only_for_waits_that_a_result_ends() -> None:
    table = simtlab("timeline", PROGRAMS / "saxpy.sass", "--gpu", "h100", "--grid", "1", "--to", "460", "--show", "0").stdout
    assert re.search(r"I3 .* for R2 of I2 \(short_scoreboard\)", table)
    assert re.search(r"I4 .*\d+ for imc_miss", table)


def test_timeline_shows_the_warps_asked_for() -> None:
    drawn = simtlab("timeline", CHAIN, "--warps", "6", "--arg", "iterations=1", "--to", "60", "--show", "1,3-4").stdout
    assert [f"wp{n}:" in drawn for n in range(6)] == [False, True, False, True, True, False]
    everything = simtlab("timeline", CHAIN, "--warps", "12", "--arg", "iterations=1", "--to", "60", "--show", "all").stdout
    assert "wp11:" in everything


def test_occupancy_prints_limits_and_the_next_step(tmp_path: Path) -> None:
    result = simtlab("occupancy", "--block", "16x16", "--registers", "21", "--json", tmp_path / "o.json")
    assert result.exit_code == 0
    assert "use 1 fewer register per thread (20)" in result.stdout
    assert json.loads((tmp_path / "o.json").read_text())["occupancy"]["blocks"] == 5


def test_gpus_lists_shows_and_compares(tmp_path: Path) -> None:
    assert "GeForce GTX 480" in simtlab("gpus").stdout
    assert "core.in_flight_cap" in simtlab("gpus", "show", "gtx480").stdout
    result = simtlab("gpus", "diff", "gtx480", "gtx460", "--json", tmp_path / "d.json")
    assert "core.issue_width" in result.stdout
    assert {"field": "sms", "gtx480": 15, "gtx460": 7} in json.loads((tmp_path / "d.json").read_text())
    assert simtlab("gpus", "--json", tmp_path / "g.json").exit_code == 0
    assert set(json.loads((tmp_path / "g.json").read_text())) == set(sim.gpus())


def test_reproduce_prints_its_checks(tmp_path: Path) -> None:
    listed = simtlab("reproduce").stdout.splitlines()
    assert [line.split()[0] for line in listed] == list(REPRODUCTIONS)
    assert all(len(line.split()) > 5 for line in listed)  # what it is about
    result = simtlab("reproduce", "notes-loops", "--json", tmp_path / "n.json")
    assert result.exit_code == 0, result.output
    checks = json.loads((tmp_path / "n.json").read_text())["checks"]
    judged = [check for check in checks if check["passed"] is not None]
    assert f"{len(judged)} of {len(judged)} checks passed" in result.stdout


def test_a_failed_check_exits_1(monkeypatch: pytest.MonkeyPatch) -> None:
    from programs import reproductions

    failed = reproductions.Reproduction("title", (reproductions.Check("what", "1", "2", False),))
    monkeypatch.setitem(reproductions.REPRODUCTIONS, "failing", lambda gpu: failed)
    result = simtlab("reproduce", "failing")
    assert result.exit_code == 1
    assert "FAIL" in result.stdout
    assert "0 of 1 checks passed" in result.stdout
    assert reproduce.__doc__


def test_run_charts_memory_and_lists_what_was_changed(tmp_path: Path) -> None:
    figure, plain = tmp_path / "memory.png", tmp_path / "run.json"
    changes = ["--set", "dram.latency=700", "--set", "core.group_size=4"]
    result = simtlab("run", PROGRAMS / "saxpy.sass", "--memory-figure", figure, "--json", plain, *changes)
    assert result.exit_code == 0, result.output
    assert "sectors of 32 bytes" in result.stdout
    assert figure.stat().st_size > 10_000
    found = json.loads(plain.read_text())
    (latency,) = [change for change in found["changes"] if change.startswith("dram.latency")]
    (size,) = [change for change in found["changes"] if change.startswith("core.group_size")]
    assert latency == "dram.latency, set by the user; GeForce GTX 480 has 600"
    assert "not read" in size
    assert found["counters"]["global_load_sectors"] > 0


@pytest.mark.slow
def test_bench_measures_every_part(tmp_path: Path) -> None:
    result = simtlab("bench", "--repeats", "2", "--scale", "0.002", "--no-compile", "--json", tmp_path / "b.json")
    assert result.exit_code == 0, result.output
    rates = json.loads((tmp_path / "b.json").read_text())["rates"]
    shared = {f"{part}, {min(cores(), MOST)} threads" for part in ("both", "functional")} if cores() > 1 else set()
    assert {rate["part"] for rate in rates} == {"timing", "functional", "reading", "both", "growth", "simpy"} | shared
    assert all(len(rate["seconds"]) == 2 and rate["million_per_second"] > 0 for rate in rates)


def test_bench_measures_sweeps_alone(tmp_path: Path) -> None:
    result = simtlab("bench", "--sweeps", "--scale", "0.002", "--json", tmp_path / "b.json")
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "b.json").read_text())["sweeps"]
    programs = [one["program"] for one in found]
    assert any("lesson" in program for program in programs)
    assert any("sm_90, h100" in program for program in programs)
    assert all(one["per_second"] == pytest.approx(one["points"] / one["seconds"]) and one["instructions"] > 1000 for one in found)
    assert f"{found[0]['per_second']:.0f} points per second" in result.stdout


def test_a_command_is_registered_by_the_file_of_its_name() -> None:
    assert sorted(typer.main.get_command(app).commands) == sorted(COMMANDS)  # type: ignore[attr-defined]


def test_help_and_version() -> None:
    for arguments in ([], ["--help"]):
        result = simtlab(*arguments)
        assert result.exit_code == 0
        assert all(name in result.stdout for name in ("run", "timeline", "occupancy", "gpus", "reproduce", "bench"))
        assert "Where to begin: simtlab tour" in result.stdout
        assert result.stdout.index(" explain ") < result.stdout.index(" gpus ") < result.stdout.index(" interval ")
    assert simtlab("--version").stdout.startswith("simtlab ")


def test_help_of_a_command_has_options_by_what_they_say_and_paragraphs_without_breaks() -> None:
    text = simtlab("explain", "--help").stdout
    assert text.index("--cycle") < text.index("The GPU") < text.index("--set") < text.index("What is launched") < text.index("--grid")
    assert "by instruction and by hardware" in " ".join(text.split())
    assert "[[" not in "".join(simtlab(name, "--help").stdout for name in ("lab", "compare", "occupancy"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "nowhere.sass"], "nowhere.sass: cannot read the listing"),
        (["run", "nowhere/saxpy.sass"], "cannot read the listing: No such file or directory"),
        (["run", PROGRAMS / "saxpi.sass"], "saxpi.sass: cannot read the listing: No such file or directory\n  did you mean saxpy.sass"),
        (
            ["run", PROGRAMS / "cuda" / "hgemm_async.sm_90.sass", "--gpu", "gtx480"],
            "the code is for sm_90: choose --gpu h100 or h200; or use at most 63 registers per thread",
        ),
        (["run", PROGRAMS], "it is a folder"),
        (["run", CHAIN, "--gpu", "gtx48"], "did you mean gtx480?"),
        (["run", CHAIN, "--gpu", "H100"], "did you mean h100?"),
        (["run", CHAIN, "--gpu", str(PROGRAMS)], "no GPU is called"),
        (["run", CHAIN, "--set", "core.schedulrs=2"], "did you mean core.schedulers?"),
        (["run", CHAIN, "--set", "core.schedulers=0"], "an integer from 1 to 32"),
        (["run", CHAIN, "--set", "core"], "not of the form name=value\n  write --set core.schedulers=2"),
        (["run", CHAIN, "--set", "l2.bytes=786,432"], "an integer above 0; write 786432\n"),
        (["run", CHAIN, "--set", "l2.bytes=large"], "capacity, bytes; an integer above 0\n"),
        (["compile", CHAIN, "--arch", "sm_90"], "this is compiled already, not a CUDA source\n  simtlab run "),
        (["run", CHAIN, "--sample", "2"], "above 0 and below 0.6, or none (--sample auto)"),
        (["run", CHAIN, "--set", "dram.efficiency=1.5"], "a number above 0 and at most 1"),
        (["run", CHAIN, "--policy", "fifo"], "one of lrr, gto"),
        (["run", CHAIN, "--policy", "none.py:mine"], "there is no such Python file"),
        (["run", CHAIN, "--policy", "lrr", "--set", "core.policy=gto"], "set the same field\n  give one of them"),
        (["run", CHAIN, "--set", "core.schedulers=2", "--set", "core.schedulers=3"], "core.schedulers has 2 values"),
        (["run", CHAIN, "--arg", "iterations=1", "--arg", "iterations=2"], "iterations has 2 values"),
        (["compare", CHAIN, "--set-b", "l1.ways=1", "--set-b", "l1.ways=2"], "l1.ways has 2 values"),
        (["reproduce", "volkov-tlp"], "did you mean volkov-tlp-ilp?"),
        (["run", CHAIN, "--set", "core.policy_seed=-1"], "an integer from 0 to 2147483647"),
        (["run", CHAIN, "--block", "12y"], "not one to three sizes"),
        (["run", CHAIN, "--grid", "0"], "not one to three sizes"),
        (["run", CHAIN, "--grid", "1x1x1x1"], "not one to three sizes"),
        (["run", CHAIN, "--warps", "2", "--block", "64"], "give --warps alone"),
        (["run", CHAIN, "--warps", "none"], "--warps"),
        (["run", CHAIN, "--arg", "iteration=1"], "no argument is called iteration"),
        (["run", CHAIN, "--arg", "iterations=many"], "not a number"),
        (["run", CHAIN, "--arg", "iterations=-1"], "is not a u32"),
        (["run", CHAIN, "--registers", "64"], "64 registers per thread, at most 63"),
        (["run", CHAIN, "--shared", "50000"], "at most 49152"),
        (["run", CHAIN, "--launch", CHAIN], "ends in .toml"),
        (["run", CHAIN, "--launch", "nowhere.toml"], "no such launch file"),
        (["run", CHAIN, "--kernel", "g"], "no kernel g"),
        (["run", CHAIN, "--json", "/nowhere/r.json"], "there is no folder /nowhere"),
        (["run", CHAIN, "--json", str(PROGRAMS)], "it is a folder"),
        (["run", CHAIN, "--timeline", "t.jpg"], ".txt, .png, .svg, .pdf"),
        (["run", CHAIN, "--memory-figure", "t.jpg"], ".png, .svg, .pdf"),
        (["run", LOOP, "--gpu", "textbook", "--memory-figure", "t.png"], "memory has a fixed latency"),
        (["run"], "Missing argument 'LISTING'"),
        (["rnu"], "Did you mean 'run'?"),
        (["run", CHAIN, "--gpuu", "x"], "--gpu"),
        (["timeline", CHAIN, "--from", "9", "--to", "8"], "the window ends before it begins"),
        (["timeline", CHAIN, "--from", "99999999"], "nothing issued in these cycles"),
        (["timeline", CHAIN, "--show", "a"], "not a list of numbers"),
        (["timeline", CHAIN, "--figure", "t.jpg"], ".png, .svg, .pdf"),
        (["occupancy", "--block", "0", "--registers", "1"], "not one to three sizes"),
        (["occupancy", "--block", "32"], "--registers"),
        (["gpus", "show", "gtx481"], "did you mean gtx480?"),
        (["gpus", "compare", "h100", "a100"], "`simtlab gpus diff A B` compares two GPUs"),
        (["run", CHAIN, "--set", "clusters.latency=9"], "a GPU has a whole section clusters, or none; still missing: clusters.groups"),
        (["reproduce", "volkov"], "did you mean volkov-copy or volkov-demmel or volkov-tlp-ilp?"),
        (["reproduce", "nothing"], "there are: "),
        (["reproduce", "notes-loops", "--gpu", "h100"], "not for h100"),
        (["bench", "--repeats", "0"], "--repeats"),
    ],
)
def test_a_mistake_gets_one_message_and_status_2(arguments: list[str], message: str) -> None:
    assert message in refused(*arguments)


def test_files_that_are_not_what_they_should_be(tmp_path: Path) -> None:
    garbage = bytes(range(256)) * 8
    for name in ("x.sass", "y.toml"):
        (tmp_path / name).write_bytes(garbage)
    (tmp_path / "z.toml").write_text("grid = [1\n")
    assert "it is not UTF-8 text" in refused("run", tmp_path / "x.sass")
    assert "not a TOML file" in refused("run", CHAIN, "--launch", tmp_path / "y.toml")
    assert "not a TOML file" in refused("run", CHAIN, "--launch", tmp_path / "z.toml")
    assert "not a TOML file" in refused("run", CHAIN, "--gpu", tmp_path / "y.toml")
    assert "not a TOML file" in refused("gpus", "show", tmp_path / "z.toml")


@pytest.mark.parametrize("name", ["run", "timeline", "occupancy", "lint", "sweep", "explain", "view", "coalesce"])
def test_a_name_of_more_letters_than_a_file_may_have_is_no_traceback(name: str) -> None:
    assert "too long" in refused(name, "a" * 300 + ".sass", *(["--over", "sms=1:2:1"] if name == "sweep" else []))


def test_options_that_name_files_with_too_many_letters_are_no_traceback(tmp_path: Path) -> None:
    for options in (["--gpu", "b" * 300 + ".toml"], ["--json", tmp_path / ("c" * 300 + ".json")]):
        assert "too long" in refused("run", CHAIN, *options)


def test_a_listing_without_launch_file_says_what_is_missing(kernel: Path) -> None:
    assert "give --block N or --warps N" in refused("run", kernel)
    assert "arguments a, n have no values\n  give --arg a=VALUE --arg n=VALUE, or" in refused("run", kernel, "--warps", "1")
    assert "not a u32" in refused("run", kernel, "--warps", "1", "--arg", "a=1", "--arg", "n=-1")
    kernel.write_text(".kernel f\n.param ptr x\nEXIT\n")
    assert "argument x has no value\n  give --arg 'x=f32[1024]=random'" in refused("run", kernel, "--warps", "1")
    assert "argument x is an array\n  give --arg 'x=f32[1024]=random'" in refused("run", kernel, "--warps", "1", "--arg", "x=3")
    assert "write x=1.5 for a number, or x=f32[1024]=RULE" in refused("run", kernel, "--warps", "1", "--arg", "x=float[3]=zeros")
    assert "--arg x=f32[3]=rand: no rule is called rand, and no file" in refused("run", kernel, "--warps", "1", "--arg", "x=f32[3]=rand")
    assert "--arg v={&y, s32:3}: &y points to y" in refused("run", kernel, "--warps", "1", "--arg", "v={&y, s32:3}")
    assert "write --arg NAME=VALUE, or 'NAME=f32[1024]=random'" in refused("run", kernel, "--warps", "1", "--arg", "f32[64]=zeros")
    assert "no argument is called y" in refused("run", kernel, "--warps", "1", "--arg", "y=f32[64]=zeros")
    assert simtlab("run", kernel, "--warps", "1", "--arg", "x=f32[64]=zeros").exit_code == 0


def test_mistakes_of_the_program_name_the_line(tmp_path: Path) -> None:
    (tmp_path / "f.sass").write_text(".kernel f\nFFNA R0, R0, R1, R2\nEXIT\n")
    assert "f.sass:2" in refused("run", tmp_path / "f.sass", "--warps", "1")
    (tmp_path / "f.sass").write_text(".kernel f\nMOV R0, 16\nMOV R1, 0\nLD.E R2, [R0]\nEXIT\n")
    message = refused("run", tmp_path / "f.sass", "--warps", "1")
    assert "f.sass:4" in message
    assert "lane 0" in message


def test_figures_without_matplotlib_are_refused_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install 'simtlab[figures]'" in refused("timeline", LOOP, "--figure", "t.png")


def test_compilation_is_announced_once_on_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.warming.missing", lambda _: ["executor"])
    result = simtlab("timeline", LOOP, "--gpu", "textbook")
    assert result.stderr.count(f"compiling the simulator's kernels, once ({cli_output.COMPILE_MINUTES})") == 1
    assert "compiling" not in result.stdout


def test_how_far_compilation_is_is_told_in_a_pipe_too(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def slowly(report: Any, _: Any) -> None:
        report("executor", 3, 9)
        until = time.monotonic() + 60
        while len(said) < 3 and time.monotonic() < until:
            time.sleep(0.01)

    monkeypatch.setattr("sim.warming.missing", lambda _: ["executor"])
    monkeypatch.setattr("sim.warming.compile_kernels", slowly)
    monkeypatch.setattr(cli_output, "SAY_SECONDS", 0.05)
    monkeypatch.setattr(cli_output.typer, "echo", lambda text, err: said.append(text))
    cli_output.announce()
    assert re.fullmatch(r"compiling the simulator's kernels: executor 3 of 9 functions; \d+ s so far", said[-1])


def test_an_interrupt_exits_130_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sim.simulate", interrupted)
    result = simtlab("run", LOOP)
    assert result.exit_code == 130
    assert result.output.strip() == "interrupted"


def test_a_real_process_prints_only_the_report_in_a_pipe() -> None:
    done = subprocess.run([*COMMAND, "run", LOOP, "--gpu", "textbook"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("simple_loop on Textbook GPU")
    assert "\x1b" not in done.stdout


def test_a_real_process_exits_2_with_one_message() -> None:
    done = subprocess.run([*COMMAND, "run", "nowhere.sass"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: nowhere.sass")


def test_a_terminal_that_knows_only_ascii_still_gets_the_report() -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*COMMAND, "run", LOOP, "--gpu", "textbook"], capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr


def test_an_interrupt_while_a_command_is_loaded_exits_130_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sim.cli._with_commands", interrupted)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130


@pytest.mark.parametrize(
    ("command", "times"),
    [
        (["bench", "--repeats", "100000"], 1),
        (["sweep", str(PROGRAMS / "saxpy.sass"), "--over", "dram.bandwidth=100:3000:1", "--workers", "2"], 2),  # leaves no worker behind
    ],
)
def test_a_real_interrupt_exits_130(command: list[str], times: int) -> None:
    begun = "from sim.cli import main; print('begun', flush=True); main()"  # Python itself takes its time on a busy machine
    # As a terminal starts it: a parent that runs in the background, with SIGINT ignored, would hand that on.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen([sys.executable, "-c", begun, *command], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, before)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        process.wait(timeout=2)
    except subprocess.TimeoutExpired:
        for _ in range(times):
            process.send_signal(signal.SIGINT)
            time.sleep(0.002)
    try:
        _, errors = process.communicate(timeout=240)  # it ends where compiled code does, which may be compiling on a busy machine
    finally:
        process.kill()  # nothing when it has ended
    assert process.returncode == 130, errors
    assert "Traceback" not in errors


COMPILED = PROGRAMS / "cuda" / "saxpy.sm_90.sass"


def test_disassembly_takes_its_arguments_in_order(tmp_path: Path) -> None:
    kernel = tmp_path / "k.sass"
    kernel.write_text(COMPILED.read_text())
    arguments = ["--arg", "u32:1000", "--arg", "f32:1.5", "--arg", "f32[1024]=random", "--arg", "f32[1024]=ones"]
    result = simtlab("run", kernel, "--function", "saxpy", "--grid", "4", "--block", "256", "--gpu", "h100", *arguments)
    assert result.exit_code == 0, result.output
    assert "4 blocks of 256 threads" in result.stdout
    assert "this is not a typed argument" in refused("run", kernel, "--block", "32", "--arg", "n=3")
    assert "not a value of that type" in refused("run", kernel, "--block", "32", "--arg", "u8:300")
    assert "cannot read" in refused("run", kernel, "--block", "32", "--arg", "f32[4]=missing.npy")
    assert "is outside constant bank 0" in refused("run", kernel, "--block", "32", "--arg", "u32:1000")


def test_listings_of_several_architectures_share_a_launch_file() -> None:
    result = simtlab("run", COMPILED, "--gpu", "h100")
    assert result.exit_code == 0, result.output
    assert "Results equal NumPy's: y." in result.stdout
    assert "the arguments have names here" in refused("run", COMPILED, "--arg", "f32:1.5")


def test_the_command_runs_on_the_base_install() -> None:
    """No command may need a package of an extra before it is asked for."""
    extras = ("simpy", "jinja2", "matplotlib", "pandas", "pyarrow", "distributed", "dask", "playwright", "cupy")
    script = f"import sys; sys.modules.update(dict.fromkeys({extras})); sys.argv = ['simtlab', 'gpus']; from sim.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "gtx480" in done.stdout


def test_results_that_are_not_compared_are_said_to_be() -> None:
    listing = PROGRAMS / "reduce_shared.sass"
    assert "results were not compared" in simtlab("run", listing, "--grid", "8").stderr
    assert "results were not compared" in simtlab("run", listing, "--warps", "8").stderr
    assert "results were not compared" not in simtlab("run", listing).stderr


def test_an_overhead_that_only_one_gpu_has_is_no_speed_up() -> None:
    said = " ".join(simtlab("compare", PROGRAMS / "saxpy.sass", "--gpu", "h100", "--gpu-b", "a100").stdout.split())
    assert "The launch overhead of NVIDIA A100 SXM4 80 GB is not known and counts as 0; without both, A is" in said
    assert "launch and end" in said  # a row that both have
    assert "launch overhead " not in said.split("The difference by cause")[1]
