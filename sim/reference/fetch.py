"""Instruction fetch: a small cache per scheduler, behind it one of the SM, behind that L2; lines of 128 bytes.

A line that is asked for comes `fetch.jump` cycles later; those that follow in the code are asked for ahead, so that straight code waits
only when it runs faster than lines come. A line that an SM has never had comes from DRAM where L2 starts cold, later from L2; the first
`fetch.prefetched` bytes are in the SM's cache when a kernel starts.
Left out: what warps fetch in vain, constants in the SM's cache.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import TYPE_CHECKING

from sim.gpus.path import TICKS, cycles
from sim.lowering.fetch import LINE_INSTRUCTIONS, Level, fetching

if TYPE_CHECKING:
    from sim.reference.decode import Instruction
    from sim.reference.machine import Machine


class Lines:
    """Which lines a cache has, and when each is there; the one used longest ago makes way."""

    def __init__(self, size: Level) -> None:
        self.size = size
        self.sets: dict[int, OrderedDict[int, int]] = defaultdict(OrderedDict)
        self.free = 0  # tick from which it may ask for another
        self.brought = 0  # lines, each time that one came

    def has(self, line: int) -> bool:
        """Return whether the cache has a line or has asked for it; that does not count as a use."""
        return line in self.sets[line % self.size.sets]

    def find(self, line: int) -> int | None:
        """Return when a line is there; None when the cache has not asked for it."""
        lines = self.sets[line % self.size.sets]
        if line in lines:
            lines.move_to_end(line)
        return lines.get(line)

    def put(self, line: int, there: int) -> int:
        """Keep a line, or note when one is there; return when."""
        lines = self.sets[line % self.size.sets]
        if line not in lines:
            self.brought += 1
            if len(lines) == self.size.ways:
                lines.popitem(last=False)
        lines[line] = there
        return there


class InstructionCache:
    """The caches of code of one SM."""

    def __init__(self, machine: Machine) -> None:
        gpu = machine.gpu
        self.env, self.jump, self.numbers = machine.env, gpu.fetch.jump, fetching(gpu, len(machine.program))
        self.near = [Lines(self.numbers.near) for _ in range(gpu.core.schedulers)]
        self.far = Lines(self.numbers.far)
        self.seen: set[int] = set()  # lines that the SM has had

    def start(self, first: Instruction, scheduler: int) -> None:
        """A warp starts: its first instruction comes with its block."""
        self._there(scheduler, first.number // LINE_INSTRUCTIONS, int(self.env.now) - self.jump, ahead=False)

    def wait(self, last: Instruction, following: Instruction, scheduler: int) -> int:
        """Ask for the instruction that follows another; return how many cycles it takes."""
        now, line = int(self.env.now), following.number // LINE_INSTRUCTIONS
        if last.number // LINE_INSTRUCTIONS == line:
            return 0
        return max(0, self._there(scheduler, line, now, following.number == last.number + 1) - now)

    def _there(self, scheduler: int, line: int, now: int, ahead: bool) -> int:
        """Return the cycle in which a scheduler has a line that is asked for now. ahead: it follows in the code."""
        if not self.jump:
            return 0
        near, far = self.near[scheduler], self.far
        there = near.find(line)
        if there is None:
            asked = max((now - self.jump * ahead) * TICKS, near.free)
            near.free = asked + self.numbers.interval
            come = far.find(line)
            if come is None:
                come = far.put(line, self._from_l2(line, asked, ahead))
            there = near.put(line, cycles(max(asked, come)) + self.jump)
        return there

    def _from_l2(self, line: int, asked: int, ahead: bool) -> int:
        """Return the tick in which a line comes to the SM's cache."""
        latency, interval = self.numbers.cold_latency, self.numbers.cold_interval
        if line in self.seen:
            latency, interval = self.numbers.latency, self.numbers.far_interval
        elif line < self.numbers.prefetched:
            latency, interval = 0, 0
        self.seen.add(line)
        asked = max(asked - latency * TICKS * ahead, self.far.free)
        self.far.free = asked + interval
        return asked + latency * TICKS
