"""`simtlab coalesce`: what a warp's accesses move, at each level, as a drawing; with --shared, bank conflicts."""

import dataclasses
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

import sim
from isa.errors import UserError
from sim.analysis import banks, patterns
from sim.analysis.coalescing import FULL_MASK, analyse
from sim.cli.commands import command
from sim.cli.inputs import machine, prepare
from sim.cli.options import ARCH, ARG, BLOCK, GPU, GRID, JSON, KERNEL, LAUNCH, SET, Given
from sim.cli.output import check_writable, working, write_json
from sim.gpus.model import Gpu
from sim.report import banks as bank_views
from sim.report import coalescing as views
from sim.traces.trace import Trace

LISTING = Annotated[Path | None, typer.Argument(metavar="LISTING", help="Its loads and stores; left out: one access pattern.")]
STRIDE = Annotated[int | None, typer.Option("--stride", min=0, metavar="N", help="Thread k accesses element N k.")]
OFFSET = Annotated[int | None, typer.Option("--offset", min=0, metavar="N", help="Every thread N elements further on.")]
PATTERN = Annotated[str | None, typer.Option("--pattern", metavar="NAME[:N]", help=f"One of {', '.join(patterns.KINDS)}; as aos:3.")]
WIDTH = Annotated[int | None, typer.Option("--width", metavar="BYTES", help="Bytes per thread and element: 1, 2, 4, 8, 16.")]
MASK = Annotated[str, typer.Option("--mask", metavar="BITS", help="Active threads, bit k = thread k, as 0x0000ffff.")]
BANKS = Annotated[bool, typer.Option("--shared", help="Bank conflicts of shared memory instead.")]
FIGURE = Annotated[Path | None, typer.Option("--figure", metavar="FILE", help="Also draw it (.png, .svg, .pdf).")]


@dataclasses.dataclass(frozen=True)
class Found:
    """What to print, to write, and to draw (None when there is nothing to draw)."""

    text: str
    plain: dict[str, Any]
    drawn: views.Access | bank_views.SharedAccess | None
    title: str


class Access(NamedTuple):
    """One warp's access, as the options say it."""

    stride: STRIDE = None
    offset: OFFSET = None
    pattern: PATTERN = None
    width: WIDTH = None
    mask: MASK = "0xffffffff"


class Of(NamedTuple):
    """The options of a launch that matter here: registers and residency do not."""

    gpu: GPU = None
    launch_file: LAUNCH = None
    kernel: KERNEL = None
    arch: ARCH = None
    grid: GRID = None
    block: BLOCK = None
    arg: ARG = None
    set_: SET = None


@command()
def coalesce(
    access: Access,
    of: Of,
    listing: LISTING = None,
    shared: BANKS = False,
    figure: FIGURE = None,
    json: JSON = None,
) -> None:
    """Show which memory segments a warp's accesses move and how much of them is used: of a pattern, or of a listing's loads and stores."""
    check_writable(json, figure=figure)
    given = Given(**of._asdict())
    gpu = machine(given, listing)
    if listing is not None:
        if access != Access():
            raise UserError("a listing has its own accesses", hint="give a listing, or --stride, --offset, --pattern, --width, --mask")
        what = prepare(listing, given).launch
        with working(f"executing {what.name}", what):
            found = _listing(sim.execute(what), gpu, shared)
    else:
        if any(option is not None for option in of._replace(gpu=None, set_=None)):
            raise UserError("a launch needs a listing", hint="name a .sass file, or give --stride, --offset or --pattern alone")
        found = _pattern(_chosen(access), _bits(access.mask), gpu, shared)
    typer.echo(found.text)
    if figure is not None:
        _draw(found, figure)
    write_json(json, found.plain)


def _chosen(access: Access) -> patterns.Pattern:
    """Return the pattern that the options describe."""
    stride, offset, name, width, _ = access
    if stride is not None and name is not None:
        raise UserError(f"--stride {stride} and --pattern {name} both say where the threads read", hint="give one of them")
    if stride is None and name is None:
        if offset is None:
            raise UserError("which accesses? Give a listing, --stride N, --offset N or --pattern NAME", hint="see: simtlab coalesce --help")
        return patterns.pattern(f"offset:{offset}", width)
    return patterns.pattern(name if name is not None else f"stride:{stride}", width, offset or 0)


def _bits(text: str) -> int:
    """Return a mask written in decimal, 0x or 0b form."""
    try:
        bits = int(text, 0)
    except ValueError:
        bits = -1
    if not 0 <= bits <= FULL_MASK:
        raise UserError(f"--mask {text}: not 32 bits", hint="write --mask 0x0000ffff for the first sixteen threads")
    return bits


def _pattern(pattern: patterns.Pattern, mask: int, gpu: Gpu, shared: bool) -> Found:
    rule = banks.rule_of(gpu) if shared else gpu.lsu.coalescing
    title = f"{pattern.name} on {gpu.name}"
    heading = f"{title} (rule: {rule}): {pattern.meaning}, {pattern.width} bytes each"
    plain = {"gpu": gpu.name, "pattern": pattern.name}
    if shared:
        conflict = bank_views.SharedAccess(pattern.addresses, mask, pattern.width, banks.rule_of(gpu))
        return Found(f"{heading}\n\n{bank_views.report(conflict)}", plain | bank_views.as_dict(conflict), conflict, title)
    access = analyse(pattern.addresses, mask, pattern.width, gpu.lsu.coalescing)
    return Found(f"{heading}\n\n{views.report(access)}", plain | views.as_dict(access), access, title)


def _listing(trace: Trace, gpu: Gpu, shared: bool) -> Found:
    from sim.analysis import accesses

    rule = banks.rule_of(gpu) if shared else gpu.lsu.coalescing
    name = trace.launch.name or trace.program.name
    heading, plain = f"{name} on {gpu.name} (rule: {rule})", {"gpu": gpu.name, "listing": name, "rule": rule}
    if shared:
        conflicts = accesses.shared_sites(trace, banks.rule_of(gpu))
        text, rows = bank_views.listing(conflicts, banks.rule_of(gpu)), [bank_views.site_as_dict(site) for site in conflicts]
        worst = bank_views.SharedAccess(*conflicts[0].worst, banks.rule_of(gpu)) if conflicts else None
        return Found(f"{heading}\n\n{text}", plain | {"accesses": rows}, worst, _title(name, conflicts))
    sites = accesses.global_sites(trace, gpu.lsu.coalescing)
    rows = [views.site_as_dict(site) for site in sites]
    return Found(f"{heading}\n\n{views.listing(sites)}", plain | {"accesses": rows}, sites[0].worst if sites else None, _title(name, sites))


def _title(name: str, sites: list[Any]) -> str:
    return f"{name}, line {sites[0].instruction.line}, {sites[0].instruction.text}" if sites else name


def _draw(found: Found, figure: Path) -> None:
    from sim.report import access_figures

    if found.drawn is None:
        raise UserError("there is no access to draw", hint="leave --figure out")
    if isinstance(found.drawn, bank_views.SharedAccess):
        access_figures.save_banks(found.drawn, figure, found.title)
    else:
        access_figures.save_access(found.drawn, figure, found.title)
    typer.echo(f"\nfigure: {figure}")
