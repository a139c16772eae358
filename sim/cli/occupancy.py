"""`simtlab occupancy`: blocks per SM, every limiter, the next step up, the curve over block sizes; the best block."""

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

import isa
import sim
from isa.errors import UserError
from sim.cli.commands import command
from sim.cli.inputs import program_of
from sim.cli.options import DEFAULT, GPU, JSON, KERNEL, SET, assignments, sizes
from sim.cli.output import check_writable, write_json
from sim.gpus.model import Gpu
from sim.gpus.occupancy import threads_of
from sim.launch.file import beside, load_launch
from sim.report import occupancy as views
from sim.report import occupancy_figure

LISTING = Annotated[
    Path | None, typer.Argument(metavar="LISTING", help="A listing, cubin or CUDA source: its registers, shared memory and block.")
]
BLOCK = Annotated[str | None, typer.Option("--block", metavar="X[xYxZ]", help="Threads in a block.")]
REGISTERS = Annotated[int | None, typer.Option("--registers", min=0, metavar="N", help="32-bit registers per thread.")]
SHARED = Annotated[int | None, typer.Option("--shared", min=0, metavar="BYTES", help="Shared memory per block, static and dynamic.")]
BEST = Annotated[bool, typer.Option("--best", help="Propose a block size, as cudaOccupancyMaxPotentialBlockSize does.")]
PER_THREAD = Annotated[
    int, typer.Option("--shared-per-thread", min=0, metavar="BYTES", help="With --best: shared memory that grows with the block.")
]
FIGURE = Annotated[Path | None, typer.Option("--figure", metavar="FILE", help="Also draw the calculator's curves (.png, .svg, .pdf).")]


class Given(NamedTuple):
    """What the options say of a block; None leaves the listing's and its launch file's."""

    block: BLOCK = None
    registers: REGISTERS = None
    shared: SHARED = None
    best: BEST = False
    shared_per_thread: PER_THREAD = 0


@command()
def occupancy(
    given: Given,
    listing: LISTING = None,
    gpu: GPU = None,
    kernel: KERNEL = None,
    set_: SET = None,
    figure: FIGURE = None,
    json: JSON = None,
) -> None:
    """Compute how many blocks an SM holds, what limits them, and what would admit one more."""
    check_writable(json, figure=figure)
    if given.shared_per_thread and not given.best:
        raise UserError("--shared-per-thread is for --best", hint="give --best too, or the bytes of one block with --shared")
    machine = sim.gpu(gpu or DEFAULT).replace(assignments(set_, "--set"))
    use = _use(given, listing, kernel, machine)
    if given.best:
        typer.echo(views.best_text(machine, use, given.shared_per_thread))
        use = views.best_use(machine, use, given.shared_per_thread)
    else:
        typer.echo(views.report(machine, *use))
    if figure is not None:
        occupancy_figure.save(machine, use, figure)
        typer.echo(f"\nfigure: {figure}")
    write_json(json, views.as_dict(machine, use))


def _use(given: Given, listing: Path | None, kernel: str | None, gpu: Gpu) -> views.Use:
    """Return what a block takes: as the options say, else as the listing and the launch file beside it do."""
    block, registers, shared = given[:3]
    if listing is not None:
        own = _of_listing(listing, kernel, gpu)
        block = block or own[0]
        registers, shared = (mine if option is None else option for option, mine in zip((registers, shared), own[1:], strict=True))
    if registers is None:
        raise UserError("how many registers does a thread take?", hint="give --registers N, or a LISTING")
    if block is None and not given.best:
        raise UserError("how many threads has a block?", hint="give --block N, or --best for a proposal")
    return views.Use(threads_of(sizes(block, "--block")) if block and not given.best else 0, registers, shared or 0)


def _of_listing(listing: Path, kernel: str | None, gpu: Gpu) -> tuple[str | None, int, int]:
    """Return block, registers per thread and bytes of shared memory per block; the block is the launch file's."""
    if kernel is None and listing.suffix != isa.compiler.SUFFIX and beside(listing).exists():
        found = load_launch(listing).launch
        return "x".join(str(size) for size in found.block), found.registers_per_thread, found.shared_per_block
    program = program_of(listing, kernel, gpu)
    return None, program.registers, program.shared_bytes
