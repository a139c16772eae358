"""Lines that an SM keeps of its stores, so that further stores join them: `lsu.store_lines` of them, the oldest first.

A line leaves for L2 when all of it has been written, when a load or an atomic goes to L2 for it, when another needs its place, when the
unit takes a store and none has joined the line for `lsu.store_wait` cycles, or when its block has ended: its last warp has issued its
last instruction, and the unit has taken all stores of the block.
"""

import numpy as np

from sim.compiled.kernel import inner
from sim.lowering.accesses import STORE
from sim.result.causes import Tally
from sim.timing.memory.requests import WHOLE_LINE, Packet, send
from sim.timing.memory.state import NONE, Memory

STORES_JOINED = int(Tally.STORES_JOINED)


@inner
def put(m: int, now: int, start: int, line: int, sectors: int, words: int, block: int, mh: np.record, memory: Memory) -> bool:
    """Keep what a store of the block in a place writes of a line, or join it to what is kept; return whether it joined."""
    unit = memory.units[m]
    k = find(m, line, memory)
    joined = k < unit.kept
    if joined:
        memory.tallies[STORES_JOINED] += 1
    elif words == WHOLE_LINE:
        send(m, start, Packet(line, sectors, words, np.int64(STORE), np.int64(1), np.int64(NONE), block), mh, memory)
        return joined
    else:
        if unit.kept == mh.store_lines:
            leave(m, np.int64(0), start, mh, memory)
        k = np.int64(unit.kept)
        kept = memory.kept[m, k]
        kept.line, kept.sectors, kept.words, kept.block = line, np.uint32(0), np.uint32(0), block
        unit.kept += 1
    kept = memory.kept[m, k]
    kept.until = now + mh.store_wait
    kept.sectors |= sectors
    kept.words |= words
    if kept.words == WHOLE_LINE:
        leave(m, k, start, mh, memory)
    return joined


@inner
def find(m: int, line: int, memory: Memory) -> int:
    """Return the place of a line that is kept; how many are kept when it is not."""
    k = np.int64(0)
    while k < memory.units[m].kept and memory.kept[m, k].line != line:
        k += 1
    return k


@inner
def leave(m: int, k: int, start: int, mh: np.record, memory: Memory) -> None:
    """Send the k-th line, which may leave from cycle `start` on."""
    unit, kept = memory.units[m], memory.kept[m, k]
    place = np.int64(kept.block)
    send(m, start, Packet(kept.line, kept.sectors, kept.words, np.int64(STORE), np.int64(1), np.int64(NONE), place), mh, memory)
    unit.kept -= 1
    for later in range(k, unit.kept):
        following = memory.kept[m, later + 1]
        kept = memory.kept[m, later]
        kept.line, kept.until, kept.block = following.line, following.until, following.block
        kept.sectors, kept.words = following.sectors, following.words


@inner
def make_way(m: int, line: int, start: int, mh: np.record, memory: Memory) -> None:
    """Send a line that is kept before something else that goes to L2 for it."""
    k = find(m, line, memory)
    if k < memory.units[m].kept:
        leave(m, k, start, mh, memory)


@inner
def expire(m: int, now: int, start: int, mh: np.record, memory: Memory) -> None:
    """Send the lines that no store joined for too long, in the cycle in which the unit takes a store."""
    k = np.int64(0)
    while k < memory.units[m].kept:
        if memory.kept[m, k].until < now:
            leave(m, k, start, mh, memory)
        else:
            k += 1


@inner
def release(m: int, block: int, start: int, mh: np.record, memory: Memory) -> None:
    """Send all lines of the block in a place, which has ended."""
    k = np.int64(0)
    while k < memory.units[m].kept:
        if memory.kept[m, k].block == block:
            leave(m, k, start, mh, memory)
        else:
            k += 1
