"""The Numba engine: one launch's trace through one GPU, cycle by cycle. See README.md beside this file."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from sim.compiled.cores import threads_for
from sim.compiled.kernel import is_compiled
from sim.gpus.model import Gpu
from sim.gpus.occupancy import Occupancy, residency
from sim.launch.placement import lines_of
from sim.lowering import core as lower
from sim.lowering.clock import clocked
from sim.lowering.core import Code, Hardware
from sim.lowering.fetch import CONSTANTS, line_ticks, ticks_before
from sim.lowering.phases import CLUSTER_ARRIVES, COPY_NEAR, counts_of_phases
from sim.lowering.rescheduling import rescheduled
from sim.lowering.slices import gpcs_of, sides_of
from sim.policies.blocks import BY_BLOCKS, OTHERS, start_order
from sim.policies.supplied import stateful
from sim.result.result import Result
from sim.timing.apart import link, needed
from sim.timing.collect import result
from sim.timing.engine import LOG_FULL, run, usual_window
from sim.timing.memory.l2 import warm_up
from sim.timing.state import NEVER, Machine, allocate, in_order, with_longer_logs
from sim.timing.team import Team, form, members, set_closed, together
from sim.traces.trace import NoProgressError, Trace, TraceArrays, work_of_blocks


def simulate(trace: Trace, gpu: Gpu, timeline: tuple[int, int] | None = None, threads: int | None = None) -> Result:
    """Return the Result of `trace` on `gpu`.

    timeline: first and last cycle of the issues to record, inclusive; None records none. threads: how many share the SMs, the result is
    the same with any number; None = as many as gain (`sim.compiled.cores`); a timeline is recorded by one. Raises UserError when a block
    does not fit the GPU (the message names the limiter), and when warps wait at barriers that the others never reach.
    """
    trace, words = rescheduled(trace, gpu)
    gpu, launch = clocked(gpu, trace), trace.launch
    occupancy, hw, code, sm = machine_of(trace, gpu, timeline)
    if gpu.l2 and gpu.l2.start != "cold":
        warm_up(hw.memory[0], sm.memory, lines_of(launch))
    if gpu.blocks.order != "launch":
        sm = sm._replace(order=start_order(gpu.blocks.order, work_of_blocks(trace)))
    # The lowest number first of those with as much room; other policies, and clusters, may leave SMs out.
    known = hw.block_policy < OTHERS and hw.groups.size == 1
    used = min(int(hw.sms), launch.blocks) if known else int(hw.sms)
    units = int(np.count_nonzero(hw.code_sharing.units < used)) or used
    count = min(threads_for(trace.warp_instructions, used, threads, usual_window(launch.blocks, hw)), units)
    machines, chips = members(sm, count if timeline is None and is_compiled() else 1)
    link(needed(hw, code, sm), hw, code, machines[0], trace.arrays)
    while _advance(hw, code, machines, trace.arrays, form(units, chips)) == LOG_FULL:
        machines = [with_longer_logs(machine) for machine in machines]
    noted = [(int(machine.chip.failed_at[0]), int(machine.chip.failed[0])) for machine in machines if machine.chip.failed[0]]
    if noted:
        _, failed = min(noted)
        raise gpu.blocks.policy.failure() if failed == BY_BLOCKS else stateful(gpu.core.policy).failure(failed - 1)  # type: ignore
    sm = together(machines)
    assert (sm.places.begins == NEVER).all(), "a block was given to an SM that no thread goes through"
    if sm.places.alive.any():  # nothing can happen any more, yet warps are left
        raise NoProgressError(int(sm.places.block[sm.places.alive > 0].min()))
    rows = in_order(sm.log[: int(sm.chip.log_rows[0])], sm=1) if timeline else None
    return replace(result(trace, gpu, occupancy, hw, sm, in_order(sm.clock_log, sm=4)[:, :4], rows), words=words)


def machine_of(trace: Trace, gpu: Gpu, timeline: tuple[int, int] | None) -> tuple[Occupancy, Hardware, Code, Machine]:
    """Return what `trace` runs on, before cycle 0."""
    launch = trace.launch
    occupancy = residency(gpu, launch.block, launch.registers_per_thread, launch.shared_per_block, launch.program.architecture)
    hw = lower.hardware(gpu, launch, occupancy)
    code, dependences = lower.code(gpu, trace.program)
    sm = allocate(hw, code, dependences, timeline, gpu.core, counts_of_phases(trace, gpu))
    for field, numbers in (("gpc", gpcs_of(gpu, launch)), ("side", sides_of(gpu, launch))):
        here = getattr(sm.memory, field)
        here[:] = numbers[: len(here)]
    sm.gpc_ports.ticks[:] = line_ticks(gpu, launch)[: len(sm.gpc_ports)]
    sm.gpc_ports.before[:, CONSTANTS] = ticks_before(gpu, launch)[: len(sm.gpc_ports)]
    sm = sm._replace(starts=np.zeros(launch.blocks, np.int64), ends=np.zeros(launch.blocks, np.int64))
    if np.isin(code.ops["copies"], (COPY_NEAR, CLUSTER_ARRIVES)).any() or launch.cluster_shape:
        sm = sm._replace(homes=np.full(launch.blocks, -1, np.int64))
    return occupancy, hw, code, sm


def _advance(hw: Hardware, code: Code, machines: list[Machine], arrays: TraceArrays, team: Team) -> int:
    """Let a team of threads, each with its machine, run until all is done or a log is full; whatever happens, none of them goes on."""
    if len(machines) == 1:
        return int(run(hw, code, machines[0], arrays, team, 0))
    set_closed(team, True)
    run(hw, code, machines[1], arrays, team, 1)  # returns at once: what must be compiled is compiled here, where it can be interrupted
    set_closed(team, False)
    others = []
    with ThreadPoolExecutor(len(machines) - 1) as pool:
        try:
            for thread, machine in enumerate(machines[1:], 1):
                others.append(pool.submit(run, hw, code, machine, arrays, team, thread))
        except RuntimeError:  # no more threads can be had: those there are take all SMs
            pass
        try:
            return int(run(hw, code, machines[0], arrays, team, 0))
        finally:
            set_closed(team, True)
            for other in others:
                other.result()
