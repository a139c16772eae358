"""Blocks: the block scheduler, and the life of a block on an SM.

A block starts on the SM with the most free places (the lowest number on ties), so the first wave spreads breadth first; at most
one block per `start_interval` cycles on the whole chip. Which resources a place stands for is the occupancy calculator's matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.gpus.path import TICKS, cycles
from sim.reference.barriers import Barrier
from sim.reference.clock import Process, after
from sim.reference.moments import Moment, Work, latest
from sim.reference.wakeup import Warp
from sim.vocabulary import SlotCause

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

    def step(self) -> None:
        """Start every block that can start in this cycle."""
        while self.may_start and self.next < self.total:
            sm = max(self.machine.sms, key=lambda sm: len(sm.free_places))  # max: the first of those with as many
            if not sm.free_places:
                return
            started = Block(sm, self.next).started
            self.next += 1
            self._keep_interval(int(self.machine.env.now))
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


class Block:
    """One resident block."""

    def __init__(self, sm: SM, number: int) -> None:
        self.machine, self.sm, self.number = sm.machine, sm, number
        self.place = min(sm.free_places)
        self.started: Moment = latest(self.machine.blocks.allowed, sm.freed[self.place]).then(int(self.machine.env.now), work=Work(number))
        self.started.cause = SlotCause.NO_WARP
        self.machine.record.start(self.started)
        count = self.machine.trace.launch.warps_per_block
        self.warps = [Warp(self, w) for w in range(count)]
        self.alive = count  # warps that have not issued their last instruction
        self.barriers: dict[int, Barrier] = {}
        sm.free_places.remove(self.place)
        sm.blocks.append(self)
        for warp in self.warps:
            sm.scheduler_of(warp).admit(warp)
        self.machine.env.process(self._live())

    def barrier(self, number: int) -> Barrier:
        """Return the barrier of that number."""
        return self.barriers.setdefault(number, Barrier(self))

    def leave(self, warp: Warp) -> None:
        """The warp has issued its last instruction: it drains; those that wait for it at a barrier need not any more."""
        warp.draining, warp.ready = True, False
        self.machine.env.process(warp.drain())
        self.alive -= 1
        for barrier in self.barriers.values():
            barrier.open_if_complete(warp)

    def _live(self) -> Process:
        """Let the warps start, wait for their end, give the place back (a SimPy process)."""
        env, timing = self.machine.env, self.machine.gpu.blocks
        self.machine.seen("block")
        for warp in self.warps:
            warp.held_until = int(env.now) + timing.start_latency
            warp.allowed = self.started.then(warp.held_until, "blocks.start_latency")
        yield env.timeout(timing.start_latency)
        for warp in self.warps:
            warp.allow()
        yield env.all_of([warp.ended for warp in self.warps])
        self.machine.seen("block")
        self.sm.blocks.remove(self)
        last = latest(*(warp.end for warp in self.warps))
        self.machine.record.end = ended = last.then(int(env.now), work=Work(self.number))
        yield env.timeout(timing.retire_latency)
        self.sm.freed[self.place] = ended.then(int(env.now), "blocks.retire_latency")
        self.sm.free_places.add(self.place)
