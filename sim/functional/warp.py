"""The executor's loop: one instruction of one warp after another; blocks in launch order, warps one at a time.

A warp runs until it waits at a barrier, spins or ends; then the next one of its block runs; when all of them wait, the barrier
opens; when all have ended, the next block starts. One call executes all blocks that it is given, or returns for more room, or because
the block waits for another one.
"""

from typing import Any

from isa.operations import Form
from isa.vocabulary import Operation
from sim.compiled.apart import call
from sim.compiled.kernel import inner, kernel
from sim.functional import lanes
from sim.functional.arms import by_forms, check_forms, is_one_of
from sim.functional.barriers import arrive
from sim.functional.blocks import advance
from sim.functional.constant_loads import load_constant
from sim.functional.divergence import synchronise
from sim.functional.families import APART, COMPUTED, EVEN_WITHOUT_LANES
from sim.functional.flags import JOIN
from sim.functional.flow import branch_where_true, control
from sim.functional.memory import access
from sim.functional.paths import record
from sim.functional.spins import look
from sim.functional.state import Code, Log, Machine, Memory, Progress, Status, Store, Turn
from sim.functional.watch import note_group


@inner
def execute_apart(i: int, mask: int, code: Code, machine: Machine, memory: Memory, log: Log, store: Store, progress: Progress) -> int:
    """Execute an instruction of a family that is compiled by itself; it finds i and w where they come from."""
    return call(machine.families[code.family[i]], mask, code, machine, memory, log, store, progress)


@inner
def compute_apart(i: int, w: int, mask: int, code: Code, machine: Machine) -> int:
    """Execute an instruction of a family that only computes."""
    return call(machine.families[code.family[i]], i, w, mask, code, machine)


@inner
def access_memory(
    i: int, w: int, mask: int, code: Code, machine: Machine, memory: Memory, log: Log, store: Store, progress: Progress
) -> int:
    """Execute LOAD or STORE."""
    if code.family[i]:
        return execute_apart(i, mask, code, machine, memory, log, store, progress)
    return access(i, w, mask, code, machine, memory, log, store, progress)


ARMS: dict[Form, Any] = {Form.NOTHING: None, Form.MOVE: lanes.move, Form.PREDICATES: lanes.combine_predicates}
MEMORY: dict[Form, Any] = {Form.LOAD: access_memory, Form.STORE: access_memory, Form.CONSTANT: load_constant}
FLOW = {Form.BRANCH: branch_where_true, Form.BARRIER: arrive, Form.CONTROL: control}
NEXT = {*FLOW, Form.JUMP}  # forms that say what is next
check_forms(ARMS, MEMORY, FLOW, lanes.ARMS, dict.fromkeys(APART))
GIVEN = "i, w, mask, code, machine, memory, log, store, progress"
COMPUTING = dict.fromkeys(lanes.ARMS, lanes.compute) | dict.fromkeys(APART, execute_apart)
COMPUTING |= dict.fromkeys(COMPUTED, compute_apart)
GUARDS = {form: "mask != 0" for form, arm in (ARMS | COMPUTING).items() if arm and form not in EVEN_WITHOUT_LANES}
execute_form = by_forms("execute_form", ARMS | MEMORY | FLOW | COMPUTING, GIVEN, GUARDS)
goes_on = is_one_of("goes_on", [form for form in Form if form not in NEXT])


@kernel
def run(code: Code, machine: Machine, memory: Memory, log: Log, store: Store, progress: Progress) -> int:
    """Execute what is left of the grid; return DONE, ERROR, or a FULL status after which the next call goes on."""
    end, watched = code.operation.size, memory.watch.asked[0] != 0
    while True:
        w = progress.warp[0]
        if w < 0 or machine.active[w] == 0 or machine.pc[w] == machine.reconverge[w] or machine.pc[w] == end or machine.waiting[w] != 0:
            status = advance(code, machine, memory, log, store, progress)
            if status != Status.RUNNING:
                return status
            w = progress.warp[0]
            record_again(w, machine, log, store)
        if log.length[w] >= log.pause[w]:
            status = look(w, code, machine, log, store, progress)
            if status != Status.RUNNING:
                return status
            if machine.waiting[w] != 0 or machine.active[w] == 0:
                continue
        i, active = machine.pc[w], machine.active[w]
        mask = active & (machine.predicates[w, code.guard[i]] ^ code.guard_flip[i])
        if watched:
            note_group(w, active, memory.watch)
        operation, form = code.operation[i], code.form[i]
        status = execute_form(form, i, w, mask, code, machine, memory, log, store, progress)
        if status != Status.RUNNING:
            if status == Status.BLOCKED:
                continue
            return status
        if goes_on(form):
            machine.pc[w] = i + 1
            if code.flags[i] & JOIN and mask != 0 and synchronise(w, mask, machine, progress) != Status.RUNNING:
                return Status.ERROR
        elif operation == Operation.BSYNC:
            active = machine.turn[w, Turn.INSTEAD] if machine.turn[w, Turn.INSTEAD] else active | machine.turn[w, Turn.ALONG]
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
