"""The request coalescer of each GPC, before L2: loads of a whole line join a read of it that an SM of their GPC has asked for.

Counted on an H100 (h100/coalescing.csv): which SMs share one, how many loads a read serves, how long others may join.
"""

import numpy as np

from sim.compiled.kernel import inner
from sim.lowering.accesses import LOAD
from sim.lowering.memory import SECTORS, WHOLE, joined_place
from sim.result.causes import Tally
from sim.timing.memory.requests import whole_cycles
from sim.timing.memory.state import Memory

L2_JOINED = int(Tally.L2_JOINED)

place_of_read = inner(joined_place)


@inner
def may_join(request: np.record, mh: np.record) -> bool:
    """Return whether a request is one that others may join, or that joins another."""
    return mh.coalesced > 1 and request.kind == LOAD and request.sectors == np.uint32(WHOLE)


@inner
def join_read(m: int, request: np.record, place: int, now: int, mh: np.record, memory: Memory) -> tuple[int, int]:
    """Join a load, its line at `place` of L2, to the latest read of it.

    Return the cycle in which its data are there, 0: there is none, and the cycles that they take from the other part of L2.
    """
    gpc = np.int64(memory.gpc[m])
    read = memory.joined[place_of_read(request.line, gpc)]
    if read.line != request.line or read.gpc != gpc or read.until <= now or read.loads >= mh.coalesced:
        return np.int64(0), np.int64(0)
    if memory.l2[place].changed > read.sequence:
        return np.int64(0), np.int64(0)
    read.loads += np.uint32(1)
    memory.tallies[L2_JOINED] += SECTORS
    return np.int64(read.there), np.int64(read.far)


@inner
def note_read(m: int, request: np.record, done: int, there: int, far: int, mh: np.record, memory: Memory) -> None:
    """Let loads join a read that its slice has served at a tick, whose data are there in a cycle; far: more for those of the other part."""
    gpc = np.int64(memory.gpc[m])
    read = memory.joined[place_of_read(request.line, gpc)]
    read.line, read.gpc, read.loads, read.sequence = request.line, gpc, np.uint32(1), memory.clock[0]
    read.until = whole_cycles(done) + mh.joins + far
    read.there, read.far = max(whole_cycles(done), there), far
