"""Statements to kernels: directives obeyed, `.rept` blocks unrolled, labels placed, names given their values."""

from dataclasses import dataclass, field
from typing import NamedTuple

from isa.architecture import KNOWN, family
from isa.diagnostics import Diagnostics, nearest
from isa.operands import FLOAT, number_of
from isa.parser import Statement, Word
from isa.program import Parameter

PARAMETER_BYTES = {"ptr": 8, "u32": 4, "s32": 4, "f32": 4, "u64": 8, "s64": 8, "f64": 8}
PARAMETER_BASE = 0x140  # where kernel parameters start in c[0x0] from Kepler to Pascal
MOST_INSTRUCTIONS = 1_000_000
USAGE = {
    ".kernel": "NAME",
    ".target": "ARCHITECTURE",
    ".registers": "COUNT",
    ".shared": "BYTES",
    ".parameter_base": "OFFSET",
    ".param": "TYPE NAME",
    ".equ": "NAME VALUE",
    ".rept": "COUNT",
    ".endr": "",
}


class Label(NamedTuple):
    """Where a label stands: the instruction it names and its own line."""

    at: int
    line: int


@dataclass
class Kernel:
    """One kernel before encoding."""

    name: str
    line: int = 0
    instructions: list[Statement] = field(default_factory=list)
    labels: dict[str, Label] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)  # .equ
    parameters: list[Parameter] = field(default_factory=list)
    parameter_base: int = PARAMETER_BASE
    registers: int | None = None
    shared_bytes: int = 0
    architecture: str = ""


class Repeat(NamedTuple):
    """An open `.rept`: how often, where it was opened, and the instructions so far."""

    times: int
    statement: Statement
    body: list[Statement]


