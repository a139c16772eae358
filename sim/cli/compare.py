"""`simtlab compare A [B]`: two runs side by side: other machines, other launches, other listings, and why one is faster."""

import dataclasses
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

import sim
from isa.errors import UserError
from sim.analysis.difference import as_dict, difference
from sim.cli.commands import command
from sim.cli.inputs import prepare
from sim.cli.options import JSON, REPEAT, Given, once
from sim.cli.output import check_writable, show, working, write_json
from sim.report import difference as views
from sim.result.result import Result
from sim.traces.trace import Trace

A = Annotated[Path, typer.Argument(metavar="A", help="The first listing; its launch file is the .toml beside it.")]
B = Annotated[Path | None, typer.Argument(metavar="B", help="The second; left out: A again, with what the options that end in -b change.")]
GPU_B = Annotated[str | None, typer.Option("--gpu-b", metavar="NAME|FILE", help="The GPU of B; left out: that of A.")]
SET_B = Annotated[
    list[str] | None, typer.Option("--set-b", callback=once, metavar="FIELD=VALUE", help="Change the GPU of B only; may be repeated.")
]
POLICY_B = Annotated[str | None, typer.Option("--policy-b", metavar="NAME", help="Policy of B; left out: that of A.")]
BLOCK_POLICY_B = Annotated[
    str | None, typer.Option("--block-policy-b", metavar="NAME", help="Which SM takes a block, of B; left out: that of A.")
]
LAUNCH_B = Annotated[Path | None, typer.Option("--launch-b", metavar="FILE", help="The launch file of B.")]
KERNEL_B = Annotated[str | None, typer.Option("--kernel-b", metavar="NAME", help="Which kernel of B.")]
GRID_B = Annotated[str | None, typer.Option("--grid-b", metavar="X[xYxZ]", help="Blocks in the grid of B.")]
BLOCK_B = Annotated[str | None, typer.Option("--block-b", metavar="X[xYxZ]", help="Threads in a block of B.")]
WARPS_B = Annotated[int | None, typer.Option("--warps-b", min=1, metavar="N", help="Shortcut: N warps on one SM for B.")]
ARG_B = Annotated[
    list[str] | None, typer.Option("--arg-b", callback=once, metavar="NAME=VALUE", help="A scalar argument of B only; may be repeated.")
]
REGISTERS_B = Annotated[int | None, typer.Option("--registers-b", min=1, metavar="N", help="32-bit registers per thread of B.")]
DLCM_B = Annotated[
    str | None,
    typer.Option("--dlcm-b", metavar="ca|cg|cs|cv", help="What loads that name no cache ask for, of B; left out: that of A."),
]
SHARED_B = Annotated[int | None, typer.Option("--shared-b", min=0, metavar="BYTES", help="Static shared memory per block of B.")]


class GivenB(NamedTuple):
    """What the options say of B alone."""

    gpu_b: GPU_B = None
    launch_b: LAUNCH_B = None
    kernel_b: KERNEL_B = None
    grid_b: GRID_B = None
    block_b: BLOCK_B = None
    warps_b: WARPS_B = None
    arg_b: ARG_B = None
    registers_b: REGISTERS_B = None
    shared_b: SHARED_B = None
    set_b: SET_B = None
    policy_b: POLICY_B = None
    block_policy_b: BLOCK_POLICY_B = None
    dlcm_b: DLCM_B = None


@command()
def compare(
    first: A,
    given: Given,
    other: GivenB,
    second: B = None,
    repeat: REPEAT = 1,
    json: JSON = None,
) -> None:
    """Run twice and say why one is faster: the difference by cause, by instruction and by counter. B differs by what ends in -b."""
    check_writable(json)
    if second is None and all(option is None for option in other):
        raise UserError("both runs are the same", hint="name a second listing, or give --gpu-b, --set-b, --block-b or another option in -b")
    with working(f"running {first.name} and {(second or first).name}"):
        runs = (first, given), (second or first, _of_b(given, other, second is not None))
        own = _run(*runs[0]), _run(*runs[1])
        kinds = {run.words.kind for run in own}
        again = "scheduled" in kinds and "compiler" in kinds
        a, b = (_again(*run) if again and one.words.kind != "none" else one for run, one in zip(runs, own, strict=True))
        spread = speed_ups(a, b, repeat)
    found = difference(a, b)
    typer.echo(views.summary(a, b, found, own, spread) + "\n")
    for table in views.tables(found):
        show(table)
    by_own: dict[str, Any] = {"first_by_its_own_words": own[0].cycles, "second_by_its_own_words": own[1].cycles}
    by_own["speed_ups"] = spread
    write_json(json, {"first": a.as_dict(), "second": b.as_dict(), "difference": as_dict(found)} | by_own)


def _of_b(given: Given, other: GivenB, another: bool) -> Given:
    """Return what the options say of B: its own, else those of A; lists add up; --warps in place of --grid and --block, or they of it.

    another: B is another listing, so A's launch file and kernel are not its own.
    """
    mine = {name.removesuffix("_b"): value for name, value in other._asdict().items() if value is not None}
    named = {"launch": "launch_file", "set": "set_"}
    mine = {named.get(name, name): value for name, value in mine.items()}
    for name in ("arg", "set_"):
        if name in mine:
            mine[name] = [*(getattr(given, name) or []), *mine[name]]
    if another:
        given = given._replace(launch_file=None, kernel=None)
    if "warps" in mine:
        given = given._replace(grid=None, block=None)
    if "grid" in mine or "block" in mine:
        given = given._replace(warps=None)
    return given._replace(**mine)


def _run(listing: Path, given: Given) -> Result:
    what, gpu, _ = prepare(listing, given)
    return sim.run(what, gpu)


def _again(listing: Path, given: Given) -> Result:
    """Return the run with control words scheduled here, so that those of a compiler are not compared with ours."""
    what, gpu, _ = prepare(listing, given)
    return sim.run(dataclasses.replace(what, control_words="schedule"), gpu)


def speed_ups(a: Result, b: Result, repeat: int) -> list[float]:
    """Return how many times as fast B is as A, member by member of an ensemble; nothing of a single run."""
    from sim.traces.ensemble import member

    found = []
    for number in range(repeat if repeat > 1 else 0):
        one, two = (sim.simulate(member(_of(run), number), run.gpu) for run in (a, b))
        found.append(one.seconds / two.seconds)
    return found


def _of(run: Result) -> Trace:
    assert run.trace is not None, "a run of this process has its trace"
    return run.trace
