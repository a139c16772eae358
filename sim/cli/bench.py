"""`simtlab bench`: how fast the simulator is on this machine."""

from typing import TYPE_CHECKING, Annotated

import typer

from sim.cli import app
from sim.cli.options import JSON
from sim.cli.output import check_writable, show, working, write_json
from sim.report.words import count

if TYPE_CHECKING:
    from sim.bench import Rate

REPEATS = Annotated[int, typer.Option("--repeats", min=1, metavar="N", help="Repetitions of each measurement.")]
SCALE = Annotated[float, typer.Option("--scale", min=0.001, max=50, metavar="X", help="Run X times the usual ten million instructions.")]
COMPILE = Annotated[bool, typer.Option("--compile/--no-compile", help="Also time a fresh process, with and without compiled kernels.")]


@app.command()
def bench(repeats: REPEATS = 5, scale: SCALE = 1.0, compile_: COMPILE = True, json: JSON = None) -> None:
    """Measure the simulator: warp instructions per second, variants of a GPU per second, and what compiling costs."""
    check_writable(json)
    with working("measuring"):
        from sim import bench as measure

        found = [
            *measure.rates(repeats, scale),
            *measure.memory(repeats, scale),
            *measure.growth(repeats, scale),
            *measure.engines(repeats),
        ]
        swept = list(measure.sweeps(scale))
        loading = measure.loading(repeats)
        compilation = measure.compilation() if compile_ else None
    _table(found, repeats)
    for one in swept:
        what = f"{one.points:,} variants of {one.program} ({one.instructions:,} warp instructions each)"
        typer.echo(f"{what}: {one.seconds:.1f} s, {one.per_second:.0f} variants per second on {count(one.workers, 'core')}")
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
            "sweeps": [one._asdict() | {"per_second": one.per_second} for one in swept],
            "loading_seconds": loading,
            "compilation": compilation._asdict() if compilation else None,
        },
    )


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
