"""`simtlab compare A [B]`: two runs side by side: other machines, other launches, other listings, and why one is faster."""

from pathlib import Path
from typing import Annotated

import typer

import sim
from isa.errors import UserError
from sim.analysis.difference import as_dict, difference
from sim.cli import app
from sim.cli.inputs import Changes, launch, machine, one_sm
from sim.cli.options import ARG, BLOCK, GPU, GRID, JSON, KERNEL, LAUNCH, POLICY, REGISTERS, SET, SHARED, WARPS
from sim.cli.output import check_writable, show, working, write_json
from sim.report import difference as views
from sim.result import Result

A = Annotated[Path, typer.Argument(metavar="A", help="The first listing; its launch file is the .toml beside it.")]
B = Annotated[
    Path | None, typer.Argument(metavar="[B]", help="The second; left out: A again, with what the options that end in -b change.")
]
GPU_B = Annotated[str | None, typer.Option("--gpu-b", metavar="NAME|FILE", help="The GPU of B; left out: that of A.")]
SET_B = Annotated[list[str] | None, typer.Option("--set-b", metavar="FIELD=VALUE", help="Change the GPU of B only; may be repeated.")]
POLICY_B = Annotated[str | None, typer.Option("--policy-b", metavar="NAME", help="Policy of B; left out: that of A.")]
LAUNCH_B = Annotated[Path | None, typer.Option("--launch-b", metavar="FILE", help="The launch file of B.")]
KERNEL_B = Annotated[str | None, typer.Option("--kernel-b", metavar="NAME", help="Which kernel of B.")]
GRID_B = Annotated[str | None, typer.Option("--grid-b", metavar="X[xYxZ]", help="Blocks in the grid of B.")]
BLOCK_B = Annotated[str | None, typer.Option("--block-b", metavar="X[xYxZ]", help="Threads in a block of B.")]
WARPS_B = Annotated[int | None, typer.Option("--warps-b", min=1, metavar="N", help="Shortcut: N warps on one SM for B.")]
ARG_B = Annotated[list[str] | None, typer.Option("--arg-b", metavar="NAME=VALUE", help="A scalar argument of B only; may be repeated.")]
REGISTERS_B = Annotated[int | None, typer.Option("--registers-b", min=1, metavar="N", help="32-bit registers per thread of B.")]
SHARED_B = Annotated[int | None, typer.Option("--shared-b", min=0, metavar="BYTES", help="Static shared memory per block of B.")]


@app.command()
def compare(
    first: A,
    second: B = None,
    gpu: GPU = "gtx480",
    gpu_b: GPU_B = None,
    set_: SET = None,
    set_b: SET_B = None,
    policy: POLICY = None,
    policy_b: POLICY_B = None,
    launch_file: LAUNCH = None,
    launch_b: LAUNCH_B = None,
    kernel: KERNEL = None,
    kernel_b: KERNEL_B = None,
    grid: GRID = None,
    grid_b: GRID_B = None,
    block: BLOCK = None,
    block_b: BLOCK_B = None,
    warps: WARPS = None,
    warps_b: WARPS_B = None,
    arg: ARG = None,
    arg_b: ARG_B = None,
    registers: REGISTERS = None,
    registers_b: REGISTERS_B = None,
    shared: SHARED = None,
    shared_b: SHARED_B = None,
    json: JSON = None,
) -> None:
    """Run twice and say why one is faster: the difference by cause, by instruction and by counter. B differs by what ends in -b."""
    check_writable(json)
    given = Changes(grid, block, warps, arg, registers, shared)
    other = Changes(grid_b, block_b, warps_b, [*(arg or []), *(arg_b or [])] or None, registers_b, shared_b)
    said = (second, gpu_b, set_b, policy_b, launch_b, kernel_b, *other._replace(args=arg_b))
    if all(option is None for option in said):
        raise UserError("both runs are the same", hint="name a second listing, or give --gpu-b, --set-b, --block-b or another option in -b")
    with working(f"running {first.name} and {(second or first).name}"):
        a = _run(first, launch_file, kernel, given, gpu, set_, policy)
        mixed = _inherited(given, other)
        file = launch_b if second or launch_b else launch_file
        b = _run(
            second or first,
            file,
            kernel_b or (None if second else kernel),
            mixed,
            gpu_b or gpu,
            [*(set_ or []), *(set_b or [])],
            policy_b or policy,
        )
    found = difference(a, b)
    typer.echo(views.summary(a, b, found) + "\n")
    for table in views.tables(found):
        show(table)
    write_json(json, {"first": a.as_dict(), "second": b.as_dict(), "difference": as_dict(found)})


def _inherited(given: Changes, other: Changes) -> Changes:
    """Return what the options say of B: its own, else those of A; --warps in place of --grid and --block, and the other way round."""
    mine = {name: value for name, value in other._asdict().items() if value is not None}
    if "warps" in mine:
        given = given._replace(grid=None, block=None)
    if "grid" in mine or "block" in mine:
        given = given._replace(warps=None)
    return given._replace(**mine)


def _run(
    listing: Path, launch_file: Path | None, kernel: str | None, changes: Changes, gpu: str, fields: list[str] | None, policy: str | None
) -> Result:
    found_gpu = machine(gpu, fields, policy)
    what, _ = launch(listing, launch_file, kernel, changes, found_gpu)
    return sim.run(what, one_sm(found_gpu, changes, what))
