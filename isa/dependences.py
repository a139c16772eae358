"""What an instruction reads and writes, as a scoreboard sees it: registers, predicates, CC, convergence barriers."""

import re
from collections.abc import Iterable, Sequence

from isa import matrices
from isa.rows import Row
from isa.vocabulary import (
    BARRIER_BASE,
    CARRY,
    CC_ZERO,
    PREDICATE_BASE,
    PT,
    RZ,
    UNIFORM_BASE,
    UNIFORM_PREDICATE_BASE,
    UP0,
    Flag,
    Kind,
    Mbarrier,
    Operation,
)

WIDE, X, CC, ADDRESS64 = int(Flag.WIDE), int(Flag.X), int(Flag.CC), int(Flag.ADDRESS64)  # plain integers: an IntFlag's & is slow
CARRY_PREDICATE, EVERY, CLUSTER = int(Flag.CARRY_PREDICATE), int(Flag.EVERY), int(Flag.CLUSTER)
HIGH, PAIRS, INDEX64, CLEAR = int(Flag.HIGH), int(Flag.PAIRS), int(Flag.INDEX64), int(Flag.CLEAR)
DRIVER_READS = (*range(4, 12), 20, 21)  # where a function that a driver brings finds its arguments, and where it goes back to
DEPBAR = re.compile(r"DEPBAR(?:\.LE)?(?: SB(?P<counter>\d), *(?P<most>0[xX][\da-fA-F]+|\d+))?(?:,? *\{(?P<all>[\d, ]+)\})?")


def registers(first: int, count: int) -> list[int]:
    """Return `count` registers from `first`; none for RZ or when there is no register (-1)."""
    return [] if first in (RZ, -1) else list(range(first, first + count))


def predicates(numbers: Iterable[int]) -> list[int]:
    def base(number: int) -> int:
        return CARRY - CC_ZERO if number == CC_ZERO else PREDICATE_BASE if number < PT else UNIFORM_PREDICATE_BASE - UP0

    return [number + base(number) for number in numbers if number != PT]


def name(dependence: int) -> str:
    """Return what a scoreboard's column is called: `R4`, `P0`, `CC`, `B1`, `UR4`, `UP0`."""
    if dependence >= UNIFORM_PREDICATE_BASE:
        return f"UP{dependence - UNIFORM_PREDICATE_BASE}"
    if dependence >= UNIFORM_BASE:
        return f"UR{dependence - UNIFORM_BASE}"
    if dependence >= BARRIER_BASE:
        return f"B{dependence - BARRIER_BASE}"
    if dependence == CARRY:
        return "CC"
    return f"P{dependence - PREDICATE_BASE}" if dependence >= PREDICATE_BASE else f"R{dependence}"


def source_registers(operation: int, flags: int, slot: int, width: int, function: int = 0) -> int:
    """Return how many registers a register source spans: wide data of STORE and ATOM and the addend of IMAD.WIDE are pairs or quads."""
    if operation in matrices.OPERATIONS:
        return matrices.registers_of(function, slot)
    if operation in matrices.OF_WARPGROUP:
        return matrices.sources_of_warpgroup(function, slot)
    if operation in (Operation.STORE, Operation.ATOM) or (operation == Operation.MBARRIER and function == Mbarrier.STORE):
        return max(width // 4, 1)
    if operation == Operation.BULK_COPY:
        if not function and flags & CLUSTER:
            return 2 if slot == 0 else 1
        near = 2 + (function >> 1) - (function & 1)  # of a tile: the place in shared memory, a barrier unless it is stored, coordinates
        return (near, 2, 1, 1)[slot] if function > 1 else 2 if slot < 2 - function else 1
    return 2 if flags & PAIRS or (operation in (Operation.IMAD, Operation.IMAD_CARRY) and flags & WIDE and slot == 2) else 1


def word_slots(operation: int, source_kind: Sequence[int]) -> tuple[int, ...]:
    """Return for each source the field of the instruction word that names it, 0 to 3 for A to D, as `Control.reuse` counts them.

    The second source of FADD stands in C, an only source in B: so in every CUDA listing of `programs` that prints `.reuse` beside its
    encoding. The field of each source is also the source of each field.
    """
    if operation == Operation.FADD:
        return 0, 2, 1, 3
    return (1, 0, 2, 3) if all(kind == Kind.NONE for kind in source_kind[1:]) else (0, 1, 2, 3)


def depbar(text: str) -> tuple[set[int], tuple[int, int] | None]:
    """Return what a DEPBAR waits for: the counters that must be zero, and (counter, most) of .LE. Nothing of any other instruction."""
    match = DEPBAR.search(text)
    if match is None:
        return set(), None
    zero = {int(counter) for counter in match["all"].split(",")} if match["all"] else set()
    return zero, (int(match["counter"]), int(match["most"], 0)) if match["counter"] else None


def destination_registers(operation: int, flags: int, width: int, function: int = 0) -> int:
    """Return how many consecutive registers the destination spans."""
    if operation in matrices.OPERATIONS:
        return matrices.registers_of(function, matrices.ADDEND)
    if operation in matrices.OF_WARPGROUP:
        return 0  # they are waited for by WARPGROUP.DEPBAR
    if operation in (Operation.LOAD, Operation.ATOM, Operation.MBARRIER, Operation.LDC):
        return max(width // 4, 1)
    return 2 if flags & WIDE and not flags & HIGH else 1


def reads_carry(flags: int) -> bool:
    """Return True when .X takes CC: where no carry-in predicate is written."""
    return bool(flags & X and not flags & CARRY_PREDICATE)


def chosen(row: Row) -> list[int]:
    """Return the predicates that the mask of P2R or R2P, its second source, names; all when only a register knows."""
    return [p for p in range(PT) if row.source_kind[1] != Kind.IMMEDIATE or row.source_value[1] >> p & 1]


def reads_of(row: Row) -> list[int]:
    """Return the dependences that one row of `Encoded` reads, each once, sources first."""
    found: list[int] = []
    for slot, (kind, value) in enumerate(zip(row.source_kind, row.source_value, strict=True)):
        if kind == Kind.REGISTER:
            found += registers(value, source_registers(row.operation, row.flags, slot, row.width, row.function))
    found += registers(row.address_register, 2 if row.flags & ADDRESS64 else 1)
    found += registers(row.address_index, 2 if row.flags & INDEX64 else 1)
    found += predicates((row.guard, *row.predicate_source, *(chosen(row) if row.operation == Operation.P2R else ())))
    if row.operation == Operation.DRIVER_CALL:
        found += DRIVER_READS
    if row.operation == Operation.R2UR and row.flags & EVERY:
        found += predicates(row.predicate_destination)
    if reads_carry(row.flags):
        found.append(CARRY)
    if row.operation in (Operation.BSYNC, Operation.BREAK) or (row.operation == Operation.BMOV and row.destination != -1):
        found.append(BARRIER_BASE + row.function)
    return list(dict.fromkeys(found))


def writes_of(row: Row) -> list[int]:
    """Return the dependences that one row of `Encoded` writes."""
    found = registers(row.destination, row.destination_count) + predicates(row.predicate_destination)
    if row.operation == Operation.R2P:
        found += predicates(chosen(row))
    if row.flags & CC:
        found.append(CARRY)
    if row.operation in (Operation.BSSY, Operation.BREAK) or (
        row.operation == Operation.BMOV and (row.destination == -1 or row.flags & CLEAR)
    ):
        found.append(BARRIER_BASE + row.function)
    return list(dict.fromkeys(found))
