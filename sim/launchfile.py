"""Launch files: the TOML beside a listing that says how to launch it, on what data, and what should come out.

    listing = "saxpy.sass"        # default: the launch file's own name with .sass
    grid = 4096                   # or [x, y, z]
    block = 256
    function = "saxpy"            # when the listing holds several
    shared_static = 4096          # bytes per block, where a disassembly does not say

    [[args]]                      # one per parameter of the listing, in order
    name = "n"
    type = "u32"                  # scalars: u32 s32 f32 u64 s64 f64
    value = 1048576
    [[args]]
    name = "x"
    dtype = "float32"             # arrays: a NumPy type, a size, and what they hold
    shape = 1048576
    init = "random"               # zeros, ones, arange (start, step), random (seed, low, high), addresses (of, start, step)
    file = "x.npy"                # in place of dtype, shape and init

    [expect]                      # names stand for the arguments as they were before the run
    y = "fma(a, x, y)"

    [[constants]]                 # an array in a constant bank, written as an array argument is, for c[3][...]
    bank = 3
    name = "matrix"
    shape = [16, 16]

    [preset]                      # registers before the first instruction: a number, or the name of an array whose address they take
    R2 = "x"
    [iterations]                  # loops without end: how often the branch back to a label may be executed
    ".Loop" = 3

A listing without .param lines takes its parameters from the launch file.
"""

import dataclasses
import re
import tomllib
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

import isa
from isa.architecture import family
from isa.errors import UserError
from isa.program import Parameter, Program
from sim.arrays import Array, build_arrays, make
from sim.expectation import Expectation, Expected, check, expectation
from sim.gpus.fields import nearest
from sim.launch import Launch
from sim.parameters import bound

__all__ = ["LaunchFile", "check", "load_launch"]
SCALARS: dict[str, Any] = {"u32": np.uint32, "s32": np.int32, "f32": np.float32, "u64": np.uint64, "s64": np.int64, "f64": np.float64}
Sizes = int | list[int]


class Scalar(BaseModel):
    """A scalar argument."""

    model_config = ConfigDict(extra="forbid")
    name: str
    type: Literal["u32", "s32", "f32", "u64", "s64", "f64"]
    value: int | float


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
    shared_dynamic: int = Field(0, ge=0)
    shared_static: int | None = Field(None, ge=0)
    registers: int | None = Field(None, ge=1, le=255)
    args: list[Scalar | Array] = []
    constants: list[Constants] = []
    preset: dict[str, int | float | str] = {}
    iterations: dict[str, int] = {}
    expect: dict[str, str | Expected] = {}


SECTIONS: dict[str, type[BaseModel]] = {
    "Scalar": Scalar,
    "Array": Array,
    "Constants": Constants,
    "Expected": Expected,
    "LaunchTable": LaunchTable,
}


class LaunchFile(NamedTuple):
    """What a launch file says."""

    launch: Launch
    expectation: Expectation


def load_launch(path: str | Path, program: Program | None = None, **overrides: Any) -> LaunchFile:
    """Read a launch file, or the one beside a listing (the same name with .toml), and make its arrays.

    program: in place of the listing that the file names. overrides: keys of the file with other values (None leaves the
    file's); `args` is a mapping from argument names to scalars or arrays. Raises UserError.
    """
    path = Path(path)
    file = beside(path)
    arguments = overrides.pop("args", None) or {}
    table = _validated(file, {key: value for key, value in overrides.items() if value is not None})
    if program is None:
        listing = path if path.suffix != ".toml" else file.parent / (table.listing or f"{file.stem}.sass")
        program = isa.load(listing, table.function)
    values = _values(table, arguments, file)
    program = _with_parameters(program, table, values, file)
    constants = _constants(table, file)
    launch = Launch(
        program=program,
        grid=_sizes(table.grid),
        block=_sizes(table.block),
        args=tuple(values[parameter.name] for parameter in program.parameters),
        shared_dynamic=table.shared_dynamic,
        registers=table.registers,
        shared_static=table.shared_static,
        constants={rule.bank: constants[rule.name] for rule in table.constants},
        preset={_register(name, file): value for name, value in table.preset.items()},
        iterations=table.iterations,
        name=file.stem,
    )
    return LaunchFile(launch, expectation(table.expect, values | constants, file))


def beside(listing: Path) -> Path:
    """Return the launch file of a listing: `k.toml` of `k.sass`; of `k.sm_90.sass` also `k.toml`, where there is no `k.sm_90.toml`."""
    own = listing.with_suffix(".toml")
    name, _, architecture = own.stem.rpartition(".")
    common = own.with_name(f"{name}.toml")
    return common if name and family(architecture) and not own.exists() and common.exists() else own


def _validated(file: Path, overrides: Mapping[str, Any]) -> LaunchTable:
    try:
        table = tomllib.loads(file.read_text("utf-8"))
    except OSError:
        raise UserError("no such launch file", path=str(file), hint="write one beside the listing: grid, block, [[args]]") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"not a TOML file: {error}", path=str(file)) from None
    try:
        return LaunchTable.model_validate({**table, **overrides})
    except ValidationError as error:
        raise _in_words(error, table, file) from None


