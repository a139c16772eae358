"""Numbers in operands -> the 32 bits that the instruction holds."""

import math
import struct

from isa.operands import ABSOLUTE, FLOAT, HEXADECIMAL, INVERT, NEGATE, Operand, OperandError
from isa.rows import Row
from isa.vocabulary import Flag, NumberType, Operation

NAN_BITS = 0x7FC00000
SIGN_BIT = 0x80000000
MASK = 0xFFFFFFFF


def bits(operand: Operand, numbers: str, is_pair: bool = False) -> int:
    """Return the 32-bit pattern of a number, zero-extended. `numbers` says how the opcode reads it: see opcodes.toml.

    is_pair: a number below 0, or of more than 32 bits, is one of 64, returned as a signed one.
    """
    if operand.flags & (NEGATE | ABSOLUTE | INVERT):
        operand = _apply(operand)
    shape, value = operand.shape, operand.value
    if numbers == "double" and shape != HEXADECIMAL:
        return int(struct.unpack("<Q", struct.pack("<d", float(value)))[0]) >> 32
    if numbers in ("half", "bfloat"):
        return half_bits(operand, numbers == "bfloat")
    if (numbers == "float" and shape != HEXADECIMAL) or (numbers == "bits" and shape == FLOAT):
        return float_bits(float(value), operand.column)
    if shape == FLOAT:
        raise OperandError(f"{value!r} is not a whole number", operand.column)
    if numbers == "float" and value < 0:
        raise OperandError("a hexadecimal number is the 32 bits themselves: write them without a sign", operand.column)
    if is_pair and not 0 <= value < 1 << 32 and -(1 << 63) <= value < 1 << 64:
        return int(value) - (1 << 64 if value >= 1 << 63 else 0)
    if not -(1 << 31) <= value < 1 << 32:
        raise OperandError("this number has more than 32 bits", operand.column)
    return int(value) & MASK


def form_of(numbers: str, row: Row) -> str:
    """Return how the sources of an instruction read numbers: those of a float64, or of its high word, as a double, of halves as such."""
    if numbers != "float":
        return numbers
    if row.flags & Flag.PAIRS or row.operation == Operation.MUFU64:
        return "double"
    if row.operation == Operation.MUFU_HALF:
        return "bfloat" if row.flags & Flag.BF16 else "half"
    of_half = row.operation in (Operation.F2F, Operation.F2I) and row.function & 15 <= NumberType.BF16
    return ("half", "bfloat")[row.function & 15] if of_half else numbers


def half_bits(operand: Operand, is_bfloat: int) -> int:
    """Return the 16 bits of a number that is one of two halves. A hexadecimal number is the bits themselves."""
    value = -operand.value if operand.flags & NEGATE else operand.value
    if operand.shape == HEXADECIMAL:
        return int(value) & 0xFFFF
    if is_bfloat:
        return float_bits(float(value), operand.column) >> 16
    if math.isnan(value):
        return 0xFFFF if math.copysign(1.0, value) < 0 else 0x7FFF
    try:
        return int(struct.unpack("<H", struct.pack("<e", float(value)))[0])
    except OverflowError:
        raise OperandError(f"{value!r} is out of the range of a 16-bit float", operand.column) from None


def float_bits(value: float, column: int = 0) -> int:
    """Return the bits of the nearest 32-bit float. Raises OperandError when it is out of range."""
    if math.isnan(value):
        return NAN_BITS | (SIGN_BIT if math.copysign(1.0, value) < 0 else 0)
    try:
        return int(struct.unpack("<I", struct.pack("<f", value))[0])
    except OverflowError:
        raise OperandError(f"{value!r} is out of the range of a 32-bit float", column) from None


def _apply(operand: Operand) -> Operand:
    """Carry out the signs before a named number: -N, ~N, |N|."""
    value = operand.value
    if operand.flags & ABSOLUTE:
        value = abs(value)
    if operand.flags & NEGATE:
        value = -value
    if operand.flags & INVERT:
        if operand.shape == FLOAT:
            raise OperandError("~ of a float", operand.column)
        value = ~int(value)
    return operand._replace(value=value, flags=0)
