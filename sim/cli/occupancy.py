"""`simtlab occupancy`: blocks per SM, every limiter, the next step up, the curve over block sizes."""

from pathlib import Path
from typing import Annotated

import typer

import sim
from sim.cli import app
from sim.cli.options import GPU, JSON, SET, assignments, sizes
from sim.cli.output import check_writable, write_json
from sim.gpus.occupancy import threads_of
from sim.report import figures, occupancy_figure
from sim.report import occupancy as views

BLOCK = Annotated[str, typer.Option("--block", metavar="X[xYxZ]", help="Threads in a block.")]
REGISTERS = Annotated[int, typer.Option("--registers", min=0, metavar="N", help="32-bit registers per thread.")]
SHARED = Annotated[int, typer.Option("--shared", min=0, metavar="BYTES", help="Shared memory per block, static and dynamic.")]

FIGURE = Annotated[Path | None, typer.Option("--figure", metavar="FILE", help="Also draw the calculator's curves (.png, .svg, .pdf).")]


@app.command()
def occupancy(
    block: BLOCK,
    registers: REGISTERS,
    shared: SHARED = 0,
    gpu: GPU = "gtx480",
    set_: SET = None,
    figure: FIGURE = None,
    json: JSON = None,
) -> None:
    """Compute how many blocks an SM holds, what limits them, and what would admit one more."""
    check_writable(json, figure)
    if figure is not None:
        figures.check_path(figure)
    machine = sim.gpu(gpu).replace(assignments(set_, "--set"))
    use = views.Use(threads_of(sizes(block, "--block")), registers, shared)
    typer.echo(views.report(machine, *use))
    if figure is not None:
        occupancy_figure.save(machine, use, figure)
        typer.echo(f"\nfigure: {figure}")
    write_json(json, views.as_dict(machine, use))
