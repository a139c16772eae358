"""Instruction fetch: an SM gets each line of code once; those behind it are fetched ahead, a jump elsewhere waits.

Left out: capacities, the small caches of the sub-cores, bandwidth.
"""

import numpy as np

from sim.kernel import inner
from sim.lower import Hardware
from sim.timing.state import LINE_INSTRUCTIONS, NEVER, Machine


@inner
def code_there(m: int, last: int, following: int, now: int, hw: Hardware, sm: Machine) -> int:
    """Return the first cycle in which SM m has the instruction that follows another, asked for now. last: -1 = none."""
    if hw.jump == 0:
        return np.int64(0)
    line = following // LINE_INSTRUCTIONS
    if sm.code_line[m, line] == NEVER:
        sm.code_line[m, line] = now if following == last + 1 else now + hw.jump
    return sm.code_line[m, line]
