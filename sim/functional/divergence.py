"""Which lanes of a warp run: branches, the stack of lane groups that wait, convergence barriers, exits.

A warp runs one group of lanes at a time: `active`, at `pc`, until it reaches `reconverge`. The others wait on the warp's
stack. Three ways of coming together share it:

* A listing without markers: a branch that splits the group pushes the whole group, to go on at the branch's immediate
  post-dominator, and above it the lanes that branched; each side runs until it reaches that point.
* SSY L pushes the active lanes, to go on at L; SYNC takes lanes out of the group; the entry below goes on (before Volta).
* BSSY B, L notes the active lanes as B's members; BSYNC B holds lanes until every member that has not exited is there.

The lanes that fall through run first; those that branched wait. A loop's early leavers therefore wait at once, and an
`if` runs its sides in the order of the listing.
"""

from isa.vocabulary import Operation
from sim.functional.state import RUNNABLE, STACK_DEPTH, Code, Fault, Machine, Progress, Report, Status
from sim.kernel import first_bit, inner


@inner
def control(i: int, w: int, mask: int, code: Code, machine: Machine, progress: Progress) -> int:
    """Execute a control instruction other than BAR for the lanes of `mask`; return a Status."""
    operation = code.operation[i]
    if operation == Operation.BRA:
        return branch(i, w, mask, code, machine, progress)
    machine.pc[w] = i + 1
    if operation == Operation.SSY:
        return push(w, code.target[i], mask, machine.reconverge[w], RUNNABLE, 0, machine, progress)
    if operation == Operation.SYNC:
        return synchronise(w, mask, machine, progress)
    if operation == Operation.BSSY:
        for k in range(machine.lanes[0]):
            if (mask >> k) & 1:
                machine.convergence[w, code.function[i], k] = mask
    elif operation == Operation.BSYNC and mask:
        return converge(i, w, mask, code, machine, progress)
    elif operation == Operation.EXIT:
        leave(w, mask, machine)
    return Status.RUNNING


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
def push(w: int, pc: int, mask: int, meet: int, wait: int, members: int, machine: Machine, progress: Progress) -> int:
    """Put a group of lanes on the warp's stack."""
    top = machine.depth[w]
    if top == STACK_DEPTH:
        return fault(Fault.STACK_OVERFLOW, w, first_bit(mask), machine.pc[w] - 1, progress)
    machine.stack_pc[w, top], machine.stack_mask[w, top], machine.stack_reconverge[w, top] = pc, mask, meet
    machine.stack_wait[w, top], machine.stack_members[w, top] = wait, members
    machine.depth[w] = top + 1
    return Status.RUNNING


@inner
def remove(w: int, entry: int, machine: Machine) -> None:
    """Take an entry out of the warp's stack."""
    machine.depth[w] -= 1
    for j in range(entry, machine.depth[w]):
        machine.stack_pc[w, j], machine.stack_mask[w, j] = machine.stack_pc[w, j + 1], machine.stack_mask[w, j + 1]
        machine.stack_reconverge[w, j] = machine.stack_reconverge[w, j + 1]
        machine.stack_wait[w, j], machine.stack_members[w, j] = machine.stack_wait[w, j + 1], machine.stack_members[w, j + 1]


@inner
def settle(w: int, code: Code, machine: Machine, progress: Progress) -> int:
    """Choose the group that runs next when the active one is empty or has arrived; lanes at the listing's end exit.

    Returns RUNNING, ENDED or ERROR.
    """
    end = code.operation.size
    while machine.active[w] == 0 or machine.pc[w] == machine.reconverge[w] or machine.pc[w] == end:
        if machine.pc[w] == end:
            leave(w, machine.active[w], machine)
        entry = machine.depth[w] - 1
        while entry >= 0 and machine.stack_wait[w, entry] != RUNNABLE:
            entry -= 1
        if entry < 0:
            return stop(w, machine, progress)
        machine.pc[w], machine.reconverge[w] = machine.stack_pc[w, entry], machine.stack_reconverge[w, entry]
        machine.active[w] = machine.stack_mask[w, entry] & machine.alive[w]
        remove(w, entry, machine)
    return Status.RUNNING


@inner
def stop(w: int, machine: Machine, progress: Progress) -> int:
    """Return why no group of the warp can run: all ended, or each waits at a convergence barrier for lanes that cannot come."""
    machine.active[w] = 0
    if machine.alive[w] == 0:
        machine.depth[w] = 0
        return Status.ENDED
    progress.report[Report.EXPECTED] = machine.stack_members[w, 0] & machine.alive[w]
    return fault(Fault.NO_PROGRESS, w, first_bit(machine.stack_mask[w, 0]), machine.stack_pc[w, 0] - 1, progress)


@inner
def converge(i: int, w: int, mask: int, code: Code, machine: Machine, progress: Progress) -> int:
    """Hold lanes at a BSYNC until every living member of their convergence barrier is there."""
    members = machine.convergence[w, code.function[i], first_bit(mask)]
    machine.active[w] &= ~mask
    if (
        machine.active[w] != 0
        and push(w, i + 1, machine.active[w], machine.reconverge[w], RUNNABLE, 0, machine, progress) != Status.RUNNING
    ):
        return Status.ERROR
    machine.active[w] = 0
    status = push(w, i + 1, mask, machine.reconverge[w], code.function[i], members, machine, progress)
    release(w, machine)
    return status


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
    """Make the groups of a convergence barrier runnable; groups that wait at the same instruction become one."""
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


@inner
def fault(kind: int, w: int, lane: int, instruction: int, progress: Progress) -> int:
    """Note a mistake of the program."""
    progress.report[Report.FAULT], progress.report[Report.WARP], progress.report[Report.LANE] = kind, w, lane
    progress.report[Report.INSTRUCTION] = instruction
    return Status.ERROR
