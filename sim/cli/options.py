"""The options that several commands share, and how their texts are read."""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from isa.errors import UserError
from sim.policies.blocks import block_policy_of_file
from sim.policies.user import of_file


def once(texts: list[str] | None) -> list[str] | None:
    """Return what an option that may be repeated was given as NAME=VALUE. Raises UserError for a name with two values."""
    named = [(text.partition("=")[0].strip(), text) for text in texts or [] if re.match(r"[\w. ]+=", text)]
    for name, _ in named:
        if len(values := [text for one, text in named if one == name]) > 1:
            raise UserError(f"{name} has {len(values)} values: {', '.join(values)}", hint="give one")
    return texts


MACHINE, LAUNCHED = "The GPU", "What is launched"  # the panels of --help
DEFAULT = "gtx480"  # the GPU of who names none
LISTING = Annotated[
    Path,
    typer.Argument(
        metavar="LISTING",
        help="A listing (.sass, written or disassembled), a cubin, CUDA (.cu) or a capture; launched by the .toml beside it.",
    ),
]
GPU = Annotated[
    str | None,
    typer.Option(
        "--gpu",
        metavar="NAME|FILE",
        help=f"A preset (`simtlab gpus`) or a file (.toml); default: {DEFAULT}, a capture's own.",
        rich_help_panel=MACHINE,
    ),
]
LAUNCH = Annotated[
    Path | None,
    typer.Option("--launch", metavar="FILE", help="The launch file, when it is not the .toml beside LISTING.", rich_help_panel=LAUNCHED),
]
ARCH = Annotated[
    str | None, typer.Option("--arch", metavar="sm_NN", help="What to compile CUDA for; default: the GPU's own.", rich_help_panel=LAUNCHED)
]
KERNEL = Annotated[
    str | None,
    typer.Option("--kernel", "--function", metavar="NAME", help="Which kernel, when the listing has several.", rich_help_panel=LAUNCHED),
]
GRID = Annotated[str | None, typer.Option("--grid", metavar="X[xYxZ]", help="Blocks in the grid.", rich_help_panel=LAUNCHED)]
BLOCK = Annotated[str | None, typer.Option("--block", metavar="X[xYxZ]", help="Threads in a block.", rich_help_panel=LAUNCHED)]
CLUSTER_SIZE = Annotated[
    str | None,
    typer.Option(
        "--cluster-size", metavar="X[xYxZ]", help="Blocks in a cluster, where the kernel does not say (sm_90).", rich_help_panel=LAUNCHED
    ),
]
WARPS = Annotated[
    int | None, typer.Option("--warps", min=1, metavar="N", help="Shortcut: N warps on one SM, in equal blocks.", rich_help_panel=LAUNCHED)
]
ARG = Annotated[
    list[str] | None,
    typer.Option(
        "--arg",
        callback=once,
        metavar="NAME=VALUE",
        help="A scalar argument; an array NAME=f32[1024]=random; a pointer NAME=&x+16; a structure NAME={&x, s32:31}; "
        "of CUDA by the source's names; of disassembly, which has none, values in order, as i32:1000. Repeat.",
        rich_help_panel=LAUNCHED,
    ),
]
REGISTERS = Annotated[
    int | None, typer.Option("--registers", min=1, metavar="N", help="32-bit registers per thread.", rich_help_panel=LAUNCHED)
]
SHARED = Annotated[
    int | None, typer.Option("--shared", min=0, metavar="BYTES", help="Static shared memory per block.", rich_help_panel=LAUNCHED)
]
SET = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        callback=once,
        metavar="FIELD=VALUE",
        help="Change the GPU, as core.schedulers=2; may be repeated.",
        rich_help_panel=MACHINE,
    ),
]
DLCM = Annotated[
    str | None,
    typer.Option(
        "--dlcm",
        metavar="ca|cg|cs|cv",
        help="What loads without a cache operator ask for, as the compiler's -dlcm: cg: not L1.",
        rich_help_panel=LAUNCHED,
    ),
]
POLICY = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="NAME|FILE.py:NAME",
        help="Shortcut for --set core.policy=NAME; or your own function or StatefulPolicy.",
        rich_help_panel=MACHINE,
    ),
]
BLOCK_POLICY = Annotated[
    str | None,
    typer.Option(
        "--block-policy",
        metavar="NAME|FILE.py:NAME",
        help="Shortcut for --set blocks.policy=NAME; or your own function that scores SMs.",
        rich_help_panel=MACHINE,
    ),
]
KEEP = Annotated[
    bool,
    typer.Option(
        "--keep-control-words", help="Keep the compiler's control words where the GPU differs in what they hold.", rich_help_panel=LAUNCHED
    ),
]
REPEAT = Annotated[
    int,
    typer.Option("--repeat", min=1, metavar="N", help="Runs of each machine, arrays elsewhere and neighbouring blocks in another order."),
]
ENGINE = Annotated[str, typer.Option("--engine", metavar="NAME", help="numba, or simpy: the same result, readable and slow.")]
THREADS = Annotated[
    int | None,
    typer.Option("--threads", min=1, metavar="N", help="Threads, which share blocks and SMs; default: as many as gain. Same result."),
]
JSON = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Also write the result as JSON.")]


