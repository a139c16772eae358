"""Blocks: residency, the end of warps and blocks. `dispatcher.py` starts them.

A block's warps take the warp slots place * warps .. place * warps + warps - 1, and so are dealt to the schedulers by slot number.
"""

import numpy as np

from isa.vocabulary import BARRIERS
from sim.compiled.kernel import inner
from sim.lowering.core import Code, Hardware
from sim.result.causes import StallCause
from sim.timing.barriers import release
from sim.timing.control import clear_counters
from sim.timing.fetch import code_there, late
from sim.timing.state import NEVER, Machine
from sim.timing.telling import END, START, tell_of
from sim.timing.wakeup import sleep
from sim.traces.trace import TraceArrays

BRANCH_RESOLVING, DRAIN, NO_INSTRUCTION = int(StallCause.BRANCH_RESOLVING), int(StallCause.DRAIN), int(StallCause.NO_INSTRUCTION)


@inner
def begin_blocks(m: int, now: int, hw: Hardware, sm: Machine, trace: TraceArrays) -> None:
    """Begin the blocks of SM m that start now; note when the next one does."""
    sm.cores[m].begins = NEVER
    for number in range(hw.places):
        if sm.places[m, number].begins <= now:
            begin_block(m, np.int64(number), now, hw, sm, trace)
        sm.cores[m].begins = min(sm.cores[m].begins, sm.places[m, number].begins)


@inner
def begin_block(m: int, number: int, now: int, hw: Hardware, sm: Machine, trace: TraceArrays) -> None:
    """Begin the block in a place: its warps may issue after the start latency."""
    core, place = sm.cores[m], sm.places[m, number]
    place.begins = NEVER
    if core.resident == 0 and core.busy_until < now:
        core.idle += now - max(core.busy_until, np.int64(0))
    core.resident += 1
    home = hw.code_sharing.home[m]
    sm.code_begun[home] = min(sm.code_begun[home], now)
    if core.fetched == NEVER:
        core.fetched = now + hw.start_latency + hw.first_fetch[m] + late(hw.code_in_dram, np.int64(0), now)
    place.alive = hw.warps
    place.unfinished = hw.warps
    place.end, place.stored = 0, 0
    for barrier in range(sm.arrived.shape[2]):
        sm.arrived[m, number, barrier] = 0
    for s in range(number * hw.warps, (number + 1) * hw.warps):
        start_warp(sm.warps[m, s], place.block, now, hw, sm, trace)


@inner
def start_warp(warp: np.record, block: int, now: int, hw: Hardware, sm: Machine, trace: TraceArrays) -> None:
    """Reset the warp's slot and let it sleep until its first issue."""
    m, s = warp.sm, warp.slot
    index = block * hw.warps + warp.number
    path = trace.warp_path[index]
    warp.position = trace.path_start[path]
    warp.path_end = trace.path_start[path + 1]
    warp.instruction = trace.instruction[warp.position]
    code_there(np.int64(m), np.int64(-1), np.int64(warp.instruction), now - hw.jump, hw, sm)
    warp.started = now
    warp.since = now
    warp.wake = max(now + hw.start_latency, sm.cores[m].fetched)
    warp.cause = NO_INSTRUCTION
    warp.barrier = -1
    warp.access = trace.access_start[index]
    warp.pending, warp.parked, warp.draining = 0, 0, 0
    warp.outstanding, warp.outstanding_cause, warp.done = 0, 0, 0
    warp.flight_free, warp.flight_place = 0, 0
    for in_flight in range(sm.in_flight.shape[2]):
        sm.in_flight[m, s, in_flight] = 0
    for name in range(sm.ready.shape[2]):
        sm.ready[m, s, name] = 0
    clear_counters(m, s, sm)
    sm.age[m, warp.scheduler, warp.bit] = sm.places[m, warp.place].turn * hw.warps + warp.number
    tell_of(START, warp, np.int64(block), np.int64(warp.path_end - warp.position), now, hw, sm)
    sleep(warp, sm)


@inner
def end_warp(warp: np.record, now: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """The warp has issued its last instruction: it drains, and its block's barriers may open."""
    m, number = warp.sm, warp.place
    place = sm.places[m, number]
    scheduler = sm.schedulers[m, warp.scheduler]
    if scheduler.last == warp.bit:
        scheduler.last = ~scheduler.last  # whoever gets the slot next is another warp
    tell_of(END, warp, np.int64(0), np.int64(0), now, hw, sm)
    warp.exited = now
    warp.draining = 1
    place.alive -= 1
    if place.alive:
        for barrier in range(BARRIERS):
            if sm.arrived[m, number, barrier] == place.alive:
                release(m, number, barrier, now, hw, code, sm)
    if warp.pending == 0:
        finish_warp(warp, hw, sm)


@inner
def finish_warp(warp: np.record, hw: Hardware, sm: Machine) -> None:
    """It is known when the warp's last result is back: then it has ended, and its block with the last of them."""
    m, number = np.int64(warp.sm), np.int64(warp.place)
    place = sm.places[m, number]
    gone = warp.exited + 1 + hw.exit_latency
    end = max(gone, warp.done)
    sm.stalls[warp.instruction, BRANCH_RESOLVING] += hw.exit_latency
    sm.stalls[warp.instruction, DRAIN] += end - gone
    sm.chip[0].warp_cycles += end - warp.started
    place.end = max(place.end, end)
    place.unfinished -= 1
    if place.unfinished == 0:
        end_block(m, number, hw, sm)


@inner
def end_block(m: int, number: int, hw: Hardware, sm: Machine) -> None:
    """The block's last warp has ended."""
    core, place = sm.cores[m], sm.places[m, number]
    core.resident -= 1
    core.busy_until = max(core.busy_until, place.end)
    sm.ends[place.block] = place.end
    sm.chip[0].end = max(sm.chip[0].end, place.end)
    if place.stores == 0 or hw.awaits_stores == 0:
        free_place(m, number, hw, sm)


@inner
def free_place(m: int, number: int, hw: Hardware, sm: Machine) -> None:
    """Tell the dispatcher of a block the retire latency after its end; with `awaits_stores` not before its stores are answered."""
    chip, core, place = sm.chip[0], sm.cores[m], sm.places[m, number]
    place.leaves = place.end + hw.retire_latency
    if hw.awaits_stores:
        place.leaves = max(place.leaves, place.stored)
    core.leaves = min(core.leaves, place.leaves)
    chip.next_start = min(chip.next_start, max(place.leaves, chip.now + 1))  # `now` may be another SM's; it is told after the window


@inner
def store_answered(m: int, number: int, cycle: int, hw: Hardware, sm: Machine) -> None:
    """A request of a store of the block in this place has reached L2, whose answer comes in that cycle."""
    place = sm.places[m, number]
    place.stores -= 1
    place.stored = max(place.stored, cycle)
    sm.cores[m].drained = max(sm.cores[m].drained, cycle)
    if hw.awaits_stores and place.stores == 0 and place.unfinished == 0:
        free_place(m, number, hw, sm)
