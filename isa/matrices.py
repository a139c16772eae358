"""Products of matrices, of a warp (HMMA, IMMA, DMMA) and of a warpgroup (HGMMA, IGMMA): shapes, types, registers; how sums are made.

`Encoded.function` of such an instruction holds a `MatrixShape` and three `MatrixType`, four bits each: shape, left factor, right factor,
sums; of a warpgroup the shape of 16 rows and 8 columns of it, the number of columns, and `WarpgroupFlag`s. Where the elements lie in
registers is PTX's `mma.sync` with `.row.col`.
"""

from enum import IntFlag
from typing import NamedTuple

from isa.architecture import number
from isa.functions import MatrixShape, MatrixType
from isa.units import Unit
from isa.vocabulary import Operation

SHAPES = {  # rows and columns of the sums, terms of each
    MatrixShape.S884: (8, 8, 4),
    MatrixShape.S8816: (8, 8, 16),
    MatrixShape.S1684: (16, 8, 4),
    MatrixShape.S1688: (16, 8, 8),
    MatrixShape.S16816: (16, 8, 16),
    MatrixShape.S16832: (16, 8, 32),
}
BITS = {
    **dict.fromkeys((MatrixType.S8, MatrixType.U8, MatrixType.E4M3, MatrixType.E5M2), 8),
    **dict.fromkeys((MatrixType.F16, MatrixType.BF16), 16),
    **dict.fromkeys((MatrixType.TF32, MatrixType.F32, MatrixType.S32), 32),
    MatrixType.F64: 64,
}
OPERATIONS = (Operation.HMMA, Operation.IMMA, Operation.DMMA)
OF_WARPGROUP = (Operation.HGMMA, Operation.IGMMA)
COLUMNS_SHIFT, COLUMNS_MASK = 16, 63  # of a product of a warpgroup, in eighths, in `Encoded.function`
DESCRIPTOR = 1  # the source of a product of a warpgroup that names the descriptors of its matrices
ADDEND = 2  # its source
REGISTER_BITS = 1024  # of one register of 32 lanes


class WarpgroupFlag(IntFlag):
    """Bits of `Encoded.function` of a product of a warpgroup, above its columns."""

    TNSPA = 1 << 22  # the left factor lies in shared memory column after column
    TNSPB = 1 << 23  # the right one row after row
    NEGA = 1 << 24
    NEGB = 1 << 25
    REGISTERS = 1 << 26  # the left factor lies in registers
    COMMITS = 1 << 27  # gsb0: ends a group of products that WARPGROUP.DEPBAR counts as one


class Adder(NamedTuple):
    """How sums of floats are made: products and addend are cut to so many bits below the largest of them, added, and cut or rounded once.

    The rule and the numbers: Xie et al., "MMA-Sim", arXiv 2511.10909, table of NVIDIA's architectures; those of sm_90 measured here, too
    (programs/measurements/conformance). Sums of binary64 are made one after another, each product and sum rounded once.
    """

    fraction_bits: int  # kept below the largest exponent
    most_terms: int  # bytes of a row of the left factor that are added at once; longer rows in parts, one after the other
    byte_fraction_bits: int  # kept of products of floats of 8 bits; of Ada from the paper, and not used here


AMPERE, HOPPER = Adder(24, 16, 13), Adder(25, 64, 13)
ADDERS = {
    75: AMPERE,
    **dict.fromkeys((80, 86, 87, 88, 89), AMPERE),
    **dict.fromkeys((90, 100, 101, 103, 107, 110, 120, 121), HOPPER),
}


def fields(function: int) -> tuple[MatrixShape, MatrixType, MatrixType, MatrixType]:
    """Return the shape and the types of the factors and of the sums."""
    left, right, total = (MatrixType(function >> place & 15) for place in (4, 8, 12))
    return MatrixShape(function & 15), left, right, total


def registers_of(function: int, slot: int) -> int:
    """Return how many registers a source spans: the left factor, the right one, the addend; the result spans as many as this."""
    shape, *types = fields(function)
    m, n, k = SHAPES[shape]
    if slot > ADDEND:
        return 0
    return ((m * k, k * n, m * n)[slot] * BITS[types[slot]]) // REGISTER_BITS


def columns_of_warpgroup(function: int) -> int:
    """Return the columns of a product of a warpgroup."""
    return 8 * (function >> COLUMNS_SHIFT & COLUMNS_MASK)


def sums_of_warpgroup(function: int) -> int:
    """Return how many registers the sums of a product of a warpgroup span: 16 rows of each of its warps."""
    return 16 * columns_of_warpgroup(function) * BITS[fields(function)[3]] // REGISTER_BITS


def sources_of_warpgroup(function: int, slot: int) -> int:
    """Return how many registers a source of a product of a warpgroup holds while it issues; its sums belong to it until a DEPBAR."""
    in_registers = bool(function & WarpgroupFlag.REGISTERS)
    return (4 if in_registers else 0, 4)[slot] if slot <= DESCRIPTOR else 0


def unit_of(operation: int, function: int) -> Unit | None:
    """Return the unit of a product; None of other operations, and where there is no such product."""
    if operation not in OPERATIONS:
        return None
    shape, left, _, total = fields(function)
    name = f"{Operation(operation).name}_{shape.name[1:]}"
    if operation == Operation.HMMA:
        name += "_TF32" if left == MatrixType.TF32 and total == MatrixType.F32 else f"_{total.name}"
    legal = operation != Operation.HMMA or left == MatrixType.F16 or total == MatrixType.F32
    return Unit.__members__.get(name) if legal else None


def adder(architecture: str) -> Adder | None:
    """Return how an architecture, such as "sm_90", adds; None where it is not known."""
    return ADDERS.get(number(architecture)) if architecture else None
