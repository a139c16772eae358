"""`simtlab tour`: five minutes from the first listing to the first what-if. The steps are data: tour.toml beside this file."""

import contextlib
import io
import os
import shlex
import sys
import textwrap
import tomllib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from sim import cli
from sim.cli.commands import command
from sim.cli.options import JSON
from sim.cli.output import check_writable, write_json

PROGRAMS = Path(__file__).resolve().parents[2] / "programs"
FROM = Annotated[int, typer.Option("--from", min=1, metavar="STEP", help="Begin with this step.")]
WIDTH = 100


@dataclass(frozen=True)
class Step:
    """One step. command: words after `simtlab`, or `cat` and a file. lines: of its output to show; 0 = all. extra: a package it needs."""

    title: str
    look: str
    command: list[str]
    lines: int = 0
    extra: str = ""

    @property
    def words(self) -> list[str]:
        """The command with paths as they are from here."""
        return [_path(word) if word.endswith(".sass") else word for word in self.command]

    @property
    def typed(self) -> str:
        """The command as a person would type it."""
        return shlex.join(self.words if self.words[0] == "cat" else ["simtlab", *self.words])

    def run(self) -> str:
        """Run the command; return what it printed, or the first lines of it. A command that fails, its message printed, ends the tour."""
        if self.words[0] == "cat":
            printed = Path(self.words[1]).read_text()
        else:
            with contextlib.redirect_stdout(io.StringIO()) as caught:
                status = cli.app(self.words, standalone_mode=False)  # with all commands: a command line loads only the one it names
            if status:
                raise typer.Exit(status)
            printed = caught.getvalue()
        found = printed.rstrip().splitlines()
        left = len(found) - self.lines if self.lines else 0
        return "\n".join([*found[: self.lines or None], *([f"... ({left} more lines)"] if left > 0 else [])])


def steps() -> list[Step]:
    """Return the steps of tour.toml."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
    return [Step(**(step | {"look": step["look"].strip()})) for step in table["step"]]


@command()
def tour(first: FROM = 1, json: JSON = None) -> None:
    """Take five minutes from the first listing to the first what-if: commands, what to look at, and what they print.

    On a terminal each step waits for Enter (q and Enter ends); in a pipe they run through.
    """
    check_writable(json)
    waits = sys.stdin.isatty() and sys.stdout.isatty()
    done = []
    for number, step in list(enumerate(steps(), 1))[first - 1 :]:
        if step.extra and find_spec(step.extra) is None:
            typer.echo(f"\n{number}. {step.title}\n(left out: `simtlab {step.command[0]}` needs pip install 'simtlab[reference]')")
            continue
        typer.echo(f"\n{typer.style(f'{number}. {step.title}', bold=True)}\n{textwrap.fill(step.look, WIDTH)}\n")
        typer.echo(typer.style(f"$ {step.typed}", bold=True))
        if waits and typer.prompt("(Enter runs it, q ends)", default="", show_default=False, prompt_suffix=" ").strip() == "q":
            break
        printed = step.run()
        typer.echo(printed)
        done.append({"title": step.title, "look": step.look, "command": step.typed, "printed": printed})
    else:
        typer.echo("\nThat was the tour. Next: `simtlab --help`, programs/EXAMPLES.md, and the notebooks.")
    write_json(json, done)


def _path(word: str) -> str:
    """Return a path below programs/ as it is from the present folder, or whole when it lies elsewhere."""
    path = PROGRAMS / word
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(os.getcwd()) else str(path)
