"""Disassembly -> `Program`: names its branch targets, encodes its instructions, adds what a launch must know.

1. targets that are addresses become labels, `.L_0x1f0`; 2. operands are read by the grammar of mini-SASS; 3. `isa.encode` makes the
arrays; 4. registers, shared memory, parameters and constant banks come from a cubin, from what the text says of them, or from rules.
"""

import functools
import math
import re
from collections.abc import Iterable

import numpy as np

from isa import cfg, matrices, sass
from isa.architecture import era, parameter_base
from isa.diagnostics import Diagnostics
from isa.encode import Encoder
from isa.errors import UserError
from isa.kernels import Kernel, Label
from isa.opcodes import BY_ERA, OPCODES, lookup
from isa.operands import FLOAT, HEXADECIMAL, INTEGER, NAME, Operand, OperandError
from isa.parser import Statement, operand_of
from isa.program import Encoded, Parameter, Program, Variables
from isa.refused import refusal
from isa.sass.function import RawFunction, RawInstruction
from isa.sass.resources import Resources
from isa.sass.variables import ADDRESS_BANK
from isa.vocabulary import RZ, Operation

MOST_LINES = 6  # of one mistake that are named
HALF = re.compile(r"32@(lo|hi)\(([^\s()+]+)\)")  # of a variable's address, which a driver fills in
INDIRECT = ("BRX", "BRXU", "RET", "JMX", "CALL")


def program(function: RawFunction, resources: Resources, path: str = "", source: str = "") -> Program:
    """Return a function of a disassembly as a program. Raises UserError with everything in it that is not covered."""
    diagnostics = Diagnostics(source, path)
    reader = _Reader(function, diagnostics, source, resources)
    kernel = reader.read()
    encoded, instructions = Encoder(kernel, diagnostics, reader.located).encode()
    _raise(diagnostics, function, path)
    markers = bool(np.isin(encoded.operation, cfg.MARKERS).any())
    if not markers:
        encoded = encoded._replace(reconverge=cfg.reconvergence(encoded))
    base = resources.parameter_base or parameter_base(function.architecture)
    return Program(
        name=function.name,
        encoded=encoded,
        instructions=instructions,
        labels={name: label.at for name, label in kernel.labels.items()},
        registers=registers_to_begin(encoded, resources.registers or sass.registers_used(function)),
        shared_bytes=resources.shared_bytes or 0,
        cluster=resources.cluster,
        parameters=tuple(Parameter(f"arg{k}", "", slot.offset, slot.size) for k, slot in enumerate(resources.parameters or ())),
        parameter_base=base,
        path=path,
        source=source,
        markers=markers or era(function.architecture) == "volta",  # where only BSYNC joins lanes
        control=sass.decode(function),
        architecture=function.architecture,
        addresses=tuple(function.addresses),
        constants={bank: image for bank, image in resources.constants.items() if bank},
        variables=reader.variables(),
        symbols=resources.symbols,
        driver_functions=resources.driver_functions,
        is_open=True,
    )


def registers_to_begin(encoded: Encoded, said: int) -> int:
    """Return how many registers a thread has when it begins. said: 0 where nothing says, else fewer only where warps take more."""
    return said if said and takes_registers(encoded) else max(said, registers_needed(encoded), 1)


def takes_registers(encoded: Encoded) -> bool:
    """Return whether warps change how many registers they have: setmaxnreg."""
    return bool((encoded.operation == Operation.SETMAXREG).any())


def registers_needed(encoded: Encoded) -> int:
    """Return the highest register read or written, plus 1; uniform registers do not count."""
    used = np.concatenate([encoded.reads.ravel(), encoded.writes.ravel()])
    used = used[(used >= 0) & (used < RZ)]
    of_groups = np.flatnonzero(np.isin(encoded.operation, matrices.OF_WARPGROUP))  # whose sums are no dependences
    starts = [(i, int(first)) for i in of_groups for first in (encoded.destination[i], encoded.source_value[i, matrices.ADDEND])]
    ends = [first + matrices.sums_of_warpgroup(int(encoded.function[i])) for i, first in starts if first < RZ]
    return max([*ends, int(used.max()) + 1 if used.size else 0])


