"""The Numba engine: one launch's trace through one GPU, cycle by cycle. See README.md beside this file."""

from sim import lower
from sim.gpus.model import Gpu
from sim.gpus.occupancy import residency
from sim.placement import lines_of
from sim.result import Result
from sim.timing.collect import result
from sim.timing.engine import LOG_FULL, run
from sim.timing.memory.l2 import warm_up
from sim.timing.state import allocate, in_order, with_longer_logs
from sim.trace import NoProgressError, Trace


def simulate(trace: Trace, gpu: Gpu, timeline: tuple[int, int] | None = None) -> Result:
    """Return the Result of `trace` on `gpu`.

    timeline: first and last cycle of the issues to record, inclusive; None records none. Raises UserError when a block does
    not fit the GPU (the message names the limiter), and when warps wait at barriers that the others never reach.
    """
    launch = trace.launch
    occupancy = residency(gpu, launch.block, launch.registers_per_thread, launch.shared_per_block)
    hw = lower.hardware(gpu, launch, occupancy)
    code, dependences = lower.code(gpu, trace.program)
    sm = allocate(hw, code, dependences, timeline)
    if gpu.l2 and gpu.l2.start != "cold":
        warm_up(hw.memory[0], sm.memory, lines_of(launch))
    while run(hw, code, sm, trace.arrays) == LOG_FULL:
        sm = with_longer_logs(sm)
    if sm.places.alive.any():  # nothing can happen any more, yet warps are left
        raise NoProgressError(int(sm.places.block[sm.places.alive > 0].min()))
    clocks, rows = in_order(sm.clock_log[: int(sm.chip.clock_rows[0])]), in_order(sm.log[: int(sm.chip.log_rows[0])])
    return result(trace, gpu, occupancy, hw, sm, clocks, rows if timeline else None)
