"""The clock at which a launch runs."""

import numpy as np

from isa.vocabulary import MATRIX_UNITS
from sim.gpus.clocks import while_multiplying
from sim.gpus.model import Gpu
from sim.traces.trace import Trace


def clocked(gpu: Gpu, trace: Trace) -> Gpu:
    """Return the GPU at the clock of a launch: all of one that executes products of matrices runs at that of tensor cores."""
    multiplies = (np.isin(trace.program.encoded.unit, MATRIX_UNITS) & (trace.executed > 0)).any()
    return while_multiplying(gpu) if multiplies else gpu


def not_reached(asked: Gpu, ran: Gpu) -> str:
    """Return why a run was not at the core clock of the GPU that it was asked for, as a clause; "" where it was."""
    return "" if asked.clock.core_mhz == ran.clock.core_mhz else "not reached: products of matrices keep the clock at clock.tensor_mhz"
