"""Statements to kernels: directives obeyed, `.rept` blocks unrolled, labels placed, names given their values."""

from dataclasses import dataclass, field
from typing import NamedTuple

from lark import Token

from isa.diagnostics import Diagnostics, nearest
from isa.operands import FLOAT, number_of
from isa.parser import Statement
from isa.program import Parameter

PARAMETER_BYTES = {"ptr": 8, "u32": 4, "s32": 4, "f32": 4, "u64": 8, "s64": 8, "f64": 8}
PARAMETER_BASE = 0x140  # where kernel parameters start in c[0x0] from Kepler to Pascal
MOST_INSTRUCTIONS = 1_000_000
USAGE = {
    ".kernel": "NAME",
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

    index: int
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


class Repeat(NamedTuple):
    """An open `.rept`: how often, where it was opened, and the instructions so far."""

    count: int
    statement: Statement
    body: list[Statement]


class KernelReader:
    """Walks the statements of a file; `kernels` is what it found."""

    def __init__(self, diagnostics: Diagnostics, name: str) -> None:
        self.diagnostics = diagnostics
        self.kernels = [Kernel(name)]
        self.open: list[Repeat] = []
        self.common: dict[str, int] = {}  # .equ before the first .kernel

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
            self._complain(line, column, f"label {name} inside .rept would be defined {self.open[-1].count} times", "move it before the .rept", name)
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

    def _kernel(self, statement: Statement, name: Token) -> None:
        if any(kernel.name == name and kernel.line for kernel in self.kernels):
            self._complain(statement.line, name.column, f"kernel {name} is defined twice", "", name)
        if len(self.kernels) == 1 and not self.kernel.line:
            if self.kernel.instructions or self.kernel.parameters:
                self._complain(statement.line, statement.column, "instructions before the first .kernel", "start the file with .kernel", ".kernel")
            self.common = self.kernels.pop().names
        self.kernels.append(Kernel(str(name), statement.line, names=dict(self.common)))

    def _registers(self, statement: Statement, count: Token) -> None:
        self.kernel.registers = self._integer(statement, count, 1, 255)

    def _shared(self, statement: Statement, size: Token) -> None:
        self.kernel.shared_bytes = self._integer(statement, size, 0, 1 << 20)

    def _parameter_base(self, statement: Statement, offset: Token) -> None:
        if self.kernel.parameters:
            self._complain(statement.line, statement.column, ".parameter_base after .param", "write it before the first .param", ".parameter_base")
        self.kernel.parameter_base = self._integer(statement, offset, 0, 4096)

    def _param(self, statement: Statement, type_: Token, name: Token) -> None:
        """Pack a parameter behind the last one, aligned to its size."""
        size = PARAMETER_BYTES.get(type_)
        if size is None:
            return self._complain(statement.line, type_.column, f"unknown type {type_}", f"types are {' '.join(PARAMETER_BYTES)}", type_)
        if any(parameter.name == name for parameter in self.kernel.parameters):
            return self._complain(statement.line, name.column, f"parameter {name} is defined twice", "", name)
        last = self.kernel.parameters[-1] if self.kernel.parameters else None
        end = last.offset + last.size if last else self.kernel.parameter_base
        self.kernel.parameters.append(Parameter(str(name), str(type_), -(-end // size) * size, size))
        return None

    def _equ(self, statement: Statement, name: Token, value: Token) -> None:
        if name in self.kernel.names:
            self._complain(statement.line, name.column, f"{name} is defined twice", "", name)
        self.kernel.names[str(name)] = self._integer(statement, value, -(1 << 31), (1 << 32) - 1)

    def _rept(self, statement: Statement, count: Token) -> None:
        self.open.append(Repeat(self._integer(statement, count, 0, MOST_INSTRUCTIONS), statement, []))

    def _endr(self, statement: Statement) -> None:
        if not self.open:
            return self._complain(statement.line, statement.column, ".endr without .rept", "", ".endr")
        count, opened, body = self.open.pop()
        outer = self.open[-1].body if self.open else self.kernel.instructions
        if len(outer) + count * len(body) > MOST_INSTRUCTIONS:
            return self._complain(opened.line, opened.column, f"a kernel may have {MOST_INSTRUCTIONS:,} instructions", "repeat less", ".rept")
        outer.extend(body * count)
        return None

    def _all_closed(self) -> None:
        for _, opened, _ in self.open:
            self._complain(opened.line, opened.column, ".rept without .endr", "close the block with .endr", ".rept")

    def _integer(self, statement: Statement, token: Token, least: int, most: int) -> int:
        """Return the value of a number or of an `.equ` name; complain and return `least` when it is not in range."""
        if token.type == "NAME":
            if token not in self.kernel.names:
                self._complain(statement.line, token.column, f"{token} is not defined", "define it before with .equ NAME VALUE", token)
                return max(least, 0)
            value: int | float = self.kernel.names[token]
        else:
            shape, value = number_of(str(token))
            if shape == FLOAT:
                self._complain(statement.line, token.column, f"{statement.directive} takes a whole number", "", token)
                return max(least, 0)
        if not least <= value <= most:
            self._complain(statement.line, token.column, f"{statement.directive} takes {least} to {most}", "", token)
            return max(least, 0)
        return int(value)

    def _complain(self, line: int, column: int, message: str, hint: str, word: str) -> None:
        self.diagnostics.add(line, column, message, width=len(word), hint=hint)
