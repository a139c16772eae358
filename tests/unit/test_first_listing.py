"""The page for one's first listing: its examples run, and it has every word that a launch file may have."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sim.cli import app
from sim.launch.arrays import Array
from sim.launch.expectation import FUNCTIONS, OPERATORS, Expected
from sim.launch.table import SCALARS, LaunchTable, Tiled

PAGE = (Path(__file__).parents[2] / "programs" / "FIRST_LISTING.md").read_text(encoding="utf-8")
LISTING, LAUNCH, TOLERANT = (
    part.partition("\n")[2] for part in re.findall(r"```((?:toml)?\n(?:\.kernel|grid|\[expect).*?)```", PAGE, re.DOTALL)
)


def run(*words: str) -> str:
    done = CliRunner().invoke(app, ["run", *words])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("expect", ["", TOLERANT])
def test_the_example_runs_and_computes_what_it_says(tmp_path: Path, expect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    launch = LAUNCH if not expect else LAUNCH.partition("[expect]")[0] + expect
    Path("mine.sass").write_text(LISTING)
    Path("mine.toml").write_text(launch)
    assert "Results equal NumPy's: x." in run("mine.sass", "--gpu", "gtx480")
    Path("mine.toml").write_text(launch.replace('"x + x"', '"x + 1"'))
    assert CliRunner().invoke(app, ["run", "mine.sass", "--gpu", "gtx480"]).exit_code == 1


def test_the_commands_print_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = re.search(r"\$ simtlab new mine\n(.*?)```", PAGE, re.DOTALL)
    assert said is not None
    assert CliRunner().invoke(app, ["new", "mine"]).stdout == said[1]
    sweep = re.search(r"^simtlab run (mine\.sass .*)", PAGE, re.MULTILINE)
    assert sweep is not None
    assert "16 blocks of 128 threads" in run(*sweep[1].replace("'", "").split())


def test_every_word_of_a_launch_file_is_on_the_page() -> None:
    words = set(re.findall(r"[A-Za-z_]\w*", PAGE))
    for model in (LaunchTable, Array, Expected, Tiled):
        assert set(model.model_fields) <= words, model
    assert {*SCALARS, *FUNCTIONS} <= words
    said = re.search(r"operators on arrays \(`(.*?)`\)", PAGE)
    assert said is not None
    assert len(said[1].split()) == len(OPERATORS) - 2  # a sign before a number is + or -
