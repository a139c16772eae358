"""Lines of stores that are about to leave for L2: one every `lsu.leaving_cycles`, and no other store can join the next `lsu.leaving_lines`.

Of a line that a store meets then, L1 keeps only what that store wrote (programs/measurements/h100/rewrites.csv). Once more than
`lsu.store_lines` leave one after another, no store can join any of them. When write-combined lines go to L2 is another rule:
`write_combining.py`.
"""

import numpy as np

from sim.compiled.kernel import inner
from sim.lowering.memory import HANDED_ON
from sim.timing.memory.l1 import NO_SECTORS
from sim.timing.memory.state import Memory


@inner
def enters(m: int, entry: np.record, mh: np.record, memory: Memory) -> int:
    """Let a store enter L1, and return when: the unit may take it later, when what its lines wait for behind L1 is free."""
    begins = max(entry.issued + mh.latency, memory.units[m].found)
    memory.units[m].found = begins + np.int64(entry.lookups)
    return begins


@inner
def first_closes(m: int, entry: np.record, mh: np.record, memory: Memory) -> int:
    """Return the cycle from which the first line of a store that has entered takes no other store in."""
    return memory.units[m].found + HANDED_ON + mh.leaving_cycles * np.int64(entry.needed)


@inner
def hand_on(m: int, place: int, words: int, now: int, closes: int, mh: np.record, memory: Memory) -> None:
    """A store that enters now left `words` readable in the line in a place of L1: it joins what leaves, or the line loses all others."""
    unit, departure, line = memory.units[m], memory.departures[m, place], memory.lines[m, place]
    if now < departure.leaves:
        if now < departure.closes and departure.leaves > unit.pressed:
            return
        if line.pending == NO_SECTORS:
            line.there &= words
    leaves = closes + mh.leaving_lines - 1
    if leaves > unit.leaving + mh.leaving_cycles:
        unit.first_leaving = leaves
    unit.leaving = max(unit.leaving + mh.leaving_cycles, leaves)
    departure.leaves = unit.leaving
    departure.closes = max(closes, unit.leaving - mh.leaving_lines * mh.leaving_cycles)


@inner
def press(m: int, now: int, mh: np.record, memory: Memory) -> None:
    """A store has been handed on: when more lines leave one after another than the SM keeps, no store can join any of them."""
    unit = memory.units[m]
    if mh.store_lines and (unit.leaving - max(now, unit.first_leaving)) // mh.leaving_cycles >= mh.store_lines:
        unit.pressed = unit.leaving
