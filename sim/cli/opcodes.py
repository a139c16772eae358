"""`simtlab opcodes [NAME]`: what the opcodes of a listing do, and how long a dependent waits on each GPU."""

from pathlib import Path
from typing import Annotated

import typer

import sim
from isa.meanings import every_opcode
from sim.cli.commands import command
from sim.cli.options import JSON
from sim.cli.output import show, write_json, write_text
from sim.report import opcodes as reference

NAME = Annotated[str | None, typer.Argument(metavar="NAME", help="An opcode, as FFMA; all, a line each, when left out.")]
ON = Annotated[
    list[str] | None, typer.Option("--gpu", metavar="NAME|FILE", help="Only on this GPU; may be repeated. Default: every preset.")
]
PAGE = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write all of it as a Markdown page.")]


@command()
def opcodes(name: NAME = None, gpu: ON = None, json: JSON = None, output: PAGE = None) -> None:
    """Say what an opcode does: operands, meaning, modifiers, unit, and its cycles on each GPU."""
    gpus = {one: sim.gpu(one) for one in gpu or sim.gpus()}
    if output:
        write_text(output, reference.page(gpus))
    wanted = [reference.known(name)] if name else list(every_opcode())
    if name:
        typer.echo(reference.text_of(wanted[0], gpus))
    elif not output:
        show(reference.overview())
    write_json(json, {one: {on: reference.facts(one, there) for on, there in gpus.items()} for one in wanted})
