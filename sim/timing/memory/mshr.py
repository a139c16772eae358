"""The MSHRs of an SM: a load under way waits for MSHRs, one per line that was not all there."""

import numpy as np

from sim.compiled.kernel import inner
from sim.result.causes import Tally
from sim.timing.memory.state import NONE, Memory

MSHR_PEAK = int(Tally.MSHR_PEAK)


@inner
def open_access(m: int, memory: Memory) -> int:
    """Take a free access; no MSHR belongs to it yet."""
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
def allocate_mshr(m: int, access: int, need: int, mh: np.record, memory: Memory) -> int:
    """Let an access wait for sectors of one line."""
    unit = memory.units[m]
    number = np.int64(unit.mshr)
    if number == NONE:
        number = np.int64(unit.mshrs)
        unit.mshrs += 1
    else:
        unit.mshr = memory.mshrs[m, number].next
    mshr = memory.mshrs[m, number]
    mshr.access = access
    mshr.need = need
    mshr.next = NONE
    memory.accesses[m, access].missing += 1
    unit.free_mshrs -= 1
    memory.tallies[MSHR_PEAK] = max(memory.tallies[MSHR_PEAK], mh.pending - unit.free_mshrs)
    return number


@inner
def wait_for(m: int, line: np.record, number: int, memory: Memory) -> None:
    """Let an MSHR wait for a line of L1, behind those that do."""
    memory.mshrs[m, number].next = NONE
    if line.waiting < 0:
        line.waiting = number
    else:
        memory.mshrs[m, line.latest].next = number
    line.latest = number


@inner
def free_mshr(m: int, number: int, memory: Memory) -> None:
    """Give an MSHR back."""
    memory.mshrs[m, number].next = memory.units[m].mshr
    memory.units[m].mshr = number
    memory.units[m].free_mshrs += 1
