"""Generic addresses: an address's high word says which memory it is of. Windows onto shared and local memory lie above all arrays."""

import numpy as np

from isa.vocabulary import Space
from sim.compiled.kernel import first_bit, inner, outlined
from sim.functional.addresses import addresses
from sim.functional.operands import write_predicate
from sim.functional.state import FIRST, FULL, LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BITS, Code, Machine
from sim.traces.trace import SCATTERED


@inner
def space_of(address: int) -> int:
    """Return the Space of a generic address: GENERIC when it is in no window, as all arrays are."""
    window = address >> WINDOW_BITS
    return np.int64(Space.SHARED if window == SHARED_WINDOW else Space.LOCAL if window == LOCAL_WINDOW else Space.GENERIC)


@inner
def has_windows(base: int, stride: int, mask: int, machine: Machine) -> bool:
    """Return whether a lane's address lies in a window; evenly spaced ones are looked at by their ends."""
    if stride != SCATTERED:
        return (base | (base + 31 * stride)) >> WINDOW_BITS != 0
    return any_window(mask, machine.target)


@outlined
def any_window(mask: int, target: np.ndarray) -> bool:
    """Return whether a lane's address is beyond 4 GiB."""
    found = np.int64(0)
    for k in range(target.size):
        found |= ((mask >> k) & 1) * (target[k] >> WINDOW_BITS)
    return found != 0


@outlined
def next_window(rest: int, machine: Machine) -> int:
    """Return the lanes of `rest` whose addresses are of the same memory as the first one's, and make offsets in it of them.

    Which memory goes to machine.window.
    """
    space, lanes = space_of(machine.target[first_bit(rest)]), np.int64(0)
    for k in range(machine.lanes[0]):
        if (rest >> k) & 1 and space_of(machine.target[k]) == space:
            lanes |= np.int64(1) << k
            machine.target[k] = machine.target[k] if space == Space.GENERIC else machine.target[k] & FULL
    machine.window[0] = space
    return lanes


@inner
def query_space(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Execute QSPC: whether generic addresses are of global, shared or local memory."""
    addresses(i, w, code, machine)
    asked, truth = code.function[i], np.int64(0)
    asked = np.int64(Space.GENERIC) if asked == Space.GLOBAL else asked
    for k in range(machine.lanes[0]):
        truth |= np.int64(space_of(machine.target[k]) == asked) << k
    write_predicate(i, FIRST, w, truth, mask, code, machine)
