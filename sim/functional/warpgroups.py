"""HGMMA, QGMMA, IGMMA: products of a warpgroup with matrices in shared memory (PTX `wgmma`); WARPGROUP.DEPBAR, which waits.

Each warp has 16 of the 64 rows, and in its registers of each 8 columns the sums that `mma.sync` would give it. A descriptor of two
uniform registers says where a matrix begins and how it lies: 8 rows of 16 bytes each, or of 32, 64 and 128, of which the units of 16
bytes are swizzled, and how far apart such pieces are (PTX ISA, "matrix descriptor"; checked on an H100:
`programs/measurements/conformance`). A product is done at once; a warp that waits for its products waits until the other warps of the
group have come as far, as on a GPU, where all four begin one together: then nobody overwrites what another has still to read.
"""

import sys

import numpy as np

from isa.matrices import COLUMNS_MASK, COLUMNS_SHIFT, WarpgroupFlag
from isa.operations import Form
from isa.vocabulary import MatrixType, Space
from sim.compiled.kernel import first_bit, inner, outlined
from sim.functional.arms import by_kernels, kernels
from sim.functional.flags import SATURATE
from sim.functional.matrices import (
    BYTES,
    COLUMNS,
    SIZE,
    TERMS,
    A,
    B,
    C,
    add_bytes,
    add_products,
    add_specials,
    deal_sums,
    extend,
    fraction_of,
    gather,
    gather_sums,
    take_apart,
)
from sim.functional.operands import predicate, row_of
from sim.functional.stack import fault
from sim.functional.state import AT_WARPGROUP, FIRST, FULL, SECOND, THIRD, ZERO, Code, Fault, Machine, Memory, Progress, Report, Status
from sim.functional.watch import READ, Seen, touch

WARPS, LINES = np.int64(4), np.int64(16)  # of a group; rows of one of its warps
TNSPA, TNSPB, REGISTERS = int(WarpgroupFlag.TNSPA), int(WarpgroupFlag.TNSPB), int(WarpgroupFlag.REGISTERS)
NEGA, NEGB = int(WarpgroupFlag.NEGA), int(WarpgroupFlag.NEGB)
UNIT, PLACES = np.int64(16), np.int64(0x3FFF)  # bytes in which a descriptor counts; its fields
SWIZZLE_SHIFT = np.int64(7)  # of the row within the swizzle's pattern, in an address
REPEAT_SHIFT = np.int64(17)  # of the row at which the pattern begins, in a descriptor's high word


@outlined
def multiply_floats_of_warpgroup(i: int, w: int, code: Code, machine: Machine, memory: Memory, progress: Progress) -> int:
    """Execute HGMMA or QGMMA i for a warp's rows: all terms of 8 columns at once, each sum rounded."""
    function = code.function[i]
    terms, left, right, total = TERMS[function & 15], (function >> 4) & 15, (function >> 8) & 15, (function >> 12) & 15
    kept = np.int64(code.adder[2] if BYTES[left] == 1 else code.adder[0])
    status = gather_left(i, w, terms, left, code, machine, memory, progress)
    if status != Status.RUNNING:
        return status
    special = take_apart(A, LINES * terms, left, kept - fraction_of(left) - fraction_of(right), machine)
    if (function & NEGA != 0) != (function & NEGB != 0):
        for x in range(LINES * terms):
            machine.parts[SIZE + A, x] = -machine.parts[SIZE + A, x]
    for column in range(0, columns_of(function), COLUMNS):
        status = gather_tile(i, w, B, column, code, machine, memory, progress)
        if status != Status.RUNNING:
            return status
        gather_addend(i, w, column, BYTES[total], code, machine)
        again = take_apart(B, np.int64(COLUMNS) * terms, right, np.int64(0), machine)
        again |= take_apart(C, COLUMNS * LINES, total, kept - fraction_of(total), machine)
        add_products(LINES, terms, np.int64(0), terms, total == MatrixType.F16, kept, machine)
        if special | again:
            add_specials(LINES, terms, np.int64(0), terms, total == MatrixType.F16, machine)
        deal_sums(register_of(i, column, BYTES[total], code), w, LINES, BYTES[total], code, machine)
    return Status.RUNNING


