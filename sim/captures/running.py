"""Run a program with the library preloaded that records its launches; build that library first, once, by the system's C compiler."""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from isa import cubin
from isa.errors import UserError
from sim.captures import records
from sim.captures.file import SUFFIX, Capture
from sim.compiled.folder import folder as cache_folder

SOURCES = Path(__file__).parent / "preload"
COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-O2", "-shared", "-fPIC", "-std=gnu11", "-lpthread", "-ldl")
TOOL = "cuobjdump"
TOOLKITS = ("/usr/local/cuda/bin",)
DRIVER = "libcuda.so.1"
MOST_NAMED = 12
NAME = 60  # characters of a kernel's name in a file's
GRAPHS = "kernels of CUDA graphs are not captured, and this program launches graphs"


@dataclass(frozen=True)
class Wanted:
    """Which launches are recorded. kernel: POSIX extended regular expression, searched for in the (mangled) name."""

    kernel: str = ""
    skip: int = 0
    count: int = 1
    most_bytes: int = 1 << 30
    repeat: bool = False


@dataclass
class Ran:
    """What became of a program: its exit status, its records in the order of their launches, and what the library said."""

    status: int
    folders: list[Path] = field(default_factory=list)
    log: list[str] = field(default_factory=list)

    def said(self, word: str) -> list[str]:
        """Return what stands behind a word at the start of a line."""
        return [line.removeprefix(word).strip() for line in self.log if line == word or line.startswith(word + " ")]


def library(driver: Path | None = None) -> Path:
    """Return the library, built when this source has not been. Raises UserError without a C compiler.

    driver: the real one, for a library that stands in for it under its name; else the library is for preloading.
    """
    files = sorted(SOURCES.glob("*.[ch]"))
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files) + f"{' '.join(FLAGS)} {driver}".encode()).hexdigest()[:16]
    built = cache_folder() / f"capture-{digest}.so"
    if built.exists():
        return built
    compiler = next((found for name in (os.environ.get("CC", ""), *COMPILERS) if name and (found := shutil.which(name))), None)
    if compiler is None:
        raise UserError("capturing needs a C compiler, and none is installed", hint="apt install gcc; or name one: CC=/path/to/cc")
    built.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=built.parent) as folder:
        made, sources = Path(folder) / built.name, [str(file) for file in files if file.suffix == ".c"]
        beside = [] if driver is None else _standing_in(compiler, driver, Path(folder))
        _build([compiler, "-o", str(made), *sources, *FLAGS, *beside])
        made.replace(built)
    return built


def _standing_in(compiler: str, driver: Path, folder: Path) -> list[str]:
    """Return options for a library of the driver's name that needs the real one: what it does not define is then found there.

    The linker writes down what a library calls itself; an empty one that calls itself by the driver's path makes that a path.
    """
    empty, stub = folder / "empty.c", folder / "stub.so"
    empty.write_text("")
    _build([compiler, "-shared", "-o", str(stub), str(empty), f"-Wl,-soname,{driver}"])
    return [f"-Wl,-soname,{DRIVER}", f'-DDRIVER_PATH="{driver}"', "-Wl,--no-as-needed", str(stub)]


