"""Instructions as written -> the arrays of `Encoded`, and every mistake on the way.

What the arrays hold where `isa.program` leaves a choice:

* sources fill slots 0, 1, 2 in the order written; STORE, ATOM: slot 0 is the first data register (of CAS the value to compare with,
  slot 1 the new one); LDC: slot 0 is the constant.
  IMUL and two-operand IADD3 put RZ where the operation has a source that the opcode lacks.
* LOAD, STORE, ATOM: an address without a register has RZ as its base. LDC without one: address_register = -1.
* compares: predicate_destination[0] is (compare COMBINE source predicate 0), [1] is (not compare COMBINE source predicate 0).
* FMNMX, IMNMX: minimum when source predicate 0 is true. SEL, FSEL: source 0 when it is true.
* LOP3: function = truth table; predicate_destination[0] = (result != 0) or source predicate 0, which is !PT when left out.
* .X of IADD3 and IMAD: carry-in from source predicates 0 and 1 (1 left out: !PT) when 0 is written; else source predicate 0 is PT
  and the carry-in is CC. .X of IADD and ISETP: CC.
* IMAD with HIGH: high half of a * b, plus the 32-bit c. With WIDE: 64-bit c.
* FSET, ISET into RZ.CC: FSETP, ISETP with predicate_destination[1] = CC_ZERO, true when the comparison gives 0.
* PSETP: predicate_destination[0] is (source predicate 0 COMBINE 1), [1] its negation. BAR: address_offset is for how many threads, 0 = all.
"""

from collections.abc import Callable

from isa import architecture, checks, dependences, matrices
from isa.bind import bind
from isa.diagnostics import Diagnostics, nearest
from isa.immediates import bits, form_of, half_bits
from isa.kernels import Kernel
from isa.opcodes import LAYOUTS, PARTS, Opcode, SpellingError, decode
from isa.operands import (
    ABSOLUTE,
    HEXADECIMAL,
    INVERT,
    NAME,
    NEGATE,
    NUMBERS,
    REGISTER,
    SUFFIXES,
    Operand,
    OperandError,
    predicate_number,
    print_operand,
)
from isa.parser import Statement
from isa.program import Encoded, Instruction
from isa.rows import Row, pack
from isa.vocabulary import CC_ZERO, CONVERGENCE_REGISTERS, PART_SHIFT, PT, RZ, UNIFORM_BASE, Flag, Kind, Operation, Space, Special

SPECIALS = {"SR_" + special.name.replace("_", "."): special for special in Special} | {"SRZ": Special.ZERO}
SPECIALS |= dict.fromkeys(("SR_CgaCtaId", "SR_CgaSize"), Special.CGA_CTAID)  # the latter: which table of sizes of c[0x0], 0xa0 bytes each
del SPECIALS["SR_ZERO"], SPECIALS["SR_CGA.CTAID"]
CARRY_PREDICATE, PAIRS = int(Flag.CARRY_PREDICATE), int(Flag.PAIRS)
BF16, HALF64, HIGH, LEFT, X = int(Flag.BF16), int(Flag.HALF64), int(Flag.HIGH), int(Flag.LEFT), int(Flag.X)
VOLTA_PARAMETERS = 0x160  # parameters start here or later from Volta on
SIGNS = {NEGATE: "-", ABSOLUTE: "|", INVERT: "~"}


