"""The records of `.nv.info` sections: attributes of a kernel that the compiler leaves for the driver."""

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from isa.errors import UserError


class Attribute(IntEnum):
    """The EIATTR_ codes that are read here; the others are passed over."""

    MAX_THREADS = 0x05
    PARAM_CBANK = 0x0A
    FRAME_SIZE = 0x11
    MIN_STACK_SIZE = 0x12
    KPARAM_INFO = 0x17
    REGCOUNT = 0x2F
    CLUSTER = 0x3D
    NUM_BARRIERS = 0x4C


class Record(NamedTuple):
    """One attribute: its code and what it holds, as an integer or as bytes."""

    attribute: int
    number: int
    payload: bytes

    def words(self, layout: str) -> tuple[int, ...]:
        """Unpack the start of the payload by a `struct` layout without byte order. Raises struct.error."""
        return struct.unpack_from("<" + layout, self.payload)


NO_VALUE, BYTE, SHORT, SIZED = 1, 2, 3, 4


def records(data: bytes, path: str = "") -> Iterator[Record]:
    """Yield the records of a section: u8 format, u8 attribute, then a u8 or u16 value, or a u16 size and as many bytes."""
    offset = 0
    while offset + 4 <= len(data):
        form, attribute, value = struct.unpack_from("<BBH", data, offset)
        offset += 4
        if form not in (NO_VALUE, BYTE, SHORT, SIZED) or (form == SIZED and offset + value > len(data)):
            raise UserError(f"a record of .nv.info at {offset - 4:#x} is damaged", path=path, hint="compile the kernel again")
        if form == SIZED:
            yield Record(attribute, 0, data[offset : offset + value])
            offset += value
        else:
            yield Record(attribute, {NO_VALUE: 1, BYTE: value & 0xFF, SHORT: value}[form], b"")
