"""Where in a program warps waited: at which instructions, for whose results, and whether behind its products of matrices."""

from bisect import bisect_right
from itertools import pairwise

import numpy as np

from isa.cfg import graph, is_always, reaching
from isa.program import Program
from isa.vocabulary import Operation, Unit
from sim.analysis.resources import pipe_of
from sim.gpus.model import Gpu
from sim.lowering.phases import WAITS, phase_use
from sim.result.causes import CAUSE_NAMES, RESULT_CAUSE
from sim.result.result import Result

MATRIX_PIPES = ("tensor pipe", "wgmma pipe")  # what starves them is the question of products of matrices
PHASE = "the phase of an mbarrier"
MOSTLY = 0.5  # share of a wait at one opcode, and of the busiest resource by products, from which that is named
ELSEWHERE = (Operation.RET, Operation.BRX, Operation.CAL, Operation.BRK, Operation.SYNC)  # go on where the graph does not say
BEHIND = 0.9  # share of a wait behind the last product, from which that is said


def products(gpu: Gpu, program: Program) -> np.ndarray:
    """Return the static instructions that are products of matrices."""
    return np.array([i for i in range(len(program)) if f"{pipe_of(gpu, program, i)} pipe" in MATRIX_PIPES], np.int64)


def after_looks(program: Program) -> np.ndarray:
    """Return bool [n]: instructions that read the answer to a look at an `mbarrier`: there warps wait for its phase."""
    encoded, looking = program.encoded, set[int]()
    found = np.zeros(len(program), bool)
    if not (encoded.operation == Operation.MBARRIER).any():
        return found
    for i in range(len(program)):  # in the order of the listing: the answer is read right behind the look
        found[i] = bool(looking.intersection(encoded.reads[i].tolist()))
        written = {int(name) for name in encoded.writes[i] if name >= 0}
        looking = looking | written if phase_use(program, i) == WAITS else looking - written
    return found


def awaited(program: Program, i: int, cause: str) -> str:
    """Return for what instruction i waits by `cause`: a phase, or the opcode whose result it needs; "" where none in its block writes that.

    The block is searched backwards, and, where it is a loop, once around.
    """
    if after_looks(program)[i]:
        return PHASE
    encoded, number = program.encoded, CAUSE_NAMES.index(cause)
    cfg = graph(encoded)
    block = bisect_right(cfg.start, i) - 1
    before = [*reversed(range(cfg.start[block], i))]
    if block in cfg.successors[block]:
        before += reversed(range(i, cfg.start[block + 1]))
    needs = {int(name) for name in (*encoded.reads[i], *encoded.writes[i]) if name >= 0}
    for j in before:
        written = needs.intersection(encoded.writes[j].tolist())
        if written and RESULT_CAUSE[Unit(encoded.unit[j])] == number:
            return program.instructions[j].opcode
        needs -= written if is_always(encoded, j) else set()
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
    """Return a clause when warps waited where no way through the program leads to a product any more; "" otherwise.

    Nothing is said of a program some of whose ways are not known, as those back from a function.
    """
    encoded, found = result.program.encoded, products(result.gpu, result.program)
    if not len(found) or np.isin(encoded.operation, ELSEWHERE).any():
        return ""
    cfg = graph(encoded)
    last = {bisect_right(cfg.start, i) - 1: i for i in found.tolist()}  # product of each block that has any
    ahead = reaching(cfg, last)
    behind = 0
    for block, (first, end) in enumerate(pairwise(cfg.start)):
        if not ahead.intersection(cfg.successors[block]):
            behind += int(waited[max(first, last.get(block, -1) + 1) : end].sum())
    return ", behind the last product" if behind >= BEHIND * waited.sum() else ""
