"""`Program` and `Launch` -> `Code`: operands become rows, constants are read, carries and loop limits are settled.

Everything that does not change while the program runs is done here once: immediates and c[bank][offset] operands are rows
of 32 equal words with their sign or inversion applied; only register operands are modified while running.
"""

import numpy as np

from isa import matrices
from isa.architecture import era
from isa.dependences import source_registers
from isa.disassembly import registers_needed
from isa.errors import UserError
from isa.operations import OPERATIONS, Numbers
from isa.program import Program
from isa.semantics.bits import part_of
from isa.semantics.doubles import is_nan
from isa.semantics.words import pair
from isa.vocabulary import (
    CC_ZERO,
    PART_SHIFT,
    RZ,
    UNIFORM_BASE,
    UNIFORM_PREDICATE_BASE,
    UP0,
    Compare,
    Flag,
    Kind,
    NumberType,
    Operation,
    Part,
    SourceFlag,
)
from sim.functional.constants import Banks
from sim.functional.families import families_of
from sim.functional.state import FULL, LANES, NO_INDEX, ZERO, ZEROS, Code
from sim.launch.launch import Launch

TYPE_NUMBERS = {
    NumberType.F16: Numbers.HALVES,
    NumberType.BF16: Numbers.HALVES,
    NumberType.F32: Numbers.FLOATS,
    NumberType.F64: Numbers.DOUBLES,
}
ADDITIONS = (Operation.IADD, Operation.IADD3, Operation.LEA, Operation.LEA_HI)
CARRIED = (Operation.IADD, Operation.IADD3, Operation.IMAD, Operation.IMAD_CARRY, Operation.LEA_HI, Operation.XMAD)
FORMS = np.array([OPERATIONS[k].form if k in OPERATIONS else -1 for k in range(max(OPERATIONS) + 1)], np.int64)
HIGH_A, HIGH_B = 256, 512  # bits of XMAD's function
GRANULE = 8  # registers per thread that a warp has at least, and more
VOLTA_PARAMETERS = 0x160  # parameters start here or later from Volta on, where MUFU.SIN and COS take turns


class Literals:
    """Rows of 32 equal words, each kept once."""

    def __init__(self) -> None:
        self.words = [0] * (ZERO + ZEROS)
        self.known: dict[tuple[int, ...], int] = {(0,): int(ZERO), (0, 0): int(ZERO)}

    def code(self, *words: int) -> int:
        """Return the operand code of consecutive rows that hold these words."""
        if words not in self.known:
            self.known[words] = len(self.words)
            self.words.extend(words)
        return ~self.known[words]

    def rows(self) -> np.ndarray:
        """Return uint32 [rows, 32]."""
        return np.repeat(np.array(self.words, np.uint32)[:, None], LANES, axis=1)


