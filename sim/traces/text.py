"""One kernel file as text: its head, the instructions that it names, and the messages of what is wrong with it."""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple, NoReturn

from isa.errors import UserError
from sim.traces import files
from sim.traces.scan import BEYOND, DELTAS, STRIDED

FIELD = re.compile(r"-([\w ]+?)\s*=\s*(.*)")
SIZES = re.compile(r"\((\d{1,10}),(\d{1,10}),(\d{1,10})\)", re.ASCII)
FIRST_SHORT_VERSION = 3
WARP = 32


class Head(NamedTuple):
    """What a kernel file says before its instructions. Addresses are 0 where it does not say."""

    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared_bytes: int
    registers: int
    architecture: str  # "sm_70"
    skipped: int  # numbers ahead of each instruction
    shared_base: int
    local_base: int


class Static(NamedTuple):
    """An instruction without what differs from one execution to the next."""

    pc: int
    opcode: str
    destinations: tuple[str, ...]
    sources: tuple[str, ...]
    immediate: int


class KernelFile:
    """A kernel file, its head read."""

    def __init__(self, path: Path) -> None:
        self.path, self.line = path, 0  # line: that is being read, from 1
        self._chunks = files.chunks(path)
        self._first = next(self._chunks, b"")
        self.head, self.begins = self._head()  # begins: byte behind the head

    def chunks(self) -> Iterator[bytes]:
        """Yield whole lines, once, the head's among the first. Raises UserError."""
        return chain([self._first], self._chunks)

    def fail(self, message: str, hint: str = "", line: int | None = None) -> NoReturn:
        """Raise a UserError at the line being read."""
        raise UserError(message, path=str(self.path), line=self.line if line is None else line, hint=hint)

    def static(self, text: str) -> tuple[Static, bool]:
        """Return what a line says of an instruction, and whether it has addresses. Raises ValueError and IndexError."""
        if not text.isascii():  # it has blanks that are none to `scan`
            raise ValueError
        words = text.split()[self.head.skipped :]
        pc, mask, count = int(words[0], 16), int(words[1], 16), int(words[2])
        opcode, at = words[3 + count], 5 + count
        sources = int(words[4 + count])
        width, rest = int(words[at + sources]), words[at + sources + 1 :]
        if width:
            rest = rest[3 if int(rest[0]) == STRIDED else max(mask.bit_count(), int(rest[0]) == DELTAS) + 1 :]
        registers = words[3 : 3 + count], words[at : at + sources]
        return Static(pc, opcode, tuple(registers[0]), tuple(registers[1]), int(rest[0], 0) if rest else 0), width > 0

    def place(self, text: str) -> tuple[int, int, int]:
        """Return the place in the grid that a line names."""
        try:
            x, y, z = (int(part) for part in text.partition("=")[2].split(","))
        except ValueError:
            self.fail(f"{text[:60]}: not a place in the grid", "write it as thread block = 0,0,0")
        return x, y, z

    def _head(self) -> tuple[Head, int]:
        fields: dict[str, str] = {}
        at = 0
        while at < len(self._first):
            end = (self._first.find(b"\n", at) + 1) or len(self._first)
            text, at = self._first[at:end].decode("utf-8", "replace").strip(), end
            self.line += 1
            if text.startswith("#"):
                break
            if match := FIELD.fullmatch(text):
                fields[match[1]] = match[2]
            elif text:
                self.fail(f"expected a field such as -grid dim = (1,1,1), found {text[:60]!r}", "is this a .traceg file?")
        lacking = [name for name in ("kernel name", "grid dim", "block dim", "binary version") if name not in fields]
        if lacking:
            self.fail(f"the head has no -{lacking[0]} = ...", "trace the kernel again, or add the line")
        version, line_information = self._integer(fields, "accelsim tracer version", 5), self._integer(fields, "enable lineinfo", 0)
        head = Head(
            name=fields["kernel name"].strip(),
            grid=self._sizes(fields["grid dim"]),
            block=self._sizes(fields["block dim"]),
            shared_bytes=self._integer(fields, "shmem", 0),
            registers=self._integer(fields, "nregs", 0),
            architecture=f"sm_{self._integer(fields, 'binary version', 0)}",
            skipped=(0 if version >= FIRST_SHORT_VERSION else 4) + bool(line_information),
            shared_base=self._integer(fields, "shmem base_addr", 0),
            local_base=self._integer(fields, "local mem base_addr", 0),
        )
        return head, at

    def _integer(self, fields: dict[str, str], name: str, default: int) -> int:
        try:
            number = int(fields.get(name, str(default)), 0)
        except ValueError:
            number = -1
        if not 0 <= number < BEYOND:
            self.fail(f"-{name} = {fields[name][:60]}: not a number, or too large")
        return number

    def _sizes(self, text: str) -> tuple[int, ...]:
        match = SIZES.fullmatch(text.replace(" ", ""))
        sizes = tuple(int(part) for part in match.groups()) if match else (0,)
        if 0 in sizes:
            self.fail(f"{text[:60]}: not three sizes", "write them as (16,1,1)")
        return sizes
