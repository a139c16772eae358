"""`simtlab timeline LISTING`: warps by cycles as text, issue and ready times as a table, and as a figure."""

import shutil
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import sim
from isa.errors import UserError
from sim.cli import app
from sim.cli.inputs import Changes, launch, machine, one_sm
from sim.cli.options import ARG, BLOCK, GPU, GRID, JSON, KERNEL, LAUNCH, LISTING, POLICY, REGISTERS, SET, SHARED, WARPS, numbers
from sim.cli.output import check_writable, working, write_json
from sim.report import figures
from sim.report import timeline as views
from sim.report.text import unread

FROM = Annotated[int, typer.Option("--from", min=0, metavar="CYCLE", help="First cycle drawn.")]
TO = Annotated[int | None, typer.Option("--to", min=0, metavar="CYCLE", help="Last cycle drawn; left out: 499 after the first.")]
SHOW = Annotated[str, typer.Option("--show", metavar="LIST", help="Which warps, as 0-7 or 0,4; `all`.")]
WIDTH = Annotated[int | None, typer.Option("--width", min=40, metavar="COLUMNS", help="Width of the text; left out: the terminal's.")]
FIGURE = Annotated[Path | None, typer.Option("--figure", metavar="FILE", help="Also draw it (.png, .svg, .pdf).")]


@app.command()
def timeline(
    listing: LISTING,
    gpu: GPU = "gtx480",
    launch_file: LAUNCH = None,
    kernel: KERNEL = None,
    grid: GRID = None,
    block: BLOCK = None,
    warps: WARPS = None,
    arg: ARG = None,
    registers: REGISTERS = None,
    shared: SHARED = None,
    set_: SET = None,
    policy: POLICY = None,
    first: FROM = 0,
    last: TO = None,
    show: SHOW = "0-7",
    width: WIDTH = None,
    figure: FIGURE = None,
    json: JSON = None,
) -> None:
    """Draw warps by cycles, and list when the first warp shown issued what, and why it waited."""
    check_writable(json, figure)
    last = first + 499 if last is None else last
    if last < first:
        raise UserError(f"--from {first} --to {last}: the window ends before it begins")
    if figure is not None:
        figures.check_path(figure)
    chosen = None if show == "all" else numbers(show, "--show")
    changes = Changes(grid, block, warps, arg, registers, shared)
    found_gpu = machine(gpu, set_, policy)
    what, _ = launch(listing, launch_file, kernel, changes, found_gpu)
    found_gpu = one_sm(found_gpu, changes, what)
    with working(f"running {what.name}"):
        result = sim.run(what, found_gpu, timeline=(first, last))
    shown = views.warps(result, chosen)
    for change in unread(found_gpu):
        typer.echo(f"changed: {change}\n")
    typer.echo(views.text(result, chosen, width or (shutil.get_terminal_size().columns if sys.stdout.isatty() else 120)))
    typer.echo(f"\n{views.heading(shown[0])}\n{views.table(result.program, shown[0])}")
    if figure is not None:
        figures.save(result, figure, chosen)
        typer.echo(f"\nfigure: {figure}")
    write_json(json, [_plain(warp) for warp in shown])


def _plain(warp: views.Warp) -> dict[str, Any]:
    return warp._asdict() | {"issues": [issue._asdict() for issue in warp.issues]}
