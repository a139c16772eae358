"""Which operand is which: matches the operands of an instruction with the patterns of its opcode."""

import functools
from collections.abc import Sequence

from isa.opcodes import Opcode, lookup
from isa.operands import (
    ADDRESS,
    CONSTANT,
    FLOAT,
    HEXADECIMAL,
    INTEGER,
    MATRIX,
    NAME,
    PREDICATE,
    REGISTER,
    SHAPE_NAMES,
    Operand,
    OperandError,
)

SOURCE = REGISTER + INTEGER + HEXADECIMAL + FLOAT + CONSTANT
SHAPES = {
    "Rd": REGISTER,
    "r": REGISTER,
    **dict.fromkeys(("a", "b", "c"), SOURCE),
    **dict.fromkeys(("Pd", "Pq", "Pa", "Pb", "Pc", "PT"), PREDICATE),
    **dict.fromkeys(("H", "h"), INTEGER + HEXADECIMAL + FLOAT),
    **dict.fromkeys(("A", "D", "i"), ADDRESS),
    "K": CONSTANT,
    **dict.fromkeys(("n", "m", "o"), INTEGER + HEXADECIMAL),
    **dict.fromkeys(("S", "L", "B", "PR", "g"), NAME),
    "G": MATRIX,
    "x": "".join(SHAPE_NAMES),
}
WANTED = {
    "Rd": "the register written",
    "r": "a register",
    **dict.fromkeys(("a", "b", "c"), "a register, number or constant"),
    **dict.fromkeys(("Pd", "Pq", "Pa", "Pb", "Pc"), "a predicate"),
    **dict.fromkeys(("H", "h"), "a number"),
    "PR": "PR, the predicates",
    "m": "a whole number",
    "PT": "PT",
    **dict.fromkeys(("A", "D", "i"), "an address [...]"),
    "K": "a constant c[bank][offset]",
    "n": "a whole number",
    "o": "a whole number",
    "x": "an operand",
    "S": "a special register",
    "L": "a label",
    "B": "a convergence barrier",
    "G": "a descriptor gdesc[UR4]",
    "g": "gsb0",
}


def bind(opcode: Opcode, operands: Sequence[Operand], column: int) -> list[tuple[str, Operand | None]]:
    """Return (operand word, operand) pairs; the word `0` has no operand. Raises OperandError; column: of the opcode."""
    words = _pattern(opcode.name, opcode.era, "".join(operand.shape for operand in operands))
    if words is None:
        raise _mismatch(opcode, operands, column)
    remaining = iter(operands)
    return [(word, None if word == "0" else next(remaining)) for word in words]


@functools.lru_cache(maxsize=4096)
def _pattern(name: str, era: str, shapes: str) -> tuple[str, ...] | None:
    """Return the first pattern of an opcode that fits operands of these shapes."""
    opcode = lookup(name, era)
    for pattern in opcode.patterns if opcode else ():
        written = [word for word in pattern if word != "0"]
        if len(written) == len(shapes) and all(shape in SHAPES[word] for word, shape in zip(written, shapes, strict=True)):
            return pattern
    return None


def _mismatch(opcode: Opcode, operands: Sequence[Operand], column: int) -> OperandError:
    """Say where the operands leave the pattern that they follow longest."""
    best, wanted = -1, ""
    for pattern in opcode.patterns:
        written = [word for word in pattern if word != "0"]
        fits = 0
        while fits < min(len(written), len(operands)) and operands[fits].shape in SHAPES[written[fits]]:
            fits += 1
        if fits > best:
            best, wanted = fits, written[fits] if fits < len(written) else ""
    usage = f"it is written {opcode.name} {opcode.usage}"
    if best == len(operands):
        return OperandError(f"{opcode.name} lacks operands", column, usage)
    operand = operands[best]
    what = f"is {SHAPE_NAMES[operand.shape]}, not {WANTED[wanted]}" if wanted else "is one too many"
    return OperandError(f"operand {best + 1} of {opcode.name} {what}", operand.column, usage)
