"""Rows of DRAM: a channel activates one per `dram.activate_cycles`; the 256 bytes of a row share an activation while it is open.

It is open while some of its sectors are on their way, or wait to be written.
"""

import numpy as np

from sim.compiled.kernel import inner
from sim.lowering.memory import row_place
from sim.timing.memory.state import Memory

row_of = inner(row_place)


@inner
def has_row(line: int, mh: np.record) -> bool:
    """Return whether rows are modelled and the line, -1: nobody's, lies in one."""
    return mh.activate_ticks > 0 and line >= 0


@inner
def activated(line: int, at: int, channel: np.record, mh: np.record, memory: Memory) -> int:
    """Return the tick in which a channel has the row of a line that is to be moved at once, asked for at a tick: that one without rows."""
    if not has_row(line, mh):
        return at
    row = memory.reading[row_of(line)]
    if row.number != line >> 1 or row.until <= at:
        row.number, row.since, row.until = line >> 1, max(channel.activates, at), np.int64(0)
        channel.activates = row.since + mh.activate_ticks
    return row.since


@inner
def stay_open(line: int, until: int, mh: np.record, memory: Memory) -> None:
    """Keep the row of a line open to be read until a tick."""
    if not has_row(line, mh):
        return
    row = memory.reading[row_of(line)]
    row.until = max(row.until, until)


@inner
def wait(line: int, channel: np.record, mh: np.record, memory: Memory) -> None:
    """Let the row of a line that is to be written wait with its channel's batch, once."""
    if not has_row(line, mh):
        return
    row = memory.writing[row_of(line)]
    if row.number != line >> 1 or row.until != channel.batches + 1:
        row.number, row.until = line >> 1, channel.batches + 1
        channel.rows += 1
