"""Parts of the engine that few runs need, called by address: `apart` has their functions, and says which runs need them."""

from enum import IntEnum

import numpy as np

from sim.compiled.apart import call
from sim.compiled.kernel import inner
from sim.lowering.core import Code, Hardware
from sim.timing.state import Machine
from sim.traces.trace import TraceArrays


class Part(IntEnum):
    """Places in Machine.parts."""

    FURTHER = 0  # issue of a warp's next instructions in the same cycle
    EXCHANGE = 1  # bulk copies, barriers in shared memory, clusters


class What(IntEnum):
    """What of EXCHANGE is to be done."""

    START_COPY = 0
    ASK_FOR_LINES = 1
    LAND = 2
    LOOK_AT_PHASE = 3
    COUNT_FOR_PHASE = 4
    WAIT_FOR_CLUSTER = 5
    DELIVER = 6


@inner
def exchange(what: int, m: int, which: int, cycle: int, hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> None:
    """Do something of EXCHANGE on SM m at a cycle. which: a warp's slot, a phase, ..., as `apart.exchanged` says."""
    call(sm.parts[Part.EXCHANGE], np.int64(what), np.int64(m), np.int64(which), np.int64(cycle), hw, code, sm, trace)
