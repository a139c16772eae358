"""Instruction fetch: a cache of a TPC, that is of two SMs, behind it one that the SMs of a GPC share, behind that L2; lines of 128 bytes.

A line that is asked for comes `jump` cycles later. Then those are asked for that follow it in the code: `ahead` of them by the TPC's
cache, `far_ahead` by the GPC's, whose port serves who asks first, and takes what comes from L2. What a GPC asks for the first time comes
from DRAM where L2 starts cold; the first `prefetched` bytes come to its cache one after another from its first block on. SMs that run a
program which needs no more than those and fits into a TPC's cache do not see each other: each has its part of the port, after a pause as
many lines at once as a jump asks for.
Left out: that a line which one GPC has had is in L2 for the others; turns and places of lines that come unasked, until they are asked for;
constants in the caches of code.
"""

import numpy as np

from sim.compiled.kernel import inner
from sim.gpus.path import TICKS
from sim.lowering.core import Hardware
from sim.lowering.fetch import CODE, LINE_INSTRUCTIONS, WAYS, InDram
from sim.timing.memory.dram import away_of
from sim.timing.state import Machine


@inner
def code_there(m: int, last: int, following: int, now: int, hw: Hardware, sm: Machine) -> int:
    """Return the first cycle in which SM m has the instruction that follows another, asked for now. last: -1 = none."""
    if hw.jump == 0:
        return np.int64(0)
    line, before = following // LINE_INSTRUCTIONS, last // LINE_INSTRUCTIONS
    if last >= 0 and before == line:
        return np.int64(0)
    tpc = hw.code_sharing.tpc[m]
    if sm.code_lacking[tpc] == 0 and sm.code_whole[tpc] <= now:  # it has all lines and will lose none, and nobody misses its asks
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
def late(place: InDram, line: int, now: int) -> int:
    """Return how many cycles later than usual the line-th 128 bytes of code or constants come that are asked for now."""
    return np.int64(away_of(place.line + line, now, place.refresh, place.interval))


@inner
def way(place: InDram, m: int, line: int, hw: Hardware) -> int:
    """Return how many cycles more than in the mean SM m waits for the line-th 128 bytes of code or constants."""
    return place.ways[hw.chip_sides[m], line % WAYS]


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
    """Return the cycle in which the cache of a TPC has a line. entered: when the warp has the line for which it asks, too."""
    tpc = hw.code_sharing.tpc[m]
    place = find_line(sm.code, tpc, line, hw.code_sets, hw.code_ways)
    entry = sm.code[tpc, place]
    if entry.line != line:
        entry.line = line
        come, port = ask_far(m, line, now, entered, hw, sm), sm.gpc_ports[hw.code_sharing.home[m], CODE]
        turn = line_turn(port, hw.code_burst, now)  # booked at `now`, not `entered`: else it would be held for later from others
        entry.there = max(turn, come) + hw.jump
        sm.code_lacking[tpc] -= 1
        sm.code_whole[tpc] = max(sm.code_whole[tpc], entry.there)
    sm.code_turn[tpc] += 1
    entry.used = sm.code_turn[tpc]
    return np.int64(entry.there)


@inner
def ask_far(m: int, line: int, now: int, entered: int, hw: Hardware, sm: Machine) -> int:
    """Return the cycle in which the cache of the GPC has a line: it asks L2, and that DRAM the first time that the GPC asks for it."""
    home = hw.code_sharing.home[m]
    place = find_line(sm.far_code, home, line, hw.far_code_sets, hw.far_code_ways)
    entry = sm.far_code[home, place]
    if entry.line != line:
        entry.line, further = line, way(hw.code_in_dram, home, line, hw)
        if sm.code_seen[home, line] or line >= hw.prefetched_lines:
            latency = hw.code_far if sm.code_seen[home, line] else hw.code_cold + late(hw.code_in_dram, line, now)
            entry.there = max(line_turn(sm.gpc_ports[home, CODE], np.int64(0), now), entered) + latency + further
        else:  # it comes unasked
            begun = sm.code_begun[home]
            comes = (line * hw.prefetch_ticks + TICKS - 1) // TICKS + further
            entry.there = begun + late(hw.code_in_dram, line, begun) - hw.jump + comes
        sm.code_seen[home, line] = 1
    sm.far_code_turn[home] += 1
    entry.used = sm.far_code_turn[home]
    return np.int64(max(entry.there, entered))
