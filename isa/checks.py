"""What the opcode table cannot say: rules between operands and modifiers. Each returns what is wrong, or an empty string."""

import functools
from collections.abc import Callable, Collection, Sequence

from isa.dependences import ADDRESS64, CC, HIGH, INDEX64, PAIRS, WIDE, X, source_registers
from isa.operands import register_name
from isa.rows import Row
from isa.vocabulary import (
    BARRIERS,
    CARRY,
    CC_ZERO,
    PT,
    RZ,
    UNIFORM_BASE,
    UNIFORM_REGISTERS,
    AtomicFunction,
    BarrierReduction,
    Combine,
    Compare,
    Flag,
    Kind,
    Operation,
    Unit,
)

EXTENDED, FLOAT, FTZ, SIGNED, EVERY = int(Flag.EXTENDED), int(Flag.FLOAT), int(Flag.FTZ), int(Flag.SIGNED), int(Flag.EVERY)


def wrong(row: Row, words: Collection[str]) -> str:
    """Return the first rule that one row of `Encoded` breaks, or an empty string. words: of the operand pattern."""
    for rule in _rules_of(row.operation):
        if message := rule(row, words):
            return message
    return ""


def without_condition(rows: Sequence[Row], labels: Collection[int]) -> list[int]:
    """Return the branches on CC.EQ or CC.NE that no comparison into RZ.CC precedes: the zero flag of other results is not kept.

    labels: instructions that are reached from elsewhere.
    """
    found = []
    for i, row in enumerate(rows):
        if CC_ZERO in row.predicate_source:
            writer = i - 1
            while writer >= 0 and writer + 1 not in labels and CARRY not in rows[writer].writes and rows[writer].unit != Unit.BRANCH:
                writer -= 1
            if writer < 0 or writer + 1 in labels or CC_ZERO not in rows[writer].predicate_destination or rows[writer].guard != PT:
                found.append(i)
    return found