class _Reader:
    """Makes the statements of a function as `isa.kernels` would."""

    def __init__(self, function: RawFunction, diagnostics: Diagnostics, source: str, resources: Resources) -> None:
        self.function, self.diagnostics, self.source = function, diagnostics, source
        self.kernel = Kernel(function.name, function.line, architecture=function.architecture)
        self.kernel.parameter_base = parameter_base(function.architecture)
        self.kernel.labels = {name: Label(index, 0) for name, index in function.labels.items()}
        self.jumps = {
            opcode.name for opcodes in BY_ERA.values() for opcode in opcodes.values() if any("L" in pattern for pattern in opcode.patterns)
        }

        self.resources = resources
        self.places = {variable.name: variable.offset for variable in resources.symbols if variable.bank is None}
        known = [offset for _, offset, _ in resources.variables.banks] if resources.variables else []
        known += [offset for offset, _ in resources.driver_functions]
        used = max([len(resources.constants.get(ADDRESS_BANK, b"")), *(offset + 8 for offset in known)])
        self.free = (used + 7) // 8 * 8  # bytes, of c[0x4]
        self.pointers: dict[str, int] = {}  # variables whose address stands in the code -> byte offset in c[0x4], where it is read here

    def variables(self) -> Variables | None:
        """Return the variables of the cubin, with the addresses that the code names."""
        found = self.resources.variables
        named = tuple((ADDRESS_BANK, offset, self.places[name]) for name, offset in self.pointers.items())
        return found._replace(banks=found.banks + named) if found else None

    def _filled_in(self, text: str) -> str:
        """Return an operand; for half of a variable's address, which a driver writes into the code, where in c[0x4] it is."""
        half = HALF.fullmatch(text)
        if half is None or half[2] not in self.places:
            return text
        offset = self.pointers.setdefault(half[2], self.free + 8 * len(self.pointers))
        return f"c[{ADDRESS_BANK:#x}][{offset + (4 if half[1] == 'hi' else 0):#x}]"

    def read(self) -> Kernel:
        known: dict[tuple[str, ...], tuple[Operand, ...]] = {}  # but of jumps, which depend on where they stand
        for instruction in self.function.instructions:
            operands = known.get(instruction.operands)
            name = instruction.opcode.split(".", 1)[0]
            jumps = name in self.jumps or name in INDIRECT or name == "LEPC"
            if operands is None or jumps:
                try:
                    operands = tuple(self._operands(instruction))
                except OperandError as error:
                    is_known = lookup(name, era(self.function.architecture))  # TEX has operands like no other
                    message = str(error) if is_known else refusal(name) or f"unknown opcode {name}"
                    if any("@lo(" in text or "@hi(" in text for text in instruction.operands):
                        message = "an address that a linker fills in: link the object first (nvcc without -rdc=true, or nvlink)"
                    self.diagnostics.add(instruction.line, error.column, message, hint=error.hint)
                    continue
                if not jumps:
                    known[instruction.operands] = operands
            self.kernel.instructions.append(Statement(instruction.line, (), instruction.guard, instruction.opcode, 0, operands, "", ()))
        return self.kernel

    def located(self, statement: Statement) -> Statement:
        """Return a statement with the columns of its line."""
        instruction = self.by_line[statement.line]
        columns = [self._column(instruction, text) for text in instruction.operands]
        columns += [0] * (len(statement.operands) - len(columns))  # the address that LEPC does not name
        operands = tuple(operand._replace(column=column) for operand, column in zip(statement.operands, columns, strict=True))
        return statement._replace(column=self._column(instruction, instruction.opcode), operands=operands)

    @functools.cached_property
    def by_line(self) -> dict[int, RawInstruction]:
        """The instructions by the line they stand in."""
        return {instruction.line: instruction for instruction in self.function.instructions}

    @functools.cached_property
    def lines(self) -> list[str]:
        """The listing."""
        return self.source.splitlines()

    def _operands(self, instruction: RawInstruction) -> Iterable[Operand]:
        """Read the operands of an instruction, columns left out. Raises OperandError, with a column of its line."""
        name, last = instruction.opcode.split(".")[0], len(instruction.operands) - 1
        for position, text in enumerate(instruction.operands):
            try:
                operand = _as_encoded(operand_of(self._filled_in(text)), instruction)
                if name == "LEPC" and operand.shape == NAME and operand.symbol in self.function.labels:
                    operand = Operand(HEXADECIMAL, self.function.addresses[self.function.labels[operand.symbol]])
                if position == last and name in INDIRECT and position:
                    operand = self._offset(instruction, operand)
                elif position == last and name in self.jumps:
                    operand = self._target(instruction, operand)
            except OperandError as error:
                raise OperandError(str(error), self._column(instruction, text), error.hint) from None
            yield operand
        if name == "LEPC" and not last:  # until Ampere it gives its own address and does not name it
            yield Operand(HEXADECIMAL, instruction.address)

    def _target(self, instruction: RawInstruction, operand: Operand) -> Operand:
        """Return the label of a target that is written as an address."""
        if operand.shape not in (HEXADECIMAL, INTEGER):
            return operand
        index = self.function.index_at(int(operand.value))
        if index is None:
            raise OperandError(f"no instruction stands at {int(operand.value):#x}", 0, "print the listing again and use all of it")
        name = f".L_{int(operand.value):#x}"
        self.kernel.labels.setdefault(name, Label(index, instruction.line))
        return Operand(NAME, symbol=name)

    def _offset(self, instruction: RawInstruction, operand: Operand) -> Operand:
        """Return what is added to the register of an indirect jump: BRX counts from the next instruction, RET from the function."""
        if operand.shape == NAME and operand.symbol == self.function.name:
            return Operand(HEXADECIMAL, 0)
        if not instruction.opcode.startswith("BRX") or operand.shape not in (HEXADECIMAL, INTEGER):
            return operand
        return Operand(HEXADECIMAL, int(operand.value) + instruction.address + self.function.family.instruction_bytes)

    def _column(self, instruction: RawInstruction, text: str) -> int:
        """Return the column of a part of an instruction, 0 when it is not found as such."""
        return self.lines[instruction.line - 1].find(text) + 1 if instruction.line <= len(self.lines) else 0


