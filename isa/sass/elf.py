"""A cubin -> `Image`: just enough of ELF64 to need no tool and no library."""

import struct
from pathlib import Path
from typing import NoReturn

from isa.architecture import KNOWN, family
from isa.errors import UserError
from isa.sass.image import Image, Relocation, Section, Symbol

MAGIC = b"\x7fELF"
CUDA_MACHINE = 190  # EM_CUDA
NO_DATA = 8  # SHT_NOBITS
SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
RELOCATIONS = {4: struct.Struct("<QQq"), 9: struct.Struct("<QQ")}  # SHT_RELA, SHT_REL
SYMBOL = struct.Struct("<IBBHQQ")


def is_elf(data: bytes) -> bool:
    """Return whether data opens as an ELF file does."""
    return data.startswith(MAGIC)


def read(path: str | Path) -> Image:
    """Read a cubin. Raises UserError."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise UserError(f"cannot read the cubin: {error.strerror}", path=str(path)) from None
    return parse(data, str(path))


def parse(data: bytes, path: str = "") -> Image:
    """Return the sections and symbols of a cubin; path only names it in messages. Raises UserError."""
    if not is_elf(data) or data[4:6] != b"\x02\x01":
        _fail("this is not a cubin: it does not open as a 64-bit little-endian ELF file", path)
    try:
        return _parse(data, path)
    except (struct.error, IndexError, ValueError):
        _fail("the cubin is cut or damaged: its tables point outside the file", path)


def _parse(data: bytes, path: str) -> Image:
    machine, flags = struct.unpack_from("<H", data, 18)[0], struct.unpack_from("<I", data, 48)[0]
    if machine != CUDA_MACHINE:
        _fail(f"this ELF file is for machine {machine}, not for a CUDA device ({CUDA_MACHINE})", path)
    # The ABI version says where the architecture stands: CUDA 13, and sm_100 already before it, moved it.
    architecture = f"sm_{flags >> 8 & 0xFF if data[8] >= 8 else flags & 0xFF}"
    if family(architecture) is None:
        raise UserError(f"architecture {architecture} is not known", path=path, hint=f"cubins for {KNOWN} are read")
    headers, names = _headers(data)
    segments, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    _slice(data, segments, size * count)  # the program headers end the file: a cut one lacks them
    sections = [_section(data, name, header) for name, header in zip(names, headers, strict=True)]
    table = names.index(".symtab") if ".symtab" in names else None
    symbols = () if table is None else _symbols(sections[table].data, sections[headers[table][6]].data, names)
    relocations = {
        names[header[7]]: _relocations(section.data, header[1])
        for header, section in zip(headers, sections, strict=True)
        if header[1] in RELOCATIONS
    }
    return Image(architecture, {section.name: section for section in sections}, symbols, path, relocations)


def _headers(data: bytes) -> tuple[list[tuple[int, ...]], list[str]]:
    """Return the section headers and the sections' names."""
    start = struct.unpack_from("<Q", data, 40)[0]
    size, count, names_at = struct.unpack_from("<HHH", data, 58)
    headers = [SECTION_HEADER.unpack_from(data, start + size * i) for i in range(count)]
    names = _slice(data, headers[names_at][4], headers[names_at][5])
    return headers, [_string(names, header[0]) for header in headers]


def _section(data: bytes, name: str, header: tuple[int, ...]) -> Section:
    _, kind, flags, _, offset, size, _, information, _, _ = header
    content = b"" if kind == NO_DATA else _slice(data, offset, size)
    is_code = name.startswith(".text.")
    return Section(name, content, size, flags >> 20 & 0x7F if is_code else 0, information >> 24 if is_code else 0)


def _symbols(table: bytes, strings: bytes, sections: list[str]) -> tuple[Symbol, ...]:
    found = []
    for name, _, _, section, value, size in SYMBOL.iter_unpack(table):
        found.append(Symbol(_string(strings, name), sections[section] if section < len(sections) else "", value, size))
    return tuple(found)


def _relocations(table: bytes, kind: int) -> tuple[Relocation, ...]:
    """Return the entries of a relocation section; those without an addend add nothing."""
    return tuple(
        Relocation(offset, information >> 32, addend[0] if addend else 0)
        for offset, information, *addend in RELOCATIONS[kind].iter_unpack(table)
    )


def _slice(data: bytes, start: int, size: int) -> bytes:
    if start + size > len(data):
        raise IndexError
    return data[start : start + size]


def _string(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode()


def _fail(message: str, path: str) -> NoReturn:
    raise UserError(message, path=path, hint="make one with `nvcc -cubin` or take it out of a program with `cuobjdump -xelf all`")
