"""What the page shows, as it comes from a browser: checked, bounded, and made into a launch and a GPU. Names no file of this computer."""

import tempfile
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

import isa
from isa.errors import UserError, not_toml
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.gpus.occupancy import WARP
from sim.launch.file import LaunchFile, load_launch

LISTING, LAUNCH = "listing", "launch"  # what messages call the two texts
MOST_LISTING, MOST_LAUNCH = 64_000, 16_000  # characters
MOST_BYTES = 1 << 26  # of a launch's arrays
MOST_WARPS = 4096  # of a launch
DEFAULT_LAUNCH = "grid = 1\nblock = 32\n"
FILES = "the lab reads no files"


class Machine(BaseModel):
    """A GPU: a preset's name, and fields that differ."""

    model_config = ConfigDict(extra="forbid")
    gpu: Annotated[str, Field(max_length=60)] = "gtx480"
    set: Annotated[
        dict[Annotated[str, Field(max_length=80)], int | float | Annotated[str, Field(max_length=40)]], Field(max_length=100)
    ] = {}


class State(BaseModel):
    """All that a page shows. warps, blocks, registers, shared: in place of what the launch says; None leaves it."""

    model_config = ConfigDict(extra="forbid")
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,60}$")] = "kernel"
    listing: Annotated[str, Field(max_length=MOST_LISTING)]
    launch: Annotated[str, Field(max_length=MOST_LAUNCH)] = DEFAULT_LAUNCH
    warps: Annotated[int, Field(ge=1, le=64)] | None = None  # per block
    blocks: Annotated[int, Field(ge=1, le=MOST_WARPS)] | None = None
    registers: Annotated[int, Field(ge=1, le=255)] | None = None
    shared: Annotated[int, Field(ge=0, le=1 << 20)] | None = None  # bytes per block
    machines: Annotated[list[Machine], Field(min_length=1, max_length=2)] = [Machine()]
    chains: bool = False

    @property
    def program(self) -> tuple[Any, ...]:
        """What decides what is executed, whatever the machine."""
        return (self.name, self.listing, self.launch, self.warps, self.blocks, self.registers, self.shared)


def read(table: Any) -> State:
    """Return a state that a browser sent. Raises UserError."""
    try:
        return State.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the request"
        raise UserError(f"{where}: {first['msg'][0].lower()}{first['msg'][1:]}") from None


def machine(chosen: Machine, gpus: Mapping[str, str]) -> Gpu:
    """Return the GPU. gpus: name -> preset or file, those that a page may name. Raises UserError."""
    if chosen.gpu not in gpus:
        raise UserError(f"no GPU is called '{chosen.gpu}' here", hint=f"there are {', '.join(gpus)}")
    return _changed(gpus[chosen.gpu], tuple(chosen.set.items()))


@lru_cache(maxsize=64)
def _changed(name: str, changes: tuple[tuple[str, Any], ...]) -> Gpu:
    return load(name).replace(dict(changes))


def launch(state: State) -> LaunchFile:
    """Return the launch and what its arrays should hold afterwards: nothing where the page changes its size. Raises UserError."""
    sizes = {"block": [WARP * state.warps] if state.warps else None, "grid": [state.blocks] if state.blocks else None}
    table = _checked(state.launch, {name: value for name, value in sizes.items() if value})
    function = table.get("function")
    program = isa.parse(state.listing, LISTING, function if isinstance(function, str) else None)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{state.name}.toml"
        file.write_text(state.launch, encoding="utf-8")
        try:
            found = load_launch(file, program, **sizes, registers=state.registers, shared_dynamic=state.shared)
        except UserError as error:
            path = LAUNCH if error.path == str(file) else error.path
            raise UserError(error.message.replace(str(file), LAUNCH), path=path, line=error.line, hint=error.hint) from None
    if found.launch.blocks * found.launch.warps_per_block > MOST_WARPS:
        number = found.launch.blocks * found.launch.warps_per_block
        raise UserError(
            f"the launch has {number:,} warps; the lab takes {MOST_WARPS:,}", path=LAUNCH, hint="launch fewer, or use `simtlab run`"
        )
    return found._replace(expectation={}) if any(sizes.values()) else found


def _checked(text: str, sizes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of a launch file. Raises UserError for one that names files, or asks for more memory than the lab gives."""
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits; brackets in brackets
        raise not_toml(error, LAUNCH, text, "the launch says grid, block and [[args]]") from None
    if "listing" in table and isinstance(table["listing"], str):
        table.pop("listing")  # the one in the editor is meant
    rules = [rule for key in ("args", "arrays", "symbols", "constants") for rule in _tables(table.get(key))]
    rules += _tables(list(table["expect"].values())) if isinstance(table.get("expect"), dict) else []
    if any("file" in rule for rule in rules):
        raise UserError(f"file = ...: {FILES}", path=LAUNCH, hint="describe the array: dtype, shape, init")
    if sum(map(_bytes, rules)) > MOST_BYTES:
        raise UserError(f"arrays of over {MOST_BYTES >> 20} MiB", path=LAUNCH, hint="make them smaller, or use `simtlab run`")
    grid = sizes.get("grid", table.get("grid", 1))
    if any(isinstance(size, int) and size > MOST_WARPS for size in (grid if isinstance(grid, list) else [grid])):
        raise UserError(f"grid: the lab takes {MOST_WARPS:,} warps", path=LAUNCH, hint="launch fewer blocks, or use `simtlab run`")
    return table


def _tables(found: Any) -> list[dict[str, Any]]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _bytes(rule: Mapping[str, Any]) -> int:
    """Return the bytes of an array that a rule describes; 0 for what is none, or wrong and will be refused."""
    shape = rule.get("shape", 0)
    sizes = shape if isinstance(shape, list) else [shape]
    try:
        return prod(max(int(size), 0) for size in sizes) * np.dtype(rule.get("dtype", "float32")).itemsize
    except (TypeError, ValueError, SyntaxError, OverflowError):
        return 0
