"""Convergence registers, as Volta and later have them: one mask of lanes per warp and register B0..B15, for all its lanes.

Inferred from traces of an H100 (`programs/measurements/h100/convergence`: kernels that call themselves, with YIELD and without, and log
their active mask; every event of 22 traces comes out in its order; `groups.csv`: more groups) and from nothing else. What NVIDIA's patent
on convergence barriers (US 2016/0019066) says of masks, blocked and yielded threads agrees; the order of choice is not published.

* BSSY adds the executing lanes to the register. BMOV reads it for every lane (.CLEAR empties it, for all), and writes the word of
  the lowest lane. BREAK takes lanes out.
* BSYNC does not hold lanes that are no members. Members wait; when all that live wait there, they go on and the register
  is empty. Lanes that YIELD are not waited for, once. A group that is exactly the living members goes on at once, alone.
* Other groups wait on the warp's stack; the one pushed last goes next. What a BSYNC releases comes next too, unless the group on
  top is a member of a register: that one goes first.
* A group that a BSYNC passed over when it chose another one merges, when a BSYNC chooses it, with other such groups at the same
  instruction (not one that a WARPSYNC has just released: assumed): the lowest on the stack, so that what lies between goes first. If it
  then executes that BSYNC as the last, or had done so before the last, the BSYNC releases whoever waits at the register, member or not.
  So does one that finds the register empty.
* When no group is left: those that yielded, if since a BSYNC came that began to wait for one of them; otherwise a register of
  which all members wait or have yielded; otherwise those that yielded.

What is executed and counted besides, from counters of an H100 (`programs/measurements/h100/arrivals.csv`: 2,200 launches of one warp,
without YIELD, BREAK and WARPSYNC):

* A BSYNC at a register that a BMOV has restored is executed once more, by all that go on from it.
* A group that a BSYNC passed over and that is at a BSYNC when it is chosen counts there with all members that wait at any BSYNC, or have
  been released and have not run since. When these go, none executes the BSYNC once more, and a further such group waits without executing
  it. If such a group has merged with lanes of other calls, those that it releases execute the BSYNC once more, these others do not.
* Lanes that wait at a BSYNC for others that end (EXIT) execute it once more (seen in one program, 454 warps of 2,048).
* Lanes that wait at a WARPSYNC for others execute it once more, together (seen in one program, in 256 warps).
* A return to several places is executed once more by all its lanes, and for a third place by those that are left then, and so on
  (a BRX to several places: taken to be alike). The lanes that it sent on before the last do not execute a restored BSYNC once more
  when they go on with others, unless at a BSYNC those that were no members passed them by. If the others have ended meanwhile, these
  count in their place. Of a return to two places: while the second group waits to run, a restored BSYNC is executed once more
  whoever has been counted, and at an empty restored register the second group counts in place of the first.

All 1,200 launches of loops come out, the 800 of functions that call themselves in two or three groups of lanes, and of 200 with six
groups 189; in the other 11, which sort, the thread instructions differ by 32 at most, in one the warp instructions by 2.
The order in which 9 to 32 groups run in functions that call themselves (`groups.csv`) is the H100's in 57 of 59 launches, 7 of 9 of 32.

Registers overwritten by lanes of other calls can hold lanes for ever only under these rules, not in hardware: where a listing
calls functions, whether they save registers (BMOV) or not, and nobody waits elsewhere, the lowest register then lets its lanes go.
Seen on sm_90 only, where no warp-wide instruction follows a BSYNC with a YIELD before it; other GPUs from Volta on are taken to be alike.
"""

import numpy as np

from isa.semantics.integers import popc
from isa.vocabulary import PT, Operation
from sim.compiled.kernel import first_bit, inner, outlined
from sim.functional.flags import CLEAR
from sim.functional.operands import row_of, write
from sim.functional.stack import insert, top
from sim.functional.state import FIRST, FULL, OUT, Code, Machine, Turn


@inner
def is_smaller(taken: int, stay: int) -> bool:
    """Return whether the lanes that branch are fewer: the smaller group goes first, and of two alike the one that falls through."""
    return popc(np.uint32(taken)) < popc(np.uint32(stay))