def _aligned(row: Row, words: Collection[str]) -> str:
    """Registers that hold 8 or 16 bytes start at a multiple of 2 or 4."""
    if row.destination_count <= 1 and row.width <= 4 and not row.flags & (ADDRESS64 | INDEX64 | PAIRS | WIDE):
        return ""  # single words
    groups = [(row.destination, row.destination_count), (row.address_register, 2 if row.flags & ADDRESS64 else 1)]
    groups.append((row.address_index, 2 if row.flags & INDEX64 else 1))
    if row.operation in (Operation.STORE, Operation.ATOM):
        data = zip(row.source_kind, row.source_value, strict=True)
        groups += [(register, max(row.width // 4, 1)) for kind, register in data if kind == Kind.REGISTER]
    for slot, (kind, register) in enumerate(zip(row.source_kind, row.source_value, strict=True)):
        if kind == Kind.REGISTER and row.operation not in (Operation.STORE, Operation.ATOM):
            groups.append((register, source_registers(row.operation, row.flags, slot, row.width)))
    for first, count in groups:
        if count == 1:
            continue
        if first not in (-1, RZ) and first % count:
            return f"{register_name(first)} cannot start a group of {count} registers: its number must be a multiple of {count}"
        start, end = (UNIFORM_BASE, UNIFORM_BASE + UNIFORM_REGISTERS) if first >= UNIFORM_BASE else (0, RZ)
        if first not in (-1, RZ) and first + count > end:
            last = f"{register_name(start)[:-1]}{first + count - 1 - start}"
            return f"{register_name(first)} to {last}: the highest register is {register_name(end - 1)}"
    return ""


def _carry_predicate(row: Row, words: Collection[str]) -> str:
    if "Pa" not in words:
        return ""
    if not row.flags & X:
        return "a carry-in predicate needs .X"
    true = [PT, 0] in ([number, inverted] for number, inverted in zip(row.predicate_source[:2], row.predicate_source_not[:2], strict=True))
    return "a carry-in is P0 to P6 or !PT, not PT" if true else ""


def _wide(row: Row, words: Collection[str]) -> str:
    if not row.flags & WIDE:
        return ""
    if row.operation == Operation.IMAD and row.flags & (X | CC) and not row.flags & HIGH:
        return ".WIDE with a carry is not modelled"
    return "the addend of .WIDE is a register pair or a constant" if row.source_kind[2] == Kind.IMMEDIATE else ""


def _compare(row: Row, words: Collection[str]) -> str:
    if bool(row.flags & EXTENDED) != ("Pb" in words):
        return ".EX and a last predicate, the result of the low half, belong together"
    if row.flags & X and row.compare not in (Compare.LT, Compare.GE):
        return ".X continues .LT and .GE only: CC holds the carry and nothing else"
    return ""


def _offset(row: Row, words: Collection[str]) -> str:
    """An address offset is a signed 32-bit number; a longer one would wrap in silence."""
    legal = -(1 << 31) <= row.address_offset < 1 << 31
    return "" if legal else f"offset {row.address_offset:#x}: an address offset has 32 bits"


def _barrier(row: Row, words: Collection[str]) -> str:
    """A block has 16 named barriers (CUDA C++ Programming Guide, PTX bar.sync)."""
    if len({bool(row.flags & EVERY), row.combine != BarrierReduction.NONE, "Pa" in words}) > 1:
        return "BAR.RED takes .AND, .OR or .POPC and a predicate; BAR.SYNC none of them"
    legal = 0 <= row.function < BARRIERS
    return "" if legal else f"barrier {row.function}: a block has barriers 0 to {BARRIERS - 1}"


def _atomic(row: Row, words: Collection[str]) -> str:
    """Functions have the types that PTX gives them: `atom.cas` two operands, `.inc` and `.dec` .u32, `.f32` only `.add`."""
    if (row.function in (AtomicFunction.CAS, AtomicFunction.CAST)) != (row.source_kind[1] == Kind.REGISTER):
        return ".CAS has two data registers, the value to compare with and the new one; the others have one"
    if "r" not in words and row.function != AtomicFunction.INC:
        return "only .POPC.INC has no data register"
    if row.function in (AtomicFunction.INC, AtomicFunction.DEC) and (row.width == 8 or row.flags & SIGNED):
        return ".INC and .DEC are of .U32 only"
    if row.flags & FLOAT and (row.function != AtomicFunction.ADD or row.flags & SIGNED):
        return "floats have .ADD only, and no other type"
    return ".FTZ needs .F32" if row.flags & FTZ and not row.flags & FLOAT else ""


def _branch(row: Row, words: Collection[str]) -> str:
    """Only .DIV compares with a mask; a condition of CC is a branch's."""
    if row.operation == Operation.BRA and "a" in words:
        return "a branch takes a predicate; .DIV takes a mask"
    if row.operation != Operation.BRA and CC_ZERO in row.predicate_source:
        return "CC.EQ and CC.NE are conditions of a branch"
    if CC_ZERO in row.predicate_destination and (row.combine, row.predicate_source[0], row.predicate_source_not[0]) != (Combine.AND, PT, 0):
        return "a comparison into RZ.CC takes .AND and PT"
    return ""


def _alike(row: Row, words: Collection[str]) -> str:
    """VMNMX compares signed words or unsigned ones."""
    if not row.function:
        return ""
    signs = {row.function >> 6 & 1, row.function >> 7 & 1, int(row.flags & SIGNED != 0)}
    return "" if len(signs) == 1 else "VMNMX of signed and unsigned words together is not modelled"


def _neutral(row: Row, words: Collection[str]) -> str:
    """What these would write or add otherwise is not modelled."""
    if row.operation == Operation.VABSDIFF4 and not row.flags & EVERY and row.source_value[2] != RZ:
        return "VABSDIFF4 adds its third source with .ACC only; RZ stands there"
    if row.operation == Operation.IADD64 and row.predicate_destination != [PT, PT]:
        return "carries out of 64-bit sums are not modelled"
    if row.operation == Operation.IADD2 and any(row.source_flags):
        return "a sign before two halves is not modelled"
    return ""


RULES: tuple[tuple[Callable[[Row, Collection[str]], str], tuple[Operation, ...]], ...] = (  # of which operations; none = of all
    (_aligned, ()),
    (_carry_predicate, (Operation.IADD3, Operation.IMAD, Operation.IMAD_CARRY, Operation.LEA, Operation.LEA_HI)),
    (_wide, (Operation.IMAD, Operation.IMAD_CARRY)),
    (_compare, (Operation.ISETP,)),
    (_barrier, (Operation.BAR,)),
    (_offset, ()),
    (_atomic, (Operation.ATOM,)),
    (_branch, ()),
    (_alike, (Operation.VIADDMNMX,)),
    (_neutral, (Operation.VABSDIFF4, Operation.IADD64, Operation.IADD2)),
)


@functools.cache
def _rules_of(operation: int) -> tuple[Callable[[Row, Collection[str]], str], ...]:
    return tuple(rule for rule, operations in RULES if not operations or operation in operations)
