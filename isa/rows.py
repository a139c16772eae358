"""One instruction of `Encoded` while it is being filled, and the packing of many into arrays."""

from dataclasses import dataclass, field

import numpy as np

from isa.program import READS, SOURCES, WRITES, Encoded
from isa.vocabulary import PT

DTYPES = {
    **dict.fromkeys(("operation", "destination", "address_register", "address_index", "reads", "writes"), np.int16),
    **dict.fromkeys(("guard_not", "source_kind", "source_flags", "predicate_source_not", "cache"), np.uint8),
    **dict.fromkeys(("flags", "function", "target", "reconverge"), np.int32),
    **dict.fromkeys(("source_value", "address_offset"), np.int64),
}  # the others are int8
WIDTHS = {"reads": READS, "writes": WRITES} | dict.fromkeys(("source_kind", "source_value", "source_bank", "source_flags"), SOURCES)
WIDTHS |= {"predicate_destination": 2, "predicate_source": 3, "predicate_source_not": 3}


@dataclass(slots=True)
class Row:
    """The fields of `Encoded` for one instruction; `reads` and `writes` are not padded yet."""

    operation: int
    unit: int
    space: int
    flags: int
    compare: int
    combine: int
    rounding: int
    function: int
    width: int
    cache: int
    guard: int = PT
    guard_not: int = 0
    destination: int = -1
    destination_count: int = 0
    predicate_destination: list[int] = field(default_factory=lambda: [PT, PT])
    source_kind: list[int] = field(default_factory=lambda: [0] * SOURCES)
    source_value: list[int] = field(default_factory=lambda: [0] * SOURCES)
    source_bank: list[int] = field(default_factory=lambda: [0] * SOURCES)
    source_flags: list[int] = field(default_factory=lambda: [0] * SOURCES)
    predicate_source: list[int] = field(default_factory=lambda: [PT, PT, PT])
    predicate_source_not: list[int] = field(default_factory=lambda: [0, 0, 0])
    address_register: int = -1
    address_index: int = -1
    address_scale: int = 1
    address_offset: int = 0
    target: int = -1
    reconverge: int = -1
    reads: list[int] = field(default_factory=list)
    writes: list[int] = field(default_factory=list)


def pack(rows: list[Row], numbers: list[int] | None = None) -> Encoded:
    """Return the rows of these numbers (all, when there are none) as arrays, dependences padded with -1."""
    columns, chosen = {}, np.array(range(len(rows)) if numbers is None else numbers, np.int64)
    for name in Encoded._fields:
        values = [getattr(row, name) for row in rows]
        width = WIDTHS.get(name, 0)
        if name in ("reads", "writes"):
            values = [value + [-1] * (width - len(value)) for value in values]
        shape = (len(rows), width) if width else (len(rows),)
        columns[name] = np.array(values, DTYPES.get(name, np.int8)).reshape(shape)[chosen]
    return Encoded(**columns)
