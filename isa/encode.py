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
* NOP: address_offset is how long NANOSLEEP sleeps, ns.
"""

from collections.abc import Callable

from isa import architecture, checks, dependences, matrices
from isa.bind import bind
from isa.diagnostics import Diagnostics, nearest
from isa.fill import FILL, Operands
from isa.immediates import half_bits
from isa.kernels import Kernel
from isa.opcodes import Opcode, SpellingError, decode
from isa.operands import (
    HEXADECIMAL,
    NAME,
    NEGATE,
    Operand,
    OperandError,
    predicate_number,
    print_operand,
)
from isa.parser import Statement
from isa.program import Encoded, Instruction
from isa.rows import Row, pack
from isa.vocabulary import RZ, Flag, Kind, Operation

CARRY_PREDICATE, PAIRS = int(Flag.CARRY_PREDICATE), int(Flag.PAIRS)
BF16, HALF64, HIGH, LEFT, X = int(Flag.BF16), int(Flag.HALF64), int(Flag.HIGH), int(Flag.LEFT), int(Flag.X)
VOLTA_PARAMETERS = 0x160  # parameters start here or later from Volta on

CARRY_PREDICATES = (Operation.IADD, Operation.IADD64, Operation.IADD3, Operation.IMAD, Operation.LEA_HI)
MASKED = (Operation.WARPSYNC, Operation.BRA_DIVERGENT, Operation.BRA_CONVERGENT)  # all lanes where no mask is written


class Encoder(Operands):
    """Encodes the instructions of one kernel; mistakes go to `diagnostics`.

    locate: gives a statement the columns of its line, asked only for those with mistakes.
    """

    def __init__(self, kernel: Kernel, diagnostics: Diagnostics, locate: Callable[[Statement], Statement]) -> None:
        super().__init__(kernel)
        self.diagnostics, self.locate = diagnostics, locate
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
            elif word == "i":
                self._register_address(row, slot, operand)
            elif word in "Hh":
                row.source_kind[slot] = Kind.IMMEDIATE
                row.source_value[slot] |= half_bits(operand, row.flags & BF16) << (16 if word == "H" else 0)
            else:
                FILL[word](self, row, operand)
            slot += word in "abcrK0hiG"
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
        if "G" in words and "0" not in words:
            row.function |= int(matrices.WarpgroupFlag.REGISTERS)
        if row.operation in matrices.OF_WARPGROUP and row.source_flags[0]:
            row.function |= int(matrices.WarpgroupFlag.NEGA)
            row.source_flags[0] = 0
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