class Given(NamedTuple):
    """What the options say of the GPU and of a launch, as `--help` lists them; None leaves what the launch file or the listing says."""

    gpu: GPU = None
    launch_file: LAUNCH = None
    kernel: KERNEL = None
    arch: ARCH = None
    grid: GRID = None
    block: BLOCK = None
    warps: WARPS = None
    arg: ARG = None
    registers: REGISTERS = None
    shared: SHARED = None
    set_: SET = None
    policy: POLICY = None
    block_policy: BLOCK_POLICY = None
    dlcm: DLCM = None
    keep_control_words: KEEP = False
    cluster_size: CLUSTER_SIZE = None


def changes(texts: list[str] | None, warps: str | None, blocks: str | None) -> dict[str, Any]:
    """Return the fields that --set, --policy and --block-policy set. Raises UserError for one that is set twice."""
    fields = assignments(texts, "--set")
    for option, field, text, of in (
        ("--policy", "core.policy", warps, of_file),
        ("--block-policy", "blocks.policy", blocks, block_policy_of_file),
    ):
        if text is not None and field in fields:
            raise UserError(f"{option} {text} and --set {field}={fields[field]} set the same field", hint="give one of them")
        if text is not None:
            fields[field] = _policy(text, of)
    return fields


def _policy(text: str, of: Callable[[Path, str], Any]) -> Any:
    file, colon, name = text.rpartition(":")
    if not colon and text.endswith(".py"):
        raise UserError(f"{text}: which policy of the file?", hint=f"write {text}:NAME")
    return of(Path(file), name) if colon else text.lower().replace("-", "_")


MOST_NUMBERS = 10_000
EXAMPLES = {"--set": "core.schedulers=2", "--arg": "n=1024"}


def sizes(text: str, option: str) -> tuple[int, ...]:
    """Return `16x16` or `16,16` as (16, 16)."""
    parts = text.lower().replace(",", "x").split("x")
    if len(parts) > 3 or not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        raise UserError(f"{option} {text}: not one to three sizes of 1 or more", hint=f"write {option} 256 or {option} 16x16")
    return tuple(int(part) for part in parts)


def assignments(texts: list[str] | None, option: str) -> dict[str, Any]:
    """Return `name=value` texts as a dictionary; values are read as TOML (numbers, true, lists), else taken as text."""
    result = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise UserError(f"{option} {text}: not of the form name=value", hint=f"write {option} {EXAMPLES[option]}")
        result[name.strip()] = value_of(value.strip())
    return result


def numbers(text: str, option: str) -> tuple[int, ...]:
    """Return `0-3,8` as (0, 1, 2, 3, 8)."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise UserError(f"{option} {text}: not a list of numbers", hint=f"write {option} 0-3 or {option} 0,2,5")
        if int(last or first) - int(first) >= MOST_NUMBERS:
            raise UserError(f"{option} {text}: over {MOST_NUMBERS} numbers", hint=f"write {option} all")
        found += range(int(first), int(last if dash else first) + 1)
    return tuple(found)


def value_of(text: str) -> Any:
    """Return a text read as TOML (a number, true, a list), else the text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
