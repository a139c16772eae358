"""`simtlab sensitivity LISTING`: what binds a run, by simulating it without each limit and with each parameter a step off."""

from pathlib import Path
from typing import Annotated

import typer

import sim
from sim.cli import app
from sim.cli.inputs import Changes, launch, machine, one_sm
from sim.cli.options import ARCH, ARG, BLOCK, GPU, GRID, JSON, KERNEL, LAUNCH, LISTING, POLICY, REGISTERS, SET, SHARED, WARPS
from sim.cli.output import announce, check_writable, show, write_json
from sim.cli.progress import progress
from sim.report import figures
from sim.report import sensitivity as views

LIMITS_ONLY = Annotated[
    bool, typer.Option("--limits-only", help="Leave out the parameters: some twenty runs instead of a hundred and more.")
]
FIGURE = Annotated[Path | None, typer.Option("--figure", metavar="FILE", help="Also draw the tornado chart (.png, .svg, .pdf).")]


@app.command()
def sensitivity(
    listing: LISTING,
    gpu: GPU = "gtx480",
    launch_file: LAUNCH = None,
    kernel: KERNEL = None,
    arch: ARCH = None,
    grid: GRID = None,
    block: BLOCK = None,
    warps: WARPS = None,
    arg: ARG = None,
    registers: REGISTERS = None,
    shared: SHARED = None,
    set_: SET = None,
    policy: POLICY = None,
    limits_only: LIMITS_ONLY = False,
    figure: FIGURE = None,
    json: JSON = None,
) -> None:
    """Say which limit of the GPU binds a run: simulate it without each limit, and with each parameter up and down by a step."""
    from sim.sensitivity import sensitivity as measure

    check_writable(json, figure)
    if figure is not None:
        figures.check_path(figure)
    changes, found_gpu = Changes(grid, block, warps, arg, registers, shared), machine(gpu, set_, policy)
    what, _ = launch(listing, launch_file, kernel, changes, found_gpu, arch)
    found_gpu = one_sm(found_gpu, changes, what)
    announce()
    with progress("machines") as report:
        found = measure(sim.execute(what), found_gpu, parameters=not limits_only, progress=report)
    typer.echo(views.verdict(found) + "\n")
    for table in views.tables(found):
        show(table)
    write_json(json, views.as_dict(found))
    if figure is not None:
        views.save(found, figure)
        typer.echo(f"figure: {figure}")
