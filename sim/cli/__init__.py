"""The command line `simtlab`: parse, call, print. Exit status 0; 1 = the check asked for failed; 2 = bad input; 130 = interrupted.

One file per command, which registers itself on `app` when imported here: the one that the command line names, or all where help lists them.
"""

import signal
import sys
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import typer

    app: typer.Typer

__all__ = ["app", "main"]

COMMANDS = (  # in the order in which help lists them
    "bench",
    "cache",
    "capture",
    "coalesce",
    "compare",
    "compile",
    "explain",
    "gpus",
    "interval",
    "lab",
    "lint",
    "measure",
    "new",
    "occupancy",
    "opcodes",
    "replay",
    "reproduce",
    "run",
    "schedule",
    "sensitivity",
    "sweep",
    "timeline",
    "tour",
    "validate",
    "view",
)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a bar shows `?`
    named = [name for name in sys.argv[1:2] if name in COMMANDS]
    try:
        run = _with_commands(*named or COMMANDS)
    except KeyboardInterrupt:  # later ones are caught by the application
        sys.exit(130)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # which is what whoever started this in the background wants
        signal.signal(signal.SIGINT, _interrupted)
    run(prog_name="simtlab")


def _interrupted(number: int, frame: FrameType | None) -> None:
    """Interrupt the command, once: a second interrupt would end its clean-up in the middle, and leave workers behind."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def __getattr__(name: str) -> Any:
    """Return `app` with all commands, which takes a while: each loads what it needs."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _with_commands(*COMMANDS)


def _with_commands(*names: str) -> Any:
    for name in names:
        import_module(f"{__name__}.{name}")
    return import_module(f"{__name__}.commands").app
