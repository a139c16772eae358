"""Arguments written as text that lead to others: pointers, structures by value, arrays of pointers, typed numbers.

&x       &x+16      &x-8       null         a pointer to an argument, so many bytes from its start
{&x, s32:31, f32:2.5}                       a structure: its fields in order, each aligned to its size
{f32:1, f32:2, f32:3, f32:4}@16             the same, aligned to 16 bytes, as float4 is
[&x, &y+4, null]                            an array of pointers
"""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from isa.errors import UserError
from sim.launch.pointers import Pointer

NUMBER = re.compile(r"([fisu])(8|16|32|64):(\S+)")
POINTER = re.compile(r"&(\w+)(?:\s*([+-])\s*(0x[0-9a-fA-F]+|\d+))?")
TYPES = {"f": "float", "i": "int", "s": "int", "u": "uint"}
USAGE = "write &x or &x+16 for a pointer, {&x, s32:31, f32:2.5} for a structure, [&x, &y] for an array of pointers, f32:1.5 for a number"


def is_composed(text: str) -> bool:
    """True for text that `composed` reads and that is more than a number."""
    return text.strip()[:1] in ("&", "{", "[") or text.strip() == "null"


def composed(text: str, arrays: Mapping[str, np.ndarray], where: str) -> Any:
    """Return what a text means: a `Pointer`, None, a structure, an array of pointers, or a NumPy scalar.

    arrays: those that it may point to, by name. where: what a message begins with. Raises UserError.
    """
    text = text.strip()
    if text.startswith("["):
        elements = [_piece(part, arrays, where) for part in _parts(text, "[", "]", where)]
        if not elements or not all(element is None or isinstance(element, Pointer) for element in elements):
            raise UserError(f"{where}: {text} is not an array of pointers", hint=USAGE)
        found = np.empty(len(elements), object)
        found[:] = elements
        return found
    if text.startswith("{"):
        body, _, alignment = text.rpartition("@") if re.search(r"@\s*\d+$", text) else (text, "", "1")
        values = [_piece(part, arrays, where) for part in _parts(body.strip(), "{", "}", where)]
        return _structure(values, int(alignment), f"{where}: {text}")
    return _piece(text, arrays, where)


def number(text: str, where: str) -> Any:
    """Return a NumPy scalar written as its type and its value: f32:1.5. Raises UserError."""
    match = NUMBER.fullmatch(text)
    kind = np.dtype(f"{TYPES[match[1]]}{match[2]}").type if match and (match[1] != "f" or match[2] != "8") else None
    if match is None or kind is None:
        raise UserError(f"{where}: {text} is not a typed number", hint=USAGE)
    try:
        return kind(float(match[3]) if match[1] == "f" else int(match[3], 0))
    except (ValueError, OverflowError):
        raise UserError(f"{where}: {match[3]} is not a value of that type", hint=USAGE) from None


def _piece(text: str, arrays: Mapping[str, np.ndarray], where: str) -> Any:
    text = text.strip()
    if text == "null":
        return None
    match = POINTER.fullmatch(text)
    if match is None:
        return number(text, where)
    if match[1] not in arrays:
        raise UserError(f"{where}: {text} points to {match[1]}, which is not an array here", hint=f"arrays: {', '.join(arrays) or 'none'}")
    return Pointer(arrays[match[1]], int(f"{match[2] or '+'}{int(match[3] or '0', 0)}"))


def _parts(text: str, opening: str, closing: str, where: str) -> list[str]:
    if not (text.startswith(opening) and text.endswith(closing)):
        raise UserError(f"{where}: {text} does not end with {closing}", hint=USAGE)
    return [part for part in text[1:-1].split(",") if part.strip()]


def _structure(values: list[Any], alignment: int, where: str) -> Any:
    """Return the values as fields, each at a multiple of its size, the whole as C lays it out."""
    if not values or alignment not in (1, 2, 4, 8, 16):
        raise UserError(f"{where} is not a structure: it has no fields, or an alignment other than 1, 2, 4, 8, 16", hint=USAGE)
    formats = [value.dtype if isinstance(value, np.generic) else np.dtype(object) for value in values]
    offsets, end = [], 0
    for form in formats:
        offsets.append(-(-end // form.itemsize) * form.itemsize)
        end = offsets[-1] + form.itemsize
    unit = max(alignment, *(form.itemsize for form in formats))
    names = [f"field{k}" for k in range(len(values))]
    layout = {"names": names, "formats": formats, "offsets": offsets, "itemsize": -(-end // unit) * unit}
    return np.array(tuple(values), np.dtype(layout))[()]  # type: ignore[call-overload]
