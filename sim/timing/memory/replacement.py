"""Which line of a set of L2 goes: the least recently used, or as `l2.replacement` says."""

import numpy as np

from sim.compiled.kernel import inner, outlined
from sim.policies import Replacement
from sim.policies.replacement import USED, VICTIM, replaced
from sim.timing.memory.state import Memory

LRU = int(Replacement.LRU)


@inner
def touch(first: int, place: int, mh: np.record, memory: Memory) -> None:
    """Note the use of a line that is there, for what decides which goes."""
    if mh.l2_replacement == LRU:
        use(first, place, memory)
    else:
        note(np.int64(USED), first, place, mh, memory)


@inner
def victim(first: int, mh: np.record, memory: Memory) -> int:
    """Return the place of the least recently used line of the set that begins at place `first`."""
    return first + np.int64(memory.l2_order[first + mh.l2_ways - 1])


@outlined
def going(first: int, mh: np.record, memory: Memory) -> int:
    """Return the place that goes by another policy than LRU, the first without a line, if any, of the set that begins at `first`."""
    for place in range(first, first + mh.l2_ways):
        if memory.l2_tag[place] == np.uint32(0):
            return np.int64(place)
    return first + replaced(mh.l2_replacement, np.int64(VICTIM), memory.l2_state, first, np.int64(0), memory.l2_may_go, first)


@outlined
def note(event: int, first: int, place: int, mh: np.record, memory: Memory) -> None:
    """Tell the policy what happens to a place of the set that begins at place `first`."""
    replaced(mh.l2_replacement, event, memory.l2_state, first, place - first, memory.l2_may_go, first)


@inner
def use(first: int, place: int, memory: Memory) -> None:
    """Make a place the most recently used of the set that begins at place `first`."""
    way, k = np.uint16(place - first), first
    before = memory.l2_order[k]
    while before != way:
        k += 1
        following = memory.l2_order[k]
        memory.l2_order[k] = before
        before = following
    memory.l2_order[first] = way
