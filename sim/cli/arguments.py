"""`--arg` by type: in order, for kernels whose listing names no parameters: `f32:1.5`, `i32:1000`, `f32[1024]=random`, `u8[64]=data.npy`;
arrays also by name: `out=f32[1024]=zeros`. Pointers and structures (`sim.launch.composed`): `&0+16`, `{&0, i32:31}`, by name
`view=&out+16`.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isa.cuda_names import Parameter
from isa.errors import UserError
from sim.gpus.fields import nearest
from sim.launch.arrays import Array, build_arrays
from sim.launch.composed import NUMBER, TYPES, composed, is_composed, number
from sim.report.words import count

ARRAY = re.compile(r"([fisu])(8|16|32|64)\[(\d+(?:[x,]\d+)*)\](?:=(\S+))?")
RULES = ("zeros", "ones", "arange", "random")
INTEGERS_BELOW = 100  # that `random` draws
ARRAYS = f"f32[1024]=RULE for an array (f16 to f64, i8 to i64, u8 to u64); RULE: {', '.join(RULES)} or a .npy file"
USAGE = f"write f32:1.5 or i32:1000 for a number, &0+16 for a pointer, {{&0, s32:31}} for a structure, {ARRAYS}"


def is_positional(text: str) -> bool:
    """True for an argument that is written by its type, not by its name."""
    return bool(NUMBER.fullmatch(text) or ARRAY.fullmatch(text)) or is_composed(text)


def positional(texts: list[str]) -> tuple[Any, ...]:
    """Return the arguments in order; `&0` is a pointer to the first. Raises UserError for one that is written otherwise."""
    rules = [_array(f"arg{position}", position, text, f"--arg {text}") for position, text in enumerate(texts)]
    made = build_arrays([rule for rule in rules if rule], {}, Path("--arg"))
    arrays = {str(position): made[rule.name] for position, rule in enumerate(rules) if rule}
    return tuple(arrays[str(position)] if rules[position] else _value(text, arrays, f"--arg {text}") for position, text in enumerate(texts))


def named(texts: list[str]) -> dict[str, Any]:
    """Return the arrays, pointers and structures among arguments that are written NAME=TYPE[N]=RULE or NAME=&OTHER+16."""
    found = {name.strip(): value for name, _, value in (text.partition("=") for text in texts if is_named(text))}
    where = {name: f"--arg {name}={value}" for name, value in found.items()}
    rules = [_array(name, seed, value, where[name]) for seed, (name, value) in enumerate(found.items()) if not is_composed(value)]
    arrays = build_arrays([rule for rule in rules if rule], {}, Path("--arg"))
    return {name: arrays[name] if name in arrays else _value(value, arrays, where[name]) for name, value in found.items()}


def in_order(texts: list[str], parameters: Sequence[Parameter]) -> list[str]:
    """Return arguments that are written by name, as those of a kernel of that source are written in order.

    Raises UserError for a name that the source has not, and for parameters without a value.
    """
    if ordered := [text for text in texts if is_positional(text)]:
        raise UserError(f"--arg {ordered[0]}: arguments are written by name or in order, not both", hint="write NAME=VALUE for all")
    names = [one.name for one in parameters]
    given = {name.strip(): value.strip() for name, _, value in (text.partition("=") for text in texts)}
    if wrong := next((name for name in given if name not in names), None):
        raise UserError(f"no argument is called {wrong}", hint=nearest(wrong, names) or f"arguments: {', '.join(names) or 'none'}")
    if missing := [one for one in parameters if one.name not in given]:
        values = {True: "{}[1024]=random", False: "VALUE"}
        options = [f"--arg '{one.name}={values[one.is_pointer].format(one.type or 'f32')}'" for one in missing]
        names_ = ", ".join(one.name for one in missing)
        raise UserError(f"{count(len(missing), 'argument')} without a value: {names_}", hint=f"give {' '.join(options)}")
    return [_in_place(one, given[one.name], names) for one in parameters]


def _in_place(parameter: Parameter, value: str, names: list[str]) -> str:
    """Return the value of one parameter as `positional` reads it: with a type, pointers by number."""
    if is_composed(value):
        return re.sub(r"&(\w+)", lambda match: f"&{names.index(match[1])}" if match[1] in names else match[0], value)
    where = f"--arg {parameter.name}={value}"
    if parameter.is_pointer and not ARRAY.fullmatch(value):
        raise UserError(f"{where}: {parameter.name} is an array", hint=f"write {parameter.name}={parameter.type or 'f32'}[1024]=random")
    if is_positional(value):
        return value
    typed = f"{parameter.type}:{value}"
    if not parameter.type:
        raise UserError(f"{where}: its type is not known", hint=f"write {parameter.name}=i32:5, or {parameter.name}={{f32:1, i32:2}}")
    number(typed, where)
    return typed


def is_named(text: str) -> bool:
    """True for an array, a pointer or a structure that is written by its name."""
    name, _, value = text.partition("=")
    return name.strip().isidentifier() and (bool(ARRAY.fullmatch(value)) or is_composed(value))


def _value(text: str, arrays: dict[str, np.ndarray], where: str) -> Any:
    if not is_composed(text) and not NUMBER.fullmatch(text):
        raise UserError(f"{where}: the kernel's parameters have no names here, and this is not a typed argument", hint=USAGE)
    return composed(text, arrays, where) if is_composed(text) else number(text, where)


def _array(name: str, seed: int, text: str, where: str) -> Array | None:
    """Return the rule of an array, None for another argument."""
    match = ARRAY.fullmatch(text)
    if match is None:
        return None
    rule, dtype = match[4] or "zeros", f"{TYPES[match[1]]}{match[2]}"
    shape = [int(size) for size in re.split("[x,]", match[3])]
    if rule in RULES:
        high = 1.0 if match[1] == "f" else INTEGERS_BELOW
        return Array(name=name, dtype=dtype, shape=shape, init=rule, high=high, seed=seed)  # type: ignore[arg-type]
    if not Path(rule).suffix and not Path(rule).exists():
        raise UserError(f"{where}: no rule is called {rule}, and no file", hint=f"rules: {', '.join(RULES)}; or a .npy file")
    return Array(name=name, dtype=dtype, shape=shape, seed=0, file=str(Path(rule).resolve()))
