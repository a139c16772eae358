"""One kernel file as text -> what it says: the head, and the instructions of every warp of every block.

A line of an instruction (tracer version 3 to 5): `PC MASK n Rd... OPCODE n Rs... WIDTH [MODE ADDRESSES...] [IMMEDIATE]`; before version
3 four numbers stand ahead of it, with line information one.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from isa.errors import UserError
from sim.traces import files

LINE = "PC MASK n Rd... OPCODE n Rs... WIDTH [MODE ADDRESSES...] [IMMEDIATE]"
FIELD = re.compile(r"-([\w ]+?)\s*=\s*(.*)")
SIZES = re.compile(r"\((\d+),(\d+),(\d+)\)")
LISTED, STRIDED, DELTAS = range(3)  # MODE
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


class Step(NamedTuple):
    """One execution of an instruction by a warp."""

    static: Static
    mask: int
    addresses: tuple[int, int] | tuple[int, ...] | None  # of active lanes; None = no memory
    is_strided: bool  # `addresses` is the first address and the stride
    line: int


class Block(NamedTuple):
    """The steps of each warp of a block."""

    place: tuple[int, int, int]
    warps: dict[int, list[Step]]


class KernelFile:
    """Reads one kernel file: first `head`, then `blocks`."""

    def __init__(self, path: Path) -> None:
        self.path, self.line = path, 0
        self.lines = self._numbered()
        self.known: dict[str, tuple[Static, int]] = {}  # lines without addresses
        self.head = self._head()

    def fail(self, message: str, hint: str = "", line: int | None = None) -> NoReturn:
        """Raise a UserError at the line being read."""
        raise UserError(message, path=str(self.path), line=self.line if line is None else line, hint=hint)

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks in the order of the file. Raises UserError."""
        block: Block | None = None
        steps: list[Step] = []
        expected = 0
        for text in self.lines:
            if not text or text.startswith("#traces"):
                continue
            if text == "#BEGIN_TB":
                block, expected = Block((0, 0, 0), {}), 0
            elif block is None:
                self.fail(f"expected #BEGIN_TB, found {text[:60]!r}", "the trace is cut or was edited")
            elif text == "#END_TB" or text.startswith("warp"):
                if len(steps) != expected:
                    self.fail(f"a warp has {len(steps)} of {expected} instructions", "the trace is cut: trace the kernel again")
                if text == "#END_TB":
                    yield block
                    block = None
                steps, expected = [], 0
                if block:
                    block.warps[self._number(text)] = steps
            elif text.startswith("thread block"):
                block = Block(self._place(text), block.warps)
            elif text.startswith("insts"):
                expected = self._number(text)
            else:
                steps.append(self._step(text))
        if block is not None:
            self.fail("the file ends inside a block", "the trace is cut: trace the kernel again")

    def _numbered(self) -> Iterator[str]:
        for text in files.lines(self.path):
            self.line += 1
            yield text.strip()

    def _head(self) -> Head:
        fields: dict[str, str] = {}
        for text in self.lines:
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
        return Head(
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

    def _integer(self, fields: dict[str, str], name: str, default: int) -> int:
        try:
            return int(fields.get(name, str(default)), 0)
        except ValueError:
            self.fail(f"-{name} = {fields[name]}: not a number")

    def _sizes(self, text: str) -> tuple[int, ...]:
        match = SIZES.fullmatch(text.replace(" ", ""))
        if match is None or "0" in match.groups():
            self.fail(f"{text}: not three sizes", "write them as (16,1,1)")
        return tuple(int(part) for part in match.groups())

    def _place(self, text: str) -> tuple[int, int, int]:
        try:
            x, y, z = (int(part) for part in text.partition("=")[2].split(","))
        except ValueError:
            self.fail(f"{text}: not a place in the grid", "write it as thread block = 0,0,0")
        return x, y, z

    def _number(self, text: str) -> int:
        number = text.partition("=")[2].strip()
        if not number.isdecimal():
            self.fail(f"{text}: not a number", "write it as warp = 0, insts = 12")
        return int(number)

    def _step(self, text: str) -> Step:
        if text in self.known:
            static, mask = self.known[text]
            return Step(static, mask, None, False, self.line)
        try:
            step = self._new_step(text.split()[self.head.skipped :])
        except (ValueError, IndexError):
            self.fail("this line is no instruction of a trace", f"an instruction is {LINE}")
        if step.addresses is None:
            self.known[text] = step.static, step.mask
        return step

    def _new_step(self, words: list[str]) -> Step:
        """Take a line apart. Raises ValueError and IndexError."""
        pc, mask, count = int(words[0], 16), int(words[1], 16), int(words[2])
        opcode, at = words[3 + count], 5 + count
        sources = int(words[4 + count])
        width, rest = int(words[at + sources]), words[at + sources + 1 :]
        if not 0 <= mask < 1 << WARP:
            raise ValueError
        addresses, is_strided = None, False
        if width:
            addresses, used = _addresses(rest, mask.bit_count())
            is_strided, rest = int(rest[0]) == STRIDED, rest[used:]
        registers = words[3 : 3 + count], words[at : at + sources]
        immediate = int(rest[0], 0) if rest else 0
        return Step(Static(pc, opcode, tuple(registers[0]), tuple(registers[1]), immediate), mask, addresses, is_strided, self.line)


def _addresses(words: list[str], lanes: int) -> tuple[tuple[int, ...], int]:
    """Return the addresses that a line gives, and how many of its words they took. Raises ValueError and IndexError."""
    mode = int(words[0])
    if mode == LISTED:
        return tuple(int(words[k], 16) for k in range(1, lanes + 1)), lanes + 1
    if mode == STRIDED:
        return (int(words[1], 16), int(words[2])), 3
    if mode != DELTAS:
        raise ValueError
    found = [int(words[1], 16)]
    for k in range(2, lanes + 1):
        found.append(found[-1] + int(words[k]))
    return tuple(found[:lanes]), max(lanes, 1) + 1
