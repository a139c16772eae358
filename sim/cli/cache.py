"""`simtlab cache`: where compiled kernels are kept; compile them now, or delete them."""

import shutil
from typing import Annotated

import typer

from isa.errors import UserError
from sim.cli.commands import command
from sim.cli.output import announce
from sim.report.words import count

WARM = Annotated[bool, typer.Option("--warm", help="Compile now what any run needs.")]
CLEAR = Annotated[bool, typer.Option("--clear", help="Delete all compiled kernels, those of other versions too.")]


@command()
def cache(warm: WARM = False, clear: CLEAR = False) -> None:
    """Show where compiled kernels are kept, and which; compile them now, or delete them.

    They are in the folder that SIMTLAB_CACHE names, or in the user's cache. An image or a lab's shared folder may carry it, read-only.
    """
    from sim import warming
    from sim.compiled.cache import POLICY, folder, kept

    if clear:
        for one in kept():
            try:
                shutil.rmtree(one)
            except OSError as error:
                raise UserError(f"cannot delete: {error.strerror}", path=str(one)) from None
    if warm:
        announce(warming.EVERY)
    typer.echo(str(folder()))
    used = warming.folders()
    for one in kept():
        size = sum(file.stat().st_size for file in one.iterdir())
        otherwise = "a policy with state, or of your own" if one.name.startswith(POLICY) else "of other sources or another version"
        typer.echo(f"  {one.name:<52} {size / 2**20:6.1f} MiB  {used.get(one, otherwise)}")
    absent = warming.missing(warming.EVERY)
    if absent:
        typer.echo(f"not compiled yet: {', '.join(absent)}; the first run that needs them does it, or simtlab cache --warm")
    else:
        typer.echo(f"{count(len(warming.EVERY), 'kernel')} of this version: nothing to compile")
