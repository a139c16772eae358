"""`simtlab interval LISTING`: one warp's latency through the hottest loop, what fills each resource, and time against threads."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

import sim
from isa.errors import UserError
from sim.cli.commands import command
from sim.cli.inputs import prepare
from sim.cli.options import JSON, LISTING, Given, numbers
from sim.cli.output import check_writable, working, write_json
from sim.gpus.model import Gpu
from sim.launch.launch import Launch

if TYPE_CHECKING:
    from sim.analysis.curve import Point
    from sim.analysis.interval import Analysis, Hits
    from sim.result.result import Result
    from sim.traces.trace import Trace

LOOP = Annotated[str | None, typer.Option("--loop", metavar="LABEL", help="The loop that begins there; left out: the hottest.")]
L1_HIT = Annotated[float | None, typer.Option("--l1-hit", min=0, max=1, metavar="SHARE", help="Share of the loads that L1 serves, 0 to 1.")]
L2_HIT = Annotated[
    str | None,
    typer.Option("--l2-hit", metavar="SHARE", help="Of the loads that reach L2; `measured`: as simulated; left out: from the addresses."),
]
CURVE = Annotated[str, typer.Option("--warps-per-sm", metavar="LIST", help="Points of the curve, as 1,2,4-8; `none` leaves it out.")]
ROWS = Annotated[int, typer.Option("--rows", min=0, metavar="N", help="Instructions in the timeline and its table; 0 leaves both out.")]
FIGURE = Annotated[Path | None, typer.Option("--figure", metavar="FILE", help="Also draw the curve (.png, .svg, .pdf).")]


class Caches(NamedTuple):
    """What is assumed of the caches."""

    l1_hit: L1_HIT = None
    l2_hit: L2_HIT = None


@command()
def interval(
    listing: LISTING,
    given: Given,
    caches: Caches,
    loop: LOOP = None,
    warps_per_sm: CURVE = "1,2,4,8,16,32",
    rows: ROWS = 24,
    figure: FIGURE = None,
    json: JSON = None,
) -> None:
    """Say how many threads a loop needs on a GPU, and what more of them would wait for: interval analysis beside the simulation."""
    from sim.analysis.curve import made, why_none
    from sim.analysis.interval import analyse
    from sim.report import interval as views
    from sim.report import interval_figure, timeline
    from sim.report.heading import unread

    check_writable(json, figure=figure)
    if figure is not None and warps_per_sm == "none":
        raise UserError("--figure draws the curve, which --warps-per-sm none leaves out", hint="leave one of them out")
    what, gpu, _ = prepare(listing, given)
    with working(f"analysing {what.name}", what, gpu):
        trace = sim.execute(what)
        found = analyse(trace, gpu, _hits(caches, trace, gpu), loop)
    for change in unread(gpu):
        typer.echo(f"changed: {change}\n")
    typer.echo(f"{views.heading(found, what.name)}\n\n{views.table(found)}\n\n{views.verdict(found)}")
    if rows:
        drawn = views.first_iteration(found)
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 120
        shown = drawn._replace(issues=drawn.issues[:rows])
        typer.echo(f"\n{timeline.drawing([shown], width)}\n\n{timeline.table(found.program, drawn, rows)}")
    points = _curve(found, what, warps_per_sm)
    if points:
        typer.echo(f"\nCycles of the launch against threads ({made(found, what)})\n{views.curve_table(found, points)}")
    elif warps_per_sm != "none":
        typer.echo(f"\nNo curve of time against threads: {why_none(found, what)}.")
    if figure is not None:
        if not points:
            raise UserError("there is no curve to draw", hint="leave --figure out")
        interval_figure.save(found, points, figure, f"{what.name} on {gpu.name}")
        typer.echo(f"\nfigure: {figure}")
    write_json(json, {"listing": what.name} | views.as_dict(found, points))


def _hits(caches: Caches, trace: "Trace", gpu: Gpu) -> "Hits | None":
    """Return what the options assume of the caches; None: what the executed addresses say."""
    from sim.analysis.interval import Hits

    l1, l2 = caches
    if l1 is None and l2 is None:
        return None
    if l2 == "measured":
        if l1 is not None:
            raise UserError("--l2-hit measured takes L1's share from the simulation, too", hint="leave --l1-hit out")
        return Hits.measured(sim.simulate(trace, gpu).counters)
    try:
        share = float(l2 or 0)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UserError(f"--l2-hit {l2}: not a share from 0 to 1", hint="write --l2-hit 0.875, or --l2-hit measured")
    return Hits(l1 or 0.0, share)


def _curve(found: "Analysis", what: Launch, text: str) -> "list[Point]":
    """Return the points of the curve that the option asks for."""
    from sim.analysis.curve import curve

    if text == "none":
        return []
    counts = [count for count in numbers(text, "--warps-per-sm") if count > 0]

    def timed(launch: Launch, gpu: Gpu) -> "tuple[Trace, Result]":
        trace = sim.execute(launch)
        return trace, sim.simulate(trace, gpu)

    with working(f"simulating {what.name}"):
        return curve(found, what, timed, counts)