class Encoder:
    """Encodes the instructions of one kernel; mistakes go to `diagnostics`.

    locate: gives a statement the columns of its line, asked only for those with mistakes.
    """

    def __init__(self, kernel: Kernel, diagnostics: Diagnostics, locate: Callable[[Statement], Statement]) -> None:
        self.kernel, self.diagnostics, self.locate = kernel, diagnostics, locate
        self.parameters = {parameter.name: parameter.offset for parameter in kernel.parameters}
        self.era = architecture.era(kernel.architecture) if kernel.architecture else ""

    def encode(self) -> tuple[Encoded, tuple[Instruction, ...]]:
        """Return the arrays and the readable instructions; incomplete when `diagnostics` has found mistakes."""
        done: dict[tuple[str, str, int], tuple[int, str]] = {}  # by what is written; equal operands are mostly one object
        distinct: list[Row] = []
        numbers, instructions = [], []
        for index, statement in enumerate(self.kernel.instructions):
            key = (statement.guard, statement.opcode, id(statement.operands))
            known = done.get(key)
            if known is None:
                encoded = self._checked(statement)  # each place of a mistake is named
                if encoded is None:
                    continue
                known = done[key] = len(distinct), encoded[1]
                distinct.append(encoded[0])
            numbers.append(known[0])
            instructions.append(Instruction(index, statement.line, statement.opcode, known[1]))
        rows = [distinct[number] for number in numbers]
        for index in checks.without_condition(rows, {label.at for label in self.kernel.labels.values()}):
            message = "this branch needs a comparison into RZ.CC before it, with nothing between that jumps or writes CC"
            self.diagnostics.add(instructions[index].line, 0, message)
        return pack(distinct, numbers), tuple(instructions)

    def _checked(self, statement: Statement) -> tuple[Row, str] | None:
        try:
            return self._instruction(statement)
        except (SpellingError, OperandError):
            statement = self.locate(statement)
        try:
            return self._instruction(statement)
        except SpellingError as error:
            self.diagnostics.add(
                statement.line, statement.column, str(error), width=len(statement.opcode), hint=nearest(error.word, error.near)
            )
        except OperandError as error:
            self.diagnostics.add(statement.line, error.column, str(error), hint=error.hint)
        return None

    def _instruction(self, statement: Statement) -> tuple[Row, str]:
        """Return one row and its canonical text. Raises SpellingError, OperandError."""
        decoded = decode(statement.opcode, self.era)
        opcode = decoded.opcode
        row = Row(decoded.modifiers.operation, opcode.unit, opcode.space, *decoded.modifiers[1:])
        if statement.guard:
            row.guard = predicate_number(statement.guard)
            row.guard_not = int("!" in statement.guard)
        operands = [self._resolved(operand) for operand in statement.operands]
        bound = bind(opcode, operands, statement.column)
        self._fill(row, opcode, bound)
        if message := checks.wrong(row, {word for word, _ in bound}):
            raise OperandError(message, statement.column)
        row.unit = matrices.unit_of(row.operation, row.function) or row.unit
        row.reads, row.writes = dependences.reads_of(row), dependences.writes_of(row)
        guard = f"{statement.guard} " if statement.guard else ""
        arguments = ", ".join(f"`({operand.symbol})" if word == "L" else print_operand(operand) for word, operand in bound if operand)
        return row, f"{guard}{statement.opcode} {arguments}".rstrip() + ";"

    def _resolved(self, operand: Operand) -> Operand:
        """Replace a name defined by .equ by its value; names of parameters, labels and special registers stay."""
        symbol = operand.symbol
        if symbol not in self.kernel.names:
            return operand
        value = operand.value + self.kernel.names[symbol]
        return operand._replace(shape=HEXADECIMAL if operand.shape == NAME else operand.shape, value=value, symbol="")

    def _fill(self, row: Row, opcode: Opcode, bound: list[tuple[str, Operand | None]]) -> None:
        """Write each operand where its word says."""
        slot = 0
        for word, operand in bound:
            if operand is None:
                row.source_kind[slot], row.source_value[slot] = Kind.REGISTER, RZ
            elif word in "abcrK":
                self._source(row, opcode, slot, operand)
            elif word in "Hh":
                row.source_kind[slot] = Kind.IMMEDIATE
                row.source_value[slot] |= half_bits(operand, row.flags & BF16) << (16 if word == "H" else 0)
            else:
                FILL[word](self, row, operand)
            slot += word in "abcrK0h"
        words = [word for word, _ in bound]
        if opcode.absent_not and "Pa" not in words:
            row.predicate_source_not[0] = 1
        if row.operation in CARRY_PREDICATES and "Pa" in words and "Pb" not in words:
            row.predicate_source_not[1] = 1
        if row.operation == Operation.DSETP and row.function and "Pq" not in words:
            raise OperandError("DSETP.MIN and .MAX have two predicates to write", 0)
        if (row.operation in MASKED and "a" not in words) or (row.operation == Operation.ATOM and "r" not in words):
            row.source_kind[0], row.source_value[0] = Kind.IMMEDIATE, 0xFFFFFFFF
        if row.operation == Operation.PLOP3 and "r" in words:
            row.operation = int(Operation.PLOP3_SIGNS)
            if any(word in ("r", "a") and operand and operand.suffix != "SIGN" for word, operand in bound):
                raise OperandError("PLOP3 takes predicates, or the signs of registers: R1.SIGN", 0)
        if row.operation == Operation.BRA and "r" in words:
            row.operation = int(Operation.BRX)  # CALL through a register
        if "Pa" in words and row.flags & X and row.operation in (*CARRY_PREDICATES, Operation.LEA):
            row.flags |= CARRY_PREDICATE
        if opcode.subtracts:
            row.source_flags[1] ^= NEGATE
        self._generation(row, words)
        if row.destination != -1:
            row.destination_count = dependences.destination_registers(row.operation, row.flags, row.width, row.function)

    def _generation(self, row: Row, words: list[str]) -> None:
        """Settle what one spelling means before and from Volta on, whose parameters start at 0x160 or above."""
        volta = self.era == "volta" if self.era else self.kernel.parameter_base >= VOLTA_PARAMETERS
        if row.operation == Operation.SHF and not volta and row.flags & HALF64 and row.flags & LEFT:
            row.flags |= HIGH  # the funnel's only left result there
        if row.operation == Operation.IMAD and volta and row.flags & HIGH:
            row.flags |= dependences.WIDE  # the addend is a pair
        if row.operation == Operation.IMAD and row.flags & (HIGH | dependences.WIDE) and any(row.source_flags):
            row.operation = int(Operation.IMAD_CARRY)  # which negates the whole product
        if row.operation == Operation.IMAD and ("Pd" in words or (row.flags & X and row.flags & dependences.WIDE and volta)):
            row.operation = int(Operation.IMAD_CARRY)
        if row.operation == Operation.S2R and not volta:
            row.flags &= ~dependences.WIDE  # CS2R writes one register

    def _source(self, row: Row, opcode: Opcode, slot: int, operand: Operand) -> None:
        if operand.shape in NUMBERS:
            row.source_kind[slot], row.source_value[slot] = (
                Kind.IMMEDIATE,
                bits(operand, form_of(opcode.numbers, row), bool(row.flags & PAIRS)),
            )
            return
        if operand.flags and (refused := [sign for flag, sign in SIGNS.items() if operand.flags & flag and sign not in opcode.signs]):
            raise OperandError(f"{opcode.name} does not take {refused[0]} before this operand", operand.column)
        row.source_flags[slot] = operand.flags
        if operand.suffix:
            if operand.suffix not in opcode.parts or LAYOUTS.get(operand.suffix, slot) != slot:
                raise OperandError(f".{operand.suffix} does not belong to a source of {opcode.name}", operand.column)
            row.source_flags[slot] |= PARTS[operand.suffix] << PART_SHIFT
        if operand.shape == REGISTER:
            row.source_kind[slot], row.source_value[slot] = Kind.REGISTER, int(operand.value)
            return
        row.source_kind[slot], row.source_bank[slot] = Kind.CONSTANT, operand.bank
        row.source_value[slot] = self._constant_offset(operand, row.width if opcode.operation == Operation.LDC else 4)
        if operand.base != -1:
            if opcode.operation != Operation.LDC:
                raise OperandError("only LDC takes a register in c[bank][...]", operand.column, "load it first with LDC")
            row.address_register = operand.base

    def _constant_offset(self, operand: Operand, alignment: int) -> int:
        offset = int(operand.value)
        if operand.symbol:
            if operand.bank or operand.symbol not in self.parameters:
                hint = nearest(operand.symbol, self.parameters) or "declare it with .param TYPE NAME; parameters lie in c[0x0]"
                raise OperandError(f"{operand.symbol} is not a parameter", operand.column, hint)
            offset += self.parameters[operand.symbol]
        if operand.base == -1 and not 0 <= offset < architecture.CONSTANT_BANK_BYTES:
            raise OperandError(f"a constant bank has {architecture.CONSTANT_BANK_BYTES} bytes", operand.column)
        if operand.base == -1 and offset % alignment:
            raise OperandError(f"offset {offset:#x} is not a multiple of {alignment}", operand.column)
        return offset

    def _destination(self, row: Row, operand: Operand) -> None:
        if operand.flags or operand.suffix not in ("", "CC"):
            raise OperandError("the register written takes no sign and no suffix but .CC", operand.column)
        compare = COMPARES.get(Operation(row.operation))
        if operand.suffix and compare and operand.value == RZ:
            row.operation, row.predicate_destination[1] = int(compare), CC_ZERO
            return
        if operand.suffix and row.operation not in CARRIES:
            raise OperandError("this opcode has no carry to write to CC", operand.column)
        row.destination = int(operand.value)
        row.flags |= int(Flag.CC) if operand.suffix else 0

    def _predicate_destination(self, row: Row, operand: Operand, slot: int) -> None:
        if operand.flags:
            raise OperandError("a predicate that is written takes no !", operand.column)
        if operand.value == CC_ZERO:
            raise OperandError("CC is written by .CC behind a register", operand.column)
        row.predicate_destination[slot] = int(operand.value)

    def _predicate_source(self, row: Row, operand: Operand, slot: int) -> None:
        row.predicate_source[slot], row.predicate_source_not[slot] = int(operand.value), int(operand.flags != 0)

    def _neutral(self, row: Row, operand: Operand) -> None:
        if operand.value != PT or operand.flags:
            raise OperandError("this predicate must be PT: what another would hold is not modelled", operand.column)

    def _address(self, row: Row, operand: Operand) -> None:
        if operand.symbol:
            raise OperandError(f"{operand.symbol} is not defined", operand.column, "define it before with .equ NAME VALUE")
        if operand.suffix in ("64", "U32") and row.space not in (Space.GENERIC, Space.GLOBAL):
            raise OperandError("shared and local addresses have 32 bits", operand.column, f"leave .{operand.suffix} out")
        if operand.uniform not in (-1, RZ):
            row.address_index = operand.uniform
            row.flags |= int(Flag.INDEX64) if row.flags & Flag.ADDRESS64 else 0
        if operand.suffix == "64":
            row.flags |= int(Flag.ADDRESS64)
        elif operand.suffix or (operand.descriptor != -1 and operand.base < UNIFORM_BASE):
            row.flags &= ~int(Flag.ADDRESS64)
        row.address_scale = SUFFIXES[operand.suffix]
        row.address_register = RZ if operand.base == -1 else operand.base
        row.address_offset = int(operand.value)

    def _shared_address(self, row: Row, operand: Operand) -> None:
        if operand.symbol or operand.suffix:
            raise OperandError("the address in shared memory is registers and a number", operand.column, "write [R4+0x800]")
        row.source_kind[0], row.source_value[0] = Kind.REGISTER, RZ if operand.base == -1 else operand.base
        if operand.uniform not in (-1, RZ):
            row.source_kind[1], row.source_value[1] = Kind.REGISTER, operand.uniform
        row.function = int(operand.value)

    def _jump_offset(self, row: Row, operand: Operand) -> None:
        row.address_offset = int(operand.value)

    def _number(self, row: Row, operand: Operand) -> None:
        row.function = bits(operand, "integer")

    def _second_table(self, row: Row, operand: Operand) -> None:
        tables = row.function, bits(operand, "integer")
        if max(tables) > 0xFF:
            raise OperandError(f"{max(tables):#x} is no number from 0 to 255, which a truth table is", operand.column)
        row.function |= tables[1] << 8

    def _predicates(self, row: Row, operand: Operand) -> None:
        if operand.symbol != "PR":
            raise OperandError(f"{operand.symbol} is not PR, the predicates", operand.column)

    def _special(self, row: Row, operand: Operand) -> None:
        if operand.symbol not in SPECIALS:
            raise OperandError(f"unknown special register {operand.symbol}", operand.column, nearest(operand.symbol, SPECIALS))
        row.function = int(SPECIALS[operand.symbol])

    def _label(self, row: Row, operand: Operand) -> None:
        label = self.kernel.labels.get(operand.symbol)
        if label is None:
            raise OperandError(f"label {operand.symbol} is not defined", operand.column, nearest(operand.symbol, self.kernel.labels))
        row.target = label.at

    def _barrier(self, row: Row, operand: Operand) -> None:
        number = operand.symbol[1:]
        if operand.symbol[0] != "B" or not number.isdecimal() or int(number) >= CONVERGENCE_REGISTERS:
            raise OperandError(
                f"{operand.symbol} is not a convergence barrier", operand.column, f"they are B0 to B{CONVERGENCE_REGISTERS - 1}"
            )
        row.function = int(number)


