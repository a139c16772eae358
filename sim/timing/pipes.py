"""Pipes: issue ports with lanes behind them. A warp instruction holds a port ceil(32 / lanes) cycles.

Peak rate of a pipe: count * lanes / 32 warp instructions per cycle and owner (a scheduler or the SM).
Left out: what happens behind the port; a pipe is fully pipelined, its latency belongs to the instruction's unit.
"""

from sim.kernel import inner
from sim.lower import Hardware
from sim.timing.state import Machine


@inner
def pipe_free(m: int, q: int, pipe: int, hw: Hardware, sm: Machine) -> int:
    """Return the first cycle in which the pipe takes an instruction of scheduler q; NEVER while the queue behind it is full."""
    row = hw.row[pipe, q]
    return max(sm.row_free[m, row], sm.row_open[m, row])


@inner
def take_port(m: int, q: int, pipe: int, until: int, hw: Hardware, sm: Machine) -> None:
    """Hold the port of the pipe that is free first until that cycle."""
    row = hw.row[pipe, q]
    first = hw.row_port[row]
    if hw.row_ports[row] == 1:
        sm.row_free[m, row] = until
        return
    best = first
    for port in range(first + 1, first + hw.row_ports[row]):
        if sm.port[m, port] < sm.port[m, best]:
            best = port
    sm.port[m, best] = until
    free = until
    for port in range(first, first + hw.row_ports[row]):
        free = min(free, sm.port[m, port])
    sm.row_free[m, row] = free
