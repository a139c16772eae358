"""What every command does around its work: announce compilation, show a spinner on a terminal, write files."""

import json
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from isa.errors import UserError

if TYPE_CHECKING:
    from sim.gpus.model import Gpu
    from sim.launch.launch import Launch
    from sim.warming import Report

COMPILE_MINUTES = "half a minute to two minutes"  # the two that every run needs, at once: two quiet cores, and two that others use as well
SAY_SECONDS = 15.0  # between two lines about it, where no bar can be drawn


@contextmanager
def working(what: str, launch: "Launch | None" = None, gpu: "Gpu | None" = None) -> Iterator[None]:
    """Show that `what` is going on: a spinner on a terminal, nothing in a pipe; say so, once, when kernels must be compiled first.

    launch, gpu: what runs, where that is known; else kernels that only some programs need are compiled when one does.
    """
    from sim import warming

    announce(warming.needed(launch, gpu) if launch else None)
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def announce(names: "Sequence[str] | None" = None) -> None:
    """Say so, once, when kernels must be compiled first, and compile them: with a bar for each on a terminal.

    names: of `sim.warming.EVERY`; None: those that every run needs.
    """
    from sim import warming

    names = tuple(warming.KERNELS) if names is None else names
    absent = warming.missing(names)
    if not absent:
        return
    long = COMPILE_MINUTES if set(absent) & set(warming.KERNELS) else "some seconds each"
    typer.echo(f"compiling the simulator's kernels, once ({long}): {', '.join(absent)}...", err=True)
    if not sys.stderr.isatty():
        with _lines() as tell:
            warming.compile_kernels(tell, names)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("functions"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks = {name: bars.add_task(f"compiling the {name}", total=None) for name in absent}

        def show(name: str, done: int, total: int) -> None:
            if name in tasks:
                bars.update(tasks[name], completed=done, total=total)

        warming.compile_kernels(show, names)


@contextmanager
def _lines() -> Iterator["Report"]:
    """Give what notes how far compilation is; meanwhile a thread says it, again and again, however long a single function takes."""
    noted: dict[str, str] = {}
    ended, began = threading.Event(), time.monotonic()

    def tell() -> None:
        while not ended.wait(SAY_SECONDS):
            far = ", ".join(noted.values()) or "begun"
            typer.echo(f"compiling the simulator's kernels: {far}; {time.monotonic() - began:.0f} s so far", err=True)

    def note(name: str, done: int, total: int) -> None:
        noted[name] = f"{name} {done} of {total} functions"

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield note
    finally:
        ended.set()
        thread.join()


def check_writable(*paths: Path | None, figure: Path | None = None) -> None:
    """Raise UserError, before any work is done, for a file that cannot be written: its folder is missing, it is a folder,
    or its suffix is not that of a figure.
    """
    for path in (*paths, figure):
        if str(path) == "-":
            raise UserError("-: the report goes to standard output already", hint="name a file")
        if path is not None and path.is_dir():
            raise UserError("cannot write: it is a folder", path=str(path))
        if path is not None and not path.parent.is_dir():
            raise UserError(f"cannot write: there is no folder {path.parent}", path=str(path))
    if figure is not None:
        from sim.report.figures import check_path

        check_path(figure)


def write_json(path: Path | None, data: Any) -> None:
    """Write `data` to `path`, if one was asked for."""
    if path is not None:
        write_text(path, json.dumps(data, indent=1) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` as `write_bytes` does."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` to `path`, whole or not at all: an interrupt leaves what was there. Raises UserError when that cannot be done."""
    part = path.with_name(path.name + ".part") if path.is_file() or not path.exists() else path  # a pipe is written as it is
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        raise UserError(f"cannot write: {error.strerror}", path=str(path)) from None


def show(renderable: Any) -> None:
    """Print a rich table; a pipe gets it as wide as it needs."""
    from rich.console import Console

    terminal = sys.stdout.isatty()
    Console(width=None if terminal else 160, highlight=False).print(renderable)