def resolve(launch: Launch, banks: Banks, literals: Literals, is_checked: bool = False) -> Code:
    """Return the code tables of a launch. is_checked: accesses are watched. Raises UserError for what is not modelled."""
    program, e = launch.program, launch.program.encoded
    check_modelled(program)
    names = list(launch.iterations)
    function, flags, subtracted = negations(program)
    key = np.column_stack([e.operation, e.flags, function, flags, e.source_kind, e.source_value, e.source_bank])
    _, first, alike = np.unique(key, axis=0, return_index=True, return_inverse=True)  # an unrolled loop has few distinct rows
    uniform = first_uniform(launch)
    rows = {
        int(i): [operand(program, int(i), slot, int(flags[i, slot]), banks, literals, uniform) for slot in range(4)] for i in np.sort(first)
    }
    table = np.array([rows[int(i)] for i in first], np.int64).reshape(-1, 4, 2)[alike.reshape(-1)]
    return Code(
        operation=e.operation.astype(np.int64),
        form=FORMS[e.operation],
        family=families_of(launch, is_checked),
        guard=e.guard.astype(np.int64),
        guard_flip=np.where(e.guard_not != 0, np.int64(FULL), np.int64(0)),
        destination=np.where(e.destination == RZ, np.int64(-1), row_number(e.destination, uniform)),
        predicate_destination=np.where(e.predicate_destination < 0, np.int64(7), e.predicate_destination.astype(np.int64)),
        operand=np.ascontiguousarray(table[:, :, 0]),
        modify=np.ascontiguousarray(table[:, :, 1]),
        numbers=np.array([numbers_of(program, i) for i in first], np.int64)[alike.reshape(-1)],
        predicate_source=e.predicate_source.astype(np.int64),
        predicate_flip=np.where(e.predicate_source_not != 0, np.int64(FULL), np.int64(0)),
        carry_from=carries(program),
        addend=np.where(e.flags & Flag.X, 0, subtracted.sum(axis=1)).astype(np.int64),
        flags=e.flags.astype(np.int64),
        compare=e.compare.astype(np.int64),
        combine=e.combine.astype(np.int64),
        rounding=e.rounding.astype(np.int64),
        function=function,
        space=e.space.astype(np.int64),
        width=e.width.astype(np.int64),
        address=np.where((e.address_register == RZ) | (e.address_register < 0), np.int64(~ZERO), row_number(e.address_register, uniform)),
        scale=e.address_scale.astype(np.int64),
        index=np.where(e.address_index < 0, NO_INDEX, row_number(e.address_index, uniform)),
        offset=np.where(e.operation == Operation.LDC, e.source_value[:, 0], e.address_offset).astype(np.int64),
        bank=e.source_bank[:, 0].astype(np.int64),
        target=e.target.astype(np.int64),
        places=places(program),
        spread=np.where(
            (e.destination >= UNIFORM_BASE) | ((e.predicate_destination >= UP0) & (e.predicate_destination < CC_ZERO)).any(axis=1),
            np.int64(FULL),
            np.int64(0),
        ),
        reconverge=np.full(len(program), -1, np.int64) if program.markers else e.reconverge.astype(np.int64),
        limit=limits(launch, names),
        iterations=np.array([launch.iterations[name] for name in names], np.int64),
        registers=uniform + uniform_registers(program),
        held=-(-launch.registers_per_thread // GRANULE) * GRANULE,
        turns=int(program.parameter_base >= VOLTA_PARAMETERS),
        apart=int(bool(program.architecture) and era(program.architecture) == "volta"),
        converges=int(program.markers and not np.isin(e.operation, (Operation.SSY, Operation.PBK, Operation.CAL)).any()),
        calls=int((e.operation == Operation.BMOV).any() or any(one.opcode.startswith("CALL") for one in program.instructions)),
        adder=adder_of(program),
    )


def adder_of(program: Program) -> tuple[int, int, int]:
    """Return how the program's architecture adds products of matrices. Raises UserError where that is not known, and asked for."""
    found, uses = (
        matrices.adder(program.architecture),
        np.flatnonzero(np.isin(program.encoded.operation, (Operation.HMMA, Operation.HGMMA))),
    )
    if found is None and uses.size:
        which = f"{program.architecture}'s" if program.architecture else "an unknown architecture's"
        hint = "a listing says its own: .target sm_80" if not program.architecture else "compile for sm_75 or later"
        line = program.instructions[uses[0]].line
        raise UserError(f"{which} sums of products are not known", path=program.path, line=line, hint=hint)
    return tuple(found or matrices.HOPPER)


def negations(program: Program) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return int64 functions [n], SourceFlags [n, 4] and subtrahends [n, 4], of which additions read the inversion and add one more.

    Halves of XMAD's factors and signs of 64-bit products and of two halves become bits of the function.
    """
    e = program.encoded
    additions = np.isin(e.operation, ADDITIONS)
    flags = e.source_flags.astype(np.int64)
    subtracted = (additions[:, None] & (flags & SourceFlag.NEGATE != 0)).astype(np.int64)
    shifts = e.operation == Operation.LEA
    subtracted[shifts, 0] <<= e.function[shifts]  # -(a << n) is (~a << n) + 2**n, which carries when a << n is 0
    function, is_xmad = e.function.astype(np.int64), e.operation == Operation.XMAD
    high = (flags >> PART_SHIFT == Part.H1) & is_xmad[:, None]
    function |= high[:, 0] * HIGH_A + high[:, 1] * HIGH_B  # XMAD needs the whole registers, too
    flags = np.where(is_xmad[:, None], flags & ~int(SourceFlag.PART), flags)
    products = e.operation == Operation.IMAD_CARRY  # which negates whole products and pairs
    negative = flags & SourceFlag.NEGATE != 0
    function |= products * ((negative[:, 0] ^ negative[:, 1]) + 2 * negative[:, 2])
    halves = np.isin(e.operation, (Operation.IADD2, Operation.IADD4, Operation.IADD_SATURATED, Operation.IADDMNMX2))
    function |= halves * (negative[:, 0] + 2 * negative[:, 1])
    flags = np.where((products | halves)[:, None], flags & ~int(SourceFlag.NEGATE), flags)
    magnitudes = np.isin(e.operation, (Operation.FMNMX_XORSIGN, Operation.HMNMX2_XORSIGN))  # which need the signs, too
    flags = np.where(magnitudes[:, None], flags & ~int(SourceFlag.ABSOLUTE), flags)
    flags = np.where(subtracted != 0, flags ^ (SourceFlag.NEGATE | SourceFlag.INVERT), flags)
    return function, flags, subtracted


def operand(program: Program, i: int, slot: int, flags: int, banks: Banks, literals: Literals, uniform: int) -> tuple[int, int]:
    """Return the operand code of a source and the SourceFlags left to apply while running. uniform: row of UR0."""
    e = program.encoded
    kind, value, operation = int(e.source_kind[i, slot]), int(e.source_value[i, slot]), int(e.operation[i])
    numbers = numbers_of(program, i)
    is_pair = source_registers(operation, int(e.flags[i]), slot, int(e.width[i]), int(e.function[i])) == 2
    if operation == Operation.POPC and slot == 1 and kind == Kind.NONE:
        return literals.code(FULL), 0
    if kind == Kind.NONE or operation == Operation.LDC or (kind == Kind.REGISTER and value == RZ):
        return code_of(literals, 0, 0, is_pair, flags, numbers)
    if kind == Kind.REGISTER:
        return int(row_number(value, uniform)), flags
    if kind == Kind.CONSTANT:
        where = (program, i)
        low = banks.word(int(e.source_bank[i, slot]), value, where)
        high = banks.word(int(e.source_bank[i, slot]), value + 4, where) if is_pair else 0
        return code_of(literals, low, high, is_pair, flags, numbers)
    if numbers == Numbers.DOUBLES or (operation == Operation.I2F and is_pair):  # the high word
        return code_of(literals, 0, value & FULL, is_pair, flags, numbers)
    negative = value & 0x80000000 and (e.flags[i] & Flag.SIGNED or operation == Operation.IADD64)
    upper = FULL if negative and 0 <= value <= FULL else value >> 32 & FULL
    return code_of(literals, value & FULL, upper, is_pair, flags, numbers)


def numbers_of(program: Program, i: int) -> Numbers:
    """Return what a sign means to the sources of instruction i."""
    numbers = OPERATIONS[int(program.encoded.operation[i])].numbers  # a NumPy integer takes a hundred times longer to look up
    return TYPE_NUMBERS[NumberType(program.encoded.function[i] & 15)] if numbers == Numbers.BY_TYPE else numbers


def code_of(literals: Literals, low: int, high: int, is_pair: bool, flags: int, numbers: Numbers) -> tuple[int, int]:
    """Return the operand code of a word, or of a pair, with SourceFlags applied; nothing is left to apply."""
    if not is_pair:
        return literals.code(modified(low, flags, numbers)), 0
    if numbers == Numbers.DOUBLES:
        return literals.code(low, high if is_nan(pair(np.uint32(low), np.uint32(high))) else modified(high, flags, Numbers.FLOATS)), 0
    value = (high << 32 | low) ^ (-1 if flags & SourceFlag.INVERT else 0)
    value = -value if flags & SourceFlag.NEGATE else value
    return literals.code(value & FULL, value >> 32 & FULL), 0


def modified(word: int, flags: int, numbers: Numbers) -> int:
    """Return a word with SourceFlags applied, as `operands.modify` does to a row."""
    if part := flags >> PART_SHIFT:
        word = int(part_of(np.uint32(word), part))
    if numbers != Numbers.WORDS:
        sign = 0x80008000 if numbers == Numbers.HALVES else 0x80000000
        word &= FULL ^ sign if flags & SourceFlag.ABSOLUTE else FULL
        return word ^ (sign if flags & SourceFlag.NEGATE else 0)
    word ^= FULL if flags & SourceFlag.INVERT else 0
    if flags & SourceFlag.ABSOLUTE and word & 0x80000000:
        word = -word & FULL
    return -word & FULL if flags & SourceFlag.NEGATE else word


def carries(program: Program) -> np.ndarray:
    """Return where each instruction's carry-in comes from: predicates where any is written, else CC."""
    e = program.encoded
    uses = (e.flags & Flag.X != 0) & np.isin(e.operation, CARRIED)
    return np.where(uses, np.where(e.flags & Flag.CARRY_PREDICATE, 2, 1), 0).astype(np.int64)


def limits(launch: Launch, names: list[str]) -> np.ndarray:
    """Return, for each backward branch to a label of `launch.iterations`, the label's place in `names`; else -1."""
    program, e = launch.program, launch.program.encoded
    limit = np.full(len(program), -1, np.int64)
    for column, name in enumerate(names):
        if name not in program.labels:
            known = ", ".join(program.labels) or "none"
            raise UserError(f"iterations: the listing has no label {name}", path=program.path, hint=f"its labels: {known}")
        if launch.iterations[name] < 1:
            raise UserError(f"iterations of {name}: {launch.iterations[name]} is not at least 1", path=program.path)
        to_label = (e.operation == Operation.BRA) & (e.target == program.labels[name])
        backward = to_label & (np.arange(len(program)) >= e.target)
        if not backward.any():
            raise UserError(f"iterations: no branch goes back to label {name}", path=program.path)
        limit[backward] = column
    return limit


def row_number(register: np.ndarray | int, uniform: int) -> np.ndarray:
    """Return the rows of registers within a warp's: uniform ones lie behind the others, from row `uniform` on."""
    numbers = np.asarray(register, np.int64)
    return np.where(numbers >= UNIFORM_BASE, numbers - UNIFORM_BASE + uniform, numbers)


def uniform_registers(program: Program) -> int:
    """Return how many uniform registers a warp needs, the zero that may be read behind a pair included."""
    named = np.concatenate([program.encoded.reads.ravel(), program.encoded.writes.ravel()])
    named = named[(named >= UNIFORM_BASE) & (named < UNIFORM_PREDICATE_BASE)]
    return int(named.max()) - UNIFORM_BASE + 2 if named.size else 0


def places(program: Program) -> np.ndarray:
    """Return which instruction stands at each multiple of 8 bytes, -1 = none. A control word stands for what follows it."""
    found = np.full(program.addresses[-1] // 8 + 1 if program.addresses else 1, -1, np.int64)
    for i, address in enumerate(program.addresses):
        found[address // 8] = i
        if address >= 8 and found[address // 8 - 1] < 0 and era(program.architecture) == "before_volta":
            found[address // 8 - 1] = i
    return found


def first_uniform(launch: Launch) -> int:
    """Return how many ordinary registers a warp needs: one more than the highest that is named."""
    return max([registers_needed(launch.program.encoded) - 1, *(register + 1 for register in launch.preset)]) + 2


def check_modelled(program: Program) -> None:
    """Raise UserError for the first instruction whose modifiers are not modelled together."""
    e = program.encoded
    for i in np.flatnonzero(np.isin(e.operation, (Operation.IMAD, Operation.IMAD_CARRY, Operation.ISETP))):
        instruction = program.instructions[i]
        flags, is_imad, is_isetp = int(e.flags[i]), e.operation[i] != Operation.ISETP, e.operation[i] == Operation.ISETP
        problem = ""
        if e.operation[i] == Operation.IMAD and flags & Flag.WIDE and flags & (Flag.X | Flag.CC):
            problem = "a carry of a 64-bit IMAD"
        elif is_imad and flags & (Flag.WIDE | Flag.HIGH) and (e.source_flags[i].astype(np.int64) & ~int(SourceFlag.NEGATE)).any():
            problem = "an inverted operand of a 64-bit product"
        elif e.operation[i] == Operation.IMAD_CARRY and e.source_flags[i].any() and flags & Flag.X:
            problem = "a negated operand of a product with a carry"
        elif is_isetp and flags & Flag.X and e.compare[i] not in (Compare.GE, Compare.LT):
            problem = "ISETP.X other than GE and LT"
        if problem:
            raise UserError(f"{instruction.text} is not modelled: {problem}", path=program.path, line=instruction.line)
