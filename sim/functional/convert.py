"""Conversions: I2F, F2I, F2F, I2I between the types in Encoded.function, and F2FP."""

from isa.semantics.conversions import float_to_float, float_to_integer, float_value, integer_to_float, integer_to_integer, pack_halves
from isa.semantics.words import high_word, pair, word
from isa.vocabulary import Operation
from sim.functional.flags import FTZ, INTEGRAL, NAN_TO_ZERO, PAIRS, SATURATE
from sim.functional.state import OUT, ZERO, Code, Machine
from sim.kernel import inner, outlined


@inner
def convert(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute a conversion."""
    if code.operation[i] == Operation.F2FP:
        pack(i, w, rows, code, machine)
        return
    low, high = machine.rows[rows[0]], machine.rows[rows[0] + 1 if code.flags[i] & PAIRS else ZERO]
    out, upper = machine.rows[OUT], machine.rows[OUT + 1]
    for k in range(machine.lanes[0]):
        bits = converted(pair(low[k], high[k]), code.operation[i], code.function[i], code.flags[i], code.rounding[i])
        out[k], upper[k] = word(bits), high_word(bits)


@outlined
def converted(bits: int, operation: int, types: int, flags: int, rounding: int) -> int:
    """Return the bits of one value in another type; types: NumberType of the source | of the result << 4."""
    source, target = types & 15, (types >> 4) & 15
    if operation == Operation.I2F:
        return integer_to_float(bits, source, target, rounding)
    if operation == Operation.I2I:
        return integer_to_integer(bits, source, target, flags & SATURATE)
    value = float_value(bits, source, flags & FTZ)
    if operation == Operation.F2I:
        return float_to_integer(value, source, target, rounding, flags & NAN_TO_ZERO)
    return float_to_float(value, target, rounding, flags & FTZ, flags & INTEGRAL, flags & SATURATE)


@inner
def pack(i: int, w: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Write the first source as the high, the second as the low half of row OUT."""
    a, b = machine.floats[rows[0]], machine.floats[rows[1]]
    out, target = machine.rows[OUT], (code.function[i] >> 4) & 15
    for k in range(machine.lanes[0]):
        out[k] = pack_halves(a[k], b[k], target, code.rounding[i])
