"""BAR.SYNC: a warp waits until every warp of its block that has not ended is there too."""

from sim.functional.divergence import fault
from sim.functional.state import Code, Fault, Machine, Progress, Report, Status
from sim.kernel import first_bit, inner


@inner
def arrive(i: int, w: int, mask: int, code: Code, machine: Machine, progress: Progress) -> int:
    """Execute BAR for the lanes of `mask`.

    A barrier that a living lane of the warp does not reach together with the rest is a mistake. (From Volta on lanes may
    arrive apart; a trace, and so the timing engines, know no barrier of part of a warp yet, and refuse rather than guess.)
    """
    machine.pc[w] = i + 1
    if mask == 0:
        return Status.RUNNING
    number = code.function[i]
    if mask == machine.alive[w]:
        machine.waiting[w] = number + 1
        return Status.RUNNING
    progress.report[Report.EXPECTED] = machine.alive[w] & ~mask
    return fault(Fault.DIVERGENT_BARRIER, w, first_bit(mask), i, progress)


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
