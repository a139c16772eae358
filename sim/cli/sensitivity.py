"""`simtlab sensitivity LISTING`: what binds a run, by simulating it without each limit and with each parameter a step off."""

from pathlib import Path
from typing import Annotated

import typer

import sim
from isa.errors import UserError
from sim.cli.commands import command
from sim.cli.inputs import prepare
from sim.cli.options import JSON, LISTING, REPEAT, Given
from sim.cli.output import announce, check_writable, show, write_json
from sim.cli.progress import progress
from sim.report import sensitivity as views

LIMITS_ONLY = Annotated[
    bool, typer.Option("--limits-only", help="Leave out the parameters: some twenty runs instead of a hundred and more.")
]
FIGURE = Annotated[Path | None, typer.Option("--figure", metavar="FILE", help="Also draw the tornado chart (.png, .svg, .pdf).")]


@command()
def sensitivity(
    listing: LISTING,
    given: Given,
    limits_only: LIMITS_ONLY = False,
    repeat: REPEAT = 1,
    figure: FIGURE = None,
    json: JSON = None,
) -> None:
    """Say which limit of the GPU binds a run: simulate it without each limit, and with each parameter up and down by a step."""
    if limits_only and repeat > 1:
        raise UserError("--repeat is of steps of parameters, which --limits-only leaves out", hint="give one of them")
    from sim.causes.sensitivity import sensitivity as measure
    from sim.warming import needed

    check_writable(json, figure=figure)
    what, gpu, _ = prepare(listing, given)
    announce(needed(what, gpu))
    with progress("machines") as report:
        found = measure(sim.execute(what), gpu, parameters=not limits_only, repeat=repeat, progress=report)
    typer.echo(views.verdict(found) + "\n")
    for table in views.tables(found):
        show(table)
    if several := views.coupled(found):
        typer.echo(several)
    write_json(json, views.as_dict(found))
    if figure is not None:
        views.save(found, figure)
        typer.echo(f"figure: {figure}")
