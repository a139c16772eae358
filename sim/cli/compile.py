"""`simtlab compile KERNEL.cu --arch sm_90`: CUDA to a listing, without a GPU or a CUDA installation."""

from pathlib import Path
from typing import Annotated

import typer

from isa import compiler
from isa.errors import UserError
from sim.cli.commands import command
from sim.cli.output import check_writable, write_bytes, write_text

SOURCE = Annotated[Path, typer.Argument(metavar="KERNEL.cu", help="A CUDA source of device code.")]
ARCH = Annotated[str, typer.Option("--arch", metavar="sm_NN", help="The architecture to compile for.")]
OUTPUT = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Where the listing goes, or, named .cubin, the code; default: the terminal."),
]
OPTION = Annotated[
    list[str] | None,
    typer.Option(
        "--option", metavar="OPTION", help="For the compiler, as --option=-DN=4, or --option=-Xptxas --option=-dlcm=cg; may be repeated."
    ),
]


@command("compile")
def compile_source(source: SOURCE, arch: ARCH, output: OUTPUT = None, option: OPTION = None) -> None:
    """Compile CUDA to a listing that `run`, `lint` and the others read, by the packages of the extra `cuda`."""
    check_writable(output)
    if source.suffix in (".sass", ".cubin"):
        raise UserError("this is compiled already, not a CUDA source", path=str(source), hint=f"simtlab run {source}")
    text, path = compiler.read(source)
    made = compiler.compiled(text, arch, path, option or [])
    if output is None:
        typer.echo(made.listing)
    elif output.suffix == ".cubin":
        write_bytes(output, made.cubin)
    else:
        write_text(output, made.listing)
