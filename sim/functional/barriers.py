"""BAR.SYNC: a warp waits until every warp of its block that has not ended is there too."""

from sim.functional.divergence import arrived, fault, hold
from sim.functional.state import AT_BARRIER, Code, Fault, Machine, Progress, Report, Status
from sim.kernel import first_bit, inner


@inner
def arrive(i: int, w: int, mask: int, code: Code, machine: Machine, progress: Progress) -> int:
    """Execute BAR for the lanes of `mask`.

    Before Volta, a barrier that a living lane of the warp does not reach together with the rest is a mistake. From Volta on lanes
    may arrive apart: they wait for each other and execute the BAR as one, once; lanes at different ones are refused.
    """
    machine.pc[w] = i + 1
    if mask == 0:
        return Status.RUNNING
    number = code.function[i]
    if mask == machine.alive[w]:
        machine.waiting[w] = number + 1
        return Status.RUNNING
    here = mask | arrived(w, AT_BARRIER, machine.existing[w], machine)
    if code.apart and (machine.alive[w] & ~here or alike(w, i, machine)):
        return hold(w, i, mask, AT_BARRIER, machine.existing[w], machine, progress)
    progress.report[Report.EXPECTED] = machine.alive[w] & ~mask
    return fault(Fault.DIVERGENT_BARRIER, w, first_bit(mask), i, progress)


@inner
def alike(w: int, i: int, machine: Machine) -> bool:
    """Return whether all lanes of the warp that wait at a barrier wait at instruction i, and some do."""
    some = False
    for entry in range(machine.depth[w]):
        if machine.stack_wait[w, entry] == AT_BARRIER and machine.stack_mask[w, entry] & machine.alive[w]:
            if machine.stack_pc[w, entry] != i:
                return False
            some = True
    return some


@inner
def open_barrier(machine: Machine, progress: Progress) -> int:
    """Let the warps go on when all that live wait at the same barrier; every one of them waits when this is called."""
    number = machine.waiting[0] & 0
    for w in range(machine.waiting.size):
        if machine.ended[w]:
            continue
        if number != 0 and machine.waiting[w] != number:
            progress.report[Report.EXPECTED] = number - 1
            return fault(Fault.BARRIER_MISMATCH, w, first_bit(machine.alive[w]), waiting_at(w, machine), progress)
        number = machine.waiting[w]
    for w in range(machine.waiting.size):
        machine.waiting[w] = 0
    return Status.RUNNING


@inner
def waiting_at(w: int, machine: Machine) -> int:
    """Return the BAR at which a warp waits."""
    return machine.pc[w] - 1
