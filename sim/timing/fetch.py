"""Instruction fetch: a small cache per scheduler, behind it one of the SM, behind that L2; lines of 128 bytes.

A line that is asked for comes `jump` cycles later; those that follow in the code are asked for ahead, so that straight code waits
only when it runs faster than a line per `jump / ahead` cycles, or, beyond the SM's cache, per (all latencies) / `far_ahead`. A line that
an SM has never had comes from DRAM where L2 starts cold, later from L2; the first `prefetched` bytes are in the SM's cache when a kernel
starts.
Left out: what warps fetch in vain, constants in the SM's cache.
"""

import numpy as np

from sim.compiled.kernel import inner
from sim.gpus.path import TICKS
from sim.lowering.core import Hardware
from sim.lowering.fetch import LINE_INSTRUCTIONS
from sim.timing.state import Machine


@inner
def code_there(m: int, q: int, last: int, following: int, now: int, hw: Hardware, sm: Machine) -> int:
    """Return the first cycle in which scheduler q has the instruction that follows another, asked for now. last: -1 = none."""
    if hw.jump == 0:
        return np.int64(0)
    line = following // LINE_INSTRUCTIONS
    if last >= 0 and last // LINE_INSTRUCTIONS == line:
        return np.int64(0)
    cache = m * hw.schedulers + q
    place = find_line(sm.code, cache, line, hw.code_sets, hw.code_ways)
    entry = sm.code[cache, place]
    if entry.line != line:
        entry.line = line
        entry.there = fetch_code(m, cache, line, last >= 0 and following == last + 1, now, hw, sm)
    sm.code_turn[cache] += 1
    entry.used = sm.code_turn[cache]
    return np.int64(entry.there)


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
def fetch_code(m: int, cache: int, line: int, ahead: bool, now: int, hw: Hardware, sm: Machine) -> int:
    """Return the cycle in which a line comes to a scheduler's cache. ahead: it follows in the code, so it was asked for before now."""
    asked = max((now - (hw.jump if ahead else 0)) * TICKS, sm.code_free[cache])
    sm.code_free[cache] = asked + hw.code_ticks
    place = find_line(sm.far_code, m, line, hw.far_code_sets, hw.far_code_ways)
    entry = sm.far_code[m, place]
    if entry.line != line:
        entry.line = line
        entry.there = fetch_far(m, line, ahead, asked, hw, sm)
    sm.far_code_turn[m] += 1
    entry.used = sm.far_code_turn[m]
    return (max(asked, entry.there) + TICKS - 1) // TICKS + hw.jump


@inner
def fetch_far(m: int, line: int, ahead: bool, asked: int, hw: Hardware, sm: Machine) -> int:
    """Return the tick in which a line comes to the SM's cache from L2, or from DRAM when the SM asks for it for the first time."""
    latency, ticks = hw.code_cold, hw.code_cold_ticks
    if sm.code_seen[m, line]:
        latency, ticks = hw.code_far, hw.code_far_ticks
    elif line < hw.prefetched_lines:
        latency, ticks = np.int64(0), np.int64(0)
    sm.code_seen[m, line] = 1
    asked = max(asked - (latency * TICKS if ahead else 0), sm.far_code_free[m])
    sm.far_code_free[m] = asked + ticks
    return asked + latency * TICKS
