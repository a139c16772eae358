"""`simtlab bench --start`: what it runs is what the README says; how long a step takes, and what a failing one says."""

import json
import os
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from isa.errors import UserError
from sim import fresh
from sim.cli import app
from sim.fresh import GOALS, MAIN, Wait, timed


def test_the_main_command_is_that_of_the_readme() -> None:
    readme = (fresh.ROOT / "README.md").read_text()
    (command,) = re.findall(r"<!-- main command -->\n```sh\n.*bin/simtlab (.*)\n```", readme)
    assert command.split() == list(MAIN)


def test_a_step_is_timed_with_the_processor_time_of_its_process(tmp_path: Path) -> None:
    busy = "import time\nwhile time.process_time() < 0.3: pass\ntime.sleep(0.3)"
    found = timed("tests", [sys.executable, "-c", busy], tmp_path, dict(os.environ))
    assert found.seconds > 0.6
    assert 0.3 < found.processor < found.seconds
    assert found.goal == GOALS["tests"]


def test_a_step_that_fails_ends_with_its_last_lines(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        timed("tests", [sys.executable, "-c", "print('first\\nsecond\\nthird\\nlast')\nraise SystemExit(3)"], tmp_path, dict(os.environ))
    message = str(caught.value)
    assert "tests: status 3 after" in message
    assert "second\n  third\n  last" in message
    assert "first" not in message.partition("the command was")[0]


def test_sources_that_are_no_clone_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(fresh, "ROOT", tmp_path)
    with pytest.raises(UserError, match="these sources are none"):
        list(fresh.waits())


def test_the_command_prints_each_step_beside_its_goal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(fresh, "waits", lambda tests: [Wait("pip install", 21.3, 9.0), Wait("main command", 55.0, 90.4)])
    result = CliRunner().invoke(app, ["bench", "--start", "--json", str(tmp_path / "s.json")])
    assert result.exit_code == 0, result.output
    assert "pip install      21.3 s (goal 60 s), 9 s of processor time" in result.output
    assert "main command     55.0 s (goal 40 s), 90 s of processor time" in result.output
    assert json.loads((tmp_path / "s.json").read_text())["start"][1]["goal"] == 40


@pytest.mark.parametrize(
    "options", [["--tests"], ["--start", "--lab"], ["--sweeps", "--lab"], ["--start", "--scale", "2"], ["--sweeps", "--repeats", "2"]]
)
def test_options_that_do_not_go_together_are_refused(options: list[str]) -> None:
    result = CliRunner().invoke(app, ["bench", *options])
    assert result.exit_code == 2
    assert "error: " in result.output
