"""Puts one function together from its lines and checks that none is missing."""

from typing import NoReturn

from isa.architecture import KEPLER, Family
from isa.errors import UserError
from isa.sass.function import RawFunction, RawInstruction
from isa.sass.statement import Statement

TRUNCATED = "the listing is cut or was edited: print it again and use all of it"


class Builder:
    """The function that is being read."""

    def __init__(self, name: str, architecture: str, family: Family, path: str) -> None:
        self.name, self.architecture, self.family, self.path = name, architecture, family, path
        self.instructions: list[RawInstruction] = []
        self.words: list[list[int]] = []  # of each instruction, as printed: none, low, or low and high half
        self.labels: dict[str, int] = {}
        self.braces: list[int] = []
        self.is_brace_open = False
        self.control_words: dict[int, int] = {}
        self.pending: tuple[int, int] | None = None  # control word that waits for its group, and its line
        self.padding = 1 << 62  # address from which groups have no control word

    def add(self, address: int, parts: Statement, word: int | None, line: int) -> None:
        """Add an instruction; word is the encoding on the same line, its low half from Volta on."""
        self._check_address(address, line)
        self._check_brace(parts, line)
        if self.pending:
            self.control_words[self._group(address)] = self.pending[0]
            self.pending = None
        self.instructions.append(RawInstruction(address, parts.guard, parts.opcode, parts.operands, parts.targets, None, line))
        self.words.append([] if word is None else [word])

    def add_word(self, word: int, line: int) -> None:
        """Add a word that stands alone on its line: a high half, the encoding of a closing brace's line, or a control word."""
        last = self.words[-1] if self.words else None
        if self.family.group_bytes == 0:
            if last is None or len(last) != 1:
                self._fail("this encoding belongs to no instruction", line)
            last.append(word)
        elif last is not None and not last:
            last.append(word)
        elif self.pending:
            self._fail("two control words follow each other", line)
        else:
            self.pending = (word, line)

    def add_label(self, name: str, line: int) -> None:
        """Add a label to the next instruction. Raises UserError for one that is there."""
        if name in self.labels:
            self._fail(f"label {name} is defined twice", line)
        self.labels[name] = len(self.instructions)

    def build(self) -> RawFunction:
        """Return the function. Raises UserError when a part is missing."""
        last = self.instructions[-1].line
        if self.pending:
            self._fail("a control word without instructions", self.pending[1])
        if self.is_brace_open:
            self._fail("a pair is opened by { and not closed", last)
        self._check_words()
        instructions = [
            instruction._replace(word=words[0] | words[1] << 64 if len(words) == 2 else words[0]) if words else instruction
            for instruction, words in zip(self.instructions, self.words, strict=True)
        ]
        return RawFunction(
            name=self.name,
            architecture=self.architecture,
            instructions=tuple(instructions),
            labels=self.labels,
            braces=tuple(self.braces),
            control_words=self.control_words,
            line=self.instructions[0].line,
        )

    def _group(self, address: int) -> int:
        """Return where the control word of an instruction stands."""
        return address - address % self.family.group_bytes

    def _check_address(self, address: int, line: int) -> None:
        """No instruction may be missing. Kepler's last padding has instructions even where control words would stand."""
        step, group = self.family.instruction_bytes, self.family.group_bytes
        expected = self.instructions[-1].address + step if self.instructions else 0
        if group and expected % group == 0 and expected < self.padding:
            if self.family is KEPLER and address == expected and self.instructions and not self.pending:
                self.padding = address
            else:
                expected += step
        if address != expected:
            self._fail(f"expected the instruction at {expected:#06x}, found the one at {address:#06x}", line)
        if self.pending and (address - step) % group:
            self._fail("a control word inside a group", self.pending[1])

    def _check_brace(self, parts: Statement, line: int) -> None:
        """Follow the braces of dual issue: { opens a pair, } closes it at the next instruction."""
        if parts.opens:
            self.braces.append(len(self.instructions))
        if parts.closes != self.is_brace_open:
            self._fail("a pair is two instructions: { first ; second }", line)
        self.is_brace_open = parts.opens

    def _check_words(self) -> None:
        """All instructions show their encoding, or none; and each group its control word."""
        wanted = 2 if self.family.group_bytes == 0 else 1
        shown = any(self.words)
        for instruction, words in zip(self.instructions, self.words, strict=True):
            if shown and len(words) != wanted:
                self._fail(f"the encoding of this instruction has {len(words)} of {wanted} words", instruction.line)
            if shown and self.family.group_bytes and instruction.address < self.padding:
                group = self._group(instruction.address)
                if group not in self.control_words:
                    self._fail(f"the control word at {group:#06x} is missing", instruction.line)

    def _fail(self, message: str, line: int) -> NoReturn:
        raise UserError(f"{message} (function {self.name}, {self.architecture})", path=self.path, line=line, hint=TRUNCATED)
