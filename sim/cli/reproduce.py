"""`simtlab reproduce NAME`: run a published experiment again, print its checks, exit 1 if one fails."""

import dataclasses
import json as plain
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

import sim
from isa.errors import UserError
from sim.cli.commands import command
from sim.cli.options import JSON, SET, assignments
from sim.cli.output import check_writable, show, working, write_json
from sim.report.tables import table_of

if TYPE_CHECKING:
    from programs.reproduction import Reproduction

NAME = Annotated[str | None, typer.Argument(metavar="NAME", help="The experiment; left out: list them.")]
ALL = Annotated[bool, typer.Option("--all", help="Run every experiment: a line for each, and what fails. Six minutes.")]
GPU = Annotated[str | None, typer.Option("--gpu", metavar="NAME|FILE", help="Another GPU than the publication's.")]
FIGURE = Annotated[Path | None, typer.Option("--figure", metavar="FILE", help="Also draw its figure (.png, .svg, .pdf).")]


@command()
def reproduce(name: NAME = None, all_: ALL = False, gpu: GPU = None, set_: SET = None, figure: FIGURE = None, json: JSON = None) -> None:
    """Run a published experiment again and check its numbers; exit 1 if a check fails. Without NAME: list the experiments."""
    from programs.reproductions import REPRODUCTIONS
    from programs.reproductions import reproduce as run

    check_writable(json, figure=figure)
    if all_:
        if name or gpu or set_ or figure:
            raise UserError("--all runs every experiment on its own GPUs", hint="give it alone, or with --json FILE")
        _all(json)
        return
    if name is None:
        width = max(map(len, REPRODUCTIONS))
        typer.echo("\n".join(f"{one:<{width}}  {_about(REPRODUCTIONS[one].__module__)}" for one in REPRODUCTIONS))
        return
    with working(f"reproducing {name}"), _changed(gpu, set_) as machine:
        found = run(name, machine)
    _print(found)
    if figure is not None:
        _draw(found, figure)
    write_json(json, dataclasses.asdict(found) | {"passed": found.passed})
    if not found.passed:
        raise typer.Exit(1)


def _about(module: str) -> str:
    """Return what an experiment is about, as its module's first sentence says behind the name."""
    first = (sys.modules[module].__doc__ or "").split("\n\n")[0]
    return " ".join(first.partition("`: ")[2].split())


def _all(json: Path | None) -> None:
    """Run every experiment; print a line for each, and the checks that fail."""
    from programs.reproductions import ON_OTHERS, REPRODUCTIONS

    plain_values, failed = {}, False
    runs: list[tuple[str, str, str | None]] = [(name, name, None) for name in REPRODUCTIONS]
    runs += [(f"{name} --gpu {gpu}", name, gpu) for name, gpus in ON_OTHERS.items() for gpu in gpus]
    for name, experiment, gpu in runs:
        start = time.perf_counter()
        with working(f"reproducing {name}"):
            found = REPRODUCTIONS[experiment](gpu)
        judged = [check for check in found.checks if check.passed is not None]
        seconds = time.perf_counter() - start
        passed = sum(check.passed is True for check in judged)
        typer.echo(f"{'pass' if found.passed else 'FAIL'}  {name:<28} {passed} of {len(judged)} checks, {seconds:.0f} s")
        for check in judged:
            if not check.passed:
                typer.echo(f"      {check.what}: {check.published} published, {check.simulated}")
        plain_values[name] = dataclasses.asdict(found) | {"passed": found.passed}
        failed = failed or not found.passed
        write_json(json, plain_values)
    if failed:
        raise typer.Exit(1)


@contextmanager
def _changed(gpu: str | None, changes: list[str] | None) -> Iterator[str | None]:
    """Give the GPU, with --set as a GPU file that extends it: experiments know their GPU by its name or file."""
    fields = assignments(changes, "--set")
    if not fields:
        yield gpu
        return
    if gpu is None:
        raise UserError("--set changes the GPU that --gpu names", hint="give --gpu too; without it an experiment runs on its publication's")
    sim.gpu(gpu).replace(fields)  # refused here in words of the option
    base = str(Path(gpu).resolve()) if gpu.endswith(".toml") else gpu
    lines = [f"extends = {plain.dumps(base)}", *(f"{name} = {plain.dumps(value)}" for name, value in fields.items())]
    with TemporaryDirectory() as folder:
        file = Path(folder, "changed.toml")
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        yield str(file)


def _print(found: "Reproduction") -> None:
    from rich.text import Text

    marks = {True: Text("pass", "green"), False: Text("FAIL", "bold red"), None: Text("", "")}
    rows = [(marks[check.passed], check.what, check.published, check.simulated, check.note) for check in found.checks]
    show(table_of(("", "what", "published", "simulated", "note"), rows, found.title))
    for note in found.notes:
        typer.echo(textwrap.fill(note, 120) + "\n")
    judged = [check for check in found.checks if check.passed is not None]
    none = "nothing to check: nothing was published of this GPU here"
    typer.echo(f"{sum(check.passed is True for check in judged)} of {len(judged)} checks passed" if judged else none)


def _draw(found: "Reproduction", figure: Path) -> None:
    from sim.report.curves import save

    if not found.curves:
        raise UserError("this experiment has no figure", hint="leave --figure out")
    save(found.curves, figure, title=found.title, x_label=found.x_label, y_label=found.y_label)
    typer.echo(f"figure: {figure}")
