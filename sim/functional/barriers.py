"""BAR: a warp waits until all of its block that have not ended are there, or as many as the barrier is for; BAR.ARV only counts."""

import numpy as np

from isa.semantics.integers import popc
from isa.vocabulary import BARRIERS, BarrierReduction
from sim.compiled.kernel import first_bit, inner
from sim.functional.divergence import arrived, hold
from sim.functional.flags import ASYNC
from sim.functional.operands import predicate, row_of
from sim.functional.stack import fault
from sim.functional.state import AT_BARRIER, FIRST, NOBODY, SECOND, Code, Fault, Machine, Memory, Progress, Report, Status, Store
from sim.functional.watch import all_warps, meet

MOST_THREADS = 0xFFF  # that a BAR can say


@inner
def arrive(i: int, w: int, mask: int, code: Code, machine: Machine, memory: Memory, store: Store, progress: Progress) -> int:
    """Execute BAR for the lanes of `mask`.

    Before Volta, a barrier that a living lane of the warp does not reach together with the rest is a mistake. From Volta on lanes
    may arrive apart: they wait for each other and execute the BAR as one, once; lanes at different ones are refused.
    """
    machine.pc[w] = i + 1
    if mask == 0:
        return Status.RUNNING
    if mask == machine.alive[w]:
        return come(i, w, mask, code, machine, memory, store, progress)
    here = mask | arrived(w, AT_BARRIER, machine.existing[w], machine)
    if code.apart and (machine.alive[w] & ~here or alike(w, i, machine)):
        return hold(w, i, mask, AT_BARRIER, machine.existing[w], machine, progress)
    progress.report[Report.EXPECTED] = machine.alive[w] & ~mask
    return fault(Fault.DIVERGENT_BARRIER, w, first_bit(mask), i, progress)


@inner
def come(i: int, w: int, mask: int, code: Code, machine: Machine, memory: Memory, store: Store, progress: Progress) -> int:
    """Count warp w at the barrier of BAR i; one for a number of threads opens as soon as that has come."""
    number, threads = code.function[i], code.offset[i]
    if code.operand[i, FIRST] >= 0 or code.operand[i, SECOND] >= 0:
        number, threads = barrier_of(i, w, first_bit(mask), code, machine)
        note_barrier(i, number, threads, store)
    if threads % machine.lanes[0]:
        progress.report[Report.EXPECTED] = threads
        return fault(Fault.BARRIER_PART, w, first_bit(mask), i, progress)
    if machine.expected[number] != NOBODY and machine.expected[number] != threads:
        progress.report[Report.EXPECTED] = machine.expected[number]
        return fault(Fault.BARRIER_COUNTS, w, first_bit(machine.alive[w]), i, progress)
    machine.expected[number] = threads
    if code.flags[i] & ASYNC:
        machine.passed[number] += 1
    else:
        machine.waiting[w] = number + 1
        vote(i, w, mask, code, machine)
    if threads and is_complete(number + 1, machine):
        open_one(number + 1, code, machine, memory, progress)
    return Status.RUNNING


@inner
def barrier_of(i: int, w: int, lane: int, code: Code, machine: Machine) -> tuple[int, int]:
    """Return the number of a BAR with registers, and for how many threads it is: from bit 16 on of one register that says both."""
    number, threads = code.function[i], code.offset[i]
    if code.operand[i, SECOND] >= 0:
        threads = np.int64(machine.rows[row_of(code.operand[i, SECOND], w, code, machine), lane])
    if code.operand[i, FIRST] >= 0:
        number = np.int64(machine.rows[row_of(code.operand[i, FIRST], w, code, machine), lane]) & (BARRIERS - 1)
        threads = threads >> 16 if code.operand[i, SECOND] >= 0 else threads
    return number, threads & MOST_THREADS


@inner
def note_barrier(i: int, number: int, threads: int, store: Store) -> None:
    """Keep which barrier a BAR with registers stands for: 1 + the number, the threads from bit 16 on; -1 = for several."""
    barrier = (threads << 16) + number + 1
    store.found[i, 1] = barrier if store.found[i, 1] == 0 or store.found[i, 1] == barrier else -1


