"""Where in a program warps waited: at which instructions, for whose results, and whether behind its products of matrices."""

import numpy as np

from isa.program import Program
from isa.vocabulary import Operation, Unit
from sim.analysis.resources import pipe_of
from sim.gpus.model import Gpu
from sim.lowering.phases import WAITS, phase_use
from sim.result.causes import CAUSE_NAMES, RESULT_CAUSE
from sim.result.result import Result

MATRIX_PIPES = ("tensor pipe", "wgmma pipe")  # what starves them is the question of products of matrices
PHASE = "the phase of an mbarrier"
MOSTLY = 0.5  # share of a wait at one opcode, from which that is named
BEHIND = 0.9  # share of a wait behind the last product, from which that is said


def products(gpu: Gpu, program: Program) -> np.ndarray:
    """Return the static instructions that are products of matrices."""
    return np.array([i for i in range(len(program)) if f"{pipe_of(gpu, program, i)} pipe" in MATRIX_PIPES], np.int64)


def after_looks(program: Program) -> np.ndarray:
    """Return bool [n]: instructions that read the answer to a look at an `mbarrier`: there warps wait for its phase."""
    encoded, looking = program.encoded, set[int]()
    found = np.zeros(len(program), bool)
    for i in range(len(program)):  # in the order of the listing: the answer is read right behind the look
        found[i] = bool(looking.intersection(encoded.reads[i].tolist()))
        written = {int(name) for name in encoded.writes[i] if name >= 0}
        looking = looking | written if phase_use(program, i) == WAITS else looking - written
    return found


def awaited(program: Program, i: int, cause: str) -> str:
    """Return for what instruction i waits by `cause`: a phase, or the opcode before it whose result it needs; "" when none is found."""
    if after_looks(program)[i]:
        return PHASE
    encoded, number = program.encoded, CAUSE_NAMES.index(cause)
    needs = {int(name) for name in (*encoded.reads[i], *encoded.writes[i]) if name >= 0}
    for j in reversed(range(i)):
        if RESULT_CAUSE[Unit(encoded.unit[j])] == number and needs.intersection(encoded.writes[j].tolist()):
            return program.instructions[j].opcode
    return ""


def place(result: Result, waited: np.ndarray, cause: str) -> str:
    """Return at which opcode warps waited most by `cause`, for what, and whether behind the products. waited: cycles by instruction."""
    program = result.program
    opcodes: dict[str, float] = {}
    for instruction, cycles in zip(program.instructions, waited.tolist(), strict=True):
        opcodes[instruction.opcode] = opcodes.get(instruction.opcode, 0) + cycles
    opcode = max(opcodes, key=lambda name: opcodes[name])
    if opcodes[opcode] < MOSTLY * waited.sum():
        return "at many instructions"
    chosen = np.array([i.opcode == opcode for i in program.instructions])
    slowest = int(np.argmax(np.where(chosen, waited, 0)))
    what = awaited(program, slowest, cause) if cause.endswith("scoreboard") else ""
    return f"mostly {opcode}" + (f", which waits for {what}" if what else "") + _behind_products(result, np.where(chosen, waited, 0))


def _behind_products(result: Result, waited: np.ndarray) -> str:
    """Return a clause when warps waited where no way through the program leads to a product any more; "" otherwise."""
    program, found = result.program, products(result.gpu, result.program)
    encoded, ahead = program.encoded, np.zeros(len(program) + 1, bool)
    ahead[found] = True
    while len(found):
        before = ahead.copy()
        for i in reversed(range(len(program))):
            ends = encoded.operation[i] in (Operation.EXIT, Operation.BRA) and not program.instructions[i].text.startswith("@")
            ahead[i] |= (ahead[i + 1] and not ends) or (encoded.target[i] >= 0 and ahead[encoded.target[i]])
        if (ahead == before).all():
            break
    behind = len(found) and waited[~ahead[:-1]].sum() >= BEHIND * waited.sum()
    return ", behind the last product" if behind else ""