@outlined
def multiply_bytes_of_warpgroup(i: int, w: int, code: Code, machine: Machine, memory: Memory, progress: Progress) -> int:
    """Execute IGMMA i for a warp's rows: exact sums, of which 32 bits stay, or saturated."""
    function = code.function[i]
    terms, left, right = TERMS[function & 15], (function >> 4) & 15, (function >> 8) & 15
    status = gather_left(i, w, terms, left, code, machine, memory, progress)
    if status != Status.RUNNING:
        return status
    extend(A, LINES * terms, left, machine)
    for column in range(0, columns_of(function), COLUMNS):
        status = gather_tile(i, w, B, column, code, machine, memory, progress)
        if status != Status.RUNNING:
            return status
        extend(B, np.int64(COLUMNS) * terms, right, machine)
        gather_addend(i, w, column, np.int64(4), code, machine)
        add_bytes(LINES, terms, code.flags[i] & SATURATE != 0, machine)
        deal_sums(register_of(i, column, np.int64(4), code), w, LINES, np.int64(4), code, machine)
    return Status.RUNNING


@inner
def columns_of(function: int) -> int:
    """Return the columns of a product."""
    return (function >> COLUMNS_SHIFT & COLUMNS_MASK) * COLUMNS


@inner
def register_of(i: int, column: int, size: int, code: Code) -> int:
    """Return the first register of the sums of 8 columns, of `size` bytes each; -1 = none."""
    return code.destination[i] + column // COLUMNS * size if code.destination[i] >= 0 else np.int64(-1)


@outlined
def gather_left(i: int, w: int, terms: int, kind: int, code: Code, machine: Machine, memory: Memory, progress: Progress) -> int:
    """Put the warp's rows of the left factor to row A of `bits`; return a Status."""
    if not code.function[i] & REGISTERS:
        return gather_tile(i, w, A, w % WARPS * LINES, code, machine, memory, progress)
    gather(row_of(code.operand[i, FIRST], w, code, machine), A, LINES, terms, BYTES[kind], machine)
    return np.int64(Status.RUNNING)


