"""The pending request table of an SM: a load under way waits for pieces, one per line that was not all there."""

import numpy as np

from sim.kernel import inner
from sim.timing.memory.state import NONE, Memory
from sim.vocabulary import Tally

TABLE_PEAK = int(Tally.TABLE_PEAK)


@inner
def open_access(m: int, memory: Memory) -> int:
    """Take a free access; no piece belongs to it yet."""
    unit = memory.units[m]
    number = np.int64(unit.access)
    if number == NONE:
        number = np.int64(unit.accesses)
        unit.accesses += 1
    else:
        unit.access = memory.accesses[m, number].next
    memory.accesses[m, number].missing = 0
    return number


@inner
def close_access(m: int, number: int, memory: Memory) -> None:
    """Give an access back."""
    memory.accesses[m, number].next = memory.units[m].access
    memory.units[m].access = number


@inner
def add_piece(m: int, access: int, need: int, mh: np.record, memory: Memory) -> int:
    """Let an access wait for sectors of one line."""
    unit = memory.units[m]
    number = np.int64(unit.piece)
    if number == NONE:
        number = np.int64(unit.pieces)
        unit.pieces += 1
    else:
        unit.piece = memory.pieces[m, number].next
    piece = memory.pieces[m, number]
    piece.access = access
    piece.need = need
    piece.next = NONE
    memory.accesses[m, access].missing += 1
    unit.free_pieces -= 1
    memory.tallies[TABLE_PEAK] = max(memory.tallies[TABLE_PEAK], mh.pending - unit.free_pieces)
    return number


@inner
def wait_for(m: int, line: np.record, number: int, memory: Memory) -> None:
    """Let a piece wait for a line of L1, behind those that do."""
    memory.pieces[m, number].next = NONE
    if line.waiting < 0:
        line.waiting = number
    else:
        memory.pieces[m, line.latest].next = number
    line.latest = number


@inner
def free_piece(m: int, number: int, memory: Memory) -> None:
    """Give a piece back."""
    memory.pieces[m, number].next = memory.units[m].piece
    memory.units[m].piece = number
    memory.units[m].free_pieces += 1
