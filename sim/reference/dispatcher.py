"""The dispatcher: which SM takes the next block, and when; when the place of a finished one is free.

A block starts on the SM with the most free places (the lowest number on ties), so the first wave spreads breadth first, or on the one
that another policy says (`sim/policies/blocks.py`): then the dispatcher waits until that one takes a block. At most one block starts
per `start_interval` cycles on the whole chip, and per `sm_interval` + warps cycles on one SM. The dispatcher is told of a block's end
`retire_latency` later, and takes `retire_interval` cycles for each, one after another; then the place is free.
"""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sim.gpus.path import TICKS, cycles
from sim.lowering.clusters import check, groups
from sim.lowering.fetch import sm_interval
from sim.policies.block_scores import choose_sm
from sim.policies.blocks import start_order
from sim.reference.blocks import Block
from sim.reference.clock import after
from sim.reference.moments import latest
from sim.traces.trace import work_of_blocks

if TYPE_CHECKING:
    from sim.reference.machine import Machine
    from sim.reference.moments import Moment
    from sim.reference.sm import SM


class BlockScheduler:
    """Starts blocks in launch order, x fastest, or the largest first."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.next, self.total = 0, machine.trace.launch.blocks
        self.ended = 0  # how many have
        self.timing, self.last_sm = machine.gpu.blocks, machine.gpu.sms - 1
        self.order = start_order(self.timing.order, work_of_blocks(machine.trace)).tolist()
        self.starts = np.zeros(self.total, np.int64)  # cycle in which each block starts
        self.ends = np.zeros(self.total, np.int64)  # cycle in which its last warp has ended
        self.interval = round(TICKS * machine.gpu.blocks.start_interval)
        self.due = 0  # tick from which the start interval allows the next block
        self.may_start = True  # false before that
        self.allowed = machine.record.origin  # the moment from which it does
        self.sm_interval = sm_interval(machine.gpu, machine.trace.launch)
        self.leaving: list[tuple[int, int, int, Moment]] = []  # heap of blocks that leave: cycle in which the dispatcher is told, SM, place
        self.retire_ticks = round(TICKS * machine.gpu.blocks.retire_interval)
        self.group: list[SM] = []  # of the cluster that starts
        self.groups: list[list[SM]] | None = None  # that clusters may share; None: there are none
        if machine.trace.launch.cluster_shape:
            check(machine.gpu, machine.trace.launch, machine.occupancy)
            self.groups = [machine.sms[first:end] for first, end in pairwise(groups(machine.gpu).tolist())]
        self.retired = 0  # tick in which it has done with the blocks that have left

    def step(self) -> None:
        """Take note of the blocks that leave, and start every block that can start in this cycle."""
        while self.leaving and self.leaving[0][0] <= int(self.machine.env.now):
            self._retire(*heapq.heappop(self.leaving))
        while self.may_start and self.next < self.total:
            sm = self._taker(self.order[self.next])
            if sm is None:
                return
            started = Block(sm, self.order[self.next], self.next).started
            self.starts[self.order[self.next]] = started.cycle
            self.next, self.last_sm = self.next + 1, sm.number
            self._keep_interval(int(self.machine.env.now))
            self._keep_sm_interval(sm, started)
            self.allowed = started.then(max(cycles(self.due), started.cycle), "blocks.start_interval")

    def _taker(self, block: int) -> SM | None:
        """Return the SM that takes the block in this cycle."""
        if self.groups is not None:
            return self._member(block)
        if self.timing.policy == "emptiest":
            takers = [sm for sm in self.machine.sms if sm.free_places and sm.takes_blocks]
            return max(takers, key=lambda sm: len(sm.free_places), default=None)  # max: the first of those with as many
        free = [len(sm.free_places) for sm in self.machine.sms]
        if not any(free):
            return None
        chosen = self.machine.sms[choose_sm(self.timing.policy, free, self.last_sm, block, self.timing.group_size)]
        return chosen if chosen.takes_blocks else None

    def _member(self, block: int) -> SM | None:
        """Return the SM for a block of a cluster: of the group that had the most places free when that began, if they were enough."""
        assert self.groups is not None
        ranks = self.machine.trace.launch.ranks
        if block % ranks == 0:
            room = [group for group in self.groups if sum(len(sm.free_places) for sm in group) >= ranks]
            self.group = max(room, key=lambda group: sum(len(sm.free_places) for sm in group), default=[])
            self.allowed = latest(self.allowed, *(sm.freed[place] for sm in self.group for place in sm.free_places))
        takers = [sm for sm in self.group if sm.free_places and sm.takes_blocks]
        return max(takers, key=lambda sm: len(sm.free_places), default=None)

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