@inner
def open_one(number: int, code: Code, machine: Machine, memory: Memory, progress: Progress) -> None:
    """Let the warps go on that wait at a barrier, and order what they did for the checks. number: as waiting."""
    if memory.watch.asked[0]:
        meet(who_meet(number, machine), memory.watch)
    progress.moves[0] += 1
    release_warps(number, code, machine)


@inner
def open_complete(code: Code, machine: Machine, memory: Memory, progress: Progress) -> bool:
    """Release the warps whose barrier is complete; return whether any warp may run, released before or now."""
    may_run = False
    for w in range(machine.waiting.size):
        may_run = may_run or (machine.ended[w] == 0 and machine.waiting[w] == 0)
    if may_run:
        return True
    for w in range(machine.waiting.size):
        if machine.waiting[w] > 0 and is_complete(machine.waiting[w], machine):
            open_one(machine.waiting[w], code, machine, memory, progress)
            may_run = True
    return may_run


@inner
def who_meet(number: int, machine: Machine) -> int:
    """Return the warps, a bit each, that a barrier orders: all where some only arrived (BAR.ARV), else those that wait there.

    At a barrier of the whole block those that have ended count too. number: as waiting.
    """
    if machine.passed[number - 1]:
        return all_warps(machine)
    found = np.int64(0)
    for w in range(machine.waiting.size):
        if machine.waiting[w] == number or (machine.ended[w] and machine.expected[number - 1] == 0):
            found |= np.int64(1) << w
    return found


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
def at_different_barriers(machine: Machine, progress: Progress) -> int:
    """Note that no barrier will open: every warp that lives waits at one."""
    first = np.int64(-1)
    for w in range(machine.waiting.size):
        if machine.waiting[w]:
            if first >= 0 and machine.waiting[w] != machine.waiting[first]:
                progress.report[Report.EXPECTED] = machine.waiting[first] - 1
                return fault(Fault.BARRIER_MISMATCH, w, first_bit(machine.alive[w]), waiting_at(w, machine), progress)
            first = np.int64(w)
    return fault(Fault.BARRIER_INCOMPLETE, first, first_bit(machine.alive[first]), waiting_at(first, machine), progress)


@inner
def is_complete(number: int, machine: Machine) -> bool:
    """Return whether all have come that a barrier is for: of no number of threads all that have not ended. number: as waiting."""
    here, living = machine.passed[number - 1], np.int64(0)
    for w in range(machine.waiting.size):
        living += 0 if machine.ended[w] else 1
        here += 1 if machine.waiting[w] == number else 0
    threads = machine.expected[number - 1]
    return here >= (threads // machine.lanes[0] if threads else living)


@inner
def release_warps(number: int, code: Code, machine: Machine) -> None:
    """Let the warps go on that wait at a barrier, and tell them what a BAR.RED finds: how many lanes voted yes (POPC), or 1 for yes."""
    total, kind = np.int64(0), np.int64(BarrierReduction.NONE)
    for w in range(machine.waiting.size):
        if machine.waiting[w] == number:
            kind = code.combine[waiting_at(w, machine)]
            total += popc(machine.votes[w])
    for w in range(machine.waiting.size):
        if machine.waiting[w] == number:
            machine.waiting[w] = 0
            if kind == BarrierReduction.POPC:
                machine.reduced[w] = total
            elif kind != BarrierReduction.NONE:
                machine.reduced[w] = np.int64((total == 0) == (kind == BarrierReduction.AND))
    machine.passed[number - 1], machine.expected[number - 1] = 0, NOBODY


@inner
def vote(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Note how the lanes of a warp vote at a BAR.RED."""
    truth = predicate(i, FIRST, w, code, machine)
    machine.votes[w] = mask & (~truth if code.combine[i] == BarrierReduction.AND else truth)


@inner
def waiting_at(w: int, machine: Machine) -> int:
    """Return the BAR at which a warp waits."""
    return machine.pc[w] - 1