def _in_words(error: ValidationError, table: Mapping[str, Any], file: Path) -> UserError:
    """Return pydantic's findings as one message. Of an argument, those of the kind that it is: scalars have a type."""
    messages, hints = [], []
    for problem in error.errors():
        kinds = [str(part) for part in problem["loc"] if part in ("Scalar", "Array")]
        given = table["args"][int(problem["loc"][1])] if kinds else None
        if kinds and kinds != ["Scalar" if isinstance(given, dict) and "type" in given else "Array"]:
            continue
        loc = [str(part) for part in problem["loc"] if part not in ("Scalar", "Array", "Expected", "str", "int", "float", "list[int]")]
        where = f"args[{loc[1]}].{loc[2]}" if loc[0] == "args" and len(loc) > 2 else ".".join(loc)
        if problem["type"] == "extra_forbidden":
            model = SECTIONS[kinds[0] if kinds else {"expect": "Expected", "constants": "Constants"}.get(loc[0], "LaunchTable")]
            messages.append(f"unknown key {where}")
            near = nearest(loc[-1], model.model_fields)
            hints.append(f"did you mean {near}?" if near else f"keys here: {', '.join(model.model_fields)}")
        else:
            messages.append(f"{where}: {problem['msg'][0].lower()}{problem['msg'][1:]}")
    return UserError("; ".join(dict.fromkeys(messages)), path=str(file), hint="; ".join(dict.fromkeys(hints)))


def _sizes(sizes: Sizes) -> tuple[int, ...]:
    return (sizes,) if isinstance(sizes, int) else tuple(sizes)


def _register(name: str, file: Path) -> int:
    if name[:1] not in "Rr" or not name[1:].isdecimal() or int(name[1:]) > 254:
        raise UserError(f"preset {name} is not a register", path=str(file), hint='write R0 to R254, as in R2 = "x"')
    return int(name[1:])


def _values(table: LaunchTable, arguments: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """Return every argument by name; those of `arguments` replace the file's."""
    known = [argument.name for argument in table.args]
    for name in arguments:
        if name not in known:
            raise UserError(f"no argument is called {name}", path=str(file), hint=f"arguments: {', '.join(known) or 'none'}")
    values: dict[str, Any] = {}
    for argument in table.args:
        if isinstance(argument, Scalar):
            values[argument.name] = _scalar(argument, arguments.get(argument.name, argument.value), file)
    try:
        arrays = build_arrays([argument for argument in table.args if isinstance(argument, Array)], arguments, file)
    except UserError as error:
        raise _at_its_line(error, known, file) from None
    return {name: arrays[name] if name in arrays else values[name] for name in known}


def _constants(table: LaunchTable, file: Path) -> dict[str, np.ndarray]:
    """Return the arrays of constant banks by name. Raises UserError for a bank or a name that is taken, or for addresses."""
    names, banks = [argument.name for argument in table.args], []
    for rule in table.constants:
        if rule.name in names or rule.bank in banks:
            what = f"bank {rule.bank}" if rule.bank in banks else rule.name
            raise UserError(f"constants: {what} is there twice", path=str(file), hint="one array per bank, each with a name of its own")
        if rule.init == "addresses":
            raise UserError(f"constants: {rule.name} holds addresses, which arguments alone may", path=str(file))
        names.append(rule.name)
        banks.append(rule.bank)
    return {rule.name: make(rule, file) for rule in table.constants}


def _at_its_line(error: UserError, names: list[str], file: Path) -> UserError:
    """Return a mistake of an array with the line of the launch file where the array's name stands."""
    name = next((name for name in names if error.message.startswith(f"args: {name} ") or error.message.startswith(f"args: {name}:")), None)
    lines = file.read_text("utf-8").splitlines()
    found = [
        number for number, text in enumerate(lines, 1) if name and re.fullmatch(rf"name\s*=\s*[\"']{re.escape(name)}[\"'].*", text.strip())
    ]
    if error.line or not found:
        return error
    return UserError(error.message, path=error.path, line=found[0], hint=error.hint)


def _scalar(argument: Scalar, value: Any, file: Path) -> Any:
    kind = SCALARS[argument.type]
    if not issubclass(kind, np.floating) and isfinite(value) and int(value) == value and np.iinfo(kind).min <= value <= np.iinfo(kind).max:
        return kind(int(value))
    if issubclass(kind, np.floating):
        return kind(value)
    raise UserError(f"args: {argument.name} = {value} is not a {argument.type}", path=str(file))


def _with_parameters(program: Program, table: LaunchTable, values: Mapping[str, Any], file: Path) -> Program:
    """Return the program with the file's parameters when its listing declares none; check the names when it does."""
    if program.is_open:
        names = [argument.name for argument in table.args]
        return bound(program, [values[name] for name in names], names)
    if program.parameters:
        declared, given = [p.name for p in program.parameters], [argument.name for argument in table.args]
        if declared != given:
            raise UserError(f"args are {', '.join(given) or 'none'}; the listing's parameters are {', '.join(declared)}", path=str(file))
        return program
    parameters: list[Parameter] = []
    end = program.parameter_base
    for argument in table.args:
        type_ = argument.type if isinstance(argument, Scalar) else "ptr"
        size = 8 if type_ == "ptr" else int(type_[1:]) // 8
        parameters.append(Parameter(argument.name, type_, -(-end // size) * size, size))
        end = parameters[-1].offset + size
    return dataclasses.replace(program, parameters=tuple(parameters))
