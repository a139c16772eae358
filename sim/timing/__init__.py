"""The Numba engine: one launch's trace through one GPU, cycle by cycle. See README.md beside this file."""

from concurrent.futures import ThreadPoolExecutor

from sim import lower
from sim.cores import threads_for
from sim.gpus.model import Gpu
from sim.gpus.occupancy import residency
from sim.kernel import is_compiled
from sim.placement import lines_of
from sim.result import Result
from sim.timing.collect import result
from sim.timing.engine import LOG_FULL, run, usual_window
from sim.timing.memory.l2 import warm_up
from sim.timing.state import allocate, in_order, with_longer_logs
from sim.timing.team import form, members, together
from sim.trace import NoProgressError, Trace


def simulate(trace: Trace, gpu: Gpu, timeline: tuple[int, int] | None = None, threads: int | None = None) -> Result:
    """Return the Result of `trace` on `gpu`.

    timeline: first and last cycle of the issues to record, inclusive; None records none. threads: how many share the SMs, the result is
    the same with any number; None = as many as gain (`sim.cores`); a timeline is recorded by one. Raises UserError when a block does not
    fit the GPU (the message names the limiter), and when warps wait at barriers that the others never reach.
    """
    launch = trace.launch
    occupancy = residency(gpu, launch.block, launch.registers_per_thread, launch.shared_per_block)
    hw = lower.hardware(gpu, launch, occupancy)
    code, dependences = lower.code(gpu, trace.program)
    sm = allocate(hw, code, dependences, timeline)
    if gpu.l2 and gpu.l2.start != "cold":
        warm_up(hw.memory[0], sm.memory, lines_of(launch))
    used = min(int(hw.sms), launch.blocks)  # a block goes to an SM with as much room as any, the lowest number first
    count = threads_for(trace.warp_instructions, used, usual_window(launch.blocks, hw), threads)
    machines, chips = members(sm, count if timeline is None and is_compiled() else 1)
    with ThreadPoolExecutor(max(len(machines) - 1, 1)) as pool:
        status = LOG_FULL
        while status == LOG_FULL:
            team = form(used, chips)
            others = [pool.submit(run, hw, code, machine, trace.arrays, team, thread) for thread, machine in enumerate(machines) if thread]
            status = run(hw, code, machines[0], trace.arrays, team, 0)
            for other in others:
                other.result()
            if status == LOG_FULL:
                machines = [with_longer_logs(machine) for machine in machines]
    sm = together(machines)
    if sm.places.alive.any():  # nothing can happen any more, yet warps are left
        raise NoProgressError(int(sm.places.block[sm.places.alive > 0].min()))
    rows = in_order(sm.log[: int(sm.chip.log_rows[0])], sm=1) if timeline else None
    return result(trace, gpu, occupancy, hw, sm, in_order(sm.clock_log, sm=4)[:, :4], rows)
