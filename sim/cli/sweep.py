"""`simtlab sweep LISTING... --over NAME=VALUES`: many variants of the GPU and of the launch, on all cores or on a cluster."""

import dataclasses
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

import sim
from sim.cli.axes import axes, combined
from sim.cli.commands import command
from sim.cli.inputs import grid_and_block, launch, machine
from sim.cli.options import JSON, Given
from sim.cli.output import announce, check_writable, show, write_json
from sim.cli.progress import progress
from sim.gpus.model import Gpu
from sim.launch.launch import Launch
from sim.report import sweep_figures as figures
from sim.report import sweeps as tables
from sim.report.words import KEPT_IN_VAIN
from sim.sweeps.axes import Family

LISTINGS = Annotated[list[Path], typer.Argument(metavar="LISTING...", help="As of `simtlab run`; several are one more thing to vary.")]
OVER = Annotated[
    list[str],
    typer.Option(
        "--over",
        metavar="NAME=VALUES",
        help="What to vary: a field of the GPU, gpu, policy, grid, block, warps, registers, shared, shared_dynamic or arg.NAME; "
        "values as 2,4,8 or 200:400:50 (from, to, step) or 1:64:x2. Repeat: every combination.",
    ),
]
ZIP = Annotated[bool, typer.Option("--zip", help="Take the values of several --over side by side, not in every combination.")]
OUTPUT = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="All results as Parquet; run again to go on after an interrupt.")
]
WORKERS = Annotated[int | None, typer.Option("--workers", min=1, metavar="N", help="Processes; left out: one per core.")]
CLUSTER = Annotated[
    str | None, typer.Option("--cluster", metavar="ADDRESS", help="A Dask scheduler (tcp://host:8786) whose workers do it.")
]
EACH = Annotated[
    int | None,
    typer.Option("--repeat", min=1, metavar="N", help="Runs of each point, as of `simtlab run`; left out: one, and of the best five."),
]
METRIC = Annotated[
    str | None, typer.Option("--metric", metavar="NAME", help="What tables and figures show: cycles, ipc or another column.")
]
FIGURE = Annotated[Path | None, typer.Option("--figure", metavar="FILE", help="Also draw it (.png, .svg, .pdf).")]
PLOT = Annotated[
    str | None,
    typer.Option("--plot", metavar="KIND", help=f"What --figure draws: {', '.join(figures.KINDS)}; left out: by the number of axes."),
]
COST = Annotated[
    list[str] | None,
    typer.Option("--cost", metavar="NAME=WEIGHT", help="For --plot pareto: what a doubled field costs; left out: 1 for each field varied."),
]
NAMES = {
    "listing": "one of the listings",
    "grid": "blocks in the grid, as 64 or 8x8",
    "block": "threads in a block, as 256 or 16x16",
    "warps": "warps on one SM, in equal blocks",
    "registers": "32-bit registers per thread; an integer from 1",
    "shared": "static shared memory per block, bytes",
    "shared_dynamic": "dynamic shared memory per block, bytes",
}


SHAPE = ("grid", "block", "warps", "registers", "shared")  # options that a name of --over stands for


class Where(NamedTuple):
    """Who simulates, and where all results go."""

    output: OUTPUT = None
    workers: WORKERS = None
    cluster: CLUSTER = None
    repeat: EACH = None


class Shown(NamedTuple):
    """What is printed and drawn."""

    metric: METRIC = None
    figure: FIGURE = None
    plot: PLOT = None
    cost: COST = None


@command()
def sweep(
    listings: LISTINGS,
    over: OVER,
    given: Given,
    where: Where,
    shown: Shown,
    zipped: ZIP = False,
    json: JSON = None,
) -> None:
    """Simulate every combination of the values given, each program executed once per launch; print the fastest, keep all."""
    figure = shown.figure
    check_writable(json, where.output, figure)
    gpu, names = machine(given, listings[0]), axes(over)
    if len(listings) > 1:
        names = {"listing": [str(listing) for listing in listings]} | names
    weights = figures.weights(shown.cost, names, gpu)
    if figure is not None:
        figures.check(figure, shown.plot, names)

    def build(shape: Mapping[str, Any]) -> Launch:
        return _dynamic(launch(Path(shape.get("listing", listings[0])), _changed(given, shape), gpu)[0], shape)

    family = Family(NAMES | {name: "a scalar argument" for name in names if name.startswith("arg.")}, build)
    rows = [_on_one_sm(row, given, gpu) for row in combined(names, zipped)]
    start = time.perf_counter()
    announce()
    try:
        with progress("points") as report:
            frame = sim.sweep(family, gpu, rows, **where._asdict(), progress=report)  # type: ignore[arg-type]
    except KeyboardInterrupt:
        if where.output:
            typer.echo(f"what is done is kept; the same command continues ({where.output}.parts)", err=True)
        raise
    metric = tables.metric(frame, shown.metric, names)
    took = time.perf_counter() - start
    moves = frame.attrs.get("noise")
    show(tables.fastest(frame, tuple(names), metric, moves, gpu=gpu.name))
    typer.echo(tables.summary(frame, took) + (f"; all in {where.output}" if where.output else ""))
    if given.keep_control_words and set(kinds := frame["control_words"].dropna()) <= {*KEPT_IN_VAIN}:
        typer.echo("\n".join(KEPT_IN_VAIN[kind] for kind in dict.fromkeys(kinds)))
    if shown.metric is None and (why := tables.why_by(metric, names)):
        typer.echo(why)
    if certain := tables.certainty(frame, metric, moves):
        typer.echo(certain)
    write_json(json, tables.plain(frame, tables.within_noise(frame, metric, moves)))
    if figure is not None:
        figures.save(frame, gpu, tuple(names), metric, weights, figure, shown.plot)
        typer.echo(f"figure: {figure}")


def _changed(given: Given, shape: Mapping[str, Any]) -> Given:
    """Return what the options say of a launch, with what distinguishes this one."""
    args = [f"{name.removeprefix('arg.')}={value}" for name, value in shape.items() if name.startswith("arg.")]
    mine: dict[str, Any] = {name: str(value) if name in ("grid", "block") else value for name, value in shape.items() if name in SHAPE}
    return given._replace(**mine, arg=[*(given.arg or []), *args] or None)


def _dynamic(made: Launch, shape: Mapping[str, Any]) -> Launch:
    return dataclasses.replace(made, shared_dynamic=shape["shared_dynamic"]) if "shared_dynamic" in shape else made


def _on_one_sm(row: dict[str, Any], given: Given, gpu: Gpu) -> dict[str, Any]:
    """Return the point; `warps` means on one SM, and a second block would start on a second one."""
    warps = row.get("warps", given.warps)
    if warps is None or "sms" in row:
        return row
    blocks = (grid_and_block(Given(warps=warps), gpu)["grid"] or [1])[0]
    return row | {"sms": 1} if blocks > 1 else row
