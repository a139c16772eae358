"""`simtlab explain LISTING`: the chain of causes behind a wait, or the critical path of the run."""

from typing import Annotated

import typer

import sim
from isa.errors import UserError
from sim.cli.commands import command
from sim.cli.inputs import prepare
from sim.cli.options import JSON, LISTING, Given
from sim.cli.output import check_writable, working, write_json
from sim.report.heading import unread

WARP = Annotated[
    str | None, typer.Option("--warp", metavar="N|BLOCK:N", help="A warp: its number in launch order, or its block and its number in it.")
]
CYCLE = Annotated[int | None, typer.Option("--cycle", min=0, metavar="CYCLE", help="A cycle; left out: in the warp's longest wait.")]


@command()
def explain(
    listing: LISTING,
    given: Given,
    warp: WARP = None,
    cycle: CYCLE = None,
    json: JSON = None,
) -> None:
    """Say why a warp waited: what it waited for, what that waited for, back to hardware that was busy.

    With --warp, the chain behind its wait in a cycle. Without, the critical path of the whole run: its share by cause, by instruction
    and by hardware, and the longest wait on it. Chains come from the SimPy engine, so the run must be small: a few blocks.
    """
    if warp is None and cycle is not None:
        raise UserError("--cycle needs a warp", hint="add --warp 0")
    check_writable(json)
    what, gpu, _ = prepare(listing, given)
    with working(f"running {what.name}", what, gpu):
        result = sim.run(what, gpu)
    with working("looking for causes"):
        path = result.critical_path() if warp is None else None
        chosen = _number(warp) if warp is not None else None
        chain = result.why(chosen, cycle) if chosen is not None and cycle is not None else result.longest_wait(chosen)
    for change in unread(gpu):
        typer.echo(f"changed: {change}\n")
    if path:
        from sim.report import causes  # not above: it needs the SimPy engine

        typer.echo(f"{causes.text(path, result.program)}\n\n{causes.longest(chain)}")
    else:
        typer.echo(str(chain))
    write_json(json, {"chain": chain.as_dict()} | ({"critical_path": path.as_dict()} if path else {}))


def _number(text: str) -> int | tuple[int, int]:
    """Return `3` as 3, `1:3` as (1, 3)."""
    parts = text.split(":")
    if len(parts) > 2 or not all(part.isdecimal() for part in parts):
        raise UserError(f"--warp {text}: not a warp", hint="write --warp 3, or --warp 1:3 for warp 3 of block 1")
    return int(text) if len(parts) == 1 else (int(parts[0]), int(parts[1]))
