"""`simtlab bench`: how fast the simulator is on this machine."""

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from isa.errors import UserError
from sim.cli.commands import command
from sim.cli.options import JSON
from sim.cli.output import check_writable, show, working, write_json
from sim.report.words import count

if TYPE_CHECKING:
    from sim.bench import Rate

REPEATS = Annotated[int, typer.Option("--repeats", min=1, metavar="N", help="Repetitions of each measurement.")]
SCALE = Annotated[float, typer.Option("--scale", min=0.001, max=50, metavar="X", help="Run X times the usual ten million instructions.")]
COMPILE = Annotated[bool, typer.Option("--compile/--no-compile", help="Also time a fresh process, with and without compiled kernels.")]
LAB = Annotated[bool, typer.Option("--lab", help="Measure `simtlab lab` alone: from a change to its page, and ten clients at once.")]
START = Annotated[
    bool, typer.Option("--start", help="Measure a fresh start alone: a clone, pip, the README's main command without a cache.")
]
TESTS = Annotated[bool, typer.Option("--tests", help="With --start: the README's tests, too.")]


SWEEPS = Annotated[bool, typer.Option("--sweeps", help="Measure `simtlab sweep` alone: points per second on all cores.")]


class Alone(NamedTuple):
    """What is measured in place of the rates."""

    lab: LAB = False
    start: START = False
    tests: TESTS = False
    sweeps: SWEEPS = False


@command()
def bench(alone: Alone, repeats: REPEATS = 5, scale: SCALE = 1.0, compile_: COMPILE = True, json: JSON = None) -> None:
    """Measure the simulator: warp instructions per second, variants of a GPU per second, and what compiling costs."""
    check_writable(json)
    if alone.tests and not alone.start:
        raise UserError("--tests goes with --start", hint="add --start")
    if alone.lab or alone.start:
        if scale != 1 or (alone.lab and alone.start):
            raise UserError("--lab and --start are measured alone, without --scale", hint="leave one of them out")
        return write_json(json, _lab(repeats) if alone.lab else _start(alone.tests))
    if alone.sweeps:
        return write_json(json, {"sweeps": _sweeps(scale)})
    with working("measuring"):
        from sim import bench as measure

        found = [
            *measure.rates(repeats, scale),
            *measure.memory(repeats, scale),
            *measure.growth(repeats, scale),
            *measure.engines(repeats),
        ]
        loading = measure.loading(repeats)
        compilation = measure.compilation() if compile_ else None
    _table(found, repeats)
    swept = _sweeps(scale)
    forms = ", ".join(f"{seconds:.2f} s ({form})" for form, seconds in loading.items())
    typer.echo(f"processor time to read a listing of {measure.LISTED:,} different instructions: {forms}")
    if compilation:
        typer.echo(
            f"first result of a fresh process: {compilation.cached:.2f} s; {compilation.cold:.1f} s when kernels must be compiled first"
        )
    write_json(
        json,
        {
            "rates": [rate._asdict() | {"million_per_second": rate.best, "spread": rate.spread} for rate in found],
            "sweeps": swept,
            "loading_seconds": loading,
            "compilation": compilation._asdict() if compilation else None,
        },
    )


def _sweeps(scale: float) -> list[dict[str, Any]]:
    """Print and return how fast sweeps are."""
    from sim.sweep_rates import sweeps

    found = []
    for one in sweeps(scale):
        what = f"sweep of {one.points:,} points, {one.program} ({one.instructions:,} warp instructions each)"
        typer.echo(f"{what}: {one.seconds:.1f} s, {one.per_second:.0f} points per second on {count(one.workers, 'core')}")
        found.append(one._asdict() | {"per_second": one.per_second})
    return found


def _start(tests: bool) -> dict[str, Any]:
    """Print and return how long a newcomer waits."""
    from sim import fresh

    typer.echo("a fresh start from a clone of these sources, as committed; goals are for two cores that nothing else uses")
    found = []
    for one in fresh.waits(tests):
        found.append(one)
        typer.echo(f"{one.what:<14} {one.seconds:6.1f} s (goal {one.goal:.0f} s), {one.processor:.0f} s of processor time")
    return {"start": [one._asdict() | {"goal": one.goal} for one in found]}


def _lab(repeats: int) -> dict[str, Any]:
    """Print and return how long the lab takes to answer."""
    with working("measuring the lab"):
        from sim.lab import measure

        answers, load = measure.answers(repeats), measure.load_test()
    for name, seconds in answers.items():
        typer.echo(f"{name:24} {1000 * seconds:6.0f} ms from a change to the page of its run, median of {repeats}")
    typer.echo(
        f"{measure.CLIENTS} clients, a change every {measure.PAUSE:g} s for {measure.SECONDS:g} s: {load.sent} sent, "
        f"{len(load.seconds)} answered, "
        f"the others overtaken; median {1000 * load.share(0.5):.0f} ms, 95 % within {1000 * load.share(0.95):.0f} ms; "
        f"{load.lost} last changes lost"
    )
    return {"answers": answers, "load": load._asdict()}


def _table(found: "list[Rate]", repeats: int) -> None:
    from rich import box
    from rich.table import Table

    title = f"Million warp instructions per second, best of {repeats}, compilation excluded; one thread unless more are named"
    table = Table(box=box.SIMPLE_HEAD, title=title)
    for column in ("what", "program", "instructions", "million/s", "spread"):
        table.add_column(column, justify="left" if column in ("what", "program") else "right")
    for rate in found:
        table.add_row(rate.part, rate.program, f"{rate.instructions:,}", f"{rate.best:.3g}", f"{rate.spread:.0%}")
    show(table)