def _as_encoded(operand: Operand, instruction: RawInstruction) -> Operand:
    """Return a number that is printed as NaN as the bits that the instruction holds, from Volta on: the text says only +QNAN."""
    word = instruction.word or 0
    if operand.shape != FLOAT or not math.isnan(operand.value) or not word >> 64 or instruction.opcode[:1] == "H":
        return operand
    return Operand(HEXADECIMAL, word >> 32 & 0xFFFFFFFF, column=operand.column)


def _raise(diagnostics: Diagnostics, function: RawFunction, path: str) -> None:
    """Raise one UserError that lists each thing that is not covered once, with its lines."""
    if not diagnostics.found:
        return
    lines: dict[str, list[int]] = {}
    hints: dict[str, str] = {}
    for (line, _, message), (_, hint) in diagnostics.found.items():
        lines.setdefault(message, []).append(line)
        hints.setdefault(message, hint)
    parts = [f"function {function.name} ({function.architecture}) holds what is not covered"]
    for message, found in sorted(lines.items(), key=lambda item: min(item[1])):
        numbered = sorted(set(found))
        more = f" and {len(numbered) - MOST_LINES} more" if len(numbered) > MOST_LINES else ""
        named = ", ".join(map(str, numbered[:MOST_LINES])) + more
        parts.append(f"  {'line' if len(numbered) == 1 else 'lines'} {named}: {message}")
    known = f"isa/opcodes.toml has {len(OPCODES)} opcodes"
    raise UserError("\n".join(parts), path=path, line=min(min(found) for found in lines.values()), hint=known)
