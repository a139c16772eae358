"""Addresses as the program has them -> places in device memory, of launches that bring memory at its addresses (`sim.launch.pages`)."""

import numpy as np

from isa.vocabulary import Space
from sim.compiled.kernel import inner, outlined
from sim.functional.addresses import addresses
from sim.functional.state import NOWHERE, Code, Machine, Memory
from sim.functional.windows import space_of


@outlined
def device_addresses(i: int, w: int, mask: int, code: Code, machine: Machine, memory: Memory) -> None:
    """Write each lane's byte address; of global memory, where that lies in device memory."""
    addresses(i, w, code, machine)
    if memory.seen.size and code.space[i] <= Space.GLOBAL:
        translate(mask, machine.target, memory.seen, memory.start, memory.end, memory.latest)


@outlined
def translate(mask: int, target: np.ndarray, seen: np.ndarray, start: np.ndarray, end: np.ndarray, latest: np.ndarray) -> None:
    """Move the addresses of the lanes of `mask` to where their allocations lie; an address that is in none is marked by NOWHERE.

    Windows onto shared and local memory stay. Arrays and not their tuples are handed over: a call with those is large where it is made.
    """
    for k in range(target.size):
        address = target[k]
        if (mask >> k) & 1 and space_of(address) == Space.GENERIC:
            array = allocation_of(address, seen, start, end, latest)
            target[k] = address | NOWHERE if array < 0 else address - seen[array] + start[array]


@inner
def allocation_of(address: int, seen: np.ndarray, start: np.ndarray, end: np.ndarray, latest: np.ndarray) -> int:
    """Return the allocation that an address of the program is in, or -1."""
    if 0 <= address - seen[latest[0]] < end[latest[0]] - start[latest[0]]:
        return latest[0]
    array = np.searchsorted(seen, address, side="right") - 1
    if array >= 0 and address - seen[array] < end[array] - start[array]:
        return np.int64(array)
    return np.int64(-1)


def as_seen(address: int, memory: Memory) -> int:
    """Return the address that the program has for a place in device memory."""
    inside = np.flatnonzero((memory.start <= address) & (address < memory.end))
    return address - int(memory.start[inside[0]]) + int(memory.seen[inside[0]]) if inside.size else address & ~int(NOWHERE)