class KernelReader:
    """Walks the statements of a file; `kernels` is what it found."""

    def __init__(self, diagnostics: Diagnostics, name: str) -> None:
        self.diagnostics = diagnostics
        self.kernels = [Kernel(name)]
        self.open: list[Repeat] = []
        self.common: dict[str, int] = {}  # .equ before the first .kernel
        self.target = ""  # .target there: of every kernel that has none of its own

    @property
    def kernel(self) -> Kernel:
        return self.kernels[-1]

    def read(self, statements: list[Statement]) -> list[Kernel]:
        for statement in statements:
            self._labels(statement)
            if statement.directive:
                self._dotted(statement)
            elif statement.opcode:
                (self.open[-1].body if self.open else self.kernel.instructions).append(statement)
        self._all_closed()
        return self.kernels

    def _labels(self, statement: Statement) -> None:
        for name, column in statement.labels:
            self._place(name, statement.line, column)

    def _place(self, name: str, line: int, column: int) -> None:
        if self.open:
            self._complain(
                line, column, f"label {name} inside .rept would be defined {self.open[-1].times} times", "move it before the .rept", name
            )
        elif name in self.kernel.labels:
            first = self.kernel.labels[name].line
            self._complain(line, column, f"label {name} is already defined in line {first}", "give one of them another name", name)
        else:
            self.kernel.labels[name] = Label(len(self.kernel.instructions), line)

    def _dotted(self, statement: Statement) -> None:
        """Obey a directive, or place a label that stands alone without a colon."""
        name, arguments = statement.directive, statement.arguments
        if name not in USAGE:
            if not arguments:
                return self._place(name, statement.line, statement.column)
            hint = nearest(name, USAGE) or f"directives are {' '.join(USAGE)}"
            return self._complain(statement.line, statement.column, f"unknown directive {name}", hint.lower(), name)
        if len(arguments) != len(USAGE[name].split()):
            return self._complain(statement.line, statement.column, f"{name} is written `{f'{name} {USAGE[name]}'.strip()}`", "", name)
        if self.open and name not in (".rept", ".endr"):
            return self._complain(statement.line, statement.column, f"{name} inside .rept", "move it before the .rept", name)
        getattr(self, f"_{name[1:]}")(statement, *arguments)
        return None

    def _kernel(self, statement: Statement, name: Word) -> None:
        if any(kernel.name == name.text and kernel.line for kernel in self.kernels):
            self._complain(statement.line, name.column, f"kernel {name.text} is defined twice", "", name.text)
        if len(self.kernels) == 1 and not self.kernel.line:
            if self.kernel != Kernel(self.kernel.name, names=self.kernel.names, architecture=self.kernel.architecture):
                what = "instructions" if self.kernel.instructions else "what belongs to a kernel stands"
                self._complain(
                    statement.line, statement.column, f"{what} before the first .kernel", "start the file with .kernel", ".kernel"
                )
            before = self.kernels.pop()
            self.common, self.target = before.names, before.architecture
        self.kernels.append(Kernel(name.text, statement.line, names=dict(self.common), architecture=self.target))

    def _registers(self, statement: Statement, count: Word) -> None:
        self.kernel.registers = self._integer(statement, count, 1, 255)

    def _target(self, statement: Statement, name: Word) -> None:
        if family(name.text) is None:
            self._complain(statement.line, name.column, f"architecture {name.text} is not known", f"write {KNOWN}", name.text)
        else:
            self.kernel.architecture = name.text

    def _shared(self, statement: Statement, size: Word) -> None:
        self.kernel.shared_bytes = self._integer(statement, size, 0, 1 << 20)

    def _parameter_base(self, statement: Statement, offset: Word) -> None:
        if self.kernel.parameters:
            self._complain(
                statement.line, statement.column, ".parameter_base after .param", "write it before the first .param", ".parameter_base"
            )
        self.kernel.parameter_base = self._integer(statement, offset, 0, 4096)

    def _param(self, statement: Statement, type_: Word, name: Word) -> None:
        """Pack a parameter behind the last one, aligned to its size."""
        size = PARAMETER_BYTES.get(type_.text)
        if size is None:
            return self._complain(
                statement.line, type_.column, f"unknown type {type_.text}", f"types are {' '.join(PARAMETER_BYTES)}", type_.text
            )
        if self._is_taken(statement, name):
            return None
        last = self.kernel.parameters[-1] if self.kernel.parameters else None
        end = last.offset + last.size if last else self.kernel.parameter_base
        self.kernel.parameters.append(Parameter(name.text, type_.text, -(-end // size) * size, size))
        return None

    def _equ(self, statement: Statement, name: Word, value: Word) -> None:
        if self._is_taken(statement, name):
            return
        self.kernel.names[name.text] = self._integer(statement, value, -(1 << 31), (1 << 32) - 1)

    def _is_taken(self, statement: Statement, name: Word) -> bool:
        """Return True, and complain, when a parameter or an `.equ` already has this name."""
        taken = name.text in self.kernel.names or any(parameter.name == name.text for parameter in self.kernel.parameters)
        if taken:
            self._complain(statement.line, name.column, f"{name.text} is already defined", "give one of them another name", name.text)
        return taken

    def _rept(self, statement: Statement, count: Word) -> None:
        self.open.append(Repeat(self._integer(statement, count, 0, MOST_INSTRUCTIONS), statement, []))

    def _endr(self, statement: Statement) -> None:
        if not self.open:
            return self._complain(statement.line, statement.column, ".endr without .rept", "", ".endr")
        count, opened, body = self.open.pop()
        outer = self.open[-1].body if self.open else self.kernel.instructions
        if len(outer) + count * len(body) > MOST_INSTRUCTIONS:
            return self._complain(
                opened.line, opened.column, f"a kernel may have {MOST_INSTRUCTIONS:,} instructions", "repeat less", ".rept"
            )
        outer.extend(body * count)
        return None

    def _all_closed(self) -> None:
        for _, opened, body in self.open:
            self._complain(opened.line, opened.column, ".rept without .endr", "close the block with .endr", ".rept")
            self.kernel.instructions += body

    def _integer(self, statement: Statement, word: Word, least: int, most: int) -> int:
        """Return the value of a number or of an `.equ` name; complain and return `least` when it is not in range."""
        value: int | float | None
        if word.is_name:
            value, problem, hint = self.kernel.names.get(word.text), f"{word.text} is not defined", "define it before with .equ NAME VALUE"
        else:
            shape, value = number_of(word.text)
            value = None if shape == FLOAT else value
            problem, hint = f"{statement.directive} takes a whole number", ""
        if value is not None and least <= value <= most:
            return int(value)
        if value is not None:
            problem, hint = f"{statement.directive} takes {least} to {most}", ""
        self._complain(statement.line, word.column, problem, hint, word.text)
        return least

    def _complain(self, line: int, column: int, message: str, hint: str, word: str) -> None:
        self.diagnostics.add(line, column, message, width=len(word), hint=hint)
