"""`simtlab capture -- PROGRAM`: on a machine with a GPU, keep chosen launches of any program, each with its memory, as a file."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from isa.errors import UserError
from sim import captures
from sim.captures import running
from sim.captures.table import MOST_BYTES
from sim.cli.commands import command
from sim.cli.options import JSON
from sim.cli.output import check_writable, write_json

if TYPE_CHECKING:
    from programs.measurements.gpu.counters import Sizes

PERCENT = ("l1_hit_rate", "l2_hit_rate", "achieved_occupancy")  # as Nsight Compute gives them; shares here
PROFILER = "ncu"
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}

PROGRAM = Annotated[list[str], typer.Argument(metavar="-- PROGRAM ARGUMENTS", help="The program, as you would start it.")]
KERNEL = Annotated[str, typer.Option("--kernel", metavar="REGEX", help="Kernels in whose (mangled) name this is found; default: all.")]
SKIP = Annotated[int, typer.Option("--skip", min=0, metavar="N", help="Pass over the first N of them.")]
COUNT = Annotated[int, typer.Option("--count", min=1, metavar="N", help="Then capture N.")]
BYTES = Annotated[str, typer.Option("--max-bytes", metavar="N[K|M|G]", help="Do not capture a launch that reaches more memory.")]
COUNTERS = Annotated[bool, typer.Option("--counters", help="Run the program again under Nsight Compute, and keep what it counted.")]
REPEAT = Annotated[bool, typer.Option("--repeat", help="Launch twice from the same memory, and keep whether the GPU repeats its result.")]
OUT = Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the files go.")]


class Choice(NamedTuple):
    """Which launches."""

    kernel: KERNEL = ""
    skip: SKIP = 0
    number: COUNT = 1
    max_bytes: BYTES = "1G"
    repeat: REPEAT = False


@command()
def capture(program: PROGRAM, choice: Choice, counted: COUNTERS = False, output: OUT = Path(), json: JSON = None) -> None:
    """Capture launches of a program: code, arguments and memory, before and after. `simtlab replay` runs them anywhere."""
    check_writable(json)
    wanted = _wanted(choice)
    if counted and shutil.which(PROFILER) is None:
        raise UserError(f"there is no {PROFILER} here", hint="--counters needs Nsight Compute on the PATH")
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="simtlab-", dir=output) as folder:
        ran = running.run(program, wanted, Path(folder).resolve())
        if not ran.folders:
            raise running.why_none(ran, wanted)
        found = running.captures(ran, program)
    without = None
    try:
        found = with_counters(found, program, wanted) if counted else found
    except UserError as error:  # launches are kept all the same
        without = error
    rows = [_write(one, path) for one, path in zip(found, running.paths(found, output), strict=True)]
    for line in running.passed_over(ran):
        typer.echo(line, err=True)
    if ran.status:
        typer.echo(f"the program ended with status {ran.status}; what it launched before is kept", err=True)
    write_json(json, {"program": program, "status": ran.status, "captures": rows})
    if without is not None:
        raise without


def _wanted(choice: Choice) -> running.Wanted:
    try:
        re.compile(choice.kernel)
    except re.error as error:
        raise UserError(f"--kernel {choice.kernel}: no regular expression: {error}") from None
    size = re.fullmatch(r"(\d+)([kmg]?)", choice.max_bytes.lower())
    if size is None:
        raise UserError(f"--max-bytes {choice.max_bytes}: no size", hint="write --max-bytes 64M")
    most = int(size[1]) * UNITS[size[2]]
    if most > MOST_BYTES:
        raise UserError(f"--max-bytes {choice.max_bytes}: a capture holds at most 2G")
    return running.Wanted(choice.kernel, choice.skip, choice.number, most, choice.repeat)


def _write(capture: captures.Capture, path: Path) -> dict[str, Any]:
    """Write a capture; print and return what it is."""
    table = capture.table
    written = captures.write(capture, path)
    held = sum(one.size for one in table.allocations)
    failed = f"; the GPU ended it with error {table.error}" if table.error else ""
    counted = "; with counters" if table.counters else ""
    typer.echo(f"{path}: {table.kernel}, launch {table.origin.launch}, {held:,} bytes of memory in {written:,}{counted}{failed}")
    return {"file": str(path), "kernel": table.kernel, "memory": held, "bytes": written, "error": table.error}


def with_counters(found: list[captures.Capture], program: list[str], wanted: running.Wanted) -> list[captures.Capture]:
    """Return the captures with what Nsight Compute counts of the same launches in another run. Raises UserError without it."""
    from programs.measurements.gpu import counters

    choose = ["--kernel-name-base", "mangled", "--launch-skip", str(wanted.skip), "--launch-count", str(wanted.count)]
    choose += ["--kernel-name", f"regex:{wanted.kernel}"] if wanted.kernel else []
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "counters.csv"
        metrics = ",".join(counters.METRICS.values())
        try:
            done = subprocess.run(
                [PROFILER, *counters.PROFILER, *choose, "--metrics", metrics, "--log-file", str(log), *program], check=False
            )
        except OSError as error:
            raise UserError(f"cannot start ncu: {error.strerror}", hint="--counters needs Nsight Compute (ncu) on the PATH") from None
        text = log.read_text("utf-8", errors="replace") if log.exists() else ""
    rows = list(zip(counters.sizes(text), counters.read(text, counters.METRICS), strict=True))
    if not rows:
        hint = f"may this user read counters? {text.strip()[-500:]}"
        raise UserError(f"Nsight Compute counted nothing; it ended with status {done.returncode}", hint=hint)
    return matched(found, rows)


def matched(found: list[captures.Capture], rows: "list[tuple[Sizes, dict[str, float]]]") -> list[captures.Capture]:
    """Return the captures with the counters of their launches: the next ones counted of the same grid and block."""
    made, left = [], iter(rows)
    for one in found:
        row = next((row for sizes, row in left if sizes in ((one.table.grid, one.table.block), None)), None)
        if row is None:
            typer.echo(f"launch {one.table.origin.launch} was not seen again by Nsight Compute: it has no counters", err=True)
        made.append(one if row is None else one.with_counters(shares(row)))
    return made


def shares(row: dict[str, float]) -> dict[str, float]:
    """Return counters in our units."""
    return {name: value / 100 if name in PERCENT else value for name, value in row.items()}
