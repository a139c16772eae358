"""What the opcode table cannot say: rules between operands and modifiers. Each returns what is wrong, or an empty string."""

import functools
from collections.abc import Callable, Collection, Sequence

from isa import matrices
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
    BulkReduction,
    Combine,
    Compare,
    Flag,
    Kind,
    Mbarrier,
    Mufu,
    Operation,
    SourceFlag,
    Unit,
)

EXTENDED, FLOAT, FTZ, SIGNED, EVERY = int(Flag.EXTENDED), int(Flag.FLOAT), int(Flag.FTZ), int(Flag.SIGNED), int(Flag.EVERY)
VECTOR, ASYNC, RELU, LANES, MOST_THREADS = int(Flag.VECTOR), int(Flag.ASYNC), int(Flag.RELU), 32, 1024
SATURATE, ABSOLUTE = int(Flag.SATURATE), int(SourceFlag.ABSOLUTE)


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
    if (
        row.destination_count <= 1
        and row.width <= 4
        and row.operation != Operation.BULK_COPY
        and not row.flags & (ADDRESS64 | INDEX64 | PAIRS | WIDE)
    ):
        return ""  # single words
    groups = [(row.destination, row.destination_count), (row.address_register, 2 if row.flags & ADDRESS64 else 1)]
    groups.append((row.address_index, 2 if row.flags & INDEX64 else 1))
    if row.operation in (Operation.STORE, Operation.ATOM):
        data = zip(row.source_kind, row.source_value, strict=True)
        groups += [(register, max(row.width // 4, 1)) for kind, register in data if kind == Kind.REGISTER]
    for slot, (kind, register) in enumerate(zip(row.source_kind, row.source_value, strict=True)):
        if kind == Kind.REGISTER and row.operation not in (Operation.STORE, Operation.ATOM):
            alone = row.operation == Operation.BULK_COPY and row.function > 1 and slot == 0  # of a tile: a list of words
            groups.append((register, 1 if alone else source_registers(row.operation, row.flags, slot, row.width, row.function)))
    for first, count in groups:
        if count <= 1:
            continue
        step = min(count, 4)
        if first not in (-1, RZ) and first % step:
            return f"{register_name(first)} cannot start a group of {count} registers: its number must be a multiple of {step}"
        start, end = (UNIFORM_BASE, UNIFORM_BASE + UNIFORM_REGISTERS) if first >= UNIFORM_BASE else (0, RZ)
        if first not in (-1, RZ) and first + count > end:
            last = f"{register_name(start)[:-1]}{first + count - 1 - start}"
            return f"{register_name(first)} to {last}: the highest register is {register_name(end - 1)}"
    return ""


def _sums(row: Row, words: Collection[str]) -> str:
    if row.source_flags[2]:
        return "the addend of a wgmma takes no sign"
    if row.source_value[1] == RZ and row.destination != RZ:
        return "gdesc[URZ] describes no matrices: it stands only in a commit without a product, whose sums go to RZ"
    last = row.destination + matrices.sums_of_warpgroup(row.function) - 1
    return f"{register_name(row.destination)} to R{last}: the highest register is R{RZ - 1}" if row.destination != RZ <= last else ""


def _carry_predicate(row: Row, words: Collection[str]) -> str:
    if row.operation == Operation.LEA and row.flags & X:
        return "the low half of a LEA has no carry in"
    return "a carry-in predicate needs .X" if "Pa" in words and not row.flags & X else ""


def _shifted(row: Row, words: Collection[str]) -> str:
    signs = SourceFlag.INVERT if row.operation == Operation.LEA else SourceFlag.INVERT | SourceFlag.NEGATE
    return "a sign of what LEA shifts, but for - of the low half, is not modelled" if row.source_flags[0] & signs else ""


def _wide(row: Row, words: Collection[str]) -> str:
    carries = row.operation == Operation.IMAD_CARRY and row.predicate_destination[0] != PT and not row.flags & (WIDE | HIGH)
    if carries and row.source_flags[2] & SourceFlag.NEGATE:
        return "the carry of a product less an addend is not modelled"
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
    """A block has 16 named barriers; a number of threads is one of whole warps (CUDA C++ Programming Guide, PTX bar.sync)."""
    if len({bool(row.flags & EVERY), row.combine != BarrierReduction.NONE, "Pa" in words}) > 1:
        return "BAR.RED takes .AND, .OR or .POPC and a predicate; BAR.SYNC none of them"
    if row.address_offset % LANES or not 0 <= row.address_offset <= MOST_THREADS or ("o" in words) != (row.address_offset != 0):
        return f"{row.address_offset} threads at a barrier: a multiple of {LANES} up to {MOST_THREADS}"
    if row.flags & ASYNC and not row.address_offset and row.source_kind[1] == Kind.NONE:
        return "BAR.ARV says how many threads the barrier is for"
    legal = 0 <= row.function < BARRIERS
    return "" if legal else f"barrier {row.function}: a block has barriers 0 to {BARRIERS - 1}"


def _mbarrier(row: Row, words: Collection[str]) -> str:
    if (row.function == Mbarrier.CHECK) != ("Pd" in words):
        return "SYNCS.PHASECHK writes a predicate; the others a register"
    if row.flags & EVERY and row.function in (Mbarrier.SET, Mbarrier.CHECK, Mbarrier.EXPECT, Mbarrier.COMPLETE):
        return ".OPTOUT belongs to an arrival"
    return "" if "r" in words else "SYNCS has a register behind the address, RZ where it is not read"


def _atomic(row: Row, words: Collection[str]) -> str:
    """Functions have the types that PTX gives them: `atom.cas` two operands, `.inc` and `.dec` .u32, `.f32` only `.add`."""
    if (row.function in (AtomicFunction.CAS, AtomicFunction.CAST)) != (row.source_kind[1] == Kind.REGISTER):
        return ".CAS has two data registers, the value to compare with and the new one; the others have one"
    if "r" not in words and row.function != AtomicFunction.INC:
        return "only .POPC.INC has no data register"
    if row.width == 16 and not row.flags & FLOAT and row.function not in (AtomicFunction.EXCH, AtomicFunction.CAS):
        return ".128 has .EXCH and .CAS only"
    if row.flags & FTZ and (row.width == 8 or row.flags & EVERY) and not row.flags & VECTOR:
        return ".FTZ is of .F32 only"
    if row.function in (AtomicFunction.INC, AtomicFunction.DEC) and (row.width == 8 or row.flags & SIGNED):
        return ".INC and .DEC are of .U32 only"
    if row.flags & FLOAT and (row.function != AtomicFunction.ADD or row.flags & SIGNED):
        return "floats have .ADD only, and no other type"
    return ".FTZ needs .F32" if row.flags & FTZ and not row.flags & FLOAT else ""


def _reduced(row: Row, words: Collection[str]) -> str:
    """What UBLKRED reduces has the types of PTX's `cp.reduce.async.bulk`, between blocks 32 bits; a tile's type is said by its map."""
    kind, is_float, is_sum = row.combine, row.flags & FLOAT, row.combine == BulkReduction.ADD
    if row.function == 0 and (is_float or (row.width == 8 and (not is_sum or row.flags & SIGNED))):
        return "to shared memory of the cluster go words of 32 bits, and sums of .U64"
    if kind in (BulkReduction.INC, BulkReduction.DEC) and (row.width == 8 or row.flags & (SIGNED | FLOAT)):
        return ".INC and .DEC are of .U32 only"
    if row.flags & SIGNED and (kind >= BulkReduction.AND or (is_sum and row.width == 8)):
        return "signed integers have .MIN and .MAX, of .S32 also .ADD"
    if is_float and (kind >= BulkReduction.AND or (not is_sum and row.width > 2)):
        return "floats have .ADD, of .F16 and .BF16 also .MIN and .MAX"
    return ""


def _number(row: Row, words: Collection[str]) -> str:
    """A shift has 5 bits and a truth table 8; more would be cut off in silence."""
    most = 255 if row.operation == Operation.LOP3 else 31
    what = "a truth table" if row.operation == Operation.LOP3 else "a shift"
    return "" if "n" not in words or 0 <= row.function <= most else f"{row.function:#x} is not a number from 0 to {most}, which {what} is"


def _branch(row: Row, words: Collection[str]) -> str:
    """Only .DIV compares with a mask; a condition of CC is a branch's."""
    if row.operation == Operation.BRA and "a" in words:
        return "a branch takes a predicate; .DIV takes a mask"
    if row.operation != Operation.BRA and CC_ZERO in row.predicate_source:
        return "CC.EQ and CC.NE are conditions of a branch"
    if CC_ZERO in row.predicate_destination and (row.combine, row.predicate_source[0], row.predicate_source_not[0]) != (Combine.AND, PT, 0):
        return "a comparison into RZ.CC takes .AND and PT"
    return ""


def _carried_pairs(row: Row) -> str:
    """Of a carry in and a negated source it is not known which comes first."""
    if row.source_kind[2] != Kind.NONE and (row.source_kind[2], row.source_value[2]) != (Kind.REGISTER, RZ):
        return "carries of 64-bit sums of three are not modelled"
    negated = [kind for kind, flags in zip(row.source_kind, row.source_flags, strict=True) if flags & SourceFlag.NEGATE]
    if negated and (row.flags & X or Kind.CONSTANT in negated):
        return "carries of negated 64-bit constants, or into negated sums, are not modelled"
    return ""


def _alike(row: Row, words: Collection[str]) -> str:
    """VMNMX compares signed words or unsigned ones."""
    signs = {row.function >> 6 & 1, row.function >> 7 & 1, int(row.flags & SIGNED != 0)}
    return "" if len(signs) == 1 else "VMNMX of signed and unsigned words together is not modelled"


def _neutral(row: Row, words: Collection[str]) -> str:
    """What these would write or add otherwise is not modelled."""
    if row.operation == Operation.VABSDIFF4 and not row.flags & EVERY and row.source_value[2] != RZ:
        return "VABSDIFF4 adds its third source with .ACC only; RZ stands there"
    if row.operation == Operation.IADD64 and (row.predicate_destination != [PT, PT] or row.flags & X):
        return _carried_pairs(row)
    if row.operation == Operation.PACK_F8 and row.source_value[2] != RZ:
        return "F2FP.MERGE_C keeps a half of its third source: only RZ is modelled"
    if row.operation in (Operation.MERGE_HALF, Operation.F16_TO_F8) and row.source_value[1] != RZ:
        return "F2FP.MERGE_C keeps a half of its second source: only RZ is modelled"
    if row.operation == Operation.IADDMNMX2 and row.source_flags[2]:
        return "a sign before the third of three times two halves is not modelled"
    if row.operation == Operation.MUFU_HALF and (row.function not in (Mufu.EX2, Mufu.TANH) or row.flags & SATURATE):
        return "MUFU.F16 and .BF16 have .EX2 and .TANH only, without .SAT"
    if row.operation in MAGNITUDES and any(row.source_kind[k] == Kind.REGISTER and row.source_flags[k] & 7 != ABSOLUTE for k in (0, 1)):
        return ".XORSIGN compares magnitudes: |R1|, |R2|"
    return ""


def _extreme(row: Row, words: Collection[str]) -> str:
    if "Pb" in words and (row.predicate_source[1], row.predicate_source_not[1]) != (PT, 1):
        return "a last predicate of IMNMX other than !PT is not modelled"
    return ".RELU of four bytes is not modelled" if row.operation == Operation.IMNMX4 and row.flags & RELU else ""


def _selected(row: Row, words: Collection[str]) -> str:
    return "FSEL.FTZ is not modelled: nobody has measured what it flushes" if row.flags & FTZ else ""


def _saturated(row: Row, words: Collection[str]) -> str:
    """VIADD.S32.ISAT is one spelling."""
    both = row.operation == Operation.IADD_SATURATED, row.flags & SATURATE != 0
    return "" if both[0] == both[1] else ".S32 and .ISAT of a sum go together"


def _registers(row: Row, words: Collection[str]) -> str:
    """PTX, setmaxnreg: 24 to 256 in steps of 8."""
    return "" if 24 <= row.function <= 256 and row.function % 8 == 0 else f"{row.function} is not a multiple of 8 from 24 to 256"


def _matrices(row: Row, words: Collection[str]) -> str:
    """Products of matrices have the shapes and types of `isa.matrices.unit_of`, a left factor by rows and a right one by columns."""
    if matrices.unit_of(row.operation, row.function) is None:
        return "a product of matrices of this shape with these types is not modelled; compile it with another shape of mma.sync"
    return ""


MAGNITUDES = (Operation.FMNMX_XORSIGN, Operation.HMNMX2_XORSIGN)
NEUTRAL = (
    *(Operation.VABSDIFF4, Operation.IADD64, Operation.IADDMNMX2, Operation.MUFU_HALF, *MAGNITUDES),
    *(Operation.PACK_F8, Operation.F16_TO_F8, Operation.MERGE_HALF),
)
RULES: tuple[tuple[Callable[[Row, Collection[str]], str], tuple[Operation, ...]], ...] = (  # of which operations; none = of all
    (_aligned, ()),
    (_carry_predicate, (Operation.IADD, Operation.IADD3, Operation.IMAD, Operation.IMAD_CARRY, Operation.LEA, Operation.LEA_HI)),
    (_shifted, (Operation.LEA, Operation.LEA_HI)),
    (_wide, (Operation.IMAD, Operation.IMAD_CARRY)),
    (_compare, (Operation.ISETP,)),
    (_barrier, (Operation.BAR,)),
    (_offset, ()),
    (_atomic, (Operation.ATOM,)),
    (_mbarrier, (Operation.MBARRIER,)),
    (_reduced, (Operation.BULK_COPY,)),
    (_branch, ()),
    (_number, (Operation.LEA, Operation.LEA_HI, Operation.LOP3)),
    (_alike, (Operation.VMNMX,)),
    (_neutral, NEUTRAL),
    (_extreme, (Operation.IMNMX, Operation.IMNMX64, Operation.IMNMX4)),
    (_selected, (Operation.FSEL,)),
    (_saturated, (Operation.IADD, Operation.IADD2, Operation.IADD4, Operation.IADD_SATURATED)),
    (_registers, (Operation.SETMAXREG,)),
    (_matrices, matrices.OPERATIONS),
    (_sums, matrices.OF_WARPGROUP),
)


@functools.cache
def _rules_of(operation: int) -> tuple[Callable[[Row, Collection[str]], str], ...]:
    return tuple(rule for rule, operations in RULES if not operations or operation in operations)
