"""`simtlab replay FILE...`: captured launches run again on any GPU, their memory checked, the real one's counters beside ours."""

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

import sim
from isa.errors import UserError
from sim import captures
from sim.cli.commands import command
from sim.cli.options import BLOCK_POLICY, ENGINE, JSON, POLICY, SET, THREADS, changes
from sim.cli.output import check_writable, show, working, write_json
from sim.report import captures as views
from sim.report import text
from sim.report.captures import Replayed
from sim.report.tables import table_of

FILES = Annotated[list[Path] | None, typer.Argument(metavar="FILE...", help=f"Captures (NAME{captures.SUFFIX}) of `simtlab capture`.")]
ALL = Annotated[Path | None, typer.Option("--all", metavar="FOLDER", help="All captures of a folder in one table, with errors.")]
GPU = Annotated[str | None, typer.Option("--gpu", metavar="NAME|FILE", help="A preset or a GPU file; default: the GPU of the capture.")]
FIGURE = Annotated[Path | None, typer.Option("--figure", metavar="FILE", help="With --all: cycles against measured ones.")]
LIMIT = Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Instructions that a warp may execute; default 16,777,216.")]
SHOWN = 44  # of a name


class How(NamedTuple):
    """How captures are run."""

    gpu: GPU = None
    set_: SET = None
    policy: POLICY = None
    block_policy: BLOCK_POLICY = None
    engine: ENGINE = "numba"
    threads: THREADS = None
    limit: LIMIT = None


class Many(NamedTuple):
    """A folder of captures, one row each; of one that cannot be run, too."""

    all_: ALL = None
    figure: FIGURE = None


@command()
def replay(how: How, many: Many, files: FILES = None, json: JSON = None) -> None:
    """Run captured launches; check their memory against the GPU's, print reports. Exit 1 when memory differs or one does not run."""
    folder, figure = many
    check_writable(json, figure=figure)
    if bool(files) == (folder is not None):
        raise UserError("which captures?", hint="simtlab replay FILE..., or simtlab replay --all FOLDER")
    if folder is None and many != Many():
        raise UserError("--figure goes with --all FOLDER")
    if folder is not None:
        files = sorted(folder.rglob(f"*{captures.SUFFIX}")) if folder.is_dir() else []
        if not files:
            raise UserError(f"no captures: no file here ends in {captures.SUFFIX}", path=str(folder))
    rows = [_one(file, how, many) for file in files or []]
    if folder is not None:
        _table(rows)
        typer.echo(views.summary(rows))
    if figure is not None:
        views.save_figure(rows, figure)
    write_json(json, {"launches": [_plain(row) for row in rows]})
    if any(row.memory == "differs" or (row.problem and row.result is None) for row in rows):
        raise typer.Exit(1)


def _one(file: Path, how: How, many: Many) -> Replayed:
    """Replay one capture."""
    name, kernel = file.name.removesuffix(captures.SUFFIX), ""
    try:
        capture = captures.read(file)
        kernel = capture.table.kernel
        return _run(capture, name, how, quiet=many.all_ is not None)
    except UserError as error:
        if many.all_ is None:
            raise
        return Replayed(name, kernel, problem="; ".join(line.strip() for line in str(error).replace(f"{file}:", "").splitlines()))


def _run(capture: captures.Capture, name: str, how: How, quiet: bool) -> Replayed:
    """Run the launch of a capture and print its report."""
    preset = captures.preset_of(capture) if how.gpu is None else sim.gpu(how.gpu)
    gpu = preset.replace(changes(how.set_, how.policy, how.block_policy))
    table, launch = capture.table, captures.launch_of(capture).in_warps(gpu.core.warp_size)
    with working(f"replaying {name}", launch, gpu):
        result = sim.simulate(sim.execute(launch, how.limit, threads=how.threads), gpu, engine=how.engine, threads=how.threads)
    found = captures.differences(capture, launch)
    memory = "unknown" if capture.after is None else "differs" if found else "equal"
    if not quiet:
        typer.echo(text.report(result))
        if table.counters:
            typer.echo("\n" + views.text(result, table.counters, table.gpu.name))
        typer.echo("\n" + _words(capture, found))
    worst = max((one.relative for one in found), default=0.0)
    return Replayed(name, table.kernel, memory, table.repeatable, worst, result, table.counters)


def _words(capture: captures.Capture, found: list[captures.Difference]) -> str:
    """Return what is to be said of memory."""
    if capture.after is None:
        return f"What the GPU left in memory is not known: it ended the launch with error {capture.table.error}."
    memory = [one for one in capture.table.allocations if one.kind != "constant"]
    if not found:
        return f"Memory equals the GPU's: {sum(one.size for one in memory):,} bytes in {len(memory)} allocations."
    lines = [f"Memory differs from the GPU's in {len(found)} of {len(memory)} allocations:"]
    if capture.table.repeatable is False:
        lines[0] = lines[0][:-1] + ", which the GPU itself leaves otherwise each time:"
    for one in found:
        lines.append(f"  {one.name}: {one.different:,} of {one.words:,} words, by {one.relative:.1e} of the largest number")
    return "\n".join(lines)


def _table(rows: list[Replayed]) -> None:
    """Print one row per launch."""
    lines: list[tuple[str, ...]] = []
    for row in rows:
        name = row.name if len(row.name) <= SHOWN else row.name[: SHOWN - 1] + "…"
        if row.result is None:
            lines.append((name, *[""] * 5, "refused" if row.problem else row.memory, ""))
            continue
        both = {one.name: one for one in views.beside(row.result, row.counters)}
        error = {name: f"({one.error:+.0%})" if row.spins else f"{one.error:+.1%}" for name, one in both.items() if one.error is not None}
        measured = f"{both['cycles'].measured:,.0f}" if "cycles" in both else ""
        memory = row.memory if row.memory != "differs" else f"differs {row.relative:.0e}"
        memory += " (as on the GPU)" if row.memory == "differs" and row.repeatable is False else ""
        ours, theirs = views.longest_wait(dict(row.result.stalls)), views.longest_wait(views.measured_stalls(row.counters))
        waits = ours if theirs in ("-", ours) else f"{ours} (GPU {theirs})"
        issued = f"{row.result.counters['warp_instructions']:,.0f}"
        numbers = (issued, f"{row.result.cycles:,}", measured, error.get("cycles", ""), error.get("elapsed_cycles", ""))
        lines.append((name, *numbers, memory, waits))
    columns = ("capture", "instructions", "cycles", "measured", "error", "elapsed", "memory", "waits most for")
    show(table_of(columns, lines, words=("capture", "memory", "waits most for")))
    for row in rows:
        if row.problem:
            typer.echo(f"{row.name} refused: {row.problem}\n")


def _plain(row: Replayed) -> dict[str, Any]:
    """Return a row for JSON."""
    plain: dict[str, Any] = {"name": row.name, "kernel": row.kernel, "memory": row.memory, "repeatable": row.repeatable}
    plain |= {"problem": row.problem}
    if row.result is not None:
        both = views.beside(row.result, row.counters)
        plain |= {"memory_error": row.relative, "spins": row.spins, "result": row.result.as_dict()}
        plain["beside"] = {one.name: {"simulated": one.simulated, "measured": one.measured} for one in both}
    return plain
