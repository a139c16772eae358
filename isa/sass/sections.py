"""The data sections that full `nvdisasm` text prints -> `Image`, as a cubin holds them."""

import re
from collections.abc import Sequence
from typing import NoReturn

from isa.errors import UserError
from isa.sass.function import RawFunction
from isa.sass.image import Image, Section, Symbol
from isa.sass.text import LABEL, SECTION

DATA = re.compile(r"\s*(?:/\*([0-9a-fA-F]+)\*/)?\s*\.(byte|short|word|dword|zero)\s+(.*)")
SIZE = re.compile(r"\s*\.size\s+([^\s,]+),\s*\(?([^\s)]+)(?: - \S+)?\)?.*")
NOTE = re.compile(r"\s*\.section(?:flags|info)\s+@\".*?(SHF_BARRIERS|SHI_REGISTERS)=(\d+).*")
NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+")
MOST_BYTES = 1 << 26  # of a section whose contents are printed
UNCHANGED = "use the text unchanged"
BYTES = {"byte": 1, "short": 2, "word": 4, "dword": 8}
TERM = re.compile(r"([+-]?)\s*([^\s()+-][^\s()]*)")


def parse(text: str, functions: Sequence[RawFunction], path: str = "") -> Image:
    """Return what the data sections of a listing hold; functions: its code, read before. Raises UserError."""
    reader = _Reader({label: f.addresses[i] for f in functions for label, i in f.labels.items() if i < len(f)}, path)
    for line, content in enumerate(text.splitlines(), 1):
        reader.read_line(line, content)
    return reader.image(functions[0].architecture if functions else "")


class _Reader:
    """First pass: what each section holds and where labels stand. `image` evaluates what the data refers to."""

    def __init__(self, code_labels: dict[str, int], path: str) -> None:
        self.path = path
        self.code_labels = code_labels
        self.labels: dict[str, tuple[str, int]] = {}  # label -> section, offset
        self.sizes: dict[str, str] = {}  # symbol -> the label behind it, or a number
        self.items: dict[str, list[tuple[int, int, str, int]]] = {}  # section -> offset, bytes, value, line
        self.offsets: dict[str, int] = {}  # section -> bytes so far
        self.notes: dict[str, dict[str, int]] = {}
        self.symbols: dict[str, int] = {}
        self.section = ""

    def read_line(self, line: int, content: str) -> None:
        if match := DATA.fullmatch(content):
            if self.section.startswith(".nv."):  # notes and debug frames hold nothing that a launch needs
                self._data(match[1], match[2], match[3].strip(), line)
        elif match := LABEL.fullmatch(content):
            self.labels.setdefault(match[1], (self.section, self.offsets.get(self.section, 0)))
        elif match := SECTION.fullmatch(content):
            self.section = match[1]
            self.offsets.setdefault(self.section, 0)
        elif match := SIZE.fullmatch(content):
            self.sizes[match[1]] = match[2]
        elif match := NOTE.fullmatch(content):
            self.notes.setdefault(self.section, {})[match[1]] = int(match[2])

    def _data(self, address: str | None, directive: str, text: str, line: int) -> None:
        offset = self.offsets.setdefault(self.section, 0)
        if address is not None and int(address, 16) != offset:
            self._fail(f"expected the data at {offset:#06x}, found those at {int(address, 16):#06x}", line)
        if directive == "zero":
            self.offsets[self.section] = offset + self._number(text, line)
            return
        width = BYTES[directive]
        for value in text.split(","):
            self.items.setdefault(self.section, []).append((offset, width, value.strip(), line))
            offset += width
        self.offsets[self.section] = offset

    def image(self, architecture: str) -> Image:
        sections = {}
        for name, size in self.offsets.items():
            items = self.items.get(name, [])
            if items and size > MOST_BYTES:
                self._fail(f"section {name} is said to hold {size:,} bytes", items[-1][3])
            data = bytearray(size if items else 0)
            for offset, width, value, line in items:
                number = self._number(value, line) & (1 << 8 * width) - 1
                data[offset : offset + width] = number.to_bytes(width, "little")
            notes = self.notes.get(name, {})
            sections[name] = Section(name, bytes(data), size, notes.get("SHF_BARRIERS", 0), notes.get("SHI_REGISTERS", 0))
        return Image(architecture, sections, tuple(self._symbol(name) for name in self._symbol_names()), self.path)

    def _symbol_names(self) -> list[str]:
        """Number the names that `index@(...)` refers to first, then the other named objects."""
        others = [name for name in self.sizes if name not in self.symbols]
        return [*self.symbols, *others]

    def _symbol(self, name: str) -> Symbol:
        section, offset = self.labels.get(name, ("", 0))
        end = self.sizes.get(name, "")
        if end in self.labels:
            return Symbol(name, section, offset, self.labels[end][1] - offset)
        return Symbol(name, section, offset, int(end) if end.isdecimal() else 0)

    def _number(self, text: str, line: int) -> int:
        """Evaluate `0x10`, `(.L_1 - .L_0)`, `(.L_x_3@srel + 0x10)`, `index@(name)`; an address that only a linker knows is 0."""
        if text.startswith("index@("):
            return self.symbols.setdefault(text[7:-1], len(self.symbols))
        total, matched = 0, TERM.findall(text.strip("()"))
        if not matched or any(word[0].isdigit() and not NUMBER.fullmatch(word) for _, word in matched):
            self._fail(f"expected a number or a label, found {text!r}", line)
        for sign, word in matched:
            total += -self._term(word) if sign == "-" else self._term(word)
        return total

    def _term(self, word: str) -> int:
        if word[0].isdigit():
            return int(word, 16 if word.startswith("0x") else 10)
        name = word.removesuffix("@srel")
        if name in self.code_labels and word != name:
            return self.code_labels[name]
        return self.labels[name][1] if name in self.labels and name.startswith(".L") else 0

    def _fail(self, message: str, line: int) -> NoReturn:
        raise UserError(message, path=self.path, line=line, hint=UNCHANGED)