@outlined
def gather_addend(i: int, w: int, column: int, size: int, code: Code, machine: Machine) -> None:
    """Put 8 columns of the addend to row C of `bits`: zeros where the predicate says that there is none."""
    source = code.operand[i, THIRD]
    if source < 0 or predicate(i, FIRST, w, code, machine) == 0:
        gather_sums(np.int64(ZERO), LINES, size, machine)
    else:
        gather_sums(row_of(source + column // COLUMNS * size, w, code, machine), LINES, size, machine)


@outlined
def gather_tile(i: int, w: int, which: int, first: int, code: Code, machine: Machine, memory: Memory, progress: Progress) -> int:
    """Put rows of the left factor, or columns of the right one, from `first` on to a row of `bits`, as `gather` does; return a Status."""
    row, right = row_of(code.operand[i, SECOND], w, code, machine), which == B
    row += 2 if right else 0
    low, high = np.int64(machine.rows[row, 0]), np.int64(machine.rows[row + 1, 0])
    transposed = code.function[i] & (TNSPB if right else TNSPA) != 0
    terms, lines, out = TERMS[code.function[i] & 15], np.int64(COLUMNS if right else LINES), machine.bits[which]
    size = np.int64(32) // terms
    per, ones = UNIT // size, (np.int64(1) << (8 * size)) - 1
    for along in range(lines if not transposed else terms):
        for across in range(0, lines if transposed else terms, per):  # elements that lie side by side: swizzles move whole units
            line, term = (np.int64(across), np.int64(along)) if transposed else (np.int64(along), np.int64(across))
            address = address_of(first + line, term, size, transposed, low, high)
            if address + UNIT > memory.shared_bytes:
                progress.report[Report.ADDRESS] = max(address, memory.shared_bytes // size * size)
                progress.report[Report.EXPECTED] = Space.SHARED
                return fault(Fault.OUT_OF_RANGE, w, np.int64(0), i, progress)
            place, step = line * terms + term, terms if transposed else np.int64(1)
            for k in range(per):
                byte = address + k * size
                out[place + k * step] = (np.int64(memory.shared[byte >> 2]) >> (8 * (byte & 3))) & ones
            if memory.watch.asked[0]:
                seen = Seen(np.int64(i), np.int64(w), np.int64(0), READ)
                for byte in range(UNIT):
                    touch(address + byte, np.int64(-1), seen, machine, memory.watch)
    return np.int64(Status.RUNNING)


@inner
def address_of(line: int, term: int, size: int, transposed: bool, low: int, high: int) -> int:
    """Return where an element of `size` bytes lies in shared memory. low, high: the descriptor.

    Bits 0 to 13: the matrix's begin; 16 to 29 and 32 to 45: the leading and the stride byte offset, all in units of 16 bytes; 49 to 51:
    the row of the swizzle's pattern at which it begins; 62 and 63: no swizzle, or of rows of 128, 64 and 32 bytes.
    """
    begin, leading, stride = (low & PLACES) * UNIT, ((low >> 16) & PLACES) * UNIT, (high & PLACES) * UNIT
    mode = high >> 30
    width = UNIT if mode == 0 else np.int64(256) >> mode
    across, along = (line, term) if transposed else (term, line)  # elements side by side, and one below the other
    place = across * size
    if transposed:
        piece, below = place // width, along // 8
        address = piece * leading + below * stride if mode else piece * stride + below * leading
    else:
        address = along // 8 * stride + place // width * leading
    address += begin + along % 8 * width + place % width
    return address ^ ((((address >> SWIZZLE_SHIFT) - (high >> REPEAT_SHIFT)) & (width // UNIT - 1)) * UNIT)


GIVEN, KNOWN = "i, w, code, machine, memory, progress", kernels([sys.modules[__name__]])
multiplied_of_warpgroup = by_kernels("multiplied_of_warpgroup", Form.PRODUCT_OF_WARPGROUP, GIVEN, KNOWN, "RUNNING")


@outlined
def multiply_of_warpgroup(i: int, w: int, mask: int, code: Code, machine: Machine, memory: Memory, progress: Progress) -> int:
    """Execute a product of a warpgroup for one of its warps, which needs all lanes, and the group all warps.

    `HGMMA RZ, gdesc[URZ], RZ, !UPT, gsb0` is what compilers make of a commit with no product behind which it could stand: it reads nothing.
    """
    whole = w // WARPS * WARPS + WARPS <= machine.pc.size
    if mask != FULL or not whole:
        return fault(Fault.MATRIX_IN_PART if whole else Fault.WARPGROUP_IN_PART, w, first_bit(mask), i, progress)
    machine.products[w] += 1
    progress.moves[0] += 1
    if code.operand[i, SECOND] == ~ZERO and code.destination[i] < 0:
        return Status.RUNNING
    return multiplied_of_warpgroup(code.operation[i], i, w, code, machine, memory, progress)


@outlined
def wait_for_warpgroup(w: int, machine: Machine) -> int:
    """Execute WARPGROUP.DEPBAR: BLOCKED, and nothing done, while a warp of the group has begun fewer products than warp w."""
    first = w // WARPS * WARPS
    for other in range(first, min(first + WARPS, np.int64(machine.pc.size))):
        if machine.products[other] < machine.products[w] and not machine.ended[other]:
            machine.waiting[w] = AT_WARPGROUP
            return Status.BLOCKED
    return Status.RUNNING
