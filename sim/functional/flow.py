"""The kernels of control operations other than BAR, and the arms of their forms; the rules are in `divergence` and `convergence`."""

import numpy as np

from isa.operations import Form
from isa.vocabulary import Operation
from sim.compiled.kernel import first_bit, inner
from sim.functional import convergence, divergence
from sim.functional.arms import by_kernels, kernels
from sim.functional.convergence import offer, synchronise_lanes
from sim.functional.divergence import branch, gather, leave, synchronise, unwind
from sim.functional.flags import EVERY, EXCLUSIVE
from sim.functional.operands import operand, predicate, row_of, write, write_predicate
from sim.functional.stack import fault, push
from sim.functional.state import BRANCHED, CALL, FIRST, FULL, LOOP, OUT, RUNNABLE, Code, Fault, Machine, Progress, Status, Turn


@inner
def branch_where_true(i: int, w: int, mask: int, code: Code, machine: Machine, progress: Progress) -> int:
    """Execute BRA; .ANY takes all lanes along where one goes."""
    taken = mask & predicate(i, FIRST, w, code, machine)
    if taken and code.flags[i] & EVERY:
        taken = machine.active[w]
    return branch(i, w, taken, code, machine, progress)


@inner
def branch_by_mask(i: int, w: int, mask: int, code: Code, machine: Machine, progress: Progress) -> int:
    """Execute BRA.DIV or .CONV: whether all living lanes of a mask are here."""
    members = np.int64(machine.rows[operand(i, FIRST, w, code, machine), first_bit(machine.active[w])])
    together = members & machine.alive[w] & ~mask == 0
    if together == (code.operation[i] == Operation.BRA_CONVERGENT):
        return branch(i, w, machine.active[w], code, machine, progress)
    return Status.RUNNING


@inner
def push_target(i: int, w: int, mask: int, code: Code, machine: Machine, progress: Progress) -> int:
    """Execute SSY or PBK."""
    kind = LOOP if code.operation[i] == Operation.PBK else BRANCHED
    return push(w, code.target[i], mask, machine.reconverge[w], RUNNABLE, kind, machine, progress)


@inner
def synchronise_if_any(w: int, mask: int, machine: Machine, progress: Progress) -> int:
    """Execute SYNC."""
    return synchronise(w, mask, machine, progress) if mask else Status.RUNNING


@inner
def note_members(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Execute BSSY."""
    machine.barrier[w, code.function[i]] |= mask
    if mask:
        machine.turn[w, Turn.RESTORED] &= ~(np.int64(1) << code.function[i])


@inner
def synchronise_members(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Execute BSYNC."""
    synchronise_lanes(i, w, mask, code, machine)


@inner
def exit_lanes(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Execute EXIT."""
    leave(w, mask & predicate(i, FIRST, w, code, machine), machine)


@inner
def call_function(i: int, w: int, mask: int, code: Code, machine: Machine, progress: Progress) -> int:
    """Execute CAL."""
    if push(w, i + 1, machine.active[w], machine.reconverge[w], RUNNABLE, CALL, machine, progress) != Status.RUNNING:
        return Status.ERROR
    machine.pc[w], machine.active[w] = code.target[i], mask
    return Status.RUNNING


@inner
def leave_pushed(i: int, w: int, mask: int, code: Code, machine: Machine, progress: Progress) -> int:
    """Execute BRK or RET before Volta: what PBK or CAL pushed goes on."""
    if code.operation[i] == Operation.BRK:
        return unwind(i, w, mask, LOOP, Fault.BREAK_WITHOUT_PBK, machine, progress)
    return unwind(i, w, mask, CALL, Fault.RET_WITHOUT_CAL, machine, progress)


@inner
def gather_lanes(i: int, w: int, mask: int, code: Code, machine: Machine, progress: Progress) -> int:
    """Execute WARPSYNC."""
    row = machine.rows[row_of(code.operand[i, FIRST], w, code, machine)]
    return gather(i, w, mask, code.flags[i] & EXCLUSIVE, row, machine, progress)


@inner
def trap(i: int, w: int, mask: int, progress: Progress) -> int:
    """Execute BPT.TRAP, or a call of nobody knows what."""
    return fault(Fault.TRAP, w, first_bit(mask), i, progress)


@inner
def call_driver(i: int, w: int, machine: Machine, progress: Progress) -> int:
    """Execute CALL.ABS: stop here for `sim.functional.driver`, which makes the call, and go on when it has."""
    if progress.called[0]:
        progress.called[0] = 0
        return Status.RUNNING
    machine.pc[w] = i
    return Status.CALLS


@inner
def read_reduction(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Copy what the warp's last BAR.RED found to a register; the predicate: whether it is not zero."""
    for k in range(machine.lanes[0]):
        machine.rows[OUT, k] = np.uint32(machine.reduced[w])
    write(OUT, i, FIRST, w, mask, code, machine)
    write_predicate(i, FIRST, w, FULL if machine.reduced[w] else np.int64(0), mask, code, machine)


@inner
def take_out(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Execute BREAK."""
    machine.barrier[w, code.function[i]] &= ~(mask & predicate(i, FIRST, w, code, machine))


@inner
def give_way(w: int, mask: int, code: Code, machine: Machine) -> None:
    """Execute YIELD."""
    if code.converges:
        offer(w, mask, machine)


KNOWN = kernels([convergence, divergence]) | {name: value for name, value in globals().items() if not name.startswith("_")}
GIVEN = "i, w, mask, code, machine, progress"
controlled = by_kernels("controlled", Form.CONTROL, GIVEN, KNOWN, "RUNNING")
jumped = by_kernels("jumped", Form.JUMP, GIVEN, KNOWN, "RUNNING")


@inner
def control(i: int, w: int, mask: int, code: Code, machine: Machine, progress: Progress) -> int:
    """Execute a control instruction, whether a lane takes part or not; return a Status."""
    machine.pc[w] = i + 1
    return controlled(code.operation[i], i, w, mask, code, machine, progress)


@inner
def jump(i: int, w: int, mask: int, code: Code, machine: Machine, progress: Progress) -> int:
    """Execute a control instruction that does nothing when no lane takes part; return a Status."""
    machine.pc[w] = i + 1
    return jumped(code.operation[i], i, w, mask, code, machine, progress) if mask else Status.RUNNING
