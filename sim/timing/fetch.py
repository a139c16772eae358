"""Instruction fetch: a cache of the SM, behind it one that the SMs of a GPC share, behind that L2; lines of 128 bytes.

A line that is asked for comes `jump` cycles later. Then those are asked for that follow it in the code: `ahead` of them by the SM's cache,
`far_ahead` by the one behind. Both ports of that one are shared: each SM has its part of them, after a pause as many lines at once as a
jump asks for. A line that an SM has never had comes from DRAM where L2 starts cold, later from L2; the first `prefetched` bytes are in the
cache of the GPC when a kernel starts.
Left out: that SMs bring lines for each other, that one may use what others leave of a port, constants in the caches of code.
"""

import numpy as np

from sim.compiled.kernel import inner
from sim.gpus.path import TICKS
from sim.lowering.core import Hardware
from sim.lowering.fetch import LINE_INSTRUCTIONS
from sim.timing.state import Machine


@inner
def code_there(m: int, last: int, following: int, now: int, hw: Hardware, sm: Machine) -> int:
    """Return the first cycle in which SM m has the instruction that follows another, asked for now. last: -1 = none."""
    if hw.jump == 0:
        return np.int64(0)
    line, before = following // LINE_INSTRUCTIONS, last // LINE_INSTRUCTIONS
    if last >= 0 and before == line:
        return np.int64(0)
    if sm.code_lacking[m] == 0 and sm.code_whole[m] <= now:  # it has all lines, and will lose none
        return np.int64(0)
    there = ask_near(m, line, now, now, hw, sm)
    entered = max(now, there)
    goes_on = last >= 0 and line == before + 1  # what follows was asked for with the line before, but for the last
    first = line + max(hw.code_ahead, 1) if goes_on else line + 1
    for further in range(first, min(line + hw.code_ahead + 1, hw.code_lines)):
        ask_near(m, np.int64(further), now, entered, hw, sm)
    first = line + max(hw.code_far_ahead, 1) if goes_on else line + 1
    for further in range(first, min(line + hw.code_far_ahead + 1, hw.code_lines)):
        ask_far(m, np.int64(further), now, entered, hw, sm)
    return there


@inner
def find_line(caches: np.ndarray, number: int, line: int, sets: int, ways: int) -> int:
    """Return the place of a line in a cache, or else of the line of its set that was used longest ago."""
    first = (line % sets) * ways
    oldest = first
    for place in range(first, first + ways):
        if caches[number, place].line == line:
            return np.int64(place)
        if caches[number, place].used < caches[number, oldest].used:
            oldest = np.int64(place)
    return oldest


@inner
def line_turn(port: np.record, ahead: int, now: int) -> int:
    """Return the cycle in which a port takes a line. ahead: lines more than one that it takes at once after a pause."""
    turn = max(now * TICKS, port.free) + port.before
    port.free = max(port.free, now * TICKS - ahead * port.ticks) + port.before + port.ticks
    port.before = 0
    return (turn + TICKS - 1) // TICKS


@inner
def ask_near(m: int, line: int, now: int, entered: int, hw: Hardware, sm: Machine) -> int:
    """Return the cycle in which the SM's cache has a line. entered: when the warp has the line for which it asks, too."""
    place = find_line(sm.code, m, line, hw.code_sets, hw.code_ways)
    entry = sm.code[m, place]
    if entry.line != line:
        entry.line = line
        turn = line_turn(
            sm.gpc_ports[m, 0], hw.code_ahead, now
        )  # booked at `now`, not `entered`: else the port would be held for later from others
        entry.there = max(turn, ask_far(m, line, now, entered, hw, sm)) + hw.jump
        sm.code_lacking[m] -= 1
        sm.code_whole[m] = max(sm.code_whole[m], entry.there)
    sm.code_turn[m] += 1
    entry.used = sm.code_turn[m]
    return np.int64(entry.there)


@inner
def ask_far(m: int, line: int, now: int, entered: int, hw: Hardware, sm: Machine) -> int:
    """Return the cycle in which the cache behind has a line: it asks L2, that asks DRAM when the SM asks for it for the first time."""
    place = find_line(sm.far_code, m, line, hw.far_code_sets, hw.far_code_ways)
    entry = sm.far_code[m, place]
    if entry.line != line:
        entry.line, entry.there = line, entered
        if sm.code_seen[m, line] or line >= hw.prefetched_lines:
            latency = hw.code_far if sm.code_seen[m, line] else hw.code_cold
            entry.there = max(line_turn(sm.gpc_ports[m, 1], hw.code_far_ahead, now), entered) + latency
        sm.code_seen[m, line] = 1
    sm.far_code_turn[m] += 1
    entry.used = sm.far_code_turn[m]
    return np.int64(max(entry.there, entered))
