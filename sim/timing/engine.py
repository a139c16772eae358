"""The run loop: one cycle is a written order of phases, the same in every engine; cycles in which nothing can happen are skipped.

Phases of a cycle: (1) block starts; (2) what DRAM sends reaches L2, then, for each SM, beginning with SM (cycle modulo SMs), its requests
do; (3) for each SM in order: blocks that begin ask for code, answers start their transfer, the load/store unit takes an instruction, then
each scheduler in order wakes warps and issues.
Everything that a phase sets in motion takes effect in a later cycle, except that a block's warps may issue in the cycle it starts.

SMs see each other only through L2, the block scheduler, what blocks of a cluster tell each other (`clusters`), and caches of code that
they share (`fetch`; only where a program needs that). What an SM sends reaches L2 `interconnect.latency` cycles later at the earliest, an
answer comes back as late, a place that it empties takes a block `blocks.retire_latency` later, and what it tells others of a cluster
counts as late as the least of those latencies. So phases are done for a *window* of so many cycles at once: all block starts of the
window, all that reaches L2 in it, then one unit after another through all of its cycles: an SM, or those of a GPC that share caches of
code, cycle by cycle. The result is that of going cycle by cycle, and an SM's state stays in the caches of the processor that simulates.
With `prefetch` and records of whole cache lines, a saxpy of a float per thread takes 0.75 of the time that it took cycle by cycle (H100;
GTX 480: 0.78). Threads share the SMs of a window (`team`): with two, timing it takes 0.61 of the time of one (H100; GTX 480: 0.80).
"""

import numpy as np

from sim.compiled.kernel import inner, kernel, outlined
from sim.lowering.core import Code, Hardware
from sim.timing.blocks import begin_blocks
from sim.timing.dispatcher import retire_blocks, start_blocks
from sim.timing.issue import visit
from sim.timing.memory.fills import come
from sim.timing.memory.lsu import take
from sim.timing.memory.responses import look_ahead, prefetch_lines, reach_l2, receive_from_l2, respond
from sim.timing.parts import What, exchange
from sim.timing.state import NEVER, WINDOW, Machine
from sim.timing.team import UNTIL, Team, done, end_of_window, is_closed, next_unit, open_window, wait_for_all
from sim.traces.trace import TraceArrays

DONE, LOG_FULL, RUNNING, FAILED = 0, 1, 2, 3


@inner
def window(hw: Hardware, sm: Machine, trace: TraceArrays) -> int:
    """Return how many cycles units may go through one after another, without one missing what another does."""
    cycles = np.int64(WINDOW)
    if hw.memory[0].modelled:
        cycles = min(cycles, hw.memory[0].network)
    if sm.homes.size:
        cycles = min(cycles, hw.cluster_latency, hw.memory[0].far_latency, hw.memory[0].far_one_way, hw.memory[0].multicast_latency)
    if sm.chip[0].next_block < trace.warp_path.shape[0] // hw.warps:
        cycles = min(cycles, hw.retire_latency + 1)
    return cycles


def usual_window(blocks: int, hw: Hardware) -> int:
    """Return the cycles of most windows of a launch of so many blocks."""
    cycles = min(WINDOW, int(hw.memory[0].network)) if hw.memory[0].modelled else WINDOW
    return min(cycles, int(hw.retire_latency) + 1) if blocks > hw.sms * hw.places else cycles


@inner
def step_l2(until: int, hw: Hardware, sm: Machine) -> None:
    """Let the requests that reach L2 before cycle `until` enter its queues, cycle by cycle."""
    now = next_arrival(hw, sm)
    if now < until and hw.memory[0].l2_sets:
        look_ahead(until, hw.sms, hw.memory[0], sm.memory)
    while now < until:
        come(now + 1, hw.memory[0], sm.memory)
        first, soonest = now % hw.sms, np.int64(NEVER)
        for k in range(hw.sms):
            m = first + k if first + k < hw.sms else first + k - hw.sms
            if sm.memory.units[m].arrival <= now:  # no SM is always the first
                reach_l2(m, now, hw.memory[0], sm.memory)
            soonest = min(soonest, sm.memory.units[m].arrival)
        now = soonest
    come(until, hw.memory[0], sm.memory)


@inner
def next_arrival(hw: Hardware, sm: Machine) -> int:
    """Return the next cycle in which a request reaches L2."""
    soonest = np.int64(NEVER)
    for m in range(hw.sms):
        soonest = min(soonest, sm.memory.units[m].arrival)
    return soonest


