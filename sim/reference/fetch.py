"""Instruction fetch: a cache of the SM, behind it one that the SMs of a GPC share, behind that L2; lines of 128 bytes.

A line that is asked for comes `fetch.jump` cycles later; then those are asked for that follow it in the code. Each SM has its part of
the ports of the cache behind, and that cache to itself. A line that an SM has never had comes from DRAM where L2 starts cold, later from
L2; the first `fetch.prefetched` bytes are in the cache of the GPC when a kernel starts.
Left out: that SMs bring lines for each other, that one may use what others leave of a port, constants in the caches of code.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import TYPE_CHECKING

from sim.gpus.path import TICKS, cycles
from sim.lowering.fetch import LINE_INSTRUCTIONS, LONG_AGO, Level, fetching, line_ticks

if TYPE_CHECKING:
    from sim.reference.decode import Instruction
    from sim.reference.machine import Machine


class Lines:
    """Which lines a cache has, and when each is there; the one used longest ago makes way."""

    def __init__(self, size: Level) -> None:
        self.size = size
        self.sets: dict[int, OrderedDict[int, int]] = defaultdict(OrderedDict)
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


class Port:
    """An SM's part of a port that the SMs of a GPC share."""

    def __init__(self, ticks: int, before: int = 0) -> None:
        self.ticks, self.free = ticks, LONG_AGO  # between two lines; from which it takes another
        self.before = before  # ticks for which it serves other SMs first, until this one has asked once

    def turn(self, now: int, ahead: int) -> int:
        """Return the cycle in which it takes a line. ahead: lines more than one that it takes at once after a pause."""
        turn = max(now * TICKS, self.free) + self.before
        self.free = max(self.free, now * TICKS - ahead * self.ticks) + self.before + self.ticks
        self.before = 0
        return cycles(turn)


class InstructionCache:
    """The caches of code of one SM."""

    def __init__(self, machine: Machine, number: int) -> None:
        gpu = machine.gpu
        self.env, self.fetch, self.numbers = machine.env, gpu.fetch, fetching(gpu, len(machine.program))
        self.ports = [Port(int(ticks)) for ticks in line_ticks(gpu, machine.trace.launch)[number, :2]]  # to the SM, to L2
        self.near, self.far = Lines(self.numbers.near), Lines(self.numbers.far)
        self.seen: set[int] = set()  # lines that the SM has had

    def start(self, first: Instruction) -> None:
        """A warp starts: its first instruction comes with its block."""
        self._go_to(first.number // LINE_INSTRUCTIONS, int(self.env.now) - self.fetch.jump, goes_on=False)

    def wait(self, last: Instruction, following: Instruction) -> int:
        """Ask for the instruction that follows another; return how many cycles it takes."""
        now, line, before = int(self.env.now), following.number // LINE_INSTRUCTIONS, last.number // LINE_INSTRUCTIONS
        return 0 if before == line else max(0, self._go_to(line, now, line == before + 1) - now)

    def _go_to(self, line: int, now: int, goes_on: bool) -> int:
        """Ask for a line and those that follow; return the cycle in which it is there. goes_on: the warp was in the line before."""
        if not self.fetch.jump:
            return 0
        there = self._ask_near(line, now, now)
        for ask, ahead in ((self._ask_near, self.fetch.ahead), (self._ask_far, self.fetch.far_ahead)):
            for further in range(line + max(ahead, 1) if goes_on else line + 1, min(line + ahead + 1, self.numbers.lines)):
                ask(further, now, max(now, there))
        return there

    def _ask_near(self, line: int, now: int, entered: int) -> int:
        """Return the cycle in which the SM's cache has a line. entered: when the warp has the line for which it asks, too."""
        there = self.near.find(line)
        if there is None:
            turn = self.ports[0].turn(now, self.fetch.ahead)
            there = self.near.put(line, max(turn, self._ask_far(line, now, entered)) + self.fetch.jump)
        return there

    def _ask_far(self, line: int, now: int, entered: int) -> int:
        """Return the cycle in which the cache of the GPC has a line."""
        there = self.far.find(line)
        if there is None:
            there = entered
            if line in self.seen or line >= self.numbers.prefetched:
                latency = self.numbers.latency if line in self.seen else self.numbers.cold_latency
                there = max(self.ports[1].turn(now, self.fetch.far_ahead), entered) + latency
            self.far.put(line, there)
            self.seen.add(line)
        return max(there, entered)
