"""DRAM channels: reads first, writes in batches between two turnarounds; a bank is away while it is refreshed.

A bounded queue before each channel, served in order, at the channel's share of the bandwidth.
"""

import numpy as np

from sim.compiled.kernel import inner
from sim.lowering.memory import SECTORS, TICKS
from sim.lowering.refresh import away
from sim.result.causes import Tally
from sim.timing.memory.requests import whole_cycles
from sim.timing.memory.rows import activated, stay_open, wait
from sim.timing.memory.state import Memory

DRAM_READ, DRAM_WRITTEN, CHANNEL_FULL = int(Tally.DRAM_READ), int(Tally.DRAM_WRITTEN), int(Tally.CHANNEL_FULL)

away_of = inner(away)


@inner
def transfer(number: int, at: int, read: int, written: int, line: int, mh: np.record, memory: Memory) -> tuple[int, int]:
    """Move sectors of a line, -1: nobody's, over a channel; return the ticks when (its queue has room, those read have been moved)."""
    memory.tallies[DRAM_READ] += read
    memory.tallies[DRAM_WRITTEN] += written
    channel = memory.channels[number]
    admitted, moved = at, at
    at_once = written * mh.write_ticks
    if mh.turnaround_ticks:
        at_once = np.int64(0)
        write_batch(at, mh, channel)
    if read or not mh.turnaround_ticks:
        turn = channel.served % mh.channel_depth
        admitted = max(at, memory.channel_done[number, turn])
        back = channel.writing * mh.turnaround_ticks
        begins = max(admitted, channel.free + back, activated(line, at, channel, mh, memory))
        moved = channel.free = begins + read * mh.dram_ticks + at_once
        channel.writing = 0
        memory.channel_done[number, turn] = channel.free
        channel.served += 1
        stay_open(line, moved + mh.dram_latency * TICKS, mh, memory)
    if written and mh.turnaround_ticks:
        admitted = max(admitted, gather(number, at, written, line, mh, memory))
        moved = moved if read else admitted
    memory.tallies[CHANNEL_FULL] += admitted > at
    return admitted, moved


@inner
def write_batch(now: int, mh: np.record, channel: np.record) -> None:
    """Write the sectors that wait, if they are enough and there was nothing to read before now (ticks)."""
    begins = max(channel.free, channel.since)
    if channel.waiting >= mh.write_batch and begins < now:
        write(begins, mh, channel)


@inner
def write(begins: int, mh: np.record, channel: np.record) -> None:
    """Write all sectors that wait, from that tick on."""
    turn = (1 - channel.writing) * mh.turnaround_ticks
    channel.free = begins + turn + max(channel.waiting * mh.write_ticks, channel.rows * mh.activate_ticks)
    channel.writing, channel.waiting, channel.rows = 1, 0, 0
    channel.batches += 1


@inner
def gather(number: int, now: int, sectors: int, line: int, mh: np.record, memory: Memory) -> int:
    """Let sectors wait to be written; return the ticks when there is room: when too many wait, as these begin to be written."""
    channel = memory.channels[number]
    room = now
    if channel.waiting + sectors > SECTORS * mh.channel_depth:
        room = max(channel.free, now)
        write(room, mh, channel)
    if channel.waiting < mh.write_batch <= channel.waiting + sectors:
        channel.since = now
    channel.waiting += sectors
    wait(line, channel, mh, memory)
    return room


@inner
def from_dram(line: int, sent: int, mh: np.record) -> int:
    """Return the cycle in which sectors are at L2 that their channel has moved at a tick: later when their bank was away."""
    at = whole_cycles(sent)
    late = np.int64(away_of(line, at, mh.refresh, mh.refresh_interval)) if mh.refresh else np.int64(0)
    return at + mh.dram_latency + late
