"""USETMAXREG (PTX `setmaxnreg`): warps of a block give registers back, others take them.

A warp that asks for more than the block has left waits until others have given as many back; on a GPU it asks again and again.
"""

import numpy as np

from isa.cfg import is_always
from isa.disassembly import registers_needed
from isa.errors import UserError
from isa.program import Encoded, Program
from isa.vocabulary import Operation
from sim.compiled.kernel import outlined
from sim.functional.operands import write_predicate
from sim.functional.state import AT_REGISTERS, FIRST, FULL, Code, Machine, Progress, Status


@outlined
def set_registers(i: int, w: int, mask: int, code: Code, machine: Machine, progress: Progress) -> int:
    """Execute USETMAXREG i: BLOCKED, and nothing done, while the block has too few registers left."""
    if mask == 0:
        return Status.RUNNING
    left = code.held * machine.held.size - machine.held.sum() + machine.held[w]
    if code.function[i] > left:
        machine.waiting[w] = AT_REGISTERS
        return Status.BLOCKED
    machine.held[w] = code.function[i]
    progress.moves[0] += 1
    write_predicate(i, FIRST, w, np.int64(FULL), mask, code, machine)
    return Status.RUNNING


def check_registers(program: Program) -> None:
    """Raise UserError for an instruction that names a register which a warp has given back, or not taken, at the USETMAXREG before it."""
    e = program.encoded
    for i in np.flatnonzero(e.operation == Operation.SETMAXREG):
        last, (seen, found) = int(e.function[i]), (set[int](), [int(i) + 1])
        while found:
            j = found.pop()
            if j in seen or j >= len(program) or e.operation[j] == Operation.SETMAXREG:
                continue
            seen.add(j)
            if (needed := registers_needed(Encoded(*(field[j : j + 1] for field in e)))) > last:
                before, here = program.instructions[int(i)], program.instructions[j]
                message = f"R{needed - 1} is named, but a warp has {last} registers since line {before.line}: {before.text}"
                raise UserError(message, path=program.path, line=here.line, hint="give back fewer, or take more (setmaxnreg)")
            found += following(e, j)


def following(e: Encoded, j: int) -> list[int]:
    """Return the instructions that may come after instruction j, as far as the listing says."""
    ends = e.operation[j] in (Operation.BRA, Operation.EXIT) and is_always(e, j)
    return [*([] if ends else [j + 1]), *([int(e.target[j])] if e.target[j] >= 0 else [])]
