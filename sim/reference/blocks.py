"""Blocks: the dispatcher, and the life of a block on an SM.

A block starts on the SM with the most free places (the lowest number on ties), so the first wave spreads breadth first; at most
one block per `start_interval` cycles on the whole chip, and per `sm_interval` + warps cycles on one SM. It is told of a block's end
`retire_latency` later, and takes `retire_interval` cycles for each, one after another; then the place is free.
Which resources a place stands for is the occupancy calculator's matter.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import simpy

from sim.gpus.path import TICKS, cycles
from sim.lowering.fetch import sm_interval
from sim.reference.barriers import Barrier
from sim.reference.clock import Process, after
from sim.reference.moments import ISSUE_SLOT, Moment, Work, latest
from sim.reference.wakeup import Warp
from sim.result.causes import SlotCause

if TYPE_CHECKING:
    from sim.reference.machine import Machine
    from sim.reference.sm import SM


class BlockScheduler:
    """Starts blocks in launch order, x fastest."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.next, self.total = 0, machine.trace.launch.blocks
        self.interval = round(TICKS * machine.gpu.blocks.start_interval)
        self.due = 0  # tick from which the start interval allows the next block
        self.may_start = True  # false before that
        self.allowed = machine.record.origin  # the moment from which it does
        self.sm_interval = sm_interval(machine.gpu, machine.trace.launch)
        self.leaving: list[tuple[int, int, int, Moment]] = []  # heap of blocks that leave: cycle in which the dispatcher is told, SM, place
        self.retire_ticks = round(TICKS * machine.gpu.blocks.retire_interval)
        self.retired = 0  # tick in which it has done with the blocks that have left

    def step(self) -> None:
        """Take note of the blocks that leave, and start every block that can start in this cycle."""
        while self.leaving and self.leaving[0][0] <= int(self.machine.env.now):
            self._retire(*heapq.heappop(self.leaving))
        while self.may_start and self.next < self.total:
            takers = [sm for sm in self.machine.sms if sm.free_places and sm.takes_blocks]
            if not takers:
                return
            sm = max(takers, key=lambda sm: len(sm.free_places))  # max: the first of those with as many
            started = Block(sm, self.next).started
            self.next += 1
            self._keep_interval(int(self.machine.env.now))
            self._keep_sm_interval(sm, started)
            self.allowed = started.then(max(cycles(self.due), started.cycle), "blocks.start_interval")

    def _keep_interval(self, now: int) -> None:
        """A block has started now, as soon as the interval allowed or later: find when the next one may."""
        in_time = cycles(self.due) == now  # the interval need not be whole; then it counts on from where it ended, not from the cycle after
        self.due = (self.due if in_time else now * TICKS) + self.interval
        if cycles(self.due) > now:
            self.may_start = False
            after(self.machine.env, cycles(self.due) - now, self._allow)

    def _allow(self) -> None:
        self.may_start = True

    def _keep_sm_interval(self, sm: SM, started: Moment) -> None:
        """A block has started now on an SM: let it take another when the interval is over."""
        if self.sm_interval:
            sm.takes_blocks, sm.taking = False, started.then(started.cycle + self.sm_interval, "blocks.sm_interval")
            after(self.machine.env, self.sm_interval, lambda: setattr(sm, "takes_blocks", True))

    def _retire(self, cycle: int, number: int, place: int, told: Moment) -> None:
        """Take note of the end of a block: its place is free when that is done."""
        self.retired = max(self.retired, cycle * TICKS) + self.retire_ticks
        sm, free = self.machine.sms[number], cycles(self.retired)
        sm.freed[place] = told.then(free, "blocks.retire_interval") if free > cycle else told
        if free > int(self.machine.env.now):
            after(self.machine.env, free - int(self.machine.env.now), lambda: sm.free_places.add(place))
        else:
            sm.free_places.add(place)

    def last_retired(self) -> int:
        """Return the cycle in which it has done with the last block of a finished machine; 0 where that takes no time."""
        tick = self.retired
        if not self.retire_ticks:
            return 0
        for cycle, *_ in sorted(self.leaving, key=lambda block: block[:3]):
            tick = max(tick, cycle * TICKS) + self.retire_ticks
        return cycles(tick)


class Block:
    """One resident block."""

    def __init__(self, sm: SM, number: int) -> None:
        self.machine, self.sm, self.number = sm.machine, sm, number
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
            sm.code.start(warp.instruction, sm.scheduler_of(warp).number)
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

    def _live(self) -> Process:
        """Let the warps start, wait for their end, give the place back (a SimPy process)."""
        env, timing = self.machine.env, self.machine.gpu.blocks
        self.machine.seen("block")
        in_time = int(env.now) + timing.start_latency
        if self.sm.fetched is None:
            self.sm.fetched = in_time + self.machine.gpu.fetch.first
        starts = max(in_time, self.sm.fetched)
        for warp in self.warps:
            warp.held_until = starts
            warp.allowed = self.started.then(starts, "blocks.start_latency" if starts == in_time else "fetch.first")
        yield env.timeout(starts - int(env.now))
        for warp in self.warps:
            warp.allow()
        yield env.all_of([warp.ended for warp in self.warps])
        self.machine.seen("block")
        self.sm.blocks.remove(self)
        last = latest(*(warp.end for warp in self.warps))
        self.machine.record.end = over = last.then(int(env.now), work=Work(self.number))
        freed = over.then(over.cycle + timing.retire_latency, "blocks.retire_latency")
        if timing.awaits_stores:
            if self.stores:
                self.no_stores = env.event()
                yield self.no_stores
            freed = latest(freed, self.stored)
        heapq.heappush(self.machine.blocks.leaving, (freed.cycle, self.sm.number, self.place, freed))
        yield env.timeout(freed.cycle - int(env.now))
