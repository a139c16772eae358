"""Which group of a warp's lanes goes on next, where convergence registers hold them; the rules are in `convergence`."""

from sim.compiled.kernel import inner
from sim.functional.stack import remove, top
from sim.functional.state import RUNNABLE, Machine, Turn


@inner
def note_choice(w: int, machine: Machine) -> None:
    """Mark groups after one has been chosen to run."""
    turn = machine.turn[w]
    if turn[Turn.BY_BSYNC]:
        for entry in range(machine.depth[w]):
            if machine.stack_wait[w, entry] == RUNNABLE:
                turn[Turn.OVER] |= machine.stack_mask[w, entry]
    turn[Turn.PASSED] = machine.active[w] & turn[Turn.OVER]
    turn[Turn.OVER] &= ~machine.active[w]
    turn[Turn.MET] &= ~machine.active[w]
    turn[Turn.FREED] &= ~machine.active[w]
    turn[Turn.SENT_SECOND] &= ~machine.active[w]
    turn[Turn.CHOSEN_AT], turn[Turn.BY_BSYNC] = machine.pc[w], 0


@inner
def next_entry(w: int, machine: Machine) -> int:
    """Return the runnable entry that goes on next, -1 when there is none.

    If a BSYNC chooses: one that it had passed over goes to others of these at the same instruction, the lowest, and what lies above it
    goes first.
    """
    over = machine.turn[w, Turn.OVER] & ~machine.turn[w, Turn.MET]
    entry = top(w, machine)
    while machine.turn[w, Turn.BY_BSYNC] and entry >= 0 and machine.stack_mask[w, entry] & over:
        into = entry
        for below in range(entry - 1, -1, -1):
            if (
                machine.stack_wait[w, below] == RUNNABLE
                and machine.stack_pc[w, below] == machine.stack_pc[w, into]
                and machine.stack_mask[w, below] & over
            ):
                machine.stack_mask[w, below] |= machine.stack_mask[w, into]
                remove(w, into, machine)
                into = below
        if into == entry or top(w, machine) == into:
            return into
        entry = top(w, machine)
    return entry
