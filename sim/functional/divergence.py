"""Which lanes of a warp run: branches, the stack of lane groups that wait, convergence barriers, exits.

A warp runs one group of lanes at a time: `active`, at `pc`, until it reaches `reconverge`. The others wait on the warp's
stack. Three ways of coming together share it:

* A listing without markers: a branch that splits the group pushes the whole group, to go on at the branch's immediate
  post-dominator, and above it the lanes that branched; each side runs until it reaches that point.
* SSY L pushes the active lanes, to go on at L; SYNC takes lanes out of the group; the entry below goes on (before Volta).
* PBK L and CAL L push in the same way; BRK and RET take lanes out of the group and of what was pushed since, up to the PBK or CAL.
* BSSY B, L notes the active lanes as B's members; BSYNC B holds lanes until every member that has not exited is there: see
  `sim.functional.convergence`, which also says which group goes on.
* WARPSYNC holds lanes for those of its mask; with .EXCLUSIVE and .COLLECTIVE lanes of other masks come after them, as a REDUX
  joins what comes together.
* BRA.DIV goes where lanes of its mask are awaited, if any is elsewhere or has a false guard; BRA.CONV goes if none is. All lanes that
  are here go together: a guard says which masks are right (compilers write `@!P0 BRA.DIV` behind `R2UR P0` or MATCH of each lane's mask).
* BRX goes where a register says: one group of lanes for each place.

The lanes that fall through run first; those that branched wait. A loop's early leavers therefore wait at once, and an
`if` runs its sides in the order of the listing. In a listing with convergence registers the fewer lanes run first, as on an H100.
"""

import numpy as np

from sim.compiled.kernel import first_bit, inner
from sim.functional.choice import next_entry, note_choice
from sim.functional.convergence import (
    at_place,
    execute_again,
    has_counted,
    insert_groups,
    is_smaller,
    synchronise_lanes,
    wake,
)
from sim.functional.operands import row_of
from sim.functional.stack import fault, push, remove, top
from sim.functional.state import (
    AT_WARPSYNC,
    BRANCHED,
    FIRST,
    RUNNABLE,
    Code,
    Fault,
    Machine,
    Progress,
    Report,
    Status,
    Turn,
)


@inner
def set_aside(w: int, pc: int, lanes: int, machine: Machine, progress: Progress) -> int:
    """Take lanes out of the running group; they go on at `pc` after it."""
    if lanes == 0:
        return Status.RUNNING
    machine.active[w] &= ~lanes
    return push(w, pc, lanes, machine.reconverge[w], RUNNABLE, BRANCHED, machine, progress)


@inner
def gather(i: int, w: int, mask: int, exclusive: int, row: np.ndarray, machine: Machine, progress: Progress) -> int:
    """Execute WARPSYNC, of which each lane has its own mask in `row`: lanes of one mask wait until all of them are there.

    Lanes of other masks come after them where those wait, or must run by themselves: exclusive.
    """
    members = np.int64(row[first_bit(mask)])
    for k in range(machine.lanes[0]):
        if (mask >> k) & 1 and np.int64(row[k]) & machine.alive[w] & ~mask:
            members = np.int64(row[k])  # some are missing
    missing = members & machine.alive[w] & ~mask
    others = np.int64(0)
    for k in range(machine.lanes[0]):
        if (mask >> k) & 1 and np.int64(row[k]) != members:
            others |= np.int64(1) << k
    if others and (missing or exclusive):
        mask &= ~others
        rest = machine.active[w] & ~mask & ~others
        if set_aside(w, i, others, machine, progress) != Status.RUNNING or set_aside(w, i + 1, rest, machine, progress) != Status.RUNNING:
            return Status.ERROR
    return hold(w, i + 1, mask, AT_WARPSYNC, members, machine, progress) if missing else Status.RUNNING


