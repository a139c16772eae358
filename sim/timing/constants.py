"""Constant caches of an SM: a line that an instruction names comes once, from the level behind them or from L2 (sim.constants).

Left out: capacity, bandwidth, addresses in registers.
"""

import numpy as np

from sim.kernel import inner
from sim.lower import Code, Hardware
from sim.timing.state import NEVER, Machine


@inner
def constant_there(m: int, line: int, now: int, hw: Hardware, code: Code, sm: Machine) -> int:
    """Return the first cycle in which SM m has a line that is asked for now."""
    if sm.constant[m, line] == NEVER:
        group, behind = code.constant_group[line], now
        if group >= 0:
            if sm.constant_group[m, group] == NEVER:
                sm.constant_group[m, group] = now + hw.constant_far
            behind = max(now, sm.constant_group[m, group])
        sm.constant[m, line] = behind + hw.constant_near
    return sm.constant[m, line]


@inner
def operand_there(warp: np.record, now: int, hw: Hardware, code: Code, sm: Machine) -> int:
    """Return the first cycle in which the constant is there that the warp's next instruction waits for."""
    op = code.ops[warp.instruction]
    if op.constant < 0 or op.late:
        return np.int64(0)
    return constant_there(np.int64(warp.sm), np.int64(op.constant), now, hw, code, sm)


@inner
def result_delay(warp: np.record, op: np.record, now: int, hw: Hardware, code: Code, sm: Machine) -> int:
    """Return how many cycles the result of the warp's instruction, issued now, waits for a constant."""
    if op.constant < 0 or not op.late:
        return np.int64(0)
    return max(constant_there(np.int64(warp.sm), np.int64(op.constant), now, hw, code, sm) - now, np.int64(0))