CARRY_PREDICATES = (Operation.IADD, Operation.IADD64, Operation.IADD3, Operation.IMAD, Operation.LEA_HI)
CARRIES = (Operation.IADD, Operation.IADD3, Operation.IMAD, Operation.LEA, Operation.LEA_HI, Operation.XMAD)
COMPARES = {Operation.FSET: Operation.FSETP, Operation.ISET: Operation.ISETP}  # which write CC's zero flag
MASKED = (Operation.WARPSYNC, Operation.BRA_DIVERGENT, Operation.BRA_CONVERGENT)  # all lanes where no mask is written
FILL = {
    "Rd": Encoder._destination,
    "Pd": lambda self, row, operand: self._predicate_destination(row, operand, 0),
    "Pq": lambda self, row, operand: self._predicate_destination(row, operand, 1),
    "Pa": lambda self, row, operand: self._predicate_source(row, operand, 0),
    "Pb": lambda self, row, operand: self._predicate_source(row, operand, 1),
    "Pc": lambda self, row, operand: self._predicate_source(row, operand, 2),
    "PT": Encoder._neutral,
    "PR": Encoder._predicates,
    "A": Encoder._address,
    "D": Encoder._shared_address,
    "n": Encoder._number,
    "o": Encoder._jump_offset,
    "x": lambda self, row, operand: None,
    "m": Encoder._second_table,
    "S": Encoder._special,
    "L": Encoder._label,
    "B": Encoder._barrier,
}
