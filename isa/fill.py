"""Operands as written -> the fields of one instruction, each by the word of its pattern (`isa/opcodes.toml`)."""

from isa import architecture, matrices
from isa.diagnostics import nearest
from isa.immediates import bits, form_of
from isa.kernels import Kernel
from isa.matrices import WarpgroupFlag
from isa.opcodes import LAYOUTS, PARTS, Opcode
from isa.operands import ABSOLUTE, INVERT, NEGATE, NUMBERS, REGISTER, SUFFIXES, Operand, OperandError
from isa.rows import Row
from isa.vocabulary import CC_ZERO, CONVERGENCE_REGISTERS, PART_SHIFT, PT, RZ, UNIFORM_BASE, Flag, Kind, Mbarrier, Operation, Space, Special

SPECIALS = {"SR_" + special.name.replace("_", "."): special for special in Special} | {"SRZ": Special.ZERO}
SPECIALS |= {
    "SR_CgaCtaId": Special.CGA_CTAID,
    "SR_CgaSize": Special.CGA_SIZE,
}  # the latter: which table of sizes of c[0x0], 0xa0 bytes each
del SPECIALS["SR_ZERO"], SPECIALS["SR_CGA.CTAID"], SPECIALS["SR_CGA.SIZE"]
CARRIES = (Operation.IADD, Operation.IADD3, Operation.IMAD, Operation.LEA, Operation.LEA_HI, Operation.XMAD)
COMPARES = {Operation.FSET: Operation.FSETP, Operation.ISET: Operation.ISETP}  # which write CC's zero flag
SIGNS = {NEGATE: "-", ABSOLUTE: "|", INVERT: "~"}
PAIRS = int(Flag.PAIRS)


class Operands:
    """Fills rows with the operands of one kernel's instructions. Raises OperandError for those that do not fit."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.parameters = {parameter.name: parameter.offset for parameter in kernel.parameters}

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
        is_pair = operand.suffix == "64" and (row.operation, row.function) == (Operation.MBARRIER, Mbarrier.STORE)
        if operand.suffix in ("64", "U32") and row.space not in (Space.GENERIC, Space.GLOBAL) and not is_pair:
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

    def _matrices(self, row: Row, operand: Operand) -> None:
        row.source_kind[1], row.source_value[1] = Kind.REGISTER, int(operand.value)
        for turn in operand.suffix.split(".") if operand.suffix else ():
            row.function |= int(WarpgroupFlag[turn.upper()])
        if row.function & (WarpgroupFlag.TNSPA | WarpgroupFlag.TNSPB) and matrices.BITS[matrices.fields(row.function)[1]] != 16:
            raise OperandError("only matrices of numbers of 16 bits are transposed (PTX ISA, wgmma)", operand.column)

    def _commits(self, row: Row, operand: Operand) -> None:
        if operand.symbol != "gsb0":
            raise OperandError(f"{operand.symbol} is not gsb0, which counts products", operand.column)
        if row.operation != Operation.WARPGROUP_WAIT:
            row.function |= int(WarpgroupFlag.COMMITS)

    def _register_address(self, row: Row, slot: int, operand: Operand) -> None:
        if operand.symbol or operand.suffix or operand.value or operand.base == -1 or operand.uniform not in (-1, RZ):
            raise OperandError("this address is a register and nothing else", operand.column, "write [UR4]")
        row.source_kind[slot], row.source_value[slot] = Kind.REGISTER, operand.base

    def _jump_offset(self, row: Row, operand: Operand) -> None:
        row.address_offset = int(operand.value)

    def _number(self, row: Row, operand: Operand) -> None:
        row.function = bits(operand, "integer")

    def _second_table(self, row: Row, operand: Operand) -> None:
        tables = row.function, bits(operand, "integer")
        if max(tables) > 0xFF:
            raise OperandError(f"{max(tables):#x} is not a number from 0 to 255, which a truth table is", operand.column)
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


FILL = {
    "Rd": Operands._destination,
    "Pd": lambda self, row, operand: self._predicate_destination(row, operand, 0),
    "Pq": lambda self, row, operand: self._predicate_destination(row, operand, 1),
    "Pa": lambda self, row, operand: self._predicate_source(row, operand, 0),
    "Pb": lambda self, row, operand: self._predicate_source(row, operand, 1),
    "Pc": lambda self, row, operand: self._predicate_source(row, operand, 2),
    "PT": Operands._neutral,
    "PR": Operands._predicates,
    "A": Operands._address,
    "D": Operands._shared_address,
    "n": Operands._number,
    "o": Operands._jump_offset,
    "x": lambda self, row, operand: None,
    "m": Operands._second_table,
    "S": Operands._special,
    "L": Operands._label,
    "B": Operands._barrier,
    "G": Operands._matrices,
    "g": Operands._commits,
}