def _build(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(f"{command[0]} cannot build the library for capturing: {done.stderr.strip()[:2000]}")


def disassembler() -> str:
    """Return the path of cuobjdump, which takes machine code out of fat binaries; "" when there is none."""
    beside = Path(cubin.disassembler() or "").with_name(TOOL) if cubin.disassembler() else None
    places = [shutil.which(TOOL), *([str(beside)] if beside else []), *(f"{folder}/{TOOL}" for folder in TOOLKITS)]
    return next((place for place in places if place and Path(place).exists()), "")


def settings(wanted: Wanted, folder: Path) -> dict[str, str]:
    """Return what the library reads of the environment."""
    found = {
        **{"FOLDER": str(folder), "KERNEL": wanted.kernel, "SKIP": str(wanted.skip), "COUNT": str(wanted.count)},
        **{"MOST_BYTES": str(wanted.most_bytes), "REPEAT": "1" if wanted.repeat else "0", "CUOBJDUMP": disassembler()},
    }
    return {f"SIMTLAB_CAPTURE_{name}": value for name, value in found.items()}


def run(command: Sequence[str], wanted: Wanted, folder: Path) -> Ran:
    """Run a program; its launches are recorded into `folder`. Raises UserError when it cannot be started."""
    before = os.environ.get("LD_PRELOAD")
    environment = os.environ | settings(wanted, folder)
    environment["LD_PRELOAD"] = str(library()) + (f":{before}" if before else "")
    try:
        done = subprocess.run(list(command), env=environment, check=False)
    except OSError as error:
        raise UserError(f"cannot start {command[0]}: {error.strerror}", hint="simtlab capture OPTIONS -- PROGRAM ARGUMENTS") from None
    return recorded(folder, done.returncode)


def recorded(folder: Path, status: int = 0) -> Ran:
    """Return what the library has left in a folder."""
    log = folder / "log"
    lines = log.read_text("utf-8", errors="replace").splitlines() if log.exists() else []
    folders = [one.parent for one in folder.glob("*/launch.txt")]
    return Ran(status, sorted(folders, key=lambda one: [int(part) for part in one.name.split("-")]), lines)


def paths(found: Sequence[Capture], output: Path, keep: bool = False) -> list[Path]:
    """Return a file for each capture: its kernel and launch; processes of one program count launches each from 0, so then a number more.

    keep: also where that file is there already.
    """
    taken: list[Path] = []
    for one in found:
        name = f"{re.sub(r'[^A-Za-z0-9_]', '_', one.table.kernel)[:NAME]}-{one.table.origin.launch}"
        path, number = output / f"{name}{SUFFIX}", 1
        while path in taken or (keep and path.exists()):
            number += 1
            path = output / f"{name}-{number}{SUFFIX}"
        taken.append(path)
    return taken


def captures(ran: Ran, command: Sequence[str]) -> list[Capture]:
    """Return the captures of a program's records."""
    return [records.read(folder, command) for folder in ran.folders]


def why_none(ran: Ran, wanted: Wanted) -> UserError:
    """Return why no launch was recorded, and what to do."""
    ended = f"; the program ended with status {ran.status}" if ran.status else ""
    if not ran.said("loaded"):
        return UserError(f"no launch was captured: the library was not loaded{ended}", hint="is the program statically linked, or setuid?")
    if mistake := ran.said("no pattern"):
        return UserError(
            f"--kernel {wanted.kernel}: no POSIX extended regular expression: {mistake[0]}", hint="they know no \\d and no (?...)"
        )
    if "no driver" in ran.log:
        return UserError(f"no launch was captured: there is no libcuda.so.1 here{ended}", hint="capture where a GPU and its driver are")
    if not ran.said("driver"):
        hint = "does it launch kernels? A driver linked in statically, or reached by other ways than its documented ones, is not seen"
        return UserError(f"no launch was captured: the program did not use the CUDA driver{ended}", hint=hint)
    if passed := ran.said("passed"):
        return UserError(f"no launch was captured{ended}: {_reason(passed[0])}", hint=_remedy(passed[0]))
    kernels = list(dict.fromkeys(ran.said("kernel")))
    if "graph" in ran.log:
        others = f"; outside graphs it launched {', '.join(kernels[:MOST_NAMED])}" if kernels else ""
        return UserError(f"no launch was captured{ended}: {GRAPHS}", hint=f"run it without graphs{others}")
    if kernels:
        names = ", ".join(kernels[:MOST_NAMED]) + (", ..." if len(kernels) > MOST_NAMED else "")
        what = f"no launch matched --kernel '{wanted.kernel}'" if wanted.kernel else f"the program has at most {wanted.skip} launches"
        return UserError(f"{what}{ended}", hint=f"it launched {names}")
    return UserError(f"the program launched no kernel{ended}")


def passed_over(ran: Ran) -> list[str]:
    """Return in words what was matched and not recorded, equal reasons together."""
    counts = Counter(_reason(line) for line in ran.said("passed"))
    others = [line for line in ran.log if line.startswith(("cannot write", "disk full"))]
    graphs = [f"{GRAPHS}: run it without them"] if "graph" in ran.log else []
    return [f"{count} x not captured: {reason}" for reason, count in counts.items()] + list(dict.fromkeys(others)) + graphs


def _reason(line: str) -> str:
    """Return `KERNEL: why` of `N KERNEL: why`."""
    return line.partition(" ")[2]


def _remedy(line: str) -> str:
    if "--max-bytes" in line:
        return "raise --max-bytes, or make the problem smaller"
    if "machine code" in line:
        return f"it needs {TOOL}, of a CUDA toolkit or pip install 'simtlab[disassembler]', and code for this GPU or PTX in the program"
    return "launches that go into a CUDA graph are not captured: run without graphs" if "graph" in line else ""
