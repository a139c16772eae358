"""`simtlab run` of an Accel-Sim trace: every kernel timed on its own, one table of all, a report of each."""

from dataclasses import replace
from pathlib import Path

import typer

import sim
from isa.errors import UserError
from sim.cli.inputs import wanted
from sim.cli.options import Given
from sim.cli.output import show, working, write_json
from sim.gpus.fields import nearest
from sim.gpus.model import Gpu
from sim.report import text
from sim.report.heading import changes
from sim.report.tables import table_of
from sim.report.words import sizes
from sim.result.result import Result

NAME_WIDTH = 40


def not_of_traces(given: Given, *others: object) -> None:
    """Raise UserError when an option was given that says how to launch or execute: a trace is executed already."""
    launched = given._replace(gpu=None, set_=None, policy=None, block_policy=None, kernel=None, keep_control_words=None)  # type: ignore[arg-type]
    if any(value is not None for value in (*launched, *others)):
        raise UserError(
            "a trace has been launched and executed: its grid, arguments, registers and results are what they were",
            hint="with a trace go --gpu, --set, --policy, --block-policy, --engine, --threads, --kernel, --sass and --json",
        )


def time_traces(path: Path, sass: Path | None, given: Given, gpu: Gpu, engine: str, threads: int | None, json: Path | None) -> None:
    """Time the kernels of a trace, or those of one name, each with cold caches; print a table of several, and every report."""
    kernel = given.kernel
    with working(f"reading {path.name}"):
        traces = [replace(trace, launch=wanted(trace.launch, given)) for trace in sim.read_traces(path, sass)]
    names = [trace.launch.name for trace in traces]
    traces = [trace for trace in traces if kernel in (None, trace.launch.name)]
    if not traces:
        raise UserError(
            f"no kernel {kernel} in the trace", path=str(path), hint=nearest(kernel or "", names) or f"it has {', '.join(names)}"
        )
    results = []
    for trace in traces:
        with working(f"timing {trace.launch.name}"):
            results.append(sim.simulate(trace, gpu, engine=engine, threads=threads))
    if len(results) > 1:
        _table(results, gpu)
    for result in results:
        typer.echo(text.report(result) + "\n")
    kernels = [result.as_dict() | {"changes": changes(result)} for result in results]
    write_json(json, {"trace": str(path), "kernels": kernels})


def _table(results: list[Result], gpu: Gpu) -> None:
    """Print one row per kernel."""
    total = sum(result.seconds for result in results)
    title = f"{len(results)} kernels on {gpu.name}, each with cold caches: {total * 1e6:,.1f} us"
    columns = ("kernel", "grid", "block", "instructions", "cycles", "us", "IPC", "waits most for")
    rows = []
    for result in results:
        waits = {name: cycles for name, cycles in result.stalls.items() if name != "selected"}
        worst = max(waits, key=lambda name: waits[name], default="-")
        name = result.name if len(result.name) <= NAME_WIDTH else result.name[: NAME_WIDTH - 1] + "…"
        issued = f"{result.counters['warp_instructions']:,.0f}"
        numbers = (f"{result.cycles:,}", f"{result.seconds * 1e6:,.2f}", f"{result.counters['ipc']:.2f}")
        rows.append((name, sizes(result.grid), sizes(result.block), issued, *numbers, worst))
    show(table_of(columns, rows, title, words=("kernel", "waits most for")))
