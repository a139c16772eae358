"""Pipes: issue ports with lanes behind them. A warp instruction holds a port ceil(32 / lanes) cycles.

Peak rate of a pipe: count * lanes / 32 warp instructions per cycle and owner (a scheduler or the SM).
Left out: what happens behind the port; a pipe is fully pipelined, its latency belongs to the instruction's unit. Behind the port for
products of warpgroups they follow one another through the scheduler's tensor core, each for its own number of cycles.
"""

import numpy as np

from sim.compiled.kernel import inner
from sim.lowering.core import Code, Hardware
from sim.lowering.warpgroups import QUEUED
from sim.timing.groups import join
from sim.timing.state import Machine


@inner
def pipe_free(m: int, q: int, pipe: int, hw: Hardware, sm: Machine) -> int:
    """Return the first cycle in which the pipe takes an instruction of scheduler q; NEVER while the queue behind it is full."""
    row = hw.row[pipe, q]
    return max(sm.row_free[m, row], sm.row_open[m, row])


@inner
def take_port(m: int, q: int, pipe: int, now: int, until: int, hw: Hardware, sm: Machine) -> None:
    """Hold the first port of the pipe that is free until that cycle; one must be free now."""
    row = hw.row[pipe, q]
    twin = hw.row_twin[row]
    if hw.row_ports[row] == 1 and twin < 0:
        sm.row_free[m, row] = until
        return
    port = np.int64(hw.row_port[row])
    while sm.port[m, port] > now:
        port += 1
    sm.port[m, port] = until
    find_free(m, row, hw, sm)
    if twin >= 0:
        find_free(m, twin, hw, sm)


@inner
def find_free(m: int, row: int, hw: Hardware, sm: Machine) -> None:
    """Find the first cycle in which one of a row's ports is free."""
    first = np.int64(hw.row_port[row])
    free = sm.port[m, first]
    for port in range(first + 1, first + hw.row_ports[row]):
        free = min(free, sm.port[m, port])
    sm.row_free[m, row] = free


@inner
def begin_product(warp: np.record, op: np.record, now: int, code: Code, sm: Machine) -> int:
    """Queue the product of a warpgroup that the warp issues now; return in how many cycles it begins."""
    m, q = np.int64(warp.sm), np.int64(warp.scheduler)
    begins = max(now + op.source_read, sm.product_free[m, q])
    if begins >= sm.product_over[m, q]:
        sm.product_begun[m, q], sm.product_owed[m, q] = begins, 0
    sm.product_free[m, q] = begins + op.turn
    sm.product_over[m, q] = begins + op.latency
    join(m, np.int64(warp.slot), np.int64(QUEUED), begins + op.turn, np.int64(op.port_cause), True, code, sm)
    return begins - now
