"""`simtlab timeline LISTING`: warps by cycles as text, issue and ready times as a table, and as a figure."""

import gzip
import shutil
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

import sim
from isa.errors import UserError
from sim.cli.commands import command
from sim.cli.inputs import prepare
from sim.cli.options import JSON, LISTING, Given, numbers
from sim.cli.output import check_writable, working, write_bytes, write_json
from sim.report import figures
from sim.report import timeline as views
from sim.report.exports import konata, perfetto, table
from sim.report.heading import unread
from sim.report.tracks import recorded
from sim.report.words import count
from sim.result.result import Result

FROM = Annotated[int, typer.Option("--from", min=0, metavar="CYCLE", help="First cycle drawn.")]
TO = Annotated[
    int | None, typer.Option("--to", min=0, metavar="CYCLE", help="Last cycle drawn; left out: 499 after the first; of files, the last.")
]
SHOW = Annotated[
    str | None,
    typer.Option(
        "--show",
        metavar="LIST",
        help="Which warps, as 0-7 or 0,4; `all`; left out: the first 8, and others of these blocks with code of their own.",
    ),
]
WIDTH = Annotated[int | None, typer.Option("--width", min=40, metavar="COLUMNS", help="Width of the text; left out: the terminal's.")]
PERFETTO = Annotated[
    Path | None,
    typer.Option(
        "--perfetto",
        metavar="FILE",
        help="Write a Chrome trace for ui.perfetto.dev instead of the drawing; a name in .gz, of any of these files, compresses it.",
    ),
]
KONATA = Annotated[Path | None, typer.Option("--konata", metavar="FILE", help="Write a Kanata log for the viewer Konata instead.")]
CSV = Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write a table, a row per issue, instead.")]
PARQUET = Annotated[Path | None, typer.Option("--parquet", metavar="FILE", help="The same as Parquet; needs pyarrow.")]
FIGURE = Annotated[Path | None, typer.Option("--figure", metavar="FILE", help="Also draw it (.png, .svg, .pdf).")]

MOST_ISSUES = 2_000_000  # in a file, unless --to says where to end
TIMES = "t_is: cycle of the issue; t_re: first cycle in which a dependent may issue"
NO_END = 1 << 60  # a last cycle after every run's


class Window(NamedTuple):
    """What to draw of a run."""

    first: FROM = 0
    last: TO = None
    show: SHOW = None
    width: WIDTH = None


class Files(NamedTuple):
    """What to write for other programs; None = nothing."""

    perfetto: PERFETTO = None
    konata: KONATA = None
    csv: CSV = None
    parquet: PARQUET = None


@command()
def timeline(
    listing: LISTING,
    given: Given,
    window: Window,
    files: Files,
    figure: FIGURE = None,
    json: JSON = None,
) -> None:
    """Draw warps by cycles, and list when the first warp shown issued what, and why it waited; or write all of it for other programs."""
    check_writable(json, *files, figure=figure)
    if files.parquet is not None:
        table.check_pyarrow()
    first, last, show, width = window
    if last is None:
        last = NO_END if any(files) else first + 499
    if last < first:
        raise UserError(f"--from {first} --to {last}: the window ends before it begins")
    chosen = None if show in (None, "all") else numbers(show, "--show")
    what, gpu, _ = prepare(listing, given)
    with working(f"running {what.name}", what, gpu):
        trace = sim.execute(what)
        if last == NO_END and trace.warp_instructions > MOST_ISSUES:
            raise UserError(
                f"the run has {trace.warp_instructions:,} issues, too many for one file", hint="give --to CYCLE, or fewer blocks"
            )
        result = sim.simulate(trace, gpu, (first, last))
    if show is None:
        chosen = views.first_and_others(result)
    shown = views.warps(result, chosen)
    for change in unread(gpu):
        typer.echo(f"changed: {change}\n")
    if any(files):
        _export(result, files)
    else:
        columns = width or (shutil.get_terminal_size().columns if sys.stdout.isatty() else 120)
        typer.echo(f"{views.text(result, chosen, columns)}\n{textwrap.fill(views.LEGEND, columns)}")
        typer.echo(f"\n{views.heading(shown[0])} ({TIMES})\n{views.table(result.program, shown[0])}")
    if figure is not None:
        figures.save(result, figure, chosen)
        typer.echo(f"\nfigure: {figure}")
    write_json(json, [_plain(warp) for warp in shown])


def _export(result: Result, files: Files) -> None:
    """Write the files asked for, every warp in them, and say so."""
    made: dict[str, Callable[[], bytes]] = {
        "perfetto": lambda: perfetto.text(result).encode(),
        "konata": lambda: konata.text(result).encode(),
        "csv": lambda: table.as_csv(result).encode(),
        "parquet": lambda: table.as_parquet(result),
    }
    for name, path in files._asdict().items():
        if path is not None:
            plain = made[name]()
            write_bytes(path, gzip.compress(plain, mtime=0) if path.suffix == ".gz" else plain)
            typer.echo(f"{name}: {path} ({count(len(recorded(result).cycle), 'issue')})")


def _plain(warp: views.Warp) -> dict[str, Any]:
    return warp._asdict() | {"issues": [issue._asdict() for issue in warp.issues]}
