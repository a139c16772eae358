"""What a launch file may say, as a checked table, and its mistakes in words."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from isa.errors import UserError, read_toml
from sim.gpus.fields import nearest
from sim.launch.arrays import Array
from sim.launch.expectation import Expected

SCALARS: dict[str, Any] = {"u32": np.uint32, "s32": np.int32, "f32": np.float32, "u64": np.uint64, "s64": np.int64, "f64": np.float64}
Size = Annotated[int, Field(ge=1)]
Sizes = Size | Annotated[list[Size], Field(min_length=1, max_length=3)]
UNION = re.compile(r"Expected|str|(constrained-)?int|float|list\[.*\]|function-.*")  # members of unions, in the place of a mistake


class Scalar(BaseModel):
    """A scalar argument."""

    model_config = ConfigDict(extra="forbid")
    name: str
    type: Literal["u32", "s32", "f32", "u64", "s64", "f64"]
    value: int | float


class Composed(BaseModel):
    """An argument that leads to others: a pointer, a structure, an array of pointers. Or a number of the type that the listing declares."""

    model_config = ConfigDict(extra="forbid")
    name: str
    value: str | int | float


class Tiled(BaseModel):
    """A tensor map of an array: `sim.tensor_map`."""

    model_config = ConfigDict(extra="forbid")
    name: str
    of: str
    box: list[int]
    swizzle: str = "none"
    steps: list[int] | None = None
    fill: str = "zeros"
    dtype: str | None = None


class Constants(Array):
    """An array that lies in a constant bank."""

    bank: int = Field(ge=1, le=31)


class LaunchTable(BaseModel):
    """A launch file."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
    listing: str | None = None
    function: str | None = None
    grid: Sizes
    block: Sizes
    cluster: Sizes | None = None
    shared_dynamic: int = Field(0, ge=0)
    shared_static: int | None = Field(None, ge=0)
    registers: int | None = Field(None, ge=1, le=255)
    args: list[Scalar | Composed | Tiled | Array] = []
    arrays: list[Array] = []
    symbols: list[Array] = []
    constants: list[Constants] = []
    preset: dict[str, int | float | str] = {}
    iterations: dict[str, int] = {}
    expect: dict[str, str | Expected] = {}


SECTIONS: dict[str, type[BaseModel]] = {
    "Scalar": Scalar,
    "Composed": Composed,
    "Tiled": Tiled,
    "Array": Array,
    "Constants": Constants,
    "Expected": Expected,
    "LaunchTable": LaunchTable,
}


KINDS = ("Scalar", "Composed", "Tiled", "Array")  # of arguments


def validated(file: Path, overrides: Mapping[str, Any]) -> LaunchTable:
    try:
        table = read_toml(file, "utf-8-sig")
    except OSError:
        raise UserError("no such launch file", path=str(file), hint="write one beside the listing: grid, block, [[args]]") from None
    try:
        return LaunchTable.model_validate({**table, **overrides})
    except ValidationError as error:
        raise _in_words(error, table, file) from None


def _in_words(error: ValidationError, table: Mapping[str, Any], file: Path) -> UserError:
    """Return pydantic's findings as one message. Of an argument, those of the kind that it is: scalars have a type."""
    messages, hints, found = [], [], dict[str, dict[str, str]]()
    for problem in error.errors():
        kinds = [str(part) for part in problem["loc"] if part in KINDS]
        given = table["args"][int(problem["loc"][1])] if kinds else None
        if kinds and kinds != [_kind(given)]:
            continue
        loc = [str(part) for part in problem["loc"] if part not in KINDS and not UNION.fullmatch(str(part))]
        where = f"args[{loc[1]}].{loc[2]}" if loc[0] == "args" and len(loc) > 2 else ".".join(loc)
        where += f" ({given['name']})" if isinstance(given, dict) and "name" in given else ""
        if problem["type"] == "extra_forbidden":
            sections = {"expect": "Expected", "constants": "Constants", "arrays": "Array", "symbols": "Array"}
            model = SECTIONS[kinds[0] if kinds else sections.get(loc[0], "LaunchTable")]
            messages.append(f"unknown key {where}")
            keys = dict.fromkeys(key for kind in ((Scalar, Composed, Tiled, Array) if kinds else (model,)) for key in kind.model_fields)
            near = nearest(loc[-1], keys)
            hints.append(f"did you mean {near}?" if near else f"keys here: {', '.join(keys)}")
        else:
            said = re.sub(r" or instance of \w+| after validation.*", "", problem["msg"])
            found.setdefault(where, {})[problem["type"]] = f"{said[0].lower()}{said[1:]}"
    messages += [f"{where}: {_either(said)}" for where, said in found.items() if not any(one.startswith(f"{where}.") for one in found)]
    return UserError("; ".join(dict.fromkeys(messages)), path=str(file), hint="; ".join(dict.fromkeys(hints)))


def _either(said: dict[str, str]) -> str:
    """Return what is wrong with a value that may be of several kinds: of the kind that it is, else that it is none of them."""
    if near := [text for kind, text in said.items() if not kind.endswith(("_type", "_parsing"))]:
        return near[0]
    first, *others = (text.partition(",")[0] for text in said.values())
    return " or ".join([first, *(text.removeprefix("input should be ") for text in others)])


def _kind(given: Any) -> str:
    """Return the model that an entry of `args` is meant to be."""
    keys = given if isinstance(given, dict) else {}
    return "Scalar" if "type" in keys else "Composed" if "value" in keys else "Tiled" if "box" in keys else "Array"
