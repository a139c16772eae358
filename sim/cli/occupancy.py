"""`simtlab occupancy`: blocks per SM, every limiter, the next step up, the curve over block sizes."""

from typing import Annotated

import typer

import sim
from sim.cli import app
from sim.cli.options import GPU, JSON, SET, assignments, sizes
from sim.cli.output import check_writable, write_json
from sim.gpus.occupancy import threads_of
from sim.report import occupancy as views

BLOCK = Annotated[str, typer.Option("--block", metavar="X[xYxZ]", help="Threads in a block.")]
REGISTERS = Annotated[int, typer.Option("--registers", min=0, metavar="N", help="32-bit registers per thread.")]
SHARED = Annotated[int, typer.Option("--shared", min=0, metavar="BYTES", help="Shared memory per block, static and dynamic.")]


@app.command()
def occupancy(block: BLOCK, registers: REGISTERS, shared: SHARED = 0, gpu: GPU = "gtx480", set_: SET = None, json: JSON = None) -> None:
    """Compute how many blocks an SM holds, what limits them, and what would admit one more."""
    check_writable(json)
    machine = sim.gpu(gpu).replace(assignments(set_, "--set"))
    use = views.Use(threads_of(sizes(block, "--block")), registers, shared)
    typer.echo(views.report(machine, *use))
    write_json(json, views.as_dict(machine, use))
