"""Pointers as programs have them: into an array, before it, in a structure passed by value, in memory.

    sim.Pointer(x, 16)                                      # byte 16 of x; so is x[4:] of a float32 array
    pair = np.dtype([("data", object), ("n", np.int32)], align=True)
    args = (np.array((x, 1000), pair)[()],)                 # struct { float* data; int n; } by value
    rows = np.empty(2, object); rows[:] = [Pointer(x), Pointer(y)]        # float* rows[2], in memory

A field or an element of dtype object is a pointer, 8 bytes as on the device: an array, a `Pointer`, None (null) or an integer.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isa.errors import UserError

if TYPE_CHECKING:
    from sim.launch.launch import Launch

BYTES = 8


@dataclass(frozen=True, eq=False)
class Pointer:
    """The address of byte `offset` of an array; before its start where negative."""

    array: np.ndarray
    offset: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.array, np.ndarray) or not isinstance(self.offset, int | np.integer):
            message = f"Pointer({type(self.array).__name__}, {self.offset!r}): an array and a whole number of bytes are needed"
            raise UserError(message, hint="a structure that is pointed to is an array of one, or of no dimensions")

    def __repr__(self) -> str:
        return f"Pointer({self.array.dtype.kind}{8 * self.array.itemsize}{list(self.array.shape)}, {self.offset})"


def is_structure(value: Any) -> bool:
    """True for a structure passed by value: a NumPy scalar, or an array without dimensions, that has fields or plain bytes."""
    return isinstance(value, np.void) or (isinstance(value, np.ndarray) and not value.ndim and value.dtype.kind == "V")


def device_type(dtype: np.dtype) -> np.dtype:
    """Return a dtype of the same layout with 64-bit integers for pointers."""
    if dtype.kind == "O":
        return np.dtype("<u8")
    if dtype.subdtype:
        return np.dtype((device_type(dtype.subdtype[0]), dtype.subdtype[1]))
    if not dtype.names or not dtype.fields:
        return dtype
    fields = [dtype.fields[name] for name in dtype.names]
    formats, offsets = [device_type(field[0]) for field in fields], [field[1] for field in fields]
    return np.dtype({"names": dtype.names, "formats": formats, "offsets": offsets, "itemsize": dtype.itemsize})


def pointers_in(value: Any) -> Iterator[Any]:
    """Yield the pointers that a structure or an array holds, in order."""
    if isinstance(value, np.ndarray | np.void) and value.dtype.hasobject:
        for ours, _ in _leaves(np.asarray(value), np.asarray(value)):
            if ours.dtype.kind == "O":
                yield from ours.flat


def reachable(values: list[tuple[str, Any]]) -> list[tuple[str, np.ndarray]]:
    """Return every array that named values are or lead to, each once, with a name: its own, or `list.3` for what pointer 3 of list is."""
    found: dict[int, tuple[str, np.ndarray]] = {}
    queue = list(values)
    for name, value in queue:  # grows while it is read
        array = value.array if isinstance(value, Pointer) else value
        if isinstance(array, np.ndarray) and (array is not value or not is_structure(array)):
            if id(array) in found:
                continue
            found[id(array)] = (name, array)
        queue += [(f"{name}.{k}", element) for k, element in enumerate(pointers_in(array))]
    return list(found.values())


def to_device(value: np.ndarray | np.void, address: Callable[[Any], int]) -> np.ndarray:
    """Return the value as the device has it, pointers as addresses; a copy of the same shape, of `device_type`."""
    source = np.asarray(value)
    image = np.zeros(source.shape, device_type(source.dtype))
    for ours, device in _leaves(source, image):
        if ours.dtype.kind == "O":
            device.flat[:] = [address(element) for element in ours.flat]
        else:
            device[...] = ours
    return image


def to_objects(value: np.ndarray | np.void, change: Callable[[Any], Any]) -> Any:
    """Return a copy of a structure or an array with every pointer changed."""
    copy = np.array(value)
    for ours, _ in _leaves(copy, copy):
        if ours.dtype.kind == "O":
            for k, element in enumerate(ours.flat):
                ours.flat[k] = change(element)
    return copy[()]


def from_device(array: np.ndarray, image: np.ndarray, address: Callable[[Any], int], pointer: Callable[[int], Any]) -> None:
    """Bring an array with pointers up to date: a pointer that still has its address stays the object that it is."""
    for ours, device in _leaves(array, image.view(device_type(array.dtype)).reshape(array.shape)):
        if ours.dtype.kind == "O":
            for k, (old, new) in enumerate(zip(ours.flat, device.flat, strict=True)):
                if address(old) != int(new):
                    ours.flat[k] = pointer(int(new))
        else:
            ours[...] = device


def values_of(launch: "Launch") -> list[tuple[str, Any]]:
    """Return what a launch gives, by name: its arguments, then what its symbols hold."""
    names = (parameter.name for parameter in launch.program.parameters)
    arguments = list(zip(names, launch.args, strict=False))  # the executor counts them
    for name, value in launch.symbols.items():
        held = [value] if isinstance(value, Pointer) else pointers_in(value)
        arguments += [(f"{name}.{k}", one) for k, one in enumerate(held)]
    return arguments


def check_order(dtype: np.dtype, name: str) -> None:
    """Raise UserError for numbers whose bytes are not in the device's order: the lowest first."""
    if dtype.newbyteorder("<") != dtype:
        raise UserError(
            f"{name}: {dtype} has the highest byte first, the device the lowest", hint='array.astype(array.dtype.newbyteorder("<"))'
        )


def check_pointer(element: Any, name: str) -> None:
    """Raise UserError for an element of dtype object that is no pointer."""
    whole = isinstance(element, int | np.integer) and not isinstance(element, bool) and 0 <= element < 1 << 64
    if not (element is None or whole or isinstance(element, Pointer | np.ndarray)):
        raise UserError(
            f"{name}: {type(element).__name__} {element} is not a pointer", hint="give an array, sim.Pointer, None or an address"
        )


def _leaves(ours: np.ndarray, device: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield views of the fields that have no fields of their own, side by side."""
    if not ours.dtype.names:
        yield ours, device
        return
    for name in ours.dtype.names:
        yield from _leaves(ours[name], device[name])
