"""The executor's loop: one instruction of one warp after another; blocks in launch order, warps one at a time.

A warp runs until it waits at a barrier or ends; then the next one of its block runs; when all of them wait, the barrier
opens; when all have ended, the next block starts. One call executes the whole grid, or returns for more room.
"""

from isa.vocabulary import Operation
from sim.functional.barriers import arrive
from sim.functional.blocks import advance
from sim.functional.divergence import control, synchronise
from sim.functional.flags import JOIN
from sim.functional.growth import ROOM
from sim.functional.lanes import compute
from sim.functional.memory import access, load_constant
from sim.functional.paths import record
from sim.functional.state import Code, Log, Machine, Memory, Progress, Status, Store, Turn
from sim.functional.uncommon import compute_uncommon
from sim.kernel import inner, kernel


@kernel
def run(code: Code, machine: Machine, memory: Memory, log: Log, store: Store, progress: Progress) -> int:
    """Execute what is left of the grid; return DONE, ERROR, or a FULL status after which the next call goes on."""
    end = code.operation.size
    while True:
        w = progress.warp[0]
        if w < 0 or machine.active[w] == 0 or machine.pc[w] == machine.reconverge[w] or machine.pc[w] == end or machine.waiting[w] != 0:
            status = advance(code, machine, memory, log, store, progress)
            if status != Status.RUNNING:
                return status
            w = progress.warp[0]
            record_again(w, machine, log, store)
        if log.length[w] + ROOM >= log.instruction.shape[1]:
            return Status.LOG_FULL
        i, active = machine.pc[w], machine.active[w]
        mask = active & (machine.predicates[w, code.guard[i]] ^ code.guard_flip[i])
        operation, status = code.operation[i], Status.RUNNING
        if operation < Operation.LOAD:
            if operation != Operation.NOP and mask != 0:
                compute(i, w, mask, code, machine)
        elif operation < Operation.LDC:
            status = access(i, w, mask, code, machine, memory, log, store, progress)
        elif operation == Operation.LDC:
            status = load_constant(i, w, mask, code, machine, memory, progress)
        elif operation == Operation.BAR:
            status = arrive(i, w, mask, code, machine, progress)
        elif operation >= Operation.SHFL:
            if mask != 0:
                compute_uncommon(i, w, mask, code, machine)
        else:
            status = control(i, w, mask, code, machine, progress)
            if operation == Operation.BSYNC:
                active = machine.turn[w, Turn.INSTEAD] if machine.turn[w, Turn.INSTEAD] else active | machine.turn[w, Turn.ALONG]
        if status != Status.RUNNING:
            return status
        if operation < Operation.BRA or operation >= Operation.SHFL:
            machine.pc[w] = i + 1
            if code.flags[i] & JOIN and mask != 0 and synchronise(w, mask, machine, progress) != Status.RUNNING:
                return Status.ERROR
        record(w, i, active, mask, log, store)
        if operation == Operation.BSYNC or operation == Operation.BRX:  # noqa: PLR1714  Numba compiles no set of members
            record_again(w, machine, log, store)


@inner
def record_again(w: int, machine: Machine, log: Log, store: Store) -> None:
    """Count what a BSYNC or a jump is executed once more, lanes that have ended included; forget who counted with a BSYNC."""
    turn = machine.turn[w]
    for k in range(turn[Turn.REPEATS]):
        record(w, turn[Turn.REPEATED], machine.again[w, k], machine.again[w, k] & machine.alive[w], log, store)
    turn[Turn.REPEATS], turn[Turn.ALONG], turn[Turn.INSTEAD] = 0, 0, 0
