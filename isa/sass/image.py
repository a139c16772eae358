"""Sections and symbols of compiled code, out of a cubin (`elf.py`) or out of the full text of nvdisasm (`sections.py`)."""

from dataclasses import dataclass, field
from typing import NamedTuple


class Section(NamedTuple):
    """One section."""

    name: str
    data: bytes  # empty for sections that only reserve memory
    size: int  # bytes
    barriers: int = 0  # of code built before CUDA 13: barriers used
    registers: int = 0  # of code for architectures before sm_90: registers used


class Symbol(NamedTuple):
    """A name in a section."""

    name: str
    section: str
    offset: int  # bytes
    size: int  # bytes


class Relocation(NamedTuple):
    """A place of a section that gets the address of a symbol."""

    offset: int  # bytes in the section
    symbol: int  # index
    addend: int  # bytes


@dataclass(frozen=True)
class Image:
    """What one compilation for one architecture holds."""

    architecture: str
    sections: dict[str, Section] = field(repr=False)
    symbols: tuple[Symbol, ...] = field(repr=False)  # the index is what .nv.info names
    path: str = ""
    relocations: dict[str, tuple[Relocation, ...]] = field(default_factory=dict, repr=False)  # by section

    def data(self, name: str) -> bytes:
        """Return the bytes of a section; none when it is not there."""
        return self.sections[name].data if name in self.sections else b""
