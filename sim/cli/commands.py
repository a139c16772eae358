"""The Typer application on which each command registers itself, and how every mistake of the user ends: one message, status 2."""

import errno
import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from isa.errors import UserError
from sim.cli.groups import grouped
from sim.compiled.cores import from_environment

SHOWN = 40  # letters of a name
# The base of every complaint about options: typer has carried its own copy of click since 0.26, so it has no public name that fits both.
OPTION_ERROR: Any = typer.BadParameter.__mro__[2]


class Commands(TyperGroup):
    """All commands; turns every mistake of the user into one message on stderr and status 2, never a traceback."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, as help lists them: groups of commands stand among the others."""
        return sorted(super().list_commands(ctx))

    def main(self, args: Sequence[str] | None = None, *, standalone_mode: bool = True, **extra: Any) -> Any:  # type: ignore[override]
        """Run the command that `args` name, and exit with its status."""
        try:
            status = super().main(args, standalone_mode=False, **extra)
        except UserError as error:
            status = _complain(str(error))
        except OPTION_ERROR as error:
            status = _complain(_option_message(error))
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:  # anything else is told where it happens
                raise
            status = _complain(f"this name is too long for a file: {str(error.filename)[:SHOWN]}...")
        except (KeyboardInterrupt, typer.Abort):
            status = INTERRUPTED
        if status == INTERRUPTED:
            typer.echo("interrupted", err=True)
        if not standalone_mode:
            return status
        sys.exit(status or 0)


INTERRUPTED = 130

FIRST_STEPS = "Where to begin: simtlab tour (five minutes), simtlab new NAME (a listing of your own), simtlab run LISTING --gpu NAME."
app = typer.Typer(cls=Commands, epilog=FIRST_STEPS, add_completion=False, pretty_exceptions_enable=False)


def command(name: str | None = None) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function as a command of its name, or of another; its NamedTuples stand for the options that they hold."""
    return lambda function: app.command(name, help=_flowing(function.__doc__ or ""))(grouped(function))


def _flowing(text: str) -> str:
    """Return a docstring with each paragraph on one line, which help breaks where the terminal ends."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in inspect.cleandoc(text).split("\n\n"))


def _complain(message: str) -> int:
    typer.echo(f"error: {message}", err=True)
    return 2


def _option_message(error: Any) -> str:
    """Return click's message and where to read more."""
    context = getattr(error, "ctx", None)
    return error.format_message() + (f"\n  see: {context.command_path} --help" if context else "")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"simtlab {version('simtlab')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """Simulate, cycle by cycle, how a GPU schedules warps: how long a listing takes, and why each warp waited."""
    from_environment()  # a mistake in it is told before any work is done
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
