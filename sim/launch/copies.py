"""A launch with arrays of its own: what runs it finds them as they were, and leaves the caller's alone."""

import dataclasses
from typing import Any

import numpy as np

from sim.launch.launch import Launch
from sim.launch.placement import check_views, host_regions
from sim.launch.pointers import Pointer, reachable, to_objects, values_of


def copied(launch: Launch) -> Launch:
    """Return the launch with copies of all arrays that it reaches; views of one array are views of one copy, pointers point to copies."""
    check_views(named := reachable(values_of(launch)))
    arrays = [array for _, array in named]
    memory: dict[int, np.ndarray] = {}
    copies: dict[int, np.ndarray] = {}
    for array, (start, end) in zip(arrays, host_regions(arrays), strict=True):
        if array.dtype.hasobject or not array.nbytes or not array.flags.c_contiguous:
            copies[id(array)] = array.copy()
            continue
        piece = memory.setdefault(start, np.zeros(end - start, np.uint8))
        copy = np.ndarray(array.shape, array.dtype, piece, array.ctypes.data - start)
        copy[...] = array
        copies[id(array)] = copy

    def ours(value: Any) -> Any:
        if isinstance(value, Pointer):
            return Pointer(copies[id(value.array)], value.offset)
        return copies.get(id(value), value) if isinstance(value, np.ndarray) and value.ndim else value

    def own(value: Any) -> Any:
        """Return an argument, or what a symbol is set to, with our arrays in place of the caller's."""
        if isinstance(value, np.ndarray | np.void) and value.dtype.hasobject and id(value) not in copies:
            return to_objects(value, ours)
        return ours(value) if isinstance(value, Pointer) or id(value) in copies else _copy(value)

    for array in arrays:
        if array.dtype.hasobject:
            copies[id(array)][...] = to_objects(array, ours)
    for array in arrays:
        copies[id(array)].flags.writeable = array.flags.writeable
    symbols = {name: own(value) for name, value in launch.symbols.items()}
    memory_at = {address: _copy(array) for address, array in launch.memory.items()}
    return dataclasses.replace(launch, args=tuple(own(value) for value in launch.args), symbols=symbols, memory=memory_at)


def _copy(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    copy = value.copy()
    copy.flags.writeable = value.flags.writeable
    return copy
