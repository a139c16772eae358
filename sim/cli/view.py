"""`simtlab view LISTING`: one HTML page with the listing, the timeline and the machine; a second run beside it on demand."""

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

import sim
from isa.errors import UserError
from sim.cli.commands import command
from sim.cli.inputs import prepare
from sim.cli.options import ENGINE, JSON, LISTING, Given, numbers
from sim.cli.output import check_writable, working, write_json, write_text
from sim.gpus.model import Gpu
from sim.result.result import Result
from sim.traces.trace import Trace

CHAINS = Annotated[
    bool | None,
    typer.Option(
        "--chains/--no-chains",
        help="Add what was busy during every wait, and the critical path, found by the SimPy engine. Default: when that takes seconds.",
    ),
]
OUTPUT = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="The page; left out: KERNEL.html in this folder.")]
AGAINST = Annotated[
    list[str] | None,
    typer.Option(
        "--against",
        metavar="NAME=VALUE",
        help="Show a second run beside it in which this differs: gpu, policy, block_policy, grid, block, warps, registers, shared, "
        "listing, launch, kernel, arch, arg.NAME, or a field of the GPU, as core.schedulers=2. Repeat for several.",
    ),
]
FROM = Annotated[int, typer.Option("--from", min=0, metavar="CYCLE", help="First cycle of the timeline.")]
TO = Annotated[int | None, typer.Option("--to", min=0, metavar="CYCLE", help="Last cycle; left out: as far as 200,000 issues reach.")]
SMS = Annotated[str, typer.Option("--sms", metavar="LIST", help="SMs in the timeline, as 0 or 0-3; `all`.")]

ISSUES = 200_000  # that a page holds unless --to says more
ROWS = 4_000_000  # of the timeline recorded, at most, to choose the issues of some SMs from
MARGIN = 2_000  # cycles recorded beyond the window: a wait is known when it has ended
NO_END = 1 << 60  # a last cycle after every run's


class Span(NamedTuple):
    """What the timeline shows, as the options say it."""

    first: FROM = 0
    last: TO = None
    sms: SMS = "all"


class Window(NamedTuple):
    """first, last: cycle of the timeline; last None = as far as ISSUES reach. sms: which, None = all."""

    first: int
    last: int | None
    sms: tuple[int, ...] | None


@command()
def view(
    listing: LISTING,
    given: Given,
    span: Span,
    engine: ENGINE = "numba",
    against: AGAINST = None,
    chains: CHAINS = None,
    output: OUTPUT = None,
    json: JSON = None,
) -> None:
    """Write a page that shows a run in a browser: listing, warps by cycles, causes, memory, the machine; no network needed."""
    check_writable(json, output)
    from sim.report.view.page import check_jinja, page  # not above: it needs the SimPy engine

    check_jinja()
    if span.last is not None and span.last < span.first:
        raise UserError(f"--from {span.first} --to {span.last}: the window ends before it begins")
    window = Window(span.first, span.last, None if span.sms == "all" else numbers(span.sms, "--sms"))
    runs = [_run(*each, engine, window) for each in ((listing, given), *([_changed(listing, given, against)] if against else []))]
    with working("writing the page"):
        text = page([run[0] for run in runs], [run[1] for run in runs], window.sms, ", ".join(against or []), chains)
    file = output or Path(f"{runs[0][0].name}.html")
    write_text(file, text)
    typer.echo(f"page: {file} ({len(text) / 1e6:.1f} MB); open it in a browser")
    write_json(json, [run[0].as_dict() for run in runs])


def _run(listing: Path, given: Given, engine: str, window: Window) -> tuple[Result, tuple[int, int]]:
    """Return the result, with its timeline, and the window recorded."""
    what, gpu, _ = prepare(listing, given)
    with working(f"running {what.name}", what, gpu):
        trace = sim.execute(what)
        last = _last(trace, gpu, engine, window) if window.last is None else window.last
        return sim.simulate(trace, gpu, (window.first, last + MARGIN), engine), (window.first, last)


def _last(trace: Trace, gpu: Gpu, engine: str, window: Window) -> int:
    """Return the last cycle of a window that holds about ISSUES issues of the SMs asked for, issues taken as even over the run."""
    if trace.warp_instructions <= ISSUES:
        return NO_END
    result = sim.simulate(trace, gpu, None, engine)
    share = 1.0 if window.sms is None else min(len(window.sms) / result.counters["sms_used"], 1.0)
    rows = min(ISSUES / share, ROWS)
    return window.first + max(int(result.cycles * rows / trace.warp_instructions), 1)


def _changed(listing: Path, given: Given, against: list[str]) -> tuple[Path, Given]:
    """Return the listing and the options of the second run."""
    for text in against:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name or not value:
            raise UserError(f"--against {text}: not of the form name=value", hint="write --against policy=lrr")
        listing, given = (Path(value), given) if name == "listing" else (listing, given._replace(**_change(given, name, value, text)))
    return listing, given


def _change(given: Given, name: str, value: str, text: str) -> dict[str, Any]:
    """Return the option that changes, by its name in `Given`. text: as the user wrote it."""
    if name in ("gpu", "kernel", "arch", "policy", "block_policy", "dlcm"):
        return {name: value}
    if name == "launch":
        return {"launch_file": Path(value)}
    if name in ("grid", "block"):
        return {name: value, "warps": None}
    if name == "warps":
        return {name: _count(text, value), "grid": None, "block": None}
    if name in ("registers", "shared"):
        return {name: _count(text, value)}
    if name.startswith("arg."):
        return {"arg": [*(given.arg or []), f"{name.removeprefix('arg.')}={value}"]}
    return {"set_": [*(given.set_ or []), f"{name}={value}"]}


def _count(text: str, value: str) -> int:
    if not value.isdecimal():
        raise UserError(f"--against {text}: not a number")
    return int(value)