@inner
def go_where_told(i: int, w: int, mask: int, code: Code, machine: Machine, progress: Progress) -> int:
    """Jump to the addresses in a register, as if lanes of other addresses had branched.

    With convergence registers the lowest lane's group runs first, but not a majority, which comes after the next one, and the jump is
    executed once more for each place but one; else the lanes of the highest lane's address, pushed last, run first.
    """
    row = machine.rows[row_of(code.operand[i, FIRST], w, code, machine)]
    stay = machine.active[w] & ~mask
    if stay and push(w, i + 1, stay, machine.reconverge[w], RUNNABLE, BRANCHED, machine, progress) != Status.RUNNING:
        return Status.ERROR
    for k in range(machine.lanes[0]):
        if (mask >> k) & 1:
            address = np.int64(np.int32(row[k])) + code.offset[i]
            machine.lane_pc[w, k] = place_of(address, code)
            if machine.lane_pc[w, k] < 0:
                progress.report[Report.ADDRESS] = address
                return fault(Fault.NOWHERE, w, k, i, progress)
    bottom, rest, last, ways = machine.depth[w], mask, mask, np.int64(0)
    while rest:
        group = at_place(w, rest, machine.lane_pc[w, first_bit(rest)], machine)
        others = rest & ~group
        if code.converges and others:
            execute_again(i, w, rest, machine)
            if is_smaller(others, group):
                group = at_place(w, others, machine.lane_pc[w, first_bit(others)], machine)
        insert_groups(w, bottom if code.converges else machine.depth[w], group, machine)
        rest &= ~group
        last, ways = group, ways + 1
    if code.converges and ways > 1:
        machine.turn[w, Turn.SENT_FIRST] |= mask & ~last
        machine.turn[w, Turn.SENT_SECOND] = last if ways == 2 else np.int64(0)
    entry = machine.depth[w] - 1
    machine.pc[w], machine.active[w] = machine.stack_pc[w, entry], machine.stack_mask[w, entry]
    remove(w, entry, machine)
    return Status.RUNNING


@inner
def place_of(address: int, code: Code) -> int:
    """Return the instruction at an address, -1 when there is none."""
    if address >= 0 and address & 7 == 0 and address >> 3 < code.places.size:
        return code.places[address >> 3]
    return np.int64(-1)


@inner
def unwind(i: int, w: int, mask: int, kind: int, without: int, machine: Machine, progress: Progress) -> int:
    """Take lanes out of the running group and of all that was pushed above the last entry of a kind, which brings them back."""
    entry = machine.depth[w] - 1
    while entry >= 0:
        if (
            machine.stack_wait[w, entry] == RUNNABLE
            and machine.stack_members[w, entry] == kind
            and machine.stack_mask[w, entry] & mask == mask
        ):
            machine.active[w] &= ~mask
            return Status.RUNNING
        machine.stack_mask[w, entry] &= ~mask
        entry -= 1
    return fault(without, w, first_bit(mask), i, progress)


@inner
def hold(w: int, pc: int, mask: int, wait: int, members: int, machine: Machine, progress: Progress) -> int:
    """Let lanes wait for the other members, and the rest of the group go on; all go on at `pc` when the last has come."""
    if machine.active[w] & ~mask:
        rest = machine.active[w] & ~mask
        if push(w, machine.pc[w], rest, machine.reconverge[w], RUNNABLE, BRANCHED, machine, progress) != Status.RUNNING:
            return Status.ERROR
    machine.active[w] = 0
    status = push(w, pc, mask, machine.reconverge[w], wait, members, machine, progress)
    release(w, machine)
    return status


@inner
def leave(w: int, mask: int, machine: Machine) -> None:
    """End the lanes of `mask`."""
    machine.alive[w] &= ~mask
    machine.active[w] &= ~mask
    release(w, machine)


@inner
def branch(i: int, w: int, taken: int, code: Code, machine: Machine, progress: Progress) -> int:
    """Go to the target in the lanes `taken`, to the next instruction in the others."""
    if code.limit[i] >= 0:
        machine.iterations[w, code.limit[i]] += 1
        if machine.iterations[w, code.limit[i]] == code.iterations[code.limit[i]]:
            machine.alive[w], machine.active[w], machine.depth[w] = 0, 0, 0
            return Status.RUNNING
    stay = machine.active[w] & ~taken
    if taken == 0 or stay == 0:
        machine.pc[w] = code.target[i] if taken else i + 1
        return Status.RUNNING
    if code.converges and is_smaller(taken, stay):
        machine.pc[w], machine.active[w] = code.target[i], taken
        return push(w, i + 1, stay, machine.reconverge[w], RUNNABLE, BRANCHED, machine, progress)
    meet, outer = code.reconverge[i], machine.reconverge[w]
    if meet >= 0 and meet != outer:  # the group below meets there already when they are equal: a loop left lane by lane
        if push(w, meet, machine.active[w], outer, RUNNABLE, 0, machine, progress) != Status.RUNNING:
            return Status.ERROR
        outer = meet
    machine.pc[w], machine.active[w], machine.reconverge[w] = i + 1, stay, outer
    if code.target[i] == outer and meet >= 0:
        return Status.RUNNING
    return push(w, code.target[i], taken, outer, RUNNABLE, 0, machine, progress)


