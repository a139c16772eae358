"""`simtlab run LISTING`: execute a program, time it, say where the time went; check the results that the launch file expects."""

from pathlib import Path
from typing import Annotated

import typer

import sim
from isa.errors import UserError
from sim.cli import app
from sim.cli.inputs import Changes, launch, machine, one_sm
from sim.cli.options import (
    ARCH,
    ARG,
    BLOCK,
    ENGINE,
    GPU,
    GRID,
    JSON,
    KERNEL,
    LAUNCH,
    LISTING,
    POLICY,
    REGISTERS,
    SET,
    SHARED,
    THREADS,
    WARPS,
)
from sim.cli.output import check_writable, working, write_json, write_text
from sim.cli.replay import not_of_traces, replay
from sim.expectation import Expectation, check
from sim.launch import Launch
from sim.report import figures, memory_figure, text, timeline
from sim.result import Result
from sim.traces.files import is_trace

TIMELINE = Annotated[
    Path | None, typer.Option("--timeline", metavar="FILE", help="Also write the first 500 cycles' timeline: .txt, .png, .svg or .pdf.")
]
MEMORY_FIGURE = Annotated[
    Path | None, typer.Option("--memory-figure", metavar="FILE", help="Also draw what moved through memory: .png, .svg or .pdf.")
]
SASS = Annotated[
    Path | None, typer.Option("--sass", metavar="FILE", help="Of a trace: the traced program's disassembly, for its control words.")
]
SAVE = Annotated[Path | None, typer.Option("--save-trace", metavar="FOLDER", help="Also write what was executed as an Accel-Sim trace.")]
LIMIT = Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Instructions that a warp may execute; default 16,777,216.")]
TEXT = ("", ".txt")
WINDOW = (0, 499)  # cycles of --timeline


@app.command()
def run(
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
    engine: ENGINE = "numba",
    threads: THREADS = None,
    timeline_file: TIMELINE = None,
    memory_file: MEMORY_FIGURE = None,
    limit: LIMIT = None,
    sass: SASS = None,
    save_trace: SAVE = None,
    json: JSON = None,
) -> None:
    """Execute a listing, time it on a GPU, and say where the warps' time went. Exit 1 when its results are not as expected.

    An Accel-Sim trace (kernelslist.g, .traceg, packed by xz or gzip or not) in place of the listing is timed kernel by kernel.
    """
    found_gpu = machine(gpu, set_, policy)
    check_writable(json, timeline_file, memory_file)
    if memory_file is not None:
        figures.check_path(memory_file)
    if timeline_file is not None and timeline_file.suffix not in TEXT:
        figures.check_path(timeline_file)
    changes = Changes(grid, block, warps, arg, registers, shared)
    if is_trace(listing):
        not_of_traces(changes, launch_file, arch, limit, timeline_file, memory_file, save_trace)
        replay(listing, sass, kernel, found_gpu, engine, threads, json)
        return
    if sass is not None:
        raise UserError("--sass goes with a trace", hint=f"{listing.name} has its own control words, if any")
    what, expected = launch(listing, launch_file, kernel, changes, found_gpu, arch)
    found_gpu = one_sm(found_gpu, changes, what)
    with working(f"running {what.name}"):
        trace = sim.execute(what, limit)
        result = sim.simulate(trace, found_gpu, WINDOW if timeline_file else None, engine, threads)
    if save_trace is not None:
        sim.write_traces([trace], save_trace)
    typer.echo(text.report(result))
    if timeline_file is not None:
        _write_timeline(result, timeline_file)
    wrong = _check(what, expected)
    checked = {"results_checked": expected is not None, "results_equal": not wrong if expected else None}
    write_json(json, result.as_dict() | {"changes": text.changes(found_gpu)} | checked)
    if memory_file is not None:
        memory_figure.save(result, memory_file)
    if wrong:
        raise typer.Exit(1)


def _write_timeline(result: Result, file: Path) -> None:
    if file.suffix in TEXT:
        write_text(file, timeline.text(result) + "\n")
    else:
        figures.save(result, file)


def _check(what: Launch, expected: Expectation | None) -> bool:
    """Print whether the results are as the launch file expects; return True when they are not."""
    if not expected:
        return False
    wrong = check(what, expected)
    names = ", ".join(expected)
    if not wrong:
        typer.echo(f"\nResults equal NumPy's: {names}.")
        return False
    typer.echo(f"\nResults differ from NumPy's ({names}):")
    for miss in wrong:
        typer.echo(f"  {miss.array}[{', '.join(map(str, miss.index))}] is {miss.got}, expected {miss.expected}")
    return True
