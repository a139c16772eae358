"""`simtlab lab [LISTING]`: a page on this computer on which listing, launch and GPU are changed and the timeline follows."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

import isa.compiler
import sim
from isa.errors import UserError
from sim.cli.commands import command
from sim.cli.output import announce
from sim.launch.file import beside

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from sim.lab.exercises import Exercise
    from sim.lab.state import State

EXAMPLE = """# A chain of dependent multiply-adds: what does a warp wait for?
.kernel chain
        S2R R0, SR_TID.X
        I2F.F32.U32 R1, R0
.rept 8
        FFMA R1, R1, 2.0, R1
.endr
        EXIT
"""
EVERYBODY = ("", "0.0.0.0", "::")  # addresses to listen on that stand for all that this computer has
LISTING = Annotated[
    Path | None, typer.Argument(metavar="LISTING", help="What the page begins with; its launch file is the .toml beside it.")
]
GPU = Annotated[str, typer.Option("--gpu", metavar="NAME|FILE", help="A preset (see `simtlab gpus`) or a GPU file (.toml).")]
PORT = Annotated[int, typer.Option("--port", min=0, max=65535, metavar="N", help="Port; 0 = any that is free.")]
HOST = Annotated[
    str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on. Any other than this computer's lets others in.")
]
EXERCISES = Annotated[
    Path | None,
    typer.Option("--exercises", metavar="FOLDER", help="Your own exercises, a .toml each, in place of those that come with simtlab."),
]
CHECK = Annotated[bool, typer.Option("--check", help="Compare the answer of each exercise with the simulator, and end.")]
WORKERS = Annotated[int, typer.Option("--workers", min=1, max=64, metavar="N", help="Processes that simulate at the same time.")]
OPEN = Annotated[bool, typer.Option("--open", help="Open the page in the browser of this computer.")]
SECONDS = Annotated[float, typer.Option("--seconds", min=0.1, max=3600, metavar="S", help="What a request may take.")]


class Served(NamedTuple):
    """Where and how the page is served."""

    port: PORT = 8321
    host: HOST = "127.0.0.1"
    open: OPEN = False
    workers: WORKERS = 2
    seconds: SECONDS = 10.0


@command()
def lab(served: Served, listing: LISTING = None, gpu: GPU = "gtx480", exercises: EXERCISES = None, check: CHECK = False) -> None:
    """Start a page to learn and teach with: edit a listing, move latencies, step through registers, predict before you see."""
    from sim import warming
    from sim.lab import exercises as exercise_files
    from sim.lab.server import Setting, application, check_installed
    from sim.lab.workers import Limits

    check_installed()
    sim.gpu(gpu)  # a mistake in it is told here
    names = {name: name for name in sim.gpus()}
    chosen = gpu if gpu in names else Path(gpu).name
    names |= {chosen: gpu}
    found = exercise_files.load(exercises)
    if check:
        return _check(found, names)
    setting = Setting(_first(listing, chosen, names), names, found, limits=Limits(seconds=served.seconds, processes=served.workers))
    announce(warming.EVERY)  # no student waits for a kernel
    hosts = ("*",) if served.host in EVERYBODY else (*setting.hosts, _in_address(served.host).lower())
    _serve(application(setting._replace(hosts=hosts)), served)


def _first(listing: Path | None, gpu: str, names: dict[str, str]) -> "State":
    """Return what the page begins with. Raises UserError for a listing or a launch file that cannot be read, or is too long."""
    from sim.lab import state as states

    table: dict[str, Any] = {"listing": EXAMPLE, "machines": [{"gpu": gpu}]}
    if listing is not None:
        if listing.suffix == isa.compiler.SUFFIX:
            raise UserError("the lab takes listings, no CUDA", path=str(listing), hint=f"simtlab compile {listing} writes one")
        launch = beside(listing)
        table |= {"name": re.sub(r"[^A-Za-z0-9_.-]", "_", listing.stem)[:60], "listing": _text(listing, states.MOST_LISTING)}
        table |= {"launch": _text(launch, states.MOST_LAUNCH)} if launch.exists() else {}
    return states.read(table)


def _text(file: Path, most: int) -> str:
    """Return the text of a file. most: characters that a page takes. Raises UserError."""
    try:
        with file.open(encoding="utf-8-sig") as opened:
            text = opened.read(most + 1)
        if len(text) <= most:
            return text
        raise UserError(
            f"it has over {most:,} characters, the most that the lab takes", path=str(file), hint="keep the kernel you want alone"
        )
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UserError(f"cannot read it: {reason}", path=str(file), hint="the lab takes listings: mini-SASS, or disassembly") from None


def _check(found: "dict[str, Exercise]", names: dict[str, str]) -> None:
    """Print each exercise's answer beside the simulator's; exit with 1 when one differs."""
    from sim.lab.exercises import agrees

    wrong = 0
    for name, exercise in found.items():
        try:
            seen, slots = exercise.observed(names), exercise.drawn(names)
        except UserError as error:
            raise UserError(f"exercise {name}: {error}") from None
        wrong += not agrees(exercise.answer, seen)
        typer.echo(
            f"{'right' if agrees(exercise.answer, seen) else 'WRONG'}  {name}: {exercise.answer:g} {exercise.unit}, simulated {seen:g}"
        )
        if exercise.draw:
            wrong += exercise.draw.slots != slots
            typer.echo(f"{'right' if exercise.draw.slots == slots else 'WRONG'}  {name}: issue slots, simulated {slots}")
    if wrong:
        raise typer.Exit(1)


def _serve(application: "Starlette", served: Served) -> None:
    """Serve until interrupted, and say where. Raises UserError for an address or a port that cannot be had."""
    import socket
    import webbrowser
    from threading import Thread

    import uvicorn

    host, port = served.host, served.port
    try:
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, TypeError) as error:  # TypeError: what is no name of a host
        reason = error.strerror if isinstance(error, OSError) else "this is not an address"
        raise UserError(f"cannot listen on {host}, port {port}: {reason}", hint="choose another --port; 0 takes any that is free") from None

    # asyncio would, had it made the socket: else every second answer waits 40 ms for the browser to acknowledge the one before.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    class Server(uvicorn.Server):
        async def startup(self, sockets: "list[socket.socket] | None" = None) -> None:
            await super().startup(sockets)
            if self.started and served.open:
                Thread(target=webbrowser.open, args=(address,), daemon=True).start()  # a browser of a terminal does not return
            if self.started and self.should_exit:  # Ctrl-C came first; uvicorn would leave all as it is
                await self.shutdown(sockets)

        async def shutdown(self, sockets: "list[socket.socket] | None" = None) -> None:
            application.state.pool.close()  # else Ctrl-C waits for what is being simulated, or compiled
            await super().shutdown(sockets)

    address = f"http://{_in_address(host)}:{listening.getsockname()[1]}/"
    typer.echo(f"lab: {address} (end it with Ctrl-C)")
    Server(uvicorn.Config(application, log_level="warning", ws="none")).run(sockets=[listening])


def _in_address(host: str) -> str:
    """Return a host as it stands in an address."""
    return f"[{host}]" if ":" in host else host
