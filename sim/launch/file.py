"""Launch files: the TOML beside a listing that says how to launch it, on what data, and what should come out.

    listing = "saxpy.sass"        # default: the launch file's own name with .sass
    grid = 4096                   # or [x, y, z]
    block = 256
    cluster = 4                   # or [x, y, z]: blocks that run at once, where the kernel does not say (sm_90)
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
    init = "random"               # zeros, ones, none, arange (start, step), random (seed, low, high), addresses (of, start, step)
    file = "x.npy"                # in place of dtype, shape and init
    [[args]]
    name = "view"
    value = "{&x+16, s32:100}"    # pointers, structures by value, arrays of pointers: `sim.launch.composed`
    [[args]]
    name = "tiles"                # a tensor map (CUtensorMap) of an array: `sim.tensor_map`
    of = "x"
    box = [128, 64]               # and swizzle, steps, fill, dtype; expectations call the array as the map is called

    [[arrays]]                    # arrays that only pointers lead to, written as array arguments are
    name = "rows"
    shape = 64
    [[symbols]]                   # a `__constant__` or `__device__` variable of that name, written so, too
    name = "coefficients"
    shape = 4

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

import re
from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import isa
from isa.architecture import family
from isa.errors import UserError, read_toml
from isa.program import Program
from sim.gpus.fields import nearest
from sim.launch.arrays import Array, build_arrays, make
from sim.launch.composed import composed
from sim.launch.expectation import Expectation, check, expectation
from sim.launch.launch import Launch
from sim.launch.parameters import bound
from sim.launch.table import SCALARS, Composed, LaunchTable, Scalar, Sizes, Tiled, validated
from sim.launch.tensor_maps import tensor_map

__all__ = ["LaunchFile", "check", "load_launch"]


class LaunchFile(NamedTuple):
    """What a launch file says."""

    launch: Launch
    expectation: Expectation


def expects(path: Path) -> bool:
    """Return whether a launch file, if there is one, says what arrays should hold afterwards."""
    try:
        return bool(read_toml(path, "utf-8-sig").get("expect"))
    except (OSError, UserError):
        return False


def load_launch(path: str | Path, program: Program | Callable[[str | None], Program] | None = None, **overrides: Any) -> LaunchFile:
    """Read a launch file, or the one beside a listing (the same name with .toml), and make its arrays.

    program: in place of the listing that the file names, or what loads it by the name that the file gives as `function`.
    overrides: keys of the file with other values (None leaves the file's); `args` is a mapping from argument names to scalars
    or arrays. Raises UserError.
    """
    path = Path(path)
    file = beside(path)
    arguments = overrides.pop("args", None) or {}
    table = validated(file, {key: value for key, value in overrides.items() if value is not None})
    if program is None:
        listing = path if path.suffix != ".toml" else file.parent / (table.listing or f"{file.stem}.sass")
        program = isa.load(listing, table.function)
    elif not isinstance(program, Program):
        program = program(table.function)
    values, symbols, arrays = _values(table, program, arguments, file)
    program = _with_parameters(program, table, values, file)
    constants = _constants(table, file)
    launch = Launch(
        program=program,
        grid=_sizes(table.grid),
        block=_sizes(table.block),
        cluster=_sizes(table.cluster) if table.cluster else (),
        args=tuple(values[parameter.name] for parameter in program.parameters),
        shared_dynamic=table.shared_dynamic,
        registers=table.registers,
        shared_static=table.shared_static,
        constants={rule.bank: constants[rule.name] for rule in table.constants},
        symbols=symbols,
        preset={_register(name, file): value for name, value in table.preset.items()},
        iterations=table.iterations,
        uninitialised=tuple(rule.name for rule in _arrays(table) if rule.init == "none" and not rule.file and rule.name not in arguments),
        name=file.stem,
    )
    return LaunchFile(launch, expectation(table.expect, values | symbols | constants, file, arrays))


def beside(listing: Path) -> Path:
    """Return the launch file of a listing: `k.toml` of `k.sass`; of `k.sm_90.sass` also `k.toml`, where there is no `k.sm_90.toml`."""
    own = listing.with_suffix(".toml")
    name, _, architecture = own.stem.rpartition(".")
    common = own.with_name(f"{name}.toml")
    return common if name and family(architecture) and not own.exists() and common.exists() else own


def _sizes(sizes: Sizes) -> tuple[int, ...]:
    return (sizes,) if isinstance(sizes, int) else tuple(sizes)


def _register(name: str, file: Path) -> int:
    if name[:1] not in "Rr" or not name[1:].isdecimal() or int(name[1:]) > 254:
        raise UserError(f"preset {name} is not a register", path=str(file), hint='write R0 to R254, as in R2 = "x"')
    return int(name[1:])


def _values(
    table: LaunchTable, program: Program, arguments: Mapping[str, Any], file: Path
) -> tuple[dict[str, Any], dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return every argument by name, every symbol, and every array; those of `arguments` replace the file's."""
    known = [argument.name for argument in table.args]
    for name in arguments:
        if name not in known:
            raise UserError(f"no argument is called {name}", path=str(file), hint=f"arguments: {', '.join(known) or 'none'}")
    values: dict[str, Any] = {}
    for argument in table.args:
        if isinstance(argument, Scalar):
            values[argument.name] = _scalar(argument, arguments.get(argument.name, argument.value), file)
    try:
        arrays = build_arrays(_arrays(table), arguments, file)
        for argument in table.args:
            if isinstance(argument, Composed):
                value = arguments.get(argument.name, argument.value)
                values[argument.name] = (
                    composed(value, arrays, f"args: {argument.name}")
                    if isinstance(value, str)
                    else _declared(argument.name, value, program, file)
                )
            elif isinstance(argument, Tiled):
                values[argument.name] = arguments.get(argument.name) or _map(argument, arrays, file)
        symbols = build_arrays(table.symbols, {}, file)
    except UserError as error:
        raise _at_its_line(error, [*known, *(rule.name for rule in (*table.arrays, *table.symbols))], file) from None
    return {name: arrays[name] if name in arrays else values[name] for name in known}, symbols, arrays


def _map(rule: Tiled, arrays: Mapping[str, np.ndarray], file: Path) -> Any:
    """Return the tensor map of an argument."""
    if rule.of not in arrays:
        message = f"args: {rule.name} is a map of {rule.of}, which is not an array here"
        raise UserError(message, path=str(file), hint=f"arrays: {', '.join(arrays) or 'none'}")
    try:
        return tensor_map(arrays[rule.of], rule.box, rule.swizzle, rule.steps, rule.fill, rule.dtype)
    except UserError as error:
        raise UserError(f"args: {rule.name}: {error.message}", path=str(file), hint=error.hint) from None


def _arrays(table: LaunchTable) -> list[Array]:
    """Return the rules of the arrays that are arguments, and of those that only pointers lead to."""
    return [*(argument for argument in table.args if isinstance(argument, Array)), *table.arrays]


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


def _declared(name: str, value: Any, program: Program, file: Path) -> Any:
    """Return a number as the type that the listing declares for that parameter; anything else as it is."""
    if not isinstance(value, int | float):
        return value
    kind = next((parameter.type for parameter in program.parameters if parameter.name == name), "")
    if kind == "ptr":
        raise UserError(f"args: {name} = {value}, but the listing says .param ptr {name}: an array", path=str(file), hint="shape = 1024")
    if kind not in SCALARS:
        names = [parameter.name for parameter in program.parameters]
        near = nearest(name, names) if name not in names else ""
        hint = f"did you mean {near}? the listing has {', '.join(names)}" if near else f"type = one of {', '.join(SCALARS)}"
        raise UserError(f"args: {name} = {value} has no type", path=str(file), hint=hint)
    return _scalar(Scalar(name=name, type=kind, value=value), value, file)  # type: ignore[arg-type]


def _with_parameters(program: Program, table: LaunchTable, values: Mapping[str, Any], file: Path) -> Program:
    """Return the program with the file's parameters when its listing declares none; check the names when it does."""
    names = [argument.name for argument in table.args]
    if program.is_open or not program.parameters:
        return bound(program, [values[name] for name in names], names)
    declared = [parameter.name for parameter in program.parameters]
    if declared != names:
        raise UserError(f"args are {', '.join(names) or 'none'}; the listing's parameters are {', '.join(declared)}", path=str(file))
    for argument, parameter in zip(table.args, program.parameters, strict=True):
        if isinstance(argument, Scalar) and not _same_kind(argument.type, parameter.type):
            message = f"args: {argument.name} has type {argument.type}; the listing says .param {parameter.type} {argument.name}"
            raise _at_its_line(UserError(message, path=str(file), hint=f"make both {parameter.type}, or both {argument.type}"), names, file)
    return program


def _same_kind(given: str, declared: str) -> bool:
    """Return whether a number of one type is passed as one of the other with no bit changed, but perhaps read with another sign."""
    return given == declared or (given[1:] == declared[1:] and "f" not in (given[0], declared[0]))
