"""Launches with warps of 16: rows of 32 lanes of which the last 16 are never there, as in the last warp of many a block.

What the lanes of a warp do together, a program that was written for 32 does with 32: such instructions are refused, whether or not they are
executed. Left out: warps of 64, as a word of 32 bits says which lanes take part, here, in traces and in both timing engines.
"""

from isa import matrices
from isa.errors import UserError
from isa.program import Program
from isa.vocabulary import MATRIX_UNITS, Flag, Operation, Special, Unit
from sim.functional.state import LANES

EXCHANGED = {
    Operation.SHFL: "exchanges registers among",
    Operation.VOTE: "asks",
    Operation.MATCH: "compares",
    Operation.REDUX: "adds up",
    Operation.WARPSYNC: "waits for a mask of",
    Operation.MOVM: "transposes a matrix that lies in",
} | dict.fromkeys((Operation.HMMA, Operation.IMMA, Operation.DMMA), "multiplies matrices that lie in")
OF_A_WARP = (
    *(Special.LANEID, Special.WARPID, Special.VIRTID, Special.NWARPID),
    *(Special.EQMASK, Special.LTMASK, Special.LEMASK, Special.GTMASK, Special.GEMASK),
)


def check_warp_size(program: Program, warp_size: int) -> None:
    """Raise UserError for the first instruction of a program that is written for warps of 32 when they have fewer threads."""
    if warp_size == LANES:
        return
    for i, instruction in enumerate(program.instructions):
        if does := needs_whole(program, i):
            message = f"{instruction.opcode} {does}: it cannot run with warps of {warp_size} (core.warp_size)"
            hint = "without instructions of whole warps, as with reductions by shared memory and BAR, a program runs with either size"
            raise UserError(message, path=program.path, line=instruction.line, hint=hint)


def needs_whole(program: Program, i: int) -> str:
    """Return what instruction i does that was written for a warp of 32, "" when it does nothing of the kind."""
    encoded = program.encoded
    operation = Operation(encoded.operation[i])
    if operation in matrices.OF_WARPGROUP or Unit(encoded.unit[i]) in MATRIX_UNITS:
        return f"multiplies matrices that lie in the {LANES} lanes of a warp"
    if encoded.flags[i] & Flag.MATRIX:
        return f"moves matrices that lie in the {LANES} lanes of a warp"
    if operation == Operation.S2R and encoded.function[i] in OF_A_WARP:
        return f"reads a number that a program for warps of {LANES} uses as such"
    return f"{EXCHANGED[operation]} the {LANES} lanes of a warp" if operation in EXCHANGED else ""
