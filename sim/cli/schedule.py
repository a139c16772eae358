"""`simtlab schedule LISTING --arch sm_90`: control words for a listing that has none."""

from pathlib import Path
from typing import Annotated

import typer

import isa
import sim
from isa.errors import UserError
from sim.cli.commands import command
from sim.cli.options import JSON, KERNEL, LISTING
from sim.cli.output import check_writable, write_json, write_text

ARCH = Annotated[str | None, typer.Option("--arch", metavar="sm_NN", help="For which architecture; default: the listing's own.")]
OUTPUT = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where the listing goes; default: the terminal.")]


@command()
def schedule(listing: LISTING, arch: ARCH = None, kernel: KERNEL = None, output: OUTPUT = None, json: JSON = None) -> None:
    """Write stall counts, counters and waits as a compiler would, by the latencies that lint knows. The order stays."""
    check_writable(output, json)
    program = isa.load(listing, kernel)
    if not (arch or program.architecture):
        raise UserError("the listing names no architecture", hint="write .target sm_90 in it, or give --arch sm_90")
    scheduled = sim.schedule(program, arch or program.architecture)
    text = scheduled.listing(with_control=True)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text)
    before, after = program.control, scheduled.control
    assert after is not None
    stall, own = int(after.stall.sum()), None if before is None else int(before.stall.sum())
    compared = "" if own is None else f"; those that it had: {own:,}"
    summary = f"{len(program):,} instructions for {scheduled.architecture}, stall counts of {stall:,} cycles in all{compared}"
    typer.echo(f"// {program.name}: {summary}", err=output is None)
    totals = {"kernel": program.name, "architecture": scheduled.architecture, "instructions": len(program)}
    write_json(json, totals | {"stall_cycles": stall, "stall_cycles_before": own})
