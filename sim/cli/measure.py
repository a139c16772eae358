"""`simtlab measure PLAN`: launch a plan's kernels on this machine's GPU and write down what was measured."""

from pathlib import Path
from typing import Annotated

import typer

from sim.cli.commands import command
from sim.cli.options import JSON
from sim.cli.output import check_writable, working, write_json

PLAN = Annotated[
    Path, typer.Argument(metavar="PLAN", help="Which kernels with which sizes: a TOML file; programs/measurements/gpu/plans has four.")
]
OUT = Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where PLAN.csv, PLAN.clocks.csv and new listings go.")]
ARCH = Annotated[str, typer.Option("--arch", metavar="SM", help="The GPU's architecture, such as sm_90.")]
REPEAT = Annotated[int, typer.Option("--repeat", metavar="N", min=1, max=1000, help="Launches of which the median is taken.")]


@command()
def measure(plan: PLAN, arch: ARCH, out: OUT = Path("measured"), repeat: REPEAT = 7, json: JSON = None) -> None:
    """Compile a plan's kernels, launch them under Nsight Compute and alone, and write cycles, counters and clocks as tables.

    Needs an NVIDIA GPU, the CUDA toolkit and Nsight Compute on the PATH, and CuPy (pip install 'simtlab\\[measure]').
    """
    from programs.measurements.gpu.measure import measure as run

    check_writable(json)
    with working(f"measuring {plan.name}"):
        table = run(plan, out, arch, repeat)
    typer.echo(f"{table}: {len(table.read_text(encoding='utf-8').splitlines()) - 1} launches")
    write_json(json, {"table": str(table)})
