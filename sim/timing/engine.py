"""The run loop: one cycle is a written order of phases, the same in every engine; cycles in which nothing can happen are skipped.

Phases of a cycle: (1) block starts; (2) for each SM, beginning with SM (cycle modulo SMs): its requests reach L2; (3) for each SM in
order: answers start their transfer, the load/store unit takes an instruction, then each scheduler in order wakes warps and issues.
Everything that a phase sets in motion takes effect in a later cycle, except that a block's warps may issue in the cycle it starts.
"""

import numpy as np

from sim.kernel import inner, kernel
from sim.lower import Code, Hardware
from sim.timing.blocks import start_blocks
from sim.timing.issue import visit
from sim.timing.memory.lsu import take
from sim.timing.memory.responses import reach_l2, respond
from sim.timing.state import NEVER, Machine
from sim.trace import TraceArrays

DONE, LOG_FULL = 0, 1


@inner
def step_all(now: int, hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> int:
    """Advance the SMs that have something to do by one cycle; return the next cycle in which any has, or a request reaches L2."""
    soonest = np.int64(NEVER)
    for m in range(hw.sms):
        if sm.cores[m].next <= now:
            step(m, now, hw, code, sm, trace)
        soonest = min(soonest, sm.cores[m].next)
        if hw.memory[0].modelled:
            soonest = min(soonest, sm.memory.units[m].arrival)
    return soonest


@inner
def step_l2(now: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """Let the requests that reach L2 now enter its queues; no SM is always the first."""
    first = now % hw.sms
    for k in range(hw.sms):
        m = first + k if first + k < hw.sms else first + k - hw.sms
        if sm.memory.units[m].arrival <= now:
            reach_l2(m, now, hw, code, sm)
            sm.cores[m].next = min(sm.cores[m].next, sm.memory.units[m].next, sm.memory.units[m].response)


@inner
def step(m: int, now: int, hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> None:
    """Advance one SM by one cycle."""
    if hw.memory[0].modelled:
        unit = sm.memory.units[m]
        if unit.response <= now:
            respond(m, now, hw, code, sm)
        if unit.next <= now:
            take(m, now, hw, code, sm)
    for q in range(hw.schedulers):
        if sm.schedulers[m, q].visit <= now:
            visit(sm.schedulers[m, q], now, hw, code, sm, trace)
    soonest = np.int64(NEVER)
    for q in range(hw.schedulers):
        soonest = min(soonest, sm.schedulers[m, q].visit)
    if hw.memory[0].modelled:
        soonest = min(soonest, unit.response, unit.next)
    sm.cores[m].next = soonest


@inner
def logs_full(chip: np.record, hw: Hardware, sm: Machine) -> bool:
    """Return whether one more cycle could overflow a log."""
    margin = hw.sms * hw.schedulers * hw.issue_width
    wanted = chip.log_to >= chip.log_from
    return (wanted and chip.log_rows + margin > sm.log.shape[0]) or chip.clock_rows + margin > sm.clock_log.shape[0]


@kernel
def run(hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> int:
    """Advance until every block has ended (DONE) or a log must be enlarged (LOG_FULL)."""
    chip = sm.chip[0]
    while not logs_full(chip, hw, sm):
        now = min(chip.next_start, chip.next_step)
        if now >= NEVER:
            return DONE
        chip.now = now
        if chip.next_start <= now:
            start_blocks(hw, code, sm, trace)
        if hw.memory[0].modelled:
            step_l2(now, hw, code, sm)
        chip.next_step = step_all(now, hw, code, sm, trace)
    return LOG_FULL
