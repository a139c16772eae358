"""Words between memory and the registers of a warp, lane by lane."""

import numpy as np

from isa.operations import Form
from sim.compiled.kernel import inner
from sim.functional.flags import SIGNED
from sim.functional.operands import row_of
from sim.functional.state import FULL, ZERO, Code, Machine

ONE = np.int64(1)  # words from one part of a wide access to the next


@inner
def transfer(i: int, w: int, mask: int, stride: int, step: int, words: np.ndarray, code: Code, machine: Machine) -> None:
    """Move the words at `index`, and for wide accesses those `step` further on, between memory and registers."""
    width, load = code.width[i], code.form[i] != Form.STORE
    first = code.destination[i] if load else code.operand[i, 0]
    if width < 4:
        if load:
            load_part(i, w, mask, words, code, machine)
        else:
            store_part(width, mask, words, machine.rows[row_of(first, w, code, machine)], machine)
        return
    if load and first < 0:
        return
    for part in range(width >> 2):
        row = machine.rows[row_of(first, w, code, machine) + part] if first >= 0 else machine.rows[ZERO]
        if mask == FULL and stride == 4:
            move_line(words, machine.index[0], row, machine.lanes[0], load)
        elif load:
            gather(words, part * step, row, mask, machine)
        else:
            scatter(words, part * step, row, mask, machine)


@inner
def move_line(words: np.ndarray, start: int, row: np.ndarray, lanes: int, load: bool) -> None:
    """Move one word per lane to or from consecutive words."""
    if load:
        for k in range(lanes):
            row[k] = words[start + k]
    else:
        for k in range(lanes):
            words[start + k] = row[k]


@inner
def gather(words: np.ndarray, step: int, row: np.ndarray, mask: int, machine: Machine) -> None:
    """Load one word per lane of `mask`."""
    for k in range(machine.lanes[0]):
        if (mask >> k) & 1:
            row[k] = words[machine.index[k] + step]


@inner
def scatter(words: np.ndarray, step: int, row: np.ndarray, mask: int, machine: Machine) -> None:
    """Store one word per lane of `mask`."""
    for k in range(machine.lanes[0]):
        if (mask >> k) & 1:
            words[machine.index[k] + step] = row[k]


@inner
def load_part(i: int, w: int, mask: int, words: np.ndarray, code: Code, machine: Machine) -> None:
    """Load one or two bytes per lane, extended by zeros or by the sign."""
    if code.destination[i] < 0:
        return
    row = machine.rows[row_of(code.destination[i], w, code, machine)]
    bits = 8 * code.width[i]
    for k in range(machine.lanes[0]):
        if (mask >> k) & 1:
            value = (np.int64(words[machine.index[k]]) >> (8 * (machine.target[k] & 3))) & ((np.int64(1) << bits) - 1)
            if code.flags[i] & SIGNED and value >> (bits - 1):
                value -= np.int64(1) << bits
            row[k] = np.uint32(value & FULL)


@inner
def store_part(width: int, mask: int, words: np.ndarray, row: np.ndarray, machine: Machine) -> None:
    """Store the low one or two bytes of each lane's word."""
    for k in range(machine.lanes[0]):
        if (mask >> k) & 1:
            shift = 8 * (machine.target[k] & 3)
            hole = ((np.int64(1) << (8 * width)) - 1) << shift
            old = np.int64(words[machine.index[k]])
            words[machine.index[k]] = np.uint32((old & ~hole) | ((np.int64(row[k]) << shift) & hole))
