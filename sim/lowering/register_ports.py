"""Which registers an instruction reads through the ports of the banks."""

import numpy as np

from isa.dependences import source_registers, word_slots
from isa.program import SOURCES, Program
from isa.vocabulary import RZ, Kind, Unit
from sim.lowering.control_words import PORTED


def alike(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return int64 [kinds]: the first row of each kind, those with the same values, in their order; and int64 [n]: the kind of each row."""
    _, first, kind = np.unique(np.column_stack(columns), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[kind.reshape(-1)]


def port_registers(program: Program) -> np.ndarray:
    """Return int16 [n, SOURCES, 2]: of each field of an instruction's word the registers that go through the ports of the register banks.

    -1 = none.
    """
    encoded = program.encoded
    first, kind = alike(encoded.operation, encoded.unit, encoded.flags, encoded.width, encoded.source_kind)
    slots, counts = np.zeros((2, len(first), SOURCES), np.int64)
    for k, i in enumerate(first.tolist()):
        kinds, is_ported = encoded.source_kind[i].tolist(), Unit(encoded.unit[i]) in PORTED
        slots[k] = word_slots(int(encoded.operation[i]), kinds)
        for field, slot in enumerate(slots[k].tolist()):
            if is_ported and kinds[slot] == Kind.REGISTER:
                counts[k, field] = source_registers(int(encoded.operation[i]), int(encoded.flags[i]), slot, int(encoded.width[i]))
    value = np.take_along_axis(encoded.source_value, slots[kind], axis=1)[:, :, None]
    is_read = (value < RZ) & (np.arange(2) < counts[kind][:, :, None])
    return np.where(is_read, value + np.arange(2), -1).astype(np.int16)
