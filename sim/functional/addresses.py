"""The byte address that each lane's registers name."""

import numpy as np

from isa.vocabulary import Space
from sim.compiled.kernel import first_bit, inner
from sim.functional.flags import ADDRESS64, INDEX64
from sim.functional.operands import row_of
from sim.functional.state import FULL, LANES, NO_INDEX, ZERO, Code, Machine, Store
from sim.traces.trace import SCATTERED


@inner
def addresses(i: int, w: int, code: Code, machine: Machine) -> None:
    """Write each lane's byte address."""
    row = row_of(code.address[i], w, code, machine)
    low, high, target, offset = machine.rows[row], machine.rows[row + 1], machine.target, code.offset[i]
    lanes = machine.lanes[0]
    if code.index[i] != NO_INDEX or code.scale[i] != 1:
        indexed_addresses(i, w, code, machine)
    elif code.flags[i] & ADDRESS64:
        for k in range(lanes):
            target[k] = (np.int64(low[k]) | (np.int64(high[k]) << 32)) + offset
    else:
        for k in range(lanes):
            target[k] = (np.int64(low[k]) + offset) & FULL


@inner
def indexed_addresses(i: int, w: int, code: Code, machine: Machine) -> None:
    """Write each lane's byte address of the forms [R2.X4+8], [R2+UR4], [R2.U32+UR4], [R2.64+UR4]."""
    base, flags, scale = row_of(code.address[i], w, code, machine), code.flags[i], code.scale[i]
    index = row_of(code.index[i], w, code, machine) if code.index[i] != NO_INDEX else ZERO
    wide = ADDRESS64 | INDEX64 if code.space[i] <= Space.GLOBAL else 0
    for k in range(machine.lanes[0]):
        address = np.int64(machine.rows[base, k]) * scale + np.int64(machine.rows[index, k]) + code.offset[i]
        if flags & ADDRESS64:
            address += np.int64(machine.rows[base + 1, k]) << 32
        if flags & INDEX64:
            address += np.int64(machine.rows[index + 1, k]) << 32
        machine.target[k] = address if flags & wide else address & FULL


@inner
def names_lanes(i: int, code: Code) -> bool:
    """Return whether the log keeps the addresses of LDC i: a register names them (`trace.names_lanes`)."""
    return code.address[i] != ~ZERO


@inner
def spacing(mask: int, machine: Machine) -> tuple[int, int]:
    """Return lane 0's address and the bytes between lanes, were they evenly spaced; the stride is SCATTERED when they are not."""
    target, lanes = machine.target, machine.lanes[0]
    first = first_bit(mask)
    rest = mask & (mask - 1)
    if rest == 0:
        return target[first], np.int64(0)
    second = first_bit(rest)
    stride = (target[second] - target[first]) // (second - first)
    base = target[first] - first * stride
    wrong = np.int64(0)
    for k in range(lanes):
        wrong |= ((mask >> k) & 1) * (target[k] ^ (base + k * stride))
    return base, stride if wrong == 0 else SCATTERED


@inner
def last_bit(mask: int) -> int:
    """Return the position of the highest bit set in a lane mask."""
    lane = np.int64(LANES - 1)
    while not (mask >> lane) & 1:
        lane -= 1
    return lane


@inner
def keep_scattered(mask: int, machine: Machine, store: Store) -> int:
    """Append the lanes' addresses to the trace; return their row."""
    row = store.scattered_rows[0]
    for k in range(machine.lanes[0]):
        store.scattered[row, k] = np.uint32(machine.target[k] if (mask >> k) & 1 else 0)
    store.scattered_rows[0] = row + 1
    return row
