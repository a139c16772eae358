"""BAR.SYNC: a warp waits until every warp of its block that has not ended is there too."""

import numpy as np

from isa.semantics.integers import popc
from isa.vocabulary import BarrierReduction
from sim.functional.divergence import arrived, hold
from sim.functional.operands import predicate
from sim.functional.stack import fault
from sim.functional.state import AT_BARRIER, FIRST, Code, Fault, Machine, Progress, Report, Status
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
        vote(i, w, mask, code, machine)
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
    if machine.asked[0] != BarrierReduction.NONE:
        count_votes(machine)
    return Status.RUNNING


@inner
def vote(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Note how the lanes of a warp vote at a BAR.RED; at BAR.SYNC that there is no vote."""
    machine.asked[0] = code.combine[i]
    truth = predicate(i, FIRST, w, code, machine)
    machine.votes[w] = mask & (~truth if code.combine[i] == BarrierReduction.AND else truth)


@inner
def count_votes(machine: Machine) -> None:
    """Find what a BAR.RED says: how many lanes voted yes (POPC), or 1 for yes."""
    total = np.int64(0)
    for w in range(machine.votes.size):
        total += 0 if machine.ended[w] else popc(machine.votes[w])
    if machine.asked[0] == BarrierReduction.POPC:
        machine.reduced[0] = total
    else:
        machine.reduced[0] = np.int64((total == 0) == (machine.asked[0] == BarrierReduction.AND))


@inner
def waiting_at(w: int, machine: Machine) -> int:
    """Return the BAR at which a warp waits."""
    return machine.pc[w] - 1
