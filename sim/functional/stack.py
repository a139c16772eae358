"""The lane groups of a warp that do not run now: a stack of entries, and what else every module says of them."""

from sim.compiled.kernel import first_bit, inner
from sim.functional.state import RUNNABLE, STACK_DEPTH, Fault, Machine, Progress, Report, Status


@inner
def push(w: int, pc: int, mask: int, meet: int, wait: int, members: int, machine: Machine, progress: Progress) -> int:
    """Put a group of lanes on the warp's stack."""
    top = machine.depth[w]
    if top >= STACK_DEPTH:
        return fault(Fault.STACK_OVERFLOW, w, first_bit(mask), machine.pc[w] - 1, progress)
    machine.stack_pc[w, top], machine.stack_mask[w, top], machine.stack_reconverge[w, top] = pc, mask, meet
    machine.stack_wait[w, top], machine.stack_members[w, top] = wait, members
    machine.depth[w] = top + 1
    return Status.RUNNING


@inner
def insert(w: int, entry: int, pc: int, mask: int, machine: Machine) -> None:
    """Put a runnable group of lanes into the warp's stack below what is at `entry` now. There is room: such groups share no lanes."""
    for j in range(machine.depth[w], entry, -1):
        machine.stack_pc[w, j], machine.stack_mask[w, j] = machine.stack_pc[w, j - 1], machine.stack_mask[w, j - 1]
        machine.stack_reconverge[w, j] = machine.stack_reconverge[w, j - 1]
        machine.stack_wait[w, j], machine.stack_members[w, j] = machine.stack_wait[w, j - 1], machine.stack_members[w, j - 1]
    machine.stack_pc[w, entry], machine.stack_mask[w, entry], machine.stack_reconverge[w, entry] = pc, mask, machine.reconverge[w]
    machine.stack_wait[w, entry], machine.stack_members[w, entry] = RUNNABLE, 0
    machine.depth[w] += 1


@inner
def remove(w: int, entry: int, machine: Machine) -> None:
    """Take an entry out of the warp's stack."""
    machine.depth[w] -= 1
    for j in range(entry, machine.depth[w]):
        machine.stack_pc[w, j], machine.stack_mask[w, j] = machine.stack_pc[w, j + 1], machine.stack_mask[w, j + 1]
        machine.stack_reconverge[w, j] = machine.stack_reconverge[w, j + 1]
        machine.stack_wait[w, j], machine.stack_members[w, j] = machine.stack_wait[w, j + 1], machine.stack_members[w, j + 1]


@inner
def fault(kind: int, w: int, lane: int, instruction: int, progress: Progress) -> int:
    """Note a mistake of the program."""
    progress.report[Report.FAULT], progress.report[Report.WARP], progress.report[Report.LANE] = kind, w, lane
    progress.report[Report.INSTRUCTION] = instruction
    return Status.ERROR


@inner
def top(w: int, machine: Machine) -> int:
    """Return the topmost runnable entry of the warp's stack, -1 when there is none."""
    entry = machine.depth[w] - 1
    while entry >= 0 and machine.stack_wait[w, entry] != RUNNABLE:
        entry -= 1
    return entry