@inner
def move_barrier(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Copy a convergence register to a register, or back; .CLEAR leaves none."""
    barrier = code.function[i]
    if code.flags[i] & CLEAR == 0 and code.destination[i] < 0:
        machine.barrier[w, barrier] = np.int64(machine.rows[row_of(code.operand[i, FIRST], w, code, machine), first_bit(mask)])
        machine.turn[w, Turn.RESTORED] |= np.int64(1) << barrier
        return
    for k in range(machine.lanes[0]):
        machine.rows[OUT, k] = np.uint32(machine.barrier[w, barrier] & FULL)
    write(OUT, i, FIRST, w, mask, code, machine)
    if code.flags[i] & CLEAR:
        machine.barrier[w, barrier] = 0


@inner
def offer(w: int, mask: int, machine: Machine) -> None:
    """Execute YIELD: other groups go on first, and no BSYNC waits for these lanes, once."""
    for k in range(machine.lanes[0]):
        machine.lane_pc[w, k] = machine.pc[w] if (mask >> k) & 1 else machine.lane_pc[w, k]
    machine.turn[w, Turn.YIELDED] |= mask
    machine.turn[w, Turn.EXCUSED] |= mask
    machine.active[w] &= ~mask


@outlined
def synchronise_lanes(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Execute BSYNC: hold members of the register until all are there."""
    barrier, turn = code.function[i], machine.turn[w]
    members = machine.barrier[w, barrier] & machine.alive[w]
    inside, late = mask & members, turn[Turn.CHOSEN_AT] == i
    if late and turn[Turn.PASSED] & inside:
        turn[Turn.COUNTED] |= inside
        turn[Turn.ALONG] = members & ~machine.active[w] & (union(machine.blocked[w]) | turn[Turn.FREED])
    outside = machine.active[w] & ~inside
    turn[Turn.CHOSEN_AT] = -1
    if inside == 0:
        if members == 0 and turn[Turn.SENT_SECOND] and machine.active[w] & turn[Turn.SENT_FIRST] and (turn[Turn.RESTORED] >> barrier) & 1:
            turn[Turn.INSTEAD] = turn[Turn.SENT_SECOND]
            turn[Turn.SENT_FIRST] &= ~machine.active[w]
        return
    if inside == members and outside == 0:
        machine.barrier[w, barrier] = 0
        repeat(i, w, barrier, inside, turn[Turn.COUNTED] & inside, machine)
        turn[Turn.COUNTED] &= ~inside
        return
    for k in range(machine.lanes[0]):
        machine.lane_pc[w, k] = i + 1 if (inside >> k) & 1 else machine.lane_pc[w, k]
    turn[Turn.LATE] = turn[Turn.LATE] | inside if late else turn[Turn.LATE] & ~inside
    first, passed = machine.blocked[w, barrier] == 0, turn[Turn.PASSED] & inside if late else np.int64(0)
    machine.blocked[w, barrier] |= inside
    if outside == 0:
        turn[Turn.BY_BSYNC] = 1
        machine.active[w] = 0
        here, counted = machine.blocked[w, barrier], turn[Turn.COUNTED]
        if release(w, barrier, inside, passed, machine):
            go = here & ~machine.blocked[w, barrier]
            repeat(i, w, barrier, go, go & counted, machine)
            return
    elif members & ~machine.blocked[w, barrier] == 0:
        go = who_go(w, barrier, inside, passed, machine)
        repeat(i, w, barrier, go if turn[Turn.COUNTED] & members else go | outside, np.int64(0), machine)
        join(w, barrier, go, outside, machine)
        return
    else:
        machine.active[w] = outside
        turn[Turn.SENT_FIRST] &= ~inside
    if first:
        turn[Turn.AWAITED] |= members & turn[Turn.YIELDED]


@inner
def repeat(i: int, w: int, barrier: int, go: int, counted: int, machine: Machine) -> None:
    """Let lanes that go on from a BSYNC execute it once more, if a BMOV restored the register: which ones, the head of the file says."""
    turn = machine.turn[w]
    apart = go & ~turn[Turn.SENT_FIRST]
    if (turn[Turn.RESTORED] >> barrier) & 1 and (counted == 0 or turn[Turn.SENT_SECOND]):
        execute_again(i, w, apart if apart else go, machine)
    if apart:
        turn[Turn.SENT_FIRST] &= ~go


@inner
def execute_again(i: int, w: int, lanes: int, machine: Machine) -> None:
    """Let lanes execute instruction i once more, to be counted."""
    turn = machine.turn[w]
    machine.again[w, turn[Turn.REPEATS]] = lanes
    turn[Turn.REPEATS] += 1
    turn[Turn.REPEATED] = i


@inner
def union(lanes: np.ndarray) -> int:
    """Return the lanes that any register has: of Machine.blocked[w], those that wait; of Machine.barrier[w], the members."""
    found = lanes[0]
    for barrier in range(1, lanes.size):
        found |= lanes[barrier]
    return found


@inner
def has_counted(w: int, code: Code, machine: Machine) -> bool:
    """Return whether the group just chosen does not execute the BSYNC that it is at: another one passed over waits there and counted."""
    i, active, turn = machine.pc[w], machine.active[w], machine.turn[w]
    if active & turn[Turn.PASSED] == 0 or i == code.operation.size or code.operation[i] != Operation.BSYNC:
        return False
    barrier = code.function[i]
    members = machine.barrier[w, barrier]
    if active & ~members or code.guard[i] != PT or code.guard_flip[i]:
        return False
    return machine.blocked[w, barrier] & members & turn[Turn.COUNTED] != 0


@inner
def join(w: int, barrier: int, go: int, outside: int, machine: Machine) -> None:
    """Let lanes that waited go on with lanes that came with the last of them; those that waited at another BSYNC come last."""
    machine.barrier[w, barrier] = 0
    machine.blocked[w, barrier] &= ~go
    machine.turn[w, Turn.LATE] &= ~go
    machine.turn[w, Turn.COUNTED] &= ~go
    along = at_place(w, go, machine.pc[w], machine)
    machine.active[w] = outside | along
    insert_groups(w, 0, go & ~along, machine)


@inner
def release(w: int, barrier: int, last: int, passed: int, machine: Machine) -> bool:
    """Make runnable who waits at a register of which all members wait or have yielded; return whether some do.

    last, passed: as who_go has them.
    """
    members, here = machine.barrier[w, barrier] & machine.alive[w], machine.blocked[w, barrier]
    if here == 0 or members & ~(here | machine.turn[w, Turn.EXCUSED]):
        return False
    go = who_go(w, barrier, last, passed, machine)
    if go:
        free_lanes(w, barrier, go, members, machine)
    return go != 0


@inner
def who_go(w: int, barrier: int, last: int, passed: int, machine: Machine) -> int:
    """Return which of the lanes that wait at a register it releases, its members being there: these, or all of them.

    last: the lanes that came last; passed: those of them that an earlier BSYNC passed over.
    """
    members, here, turn = machine.barrier[w, barrier] & machine.alive[w], machine.blocked[w, barrier], machine.turn[w]
    late = turn[Turn.LATE] & here & members & ~last | passed
    return here if members == 0 or (late and turn[Turn.YIELDED] == 0) else here & members


@inner
def free_lanes(w: int, barrier: int, go: int, members: int, machine: Machine) -> None:
    """Make lanes runnable that wait at a register, which becomes empty: next, or after the group on top if it is a member of another."""
    turn = machine.turn[w]
    turn[Turn.EXCUSED] &= ~members
    turn[Turn.LATE] &= ~go
    turn[Turn.COUNTED] &= ~go
    turn[Turn.FREED] |= go
    machine.blocked[w, barrier] &= ~go
    machine.barrier[w, barrier] = 0
    entry = top(w, machine)
    below = entry >= 0 and machine.stack_mask[w, entry] & union(machine.barrier[w]) != 0
    insert_groups(w, entry if below else machine.depth[w], go, machine)


@inner
def insert_groups(w: int, entry: int, lanes: int, machine: Machine) -> None:
    """Put lanes on the stack from `entry` up, those at one instruction as one group, the highest instruction on top."""
    while lanes:
        pc = machine.lane_pc[w, first_bit(lanes)]
        for k in range(machine.lanes[0]):
            pc = min(pc, machine.lane_pc[w, k]) if (lanes >> k) & 1 else pc
        group = at_place(w, lanes, pc, machine)
        insert(w, entry, pc, group, machine)
        lanes &= ~group
        entry += 1


@inner
def at_place(w: int, lanes: int, pc: int, machine: Machine) -> int:
    """Return which of some waiting lanes go on at an instruction."""
    found = lanes & 0
    for k in range(machine.lanes[0]):
        if (lanes >> k) & 1 and machine.lane_pc[w, k] == pc:
            found |= np.int64(1) << k
    return found


@inner
def wake(w: int, code: Code, machine: Machine) -> None:
    """Make lanes runnable when no group is, if some can be."""
    turn = machine.turn[w]
    if turn[Turn.YIELDED] & (turn[Turn.AWAITED] | ~turn[Turn.EXCUSED]):
        return resume(w, machine)
    for barrier in range(machine.barrier.shape[1]):
        members, here, counted = machine.barrier[w, barrier], machine.blocked[w, barrier], turn[Turn.COUNTED]
        if release(w, barrier, np.int64(0), np.int64(0), machine):
            go = here & ~machine.blocked[w, barrier]
            ended = members & machine.existing[w] & ~machine.alive[w] & ~turn[Turn.SENT_FIRST]
            again = ended if ended and go & ~turn[Turn.SENT_FIRST] == 0 else go
            at = machine.lane_pc[w, first_bit(go)] - 1
            if ended and (turn[Turn.RESTORED] >> barrier) & 1 == 0:
                execute_again(at, w, go, machine)
            repeat(at, w, barrier, again, go & counted, machine)
            return None
    if turn[Turn.YIELDED]:
        return resume(w, machine)
    for barrier in range(machine.barrier.shape[1]):
        if code.calls and machine.depth[w] == 0 and machine.blocked[w, barrier]:
            free_lanes(w, barrier, machine.blocked[w, barrier], np.int64(0), machine)
            return None
    return None


@inner
def resume(w: int, machine: Machine) -> None:
    """Make the lanes runnable that yielded."""
    turn = machine.turn[w]
    insert_groups(w, machine.depth[w], turn[Turn.YIELDED], machine)
    turn[Turn.YIELDED], turn[Turn.EXCUSED], turn[Turn.AWAITED] = 0, 0, 0
