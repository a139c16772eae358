"""`simtlab gpus`: the presets; `gpus show NAME`: every number of one with its source; `gpus diff A B`."""

from pathlib import Path
from typing import Annotated

import typer

import sim
from isa.errors import UserError
from sim.cli.commands import app
from sim.cli.options import JSON, SET, assignments
from sim.cli.output import show, write_json, write_text
from sim.report import gpus as tables

commands = typer.Typer(help="List the GPUs; show one with its sources; compare two.")
app.add_typer(commands, name="gpus")

NAME = Annotated[str, typer.Argument(metavar="NAME|FILE", help="A preset or a GPU file (.toml).")]
SECTION = Annotated[str | None, typer.Argument(metavar="SECTION", help="Only this section, as l2 or pipes.tensor, or one field.")]
OUTPUT = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the page there.")]
SECOND = Annotated[list[str] | None, typer.Option("--set", metavar="FIELD=VALUE", help="Change the second GPU; may be repeated.")]


@commands.callback(invoke_without_command=True)
def overview(context: typer.Context, json: JSON = None) -> None:
    """List the GPUs; show one with its sources; compare two."""
    if context.invoked_subcommand is None:
        found = {name: sim.gpu(name) for name in sim.gpus()}
        show(tables.overview(found))
        write_json(json, {name: gpu.model_dump(mode="json") for name, gpu in found.items()})


@commands.command("show")
def show_one(name: NAME, section: SECTION = None, set_: SET = None, json: JSON = None) -> None:
    """Show every field of a GPU, or those of a section: value, unit, meaning, legal values, source."""
    gpu = sim.gpu(name).replace(assignments(set_, "--set"))
    section = section.strip().lower().strip("[].") if section else None
    show(tables.fields(gpu, section))
    write_json(json, tables.facts(gpu, section))


@commands.command("fields")
def all_fields(output: OUTPUT = None) -> None:
    """Document every field of a GPU in Markdown: default, legal values, meaning with its unit."""
    if output is None:
        typer.echo(tables.page(), nl=False)
    else:
        write_text(output, tables.page())


@commands.command("compare", hidden=True, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def compare() -> None:
    """Say which command is meant: runs are compared by a command of that name."""
    raise UserError("gpus has no command compare", hint="`simtlab gpus diff A B` compares two GPUs, `simtlab compare` two runs")


@commands.command()
def diff(one: NAME, other: NAME, set_: SECOND = None, json: JSON = None) -> None:
    """Show the fields in which two GPUs differ."""
    first, second = sim.gpu(one), sim.gpu(other).replace(assignments(set_, "--set"))
    show(tables.difference_table(first, second))
    write_json(json, [{"field": name, one: a, other: b} for name, a, b in tables.differences(first, second)])
