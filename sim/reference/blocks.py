"""Blocks: the life of a block on an SM. `dispatcher.py` starts it.

Which resources a place stands for is the occupancy calculator's matter.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import simpy

from sim.lowering.fetch import code_in_dram, first_cycles, start_latency
from sim.lowering.slices import chip_sides_of
from sim.reference.barriers import Barrier
from sim.reference.clock import Process
from sim.reference.moments import ISSUE_SLOT, Moment, SetTime, Work, latest
from sim.reference.wakeup import Warp
from sim.result.causes import SlotCause

if TYPE_CHECKING:
    from sim.reference.sm import SM


class Block:
    """One resident block."""

    def __init__(self, sm: SM, number: int, turn: int) -> None:
        self.machine, self.sm, self.number, self.turn = sm.machine, sm, number, turn  # in launch order; in that of the starts
        self.place = min(sm.free_places)
        allowed = latest(self.machine.blocks.allowed, sm.taking, sm.freed[self.place])
        self.started: Moment = allowed.then(int(self.machine.env.now), work=Work(number))
        self.started.cause = SlotCause.NO_WARP
        self.machine.record.start(self.started)
        count = self.machine.trace.launch.warps_per_block
        self.warps = [Warp(self, w) for w in range(count)]
        self.alive = count  # warps that have not issued their last instruction
        self.barriers: dict[tuple[int, bool], Barrier] = {}
        self.stores = 0  # requests of its stores that have not reached L2
        self.to_take = 0  # its stores that wait for the load/store unit
        self.stored = self.started  # moment in which the answers to the others have come
        self.no_stores: simpy.Event | None = None  # somebody waits until there are none
        sm.free_places.remove(self.place)
        sm.blocks.append(self)
        for warp in self.warps:
            sm.scheduler_of(warp).admit(warp)
            sm.code.start(warp.instruction)
        self.machine.env.process(self._live())

    def barrier(self, number: int, warps: int) -> Barrier:
        """Return the barrier of that number that is for so many warps, 0 = all of the block."""
        found = self.barriers.setdefault((number, warps > 0), Barrier(self))
        found.expected = warps
        return found

    def store_answered(self, answer: Moment) -> None:
        """A request of a store has reached L2, whose answer comes in that moment."""
        self.stores -= 1
        self.stored = latest(self.stored, answer)
        self.machine.drained = max(self.machine.drained, answer.cycle)
        if self.no_stores and not self.stores:
            self.no_stores.succeed()

    def leave(self, warp: Warp) -> None:
        """The warp has issued its last instruction: it drains; those that wait for it at a barrier need not any more."""
        warp.draining, warp.ready = True, False
        self.machine.env.process(warp.drain())
        self.alive -= 1
        if self.sm.lsu:
            self.sm.lsu.stores.release(self, warp.issued.then(warp.issued.cycle + 1, ISSUE_SLOT))
        for barrier in self.barriers.values():
            barrier.open_if_complete(warp)

    def _fetched(self, in_time: Moment) -> Moment:
        """Return the moment in which the SM has its first instruction, which it asks for as its first block starts."""
        gpu, launch, now = self.machine.gpu, self.machine.trace.launch, int(self.machine.env.now)
        place, asked = code_in_dram(gpu, launch), in_time
        late, way = place.late(0, now), place.way(0, int(chip_sides_of(gpu, launch)[self.sm.number]))
        if late:
            back = SetTime(now + late - gpu.dram.refresh, self.started.then(now + late, "dram.refresh"))
            asked = back.then(in_time.cycle + late, "blocks.start_latency")
        there = asked.cycle + int(first_cycles(gpu, launch)[self.sm.number])
        first = asked.then(asked.cycle + max(gpu.fetch.first + min(way, 0), 0), "fetch.first")
        return first.then(there - max(way, 0), "fetch.far").then(there, "l2.across")

    def _live(self) -> Process:
        """Let the warps start, wait for their end, give the place back (a SimPy process)."""
        env, timing = self.machine.env, self.machine.gpu.blocks
        self.machine.seen("block")
        latency = start_latency(self.machine.gpu, self.machine.trace.launch)
        in_time = self.started.then(int(env.now) + latency, "blocks.start_latency")
        if self.sm.fetched is None:
            self.sm.fetched = self._fetched(in_time)
        ready = latest(in_time, self.sm.fetched)
        starts = ready.cycle
        for warp in self.warps:
            warp.held_until, warp.allowed = starts, ready
        yield env.timeout(starts - int(env.now))
        for warp in self.warps:
            warp.allow()
        yield env.all_of([warp.ended for warp in self.warps])
        self.machine.seen("block")
        self.sm.blocks.remove(self)
        self.machine.blocks.ended += 1
        last = latest(*(warp.end for warp in self.warps))
        self.machine.blocks.ends[self.number] = int(env.now)
        self.machine.record.end = over = last.then(int(env.now), work=Work(self.number))
        freed = over.then(over.cycle + timing.retire_latency, "blocks.retire_latency")
        if timing.awaits_stores:
            if self.stores:
                self.no_stores = env.event()
                yield self.no_stores
            freed = latest(freed, self.stored)
        heapq.heappush(self.machine.blocks.leaving, (freed.cycle, self.sm.number, self.place, freed))
        yield env.timeout(freed.cycle - int(env.now))
