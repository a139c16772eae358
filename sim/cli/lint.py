"""`simtlab lint LISTING`: hazards and lost cycles of control words; registers against the steps of occupancy."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

import sim
from isa.program import Program
from sim.cli.commands import command
from sim.cli.inputs import programs
from sim.cli.options import JSON, KERNEL, LISTING, SET, assignments, sizes
from sim.cli.output import check_writable, write_json
from sim.control_words.finding import HAZARD
from sim.gpus.assumed import assumed
from sim.gpus.occupancy import occupancy, threads_of
from sim.report.occupancy import Use, next_steps
from sim.report.words import count

GPU = Annotated[
    str | None, typer.Option("--gpu", metavar="NAME|FILE", help="For occupancy; default: a preset of the listing's architecture.")
]
ASSUMED_BLOCK = "256"
BLOCK = Annotated[
    str | None, typer.Option("--block", metavar="X[xYxZ]", help=f"Threads in a block, for occupancy; default: {ASSUMED_BLOCK}.")
]
ALL = Annotated[bool, typer.Option("--all", help="Also list every place that loses cycles.")]


@command()
def lint(
    listing: LISTING,
    kernel: KERNEL = None,
    gpu: GPU = None,
    set_: SET = None,
    block: BLOCK = None,
    list_all: ALL = False,
    json: JSON = None,
) -> None:
    """Check the control words of a listing: stall counts too small, missing waits, lost cycles. Exit 1 when there is a hazard."""
    check_writable(json)
    use, changes = sizes(block or ASSUMED_BLOCK, "--block"), assignments(set_, "--set")
    found = programs(listing, kernel)
    results = {
        program.name: _check(program, list_all) | _registers(program, gpu, changes, threads_of(use), block is None) for program in found
    }
    write_json(json, results)
    if any(result["hazards"] for result in results.values()):
        raise typer.Exit(1)


def _check(program: Program, list_all: bool) -> dict[str, Any]:
    """Print what lint finds in one kernel, and return it."""
    found = sim.lint(program)
    hazards = [finding for finding in found if finding.level == HAZARD]
    lost = [finding for finding in found if finding.level != HAZARD]
    for finding in found if list_all else hazards:
        typer.echo(finding.text(program.path))
    what = f"{program.name} ({program.architecture}, {count(len(program), 'instruction')})"
    verdict = count(len(hazards), "hazard") if hazards else "no hazards"
    cycles = sum(finding.cycles for finding in lost)
    assert program.control is not None
    total = int(program.control.stall.sum())
    more = f"; stall counts of {total:,} cycles, {cycles:,} of them not needed" if lost else ""
    typer.echo(f"{what}: {verdict}{more}{' (--all shows where)' if lost and not list_all else ''}")
    return {
        "architecture": program.architecture,
        "hazards": [asdict(finding) for finding in hazards],
        "information": [asdict(finding) for finding in lost],
    }


def _registers(program: Program, name: str | None, changes: dict[str, Any], threads: int, is_assumed: bool) -> dict[str, Any]:
    """Print the blocks that an SM holds, and how few registers less would admit more; return both. is_assumed: nobody gave the threads."""
    gpu = assumed(program.architecture) if name is None else sim.gpu(name)
    if gpu is None:
        return {}
    gpu = gpu.replace(changes)
    use = Use(threads, program.registers, program.shared_bytes)
    found = occupancy(gpu, *use)
    steps = next_steps(gpu, use)
    given = f"{threads} threads (assumed, --block says others)" if is_assumed else f"{threads} threads"
    held = f"{count(found.blocks, 'block')} of {given} per SM of {gpu.name} ({found.fraction:.0%} occupancy)"
    typer.echo(f"  {count(program.registers, 'register')} per thread: {held}{''.join(f'; {step}' for step in steps)}")
    return {"registers": program.registers, "gpu": gpu.name, "blocks": found.blocks, "next_steps": steps}
