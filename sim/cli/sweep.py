"""`simtlab sweep LISTING... --over NAME=VALUES`: many variants of the GPU and of the launch, on all cores or on a cluster."""

import dataclasses
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

import sim
from sim.cli import app
from sim.cli.axes import axes, combined
from sim.cli.inputs import Changes, launch, machine
from sim.cli.options import ARCH, ARG, BLOCK, GPU, GRID, JSON, KERNEL, LAUNCH, POLICY, REGISTERS, SET, SHARED
from sim.cli.output import announce, check_writable, show, write_json
from sim.cli.progress import progress
from sim.gpus.model import Gpu
from sim.launch import Launch
from sim.report import sweep_figures as figures
from sim.report import sweeps as tables
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


@app.command()
def sweep(
    listings: LISTINGS,
    over: OVER,
    zipped: ZIP = False,
    gpu: GPU = "gtx480",
    launch_file: LAUNCH = None,
    kernel: KERNEL = None,
    arch: ARCH = None,
    grid: GRID = None,
    block: BLOCK = None,
    arg: ARG = None,
    registers: REGISTERS = None,
    shared: SHARED = None,
    set_: SET = None,
    policy: POLICY = None,
    output: OUTPUT = None,
    workers: WORKERS = None,
    cluster: CLUSTER = None,
    metric: METRIC = None,
    figure: FIGURE = None,
    plot: PLOT = None,
    cost: COST = None,
    json: JSON = None,
) -> None:
    """Simulate every combination of the values given, each program executed once per launch; print the fastest, keep all."""
    check_writable(json, output, figure)
    found_gpu, names = machine(gpu, set_, policy), axes(over)
    if len(listings) > 1:
        names = {"listing": [str(listing) for listing in listings]} | names
    weights = figures.weights(cost, names, found_gpu)
    if figure is not None:
        figures.check(figure, plot, names)
    given = Changes(grid, block, None, arg, registers, shared)

    def build(shape: Mapping[str, Any]) -> Launch:
        changes, listing = _changed(given, shape), Path(shape.get("listing", listings[0]))
        return _dynamic(launch(listing, launch_file, kernel, changes, found_gpu, arch)[0], shape)

    family = Family(NAMES | {name: "a scalar argument" for name in names if name.startswith("arg.")}, build)
    rows = [_on_one_sm(row, found_gpu) for row in combined(names, zipped)]
    start = time.perf_counter()
    announce()
    try:
        with progress("points") as report:
            frame = sim.sweep(family, found_gpu, rows, output=output, workers=workers, cluster=cluster, progress=report)  # type: ignore[arg-type]
    except KeyboardInterrupt:
        typer.echo("interrupted" + (f": what is done is kept, the same command goes on ({output}.parts)" if output else ""), err=True)
        raise
    shown = tables.metric(frame, metric, names)
    show(tables.fastest(frame, tuple(names), shown))
    typer.echo(tables.summary(frame, time.perf_counter() - start) + (f"; all in {output}" if output else ""))
    write_json(json, tables.plain(frame))
    if figure is not None:
        figures.save(frame, found_gpu, tuple(names), shown, weights, figure, plot)
        typer.echo(f"figure: {figure}")


def _changed(given: Changes, shape: Mapping[str, Any]) -> Changes:
    """Return what the options say of a launch, with what distinguishes this one."""
    args = [f"{name.removeprefix('arg.')}={value}" for name, value in shape.items() if name.startswith("arg.")]
    mine = {name: str(value) if name in ("grid", "block") else value for name, value in shape.items() if name in Changes._fields}
    return Changes(**given._asdict() | mine | {"args": [*(given.args or []), *args] or None})


def _dynamic(made: Launch, shape: Mapping[str, Any]) -> Launch:
    return dataclasses.replace(made, shared_dynamic=shape["shared_dynamic"]) if "shared_dynamic" in shape else made


def _on_one_sm(row: dict[str, Any], gpu: Gpu) -> dict[str, Any]:
    """Return the point; `warps` means on one SM, and a second block would start on a second one."""
    if "warps" not in row or "sms" in row:
        return row
    blocks = (Changes(warps=row["warps"]).grid_and_block(gpu)["grid"] or [1])[0]
    return row | {"sms": 1} if blocks > 1 else row
