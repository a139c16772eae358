"""The parameters of a kernel whose listing does not say their types: taken from the arguments of a launch."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from isa.errors import UserError
from isa.program import Parameter, Program
from sim.launch import tensor_maps
from sim.launch.pointers import BYTES, Pointer, is_structure

KINDS = {"u": "u", "i": "s", "f": "f", "b": "u"}
STRUCTURE = "struct"  # passed by value
TYPES = ("u8", "s8", "u16", "s16", "u32", "s32", "f32", "u64", "s64", "f64")


def bound(program: Program, args: Sequence[Any], names: Sequence[str] | None = None) -> Program:
    """Return the program with a parameter for each argument.

    Where they lie is what a cubin says, else they are packed in order with natural alignment from the first parameter's place.
    NumPy scalars have their own type; Python numbers take that of the parameter's size, 32 bits when nothing says. names: arg0,
    arg1, ... unless given. Raises UserError when number or sizes do not fit what the cubin says.
    """
    slots = program.parameters
    if slots and len(slots) != len(args):
        message = f"kernel {program.name}: arguments needed: {len(slots)}; given: {len(args)}"
        sizes = ", ".join(str(slot.size) for slot in slots)
        raise UserError(
            message,
            path=program.path,
            hint=f"bytes of each: {sizes}; an array is a pointer of {BYTES}, a structure is written {{&0, s32:31}}",
        )
    found: list[Parameter] = []
    end = program.parameter_base
    for position, value in enumerate(args):
        name = names[position] if names else f"arg{position}"
        slot = slots[position] if slots else None
        kind, size = _type(value, slot.size if slot else 0)
        if slot and slot.size != size:
            message = f"argument {position} has {slot.size} bytes; {_words(value)} of {size} was given"
            raise UserError(message, path=program.path, hint="pass a NumPy scalar of the parameter's type, or an array for a pointer")
        alignment = tensor_maps.ALIGNMENT if tensor_maps.is_map(value) else value.dtype.alignment if kind == STRUCTURE else size
        offset = slot.offset if slot else -(-end // alignment) * alignment
        found.append(Parameter(name, kind, offset, size))
        end = offset + size
    return dataclasses.replace(program, parameters=tuple(found), is_open=False)


def _type(value: Any, size: int) -> tuple[str, int]:
    """Return the type of an argument and its bytes. size: of the parameter, 0 = not known."""
    if value is None or isinstance(value, Pointer) or (isinstance(value, np.ndarray) and value.ndim):
        return "ptr", BYTES
    if is_structure(value):
        return STRUCTURE, value.dtype.itemsize
    if isinstance(value, bool | np.bool_):
        return "u8", 1
    if isinstance(value, np.generic | np.ndarray):
        kind = f"{KINDS.get(value.dtype.kind, '?')}{8 * value.dtype.itemsize}"
    elif isinstance(value, int | float):
        bits = 8 * size or 32
        kind = f"f{bits}" if isinstance(value, float) else f"{'s' if value < 0 else 'u'}{bits}"
    else:
        kind = "?"
    if kind not in TYPES:
        hint = f"pass an array, sim.Pointer, a scalar of a structured dtype, or a number: {' '.join(TYPES)}"
        raise UserError(f"an argument is {_words(value)}", hint=hint)
    return kind, int(kind[1:]) // 8


def _words(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.ndim:
        return "an array"
    return "a structure" if is_structure(value) else f"{type(value).__name__} {value}"
