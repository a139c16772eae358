"""The Numba engine: one launch's trace through one GPU, cycle by cycle. See README.md beside this file."""

import numpy as np

from sim import lower
from sim.gpus.model import Gpu
from sim.gpus.occupancy import residency
from sim.result import Result
from sim.timing.collect import result
from sim.timing.engine import LOG_FULL, run
from sim.timing.state import allocate
from sim.trace import NoProgressError, Trace


def simulate(trace: Trace, gpu: Gpu, timeline: tuple[int, int] | None = None) -> Result:
    """Return the Result of `trace` on `gpu`.

    timeline: first and last cycle of the issues to record, inclusive; None records none. Raises UserError when a block does
    not fit the GPU (the message names the limiter), and when warps wait at barriers that the others never reach.
    """
    launch = trace.launch
    occupancy = residency(gpu, launch.block, launch.registers_per_thread, launch.shared_per_block)
    hw = lower.hardware(gpu, occupancy.blocks, launch.warps_per_block)
    code, dependences = lower.code(gpu, trace.program)
    sm = allocate(hw, len(trace.program), dependences, timeline)
    rows, clocks = [], []
    status = LOG_FULL
    while status == LOG_FULL:
        status = run(hw, code, sm, trace.arrays)
        rows.append(sm.log[: int(sm.chip.log_rows[0])].copy())
        clocks.append(sm.clock_log[: int(sm.chip.clock_rows[0])].copy())
        sm.chip.log_rows = sm.chip.clock_rows = 0
    if sm.places.alive.any():  # nothing can happen any more, yet warps are left
        raise NoProgressError(int(sm.places.block[sm.places.alive > 0].min()))
    return result(trace, gpu, occupancy, hw, sm, np.concatenate(clocks), np.concatenate(rows) if timeline else None)
