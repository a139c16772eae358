"""`simtlab run LISTING`: execute a program, time it, say where the time went; check the results that the launch file expects."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

import sim
from isa.errors import UserError
from sim.analysis import energy, roofline
from sim.analysis.lanes import branches
from sim.causes.advice import advise
from sim.cli.commands import command
from sim.cli.inputs import machine, prepare
from sim.cli.options import ENGINE, JSON, LISTING, THREADS, Given
from sim.cli.output import check_writable, working, write_json, write_text
from sim.cli.traces import not_of_traces, time_traces
from sim.gpus.model import Gpu
from sim.launch.expectation import Expectation, check
from sim.launch.file import beside, expects
from sim.launch.launch import Launch
from sim.report import energy as energy_text
from sim.report import figures, memory_figure, text, timeline
from sim.report.heading import changes
from sim.report.roofline import save, text_of
from sim.result.result import Result
from sim.traces.files import is_trace
from sim.traces.hazard import Hazard
from sim.traces.trace import Trace

if TYPE_CHECKING:
    from sim.sampling import Wanted

TIMELINE = Annotated[
    Path | None, typer.Option("--timeline", metavar="FILE", help="Also write the first 500 cycles' timeline: .txt, .png, .svg or .pdf.")
]
MEMORY_FIGURE = Annotated[
    Path | None, typer.Option("--memory-figure", metavar="FILE", help="Also draw what moved through memory: .png, .svg or .pdf.")
]
ROOFLINE = Annotated[bool, typer.Option("--roofline", help="Also say where the run stands under the roof of each level of memory.")]
ROOFLINE_FIGURE = Annotated[
    Path | None, typer.Option("--roofline-figure", metavar="FILE", help="Also draw the roofline: .png, .svg or .pdf.")
]
ENERGY = Annotated[
    str | None,
    typer.Option("--energy", metavar="TABLE", help="Also estimate energy by published numbers: k40, horowitz, or your own .toml file."),
]
SASS = Annotated[
    Path | None, typer.Option("--sass", metavar="FILE", help="Of a trace: the traced program's disassembly, for its control words.")
]
SAVE = Annotated[Path | None, typer.Option("--save-trace", metavar="FOLDER", help="Also write what was executed as an Accel-Sim trace.")]
LIMIT = Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Instructions that a warp may execute; default 16,777,216.")]
CHECK = Annotated[
    str | None,
    typer.Option("--check", metavar="race,init", help="Also look for races in shared memory, for reads of what nothing wrote, or both."),
]
SAMPLE = Annotated[
    str | None,
    typer.Option(
        "--sample",
        metavar="auto|SHARE",
        help="For very long launches: execute and time a sample of the blocks, auto or as 0.05 of them, and estimate the rest with a bar.",
    ),
]
TEXT = ("", ".txt")
SHOWN = 5  # of what checks found
WINDOW, MOST_WARPS = (0, 499), 64  # cycles and warps of --timeline


class Also(NamedTuple):
    """What to write, and to look at, beside the report."""

    timeline: TIMELINE = None
    memory_figure: MEMORY_FIGURE = None
    roofline: ROOFLINE = False
    roofline_figure: ROOFLINE_FIGURE = None
    save_trace: SAVE = None
    check: CHECK = None
    sample: SAMPLE = None
    energy: ENERGY = None


@command()
def run(
    listing: LISTING,
    given: Given,
    also: Also,
    engine: ENGINE = "numba",
    threads: THREADS = None,
    limit: LIMIT = None,
    sass: SASS = None,
    json: JSON = None,
) -> None:
    """Execute a listing, time it on a GPU, and say where the warps' time went. Exit 1 when results or a check are not as they should be.

    An Accel-Sim trace (kernelslist.g, .traceg, packed by xz or gzip or not) in place of the listing is timed kernel by kernel.
    """
    gpu = machine(given, listing)
    _check_files(also, json)
    if is_trace(listing):
        not_of_traces(given, limit, also.roofline or None, *(also[:2] + also[3:]))
        time_traces(listing, sass, given, gpu, engine, threads, json)
        return
    if sass is not None:
        raise UserError("--sass goes with a trace", hint=f"{listing.name} has its own control words, if any")
    energies = energy.load(also.energy) if also.energy else None
    what, gpu, expected = prepare(listing, given)
    check = also.check
    checks = tuple(check.split(",")) if check else ()
    from sim.sampling import Wanted

    wanted = Wanted(engine, threads, WINDOW if also.timeline else None, checks, limit)
    with working(f"running {what.name}", what, gpu):
        result = _run(what, gpu, wanted) if also.sample is None else _run_sample(what, gpu, wanted, also)
    if also.sample is not None:
        expected = None
    hazards = result.trace.hazards if result.trace else ()
    if also.save_trace is not None and result.trace is not None:
        sim.write_traces([result.trace], also.save_trace)
    typer.echo(text.report(result))
    roof = roofline.of_run(result)
    if also.roofline:
        typer.echo("\n" + text_of(roof))
    used = energy.energy(result, energies) if energies else None
    if used:
        typer.echo("\n" + energy_text.text_of(used))
    if also.timeline is not None:
        _write_timeline(result, also.timeline)
    wrong = _check(what, expected)
    if also.sample is None and expected is None and expects(given.launch_file or beside(listing)):
        typer.echo("note: results were not compared: what a launch file expects holds for its own grid and block", err=True)
    _show_hazards(hazards, check)
    checked = {"results_checked": expected is not None, "results_equal": not wrong if expected else None}
    found = _found(result.trace, bool(check)) | {"advice": [one._asdict() for one in advise(result)]}
    found |= {"energy": used.as_dict()} if used else {}
    write_json(json, result.as_dict() | {"changes": changes(result)} | {"roofline": roof.as_dict()} | checked | found)
    if also.memory_figure is not None:
        memory_figure.save(result, also.memory_figure)
    if also.roofline_figure is not None:
        save(roof, also.roofline_figure, f"{result.name} on {result.gpu.name}")
    if wrong or hazards:
        raise typer.Exit(1)


def _check_files(also: Also, json: Path | None) -> None:
    """Raise UserError, before any work is done, for a file that cannot be written, or is no figure that can be drawn."""
    check_writable(json, also.timeline, also.memory_figure, also.roofline_figure)
    for figure in (also.memory_figure, also.roofline_figure, also.timeline):
        if figure is not None:
            figures.check_path(figure, *(TEXT if figure is also.timeline else ()))


def _run(what: Launch, gpu: Gpu, wanted: "Wanted") -> Result:
    trace = sim.execute(what, wanted.limit, wanted.check, wanted.threads)
    return sim.simulate(trace, gpu, wanted.timeline, wanted.engine, wanted.threads)


def _run_sample(what: Launch, gpu: Gpu, wanted: "Wanted", also: Also) -> Result:
    """Return an estimate from the blocks that --sample asks for. Raises UserError for no share of them, and for what takes all of them."""
    from sim.sampling import run

    if also.save_trace is not None:
        raise UserError("a sampled run has no trace to write: most blocks are not executed", hint="leave --save-trace or --sample out")
    if also.energy is not None:
        raise UserError("a sampled run does not count the instructions of all blocks", hint="leave --energy or --sample out")
    text = str(also.sample).strip().lower()
    try:
        share = None if text == "auto" else float(text)
    except ValueError:
        raise UserError(f"--sample {also.sample}: not a share of the blocks", hint="write --sample auto, or --sample 0.05") from None
    return run(what, gpu, share, wanted)


def _found(trace: Trace | None, checked: bool) -> dict[str, Any]:
    """Return what --json says of how a program was executed: what checks found, and the branches that parted lanes."""
    if trace is None:
        return {}
    found: dict[str, Any] = {"hazards": [hazard.as_dict() for hazard in trace.hazards]} if checked else {}
    apart = branches(trace)
    return found | ({"branches": apart._asdict()} if apart else {})


def _show_hazards(hazards: tuple[Hazard, ...], check: str | None) -> None:
    """Print what the checks that were asked for found."""
    if check:
        found = f"{len(hazards)} found" if hazards else "nothing found"
        more = f"; the first {SHOWN}, and all in --json" if len(hazards) > SHOWN else ""
        lines = [f"  {line}" for one in hazards[:SHOWN] for line in str(one).splitlines()]
        typer.echo("\n".join([f"\nChecks ({check}): {found}{more}.", *lines]))


def _write_timeline(result: Result, file: Path) -> None:
    """Draw the first warps: thousands take minutes, and nobody can read them."""
    found = len(timeline.warps(result))
    chosen = tuple(range(MOST_WARPS)) if found > MOST_WARPS else None
    if file.suffix.lower() in TEXT:
        write_text(file, f"{timeline.text(result, chosen)}\n{timeline.LEGEND}\n")
    else:
        figures.save(result, file, chosen)
    if chosen:
        typer.echo(f"note: {file} shows {MOST_WARPS} of {found:,} warps; `simtlab timeline --show` shows others", err=True)


def _check(what: Launch, expected: Expectation | None) -> bool:
    """Print whether the results are as the launch file expects; return True when they are not."""
    if not expected:
        return False
    wrong = check(what, expected)
    whose, names = ("the GPU's" if what.parameters is not None else "NumPy's"), ", ".join(list(expected)[:SHOWN])
    names += f", and {len(expected) - SHOWN} more" if len(expected) > SHOWN else ""
    if not wrong:
        typer.echo(f"\nResults equal {whose}: {names}.")
        return False
    typer.echo(f"\nResults differ from {whose} ({names}):")
    for miss in wrong:
        typer.echo(f"  {miss.array}[{', '.join(map(str, miss.index))}] is {miss.got}, expected {miss.expected}")
    return True