@inner
def step(m: int, now: int, hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> None:
    """Advance one SM by one cycle."""
    if sm.cores[m].begins <= now:
        begin_blocks(m, now, hw, sm, trace)
    if hw.memory[0].modelled:
        unit = sm.memory.units[m]
        if unit.response <= now:
            respond(m, now, hw, code, sm, trace)
        if unit.next <= now:
            take(m, now, hw, code, sm, trace)
        if unit.copy_next <= now:
            exchange(What.ASK_FOR_LINES, m, np.int64(0), now, hw, code, sm, trace)
    for q in range(hw.schedulers):
        if sm.schedulers[m, q].visit <= now:
            visit(sm.schedulers[m, q], now, hw, code, sm, trace)
    soonest = sm.cores[m].begins
    for q in range(hw.schedulers):
        soonest = min(soonest, sm.schedulers[m, q].visit)
    if hw.memory[0].modelled:
        soonest = min(soonest, unit.response, unit.next, unit.copy_next)
    sm.cores[m].next = soonest


@inner
def logs_full(hw: Hardware, sm: Machine, team: Team) -> bool:
    """Return whether one more window could overflow a log."""
    margin, chip = WINDOW * hw.sms * hw.schedulers * hw.issue_width, team.chips[0]
    most = np.int64(0)
    for thread in range(team.chips.size):
        most = max(most, team.chips[thread].clock_rows)
    wanted = chip.log_to >= chip.log_from
    return (wanted and chip.log_rows + margin > sm.log.shape[0]) or most + margin > sm.clock_log.shape[0]


@inner
def has_failed(team: Team) -> bool:
    """Return whether the policy has failed, on whichever thread."""
    failed = np.int64(0)
    for thread in range(team.chips.size):
        failed = max(failed, team.chips[thread].failed)
    return failed > 0


@outlined
def begin_window(hw: Hardware, code: Code, sm: Machine, trace: TraceArrays, team: Team) -> int:
    """Do what precedes the SMs in the next window, and open it: RUNNING, or why there is none."""
    chip = sm.chip[0]
    if sm.homes.size:
        exchange(What.DELIVER, np.int64(0), np.int64(0), team.words[0, UNTIL], hw, code, sm, trace)
    now = min(chip.next_start, chip.next_step)
    if now >= NEVER:
        return DONE
    if logs_full(hw, sm, team):
        return LOG_FULL
    if (hw.hooks or hw.block_policy) and has_failed(team):
        return FAILED
    until = now + window(hw, sm, trace)
    if chip.next_block < trace.warp_path.shape[0] // hw.warps:  # else nobody waits for a place
        retire_blocks(until, hw, sm)
    while chip.next_start < until:
        start_blocks(chip.next_start, hw, sm, trace)
    if hw.memory[0].modelled:
        step_l2(until, hw, sm)
    chip.next_step = until if sm.memory.ring[0].count else NEVER
    open_window(until, team)
    return RUNNING


@inner
def receive(first: int, until: int, hw: Hardware, code: Code, sm: Machine) -> int:
    """Let a group of SMs have what L2 sends before cycle `until`; return the first cycle in which one of them does something."""
    m, soonest = first, np.int64(NEVER)
    while m >= 0:
        if hw.memory[0].modelled:
            receive_from_l2(m, hw, code, sm)
            prefetch_lines(m, until, sm.memory)
        soonest = min(soonest, sm.cores[m].next)
        m = hw.code_sharing.following[m]
    return soonest


@inner
def next_of(first: int, hw: Hardware, sm: Machine) -> int:
    """Return the next cycle in which something of a group of SMs happens."""
    m, soonest = first, np.int64(NEVER)
    while m >= 0:
        soonest = min(soonest, sm.cores[m].next)
        if hw.memory[0].modelled:
            soonest = min(soonest, sm.memory.units[m].arrival)
        m = hw.code_sharing.following[m]
    return soonest


@kernel
def run(hw: Hardware, code: Code, sm: Machine, trace: TraceArrays, team: Team, thread: int) -> int:
    """Advance until every block has ended (DONE), a log must grow (LOG_FULL) or the policy FAILED; each thread calls it with its `sm`."""
    chip, status = sm.chip[0], np.int64(RUNNING)
    while True:
        if thread == 0:
            status = begin_window(hw, code, sm, trace, team)
        elif is_closed(team):
            status = np.int64(DONE)
        if status != RUNNING:
            return status
        unit = next_unit(thread, team)
        while unit >= 0:
            until = end_of_window(team)
            first = hw.code_sharing.units[unit] if hw.code_sharing.units.size else unit
            now = receive(first, until, hw, code, sm)
            while now < until:
                chip.now = now
                m, soonest = first, np.int64(NEVER)
                while m >= 0:
                    if sm.cores[m].next <= now:
                        step(m, now, hw, code, sm, trace)
                    soonest = min(soonest, sm.cores[m].next)
                    m = hw.code_sharing.following[m]
                now = soonest
            chip.next_step = min(chip.next_step, next_of(first, hw, sm))
            done(thread, team)
            unit = next_unit(thread, team)
        if thread == 0:
            wait_for_all(team)