@inner
def synchronise(w: int, mask: int, machine: Machine, progress: Progress) -> int:
    """Take lanes out of the running group: the SSY entry below brings them back."""
    for entry in range(machine.depth[w]):
        if machine.stack_mask[w, entry] & mask == mask:
            machine.active[w] &= ~mask
            return Status.RUNNING
    return fault(Fault.SYNC_WITHOUT_SSY, w, first_bit(mask), machine.pc[w] - 1, progress)


@inner
def settle(w: int, code: Code, machine: Machine, progress: Progress) -> int:
    """Choose the group that runs next when the active one is empty or has arrived; lanes at the listing's end exit.

    Returns RUNNING, ENDED or ERROR.
    """
    end = code.operation.size
    while machine.active[w] == 0 or machine.pc[w] == machine.reconverge[w] or machine.pc[w] == end:
        if machine.pc[w] == end:
            leave(w, machine.active[w], machine)
        entry = next_entry(w, machine) if code.converges else top(w, machine)
        if entry < 0 and code.converges and machine.alive[w]:
            wake(w, code, machine)
            entry = next_entry(w, machine)
        if entry < 0:
            return stop(w, machine, progress)
        machine.pc[w], machine.reconverge[w] = machine.stack_pc[w, entry], machine.stack_reconverge[w, entry]
        machine.active[w] = machine.stack_mask[w, entry] & machine.alive[w]
        remove(w, entry, machine)
        if code.converges:
            note_choice(w, machine)
            if has_counted(w, code, machine):
                machine.pc[w] += 1
                synchronise_lanes(machine.pc[w] - 1, w, machine.active[w], code, machine)
                machine.turn[w, Turn.ALONG] = 0
    return Status.RUNNING


@inner
def stop(w: int, machine: Machine, progress: Progress) -> int:
    """Return why no group of the warp can run: all ended, or each waits at a convergence barrier for lanes that cannot come."""
    machine.active[w] = 0
    if machine.alive[w] == 0:
        machine.depth[w] = 0
        return Status.ENDED
    for barrier in range(machine.barrier.shape[1]):
        if machine.blocked[w, barrier]:
            lane = first_bit(machine.blocked[w, barrier])
            progress.report[Report.EXPECTED] = machine.barrier[w, barrier] & machine.alive[w]
            return fault(Fault.NO_PROGRESS, w, lane, machine.lane_pc[w, lane] - 1, progress)
    progress.report[Report.EXPECTED] = machine.stack_members[w, 0] & machine.alive[w]
    return fault(Fault.NO_PROGRESS, w, first_bit(machine.stack_mask[w, 0]), machine.stack_pc[w, 0] - 1, progress)


@inner
def release(w: int, machine: Machine) -> None:
    """Let the groups run whose convergence barrier has all its living members, those at one instruction as one group."""
    for entry in range(machine.depth[w]):
        wait, members = machine.stack_wait[w, entry], machine.stack_members[w, entry]
        if wait != RUNNABLE:
            here = arrived(w, wait, members, machine)
            if members & machine.alive[w] & ~here == 0:
                free(w, wait, members, machine)


@inner
def arrived(w: int, wait: int, members: int, machine: Machine) -> int:
    """Return the lanes that wait at convergence barrier `wait` with these members."""
    here = machine.alive[w] & 0
    for entry in range(machine.depth[w]):
        if machine.stack_wait[w, entry] == wait and machine.stack_members[w, entry] == members:
            here |= machine.stack_mask[w, entry]
    return here


@inner
def free(w: int, wait: int, members: int, machine: Machine) -> None:
    """Make the groups of a convergence barrier runnable; groups that wait at the same instruction become one.

    Those of a WARPSYNC execute it once more (sim.functional.convergence).
    """
    for entry in range(machine.depth[w]):
        if machine.stack_wait[w, entry] != wait or machine.stack_members[w, entry] != members:
            continue
        machine.stack_wait[w, entry] = RUNNABLE
        for other in range(entry + 1, machine.depth[w]):
            if (
                machine.stack_wait[w, other] == wait
                and machine.stack_members[w, other] == members
                and machine.stack_pc[w, other] == machine.stack_pc[w, entry]
            ):
                machine.stack_mask[w, entry] |= machine.stack_mask[w, other]
                machine.stack_wait[w, other], machine.stack_mask[w, other] = RUNNABLE, 0
        machine.turn[w, Turn.MET] |= machine.stack_mask[w, entry]
        if wait == AT_WARPSYNC and machine.turn[w, Turn.REPEATS] == 0:
            execute_again(machine.stack_pc[w, entry] - 1, w, machine.stack_mask[w, entry], machine)
