"""`--arg` by type: in order, for kernels whose listing names no parameters: `f32:1.5`, `i32:1000`, `f32[1024]=random`, `u8[64]=data.npy`;
arrays also by name: `out=f32[1024]=zeros`.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np

from isa.errors import UserError
from sim.arrays import Array, build_arrays

TYPES = {"f": "float", "i": "int", "s": "int", "u": "uint"}
SCALAR = re.compile(r"([fisu])(8|16|32|64):(\S+)")
ARRAY = re.compile(r"([fisu])(8|16|32|64)\[(\d+(?:[x,]\d+)*)\](?:=(\S+))?")
RULES = ("zeros", "ones", "arange", "random")
INTEGERS_BELOW = 100  # that `random` draws
USAGE = f"write f32:1.5 or i32:1000 for a number, f32[1024]=RULE for an array; RULE: {', '.join(RULES)} or a .npy file"


def is_positional(text: str) -> bool:
    """True for an argument that is written by its type, not by its name."""
    return bool(SCALAR.fullmatch(text) or ARRAY.fullmatch(text))


def positional(texts: list[str]) -> tuple[Any, ...]:
    """Return the arguments, NumPy scalars and arrays, in order. Raises UserError for one that is written otherwise."""
    arguments = [_argument(position, text) for position, text in enumerate(texts)]
    arrays = build_arrays([rule for rule in arguments if isinstance(rule, Array)], {}, Path("--arg"))
    return tuple(arrays[argument.name] if isinstance(argument, Array) else argument for argument in arguments)


def named_arrays(texts: list[str]) -> dict[str, Any]:
    """Return the arrays among arguments that are written NAME=TYPE[N]=RULE."""
    found = [text.split("=", 1) for text in texts if is_named_array(text)]
    return dict(zip((name for name, _ in found), positional([array for _, array in found]), strict=True))


def is_named_array(text: str) -> bool:
    """True for an array that is written by its name and type."""
    return bool(ARRAY.fullmatch(text.partition("=")[2]))


def _argument(position: int, text: str) -> Any:
    """Return a NumPy scalar, or the rule of an array."""
    if match := SCALAR.fullmatch(text):
        kind = np.dtype(f"{TYPES[match[1]]}{match[2]}").type if match[1] != "f" or match[2] != "8" else None
        try:
            return kind(float(match[3]) if match[1] == "f" else int(match[3], 0))  # type: ignore[misc]
        except (TypeError, ValueError, OverflowError):
            raise UserError(f"--arg {text}: {match[3]} is no value of that type", hint=USAGE) from None
    match = ARRAY.fullmatch(text)
    if match is None:
        raise UserError(f"--arg {text}: the kernel's parameters have no names here, and this is no typed argument", hint=USAGE)
    rule, dtype = match[4] or "zeros", f"{TYPES[match[1]]}{match[2]}"
    shape = [int(size) for size in re.split("[x,]", match[3])]
    name = f"arg{position}"
    if rule in RULES:
        high = 1.0 if match[1] == "f" else INTEGERS_BELOW
        return Array(name=name, dtype=dtype, shape=shape, init=rule, high=high, seed=position)  # type: ignore[arg-type]
    return Array(name=name, dtype=dtype, shape=shape, seed=0, file=str(Path(rule).resolve()))
