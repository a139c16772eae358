"""Instruction fetch: a cache of a TPC, that is of two SMs, behind it one that the SMs of a GPC share, behind that L2; lines of 128 bytes.

A line that is asked for comes `fetch.jump` cycles later; then those are asked for that follow it in the code. The port of the GPC's cache
serves who asks first, and takes what comes from L2. What a GPC asks for the first time comes from DRAM where L2 starts cold; the first
`fetch.prefetched` bytes come to its cache one after another from its first block on. SMs that run a program which needs no more than
those and fits into a TPC's cache do not see each other: each has its part of the port, after a pause as many lines at once as a jump
asks for.
Left out: that a line which one GPC has had is in L2 for the others; turns and places of lines that come unasked, until they are asked for;
constants in the caches of code.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import TYPE_CHECKING

from sim.gpus.path import TICKS, cycles
from sim.lowering.fetch import CODE, LINE_INSTRUCTIONS, LONG_AGO, Level, code_in_dram, code_sharing, fetching, line_ticks
from sim.lowering.slices import chip_sides_of

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
    """A port that the SMs of a GPC share, or an SM's part of it."""

    def __init__(self, ticks: int, before: int = 0) -> None:
        self.ticks, self.free = ticks, LONG_AGO  # between two lines; from which it takes another
        self.before = before  # ticks for which it serves other SMs first, until this one has asked once

    def turn(self, now: int, ahead: int) -> int:
        """Return the cycle in which it takes a line. ahead: lines more than one that it takes at once after a pause."""
        turn = max(now * TICKS, self.free) + self.before
        self.free = max(self.free, now * TICKS - ahead * self.ticks) + self.before + self.ticks
        self.before = 0
        return cycles(turn)


class SharedCache:
    """The cache of code of a GPC, with its port and the caches of its TPCs; of one SM where SMs do not see each other."""

    def __init__(self, machine: Machine, number: int) -> None:
        gpu = machine.gpu
        self.fetch, self.numbers = gpu.fetch, fetching(gpu, len(machine.program))
        self.in_dram, self.side = code_in_dram(gpu, machine.trace.launch), int(chip_sides_of(gpu, machine.trace.launch)[number])
        self.port = Port(int(line_ticks(gpu, machine.trace.launch)[number][CODE]))
        self.burst = 0 if self.numbers.is_shared else gpu.fetch.ahead
        self.lines = Lines(self.numbers.far)
        self.seen: set[int] = set()  # lines that it has had
        self.begun: int | None = None  # cycle in which the first block began
        self.tpcs: dict[int, Lines] = defaultdict(lambda: Lines(self.numbers.near))  # by their first SM

    def send(self, line: int, now: int, entered: int) -> int:
        """Return the cycle in which a line is there that it sends to a TPC."""
        come = self.ask(line, now, entered)
        return max(self.port.turn(now, self.burst), come) + self.fetch.jump

    def ask(self, line: int, now: int, entered: int) -> int:
        """Return the cycle in which it has a line."""
        there = self.lines.find(line)
        if there is None:
            if line in self.seen or line >= self.numbers.prefetched:
                cold = self.numbers.cold_latency + self.in_dram.late(line, now)
                latency = self.numbers.latency if line in self.seen else cold
                there = max(self.port.turn(now, 0), entered) + latency
            else:  # it comes unasked
                begun = self.begun or 0
                asked = begun + self.in_dram.late(line, begun)
                there = asked - self.fetch.jump + cycles(line * round(TICKS * self.fetch.prefetch_cycles))
            there += self.in_dram.way(line, self.side)
            self.lines.put(line, there)
            self.seen.add(line)
        return max(there, entered)


class InstructionCache:
    """What one SM has of its TPC's cache of code."""

    def __init__(self, machine: Machine, number: int) -> None:
        gpu = machine.gpu
        self.env, self.fetch, self.numbers = machine.env, gpu.fetch, fetching(gpu, len(machine.program))
        sharing = code_sharing(gpu, machine.trace.launch)
        home = int(sharing.home[number])
        if home == number:
            machine.shared_code[home] = SharedCache(machine, home)
        self.shared = machine.shared_code[home]
        self.near = self.shared.tpcs[int(sharing.tpc[number])]
        self.starting: list[Instruction] = []  # what warps start with that begin in this cycle

    def start(self, first: Instruction) -> None:
        """A warp starts: its first instruction comes with its block. It is asked for as the SM has its turn in this cycle."""
        self.starting.append(first)

    def step(self) -> None:
        """Ask for what warps that begin now start with."""
        for first in self.starting:
            if self.shared.begun is None:
                self.shared.begun = int(self.env.now)
            self._start(first)
        self.starting.clear()

    def _start(self, first: Instruction) -> None:
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
        for ask, ahead in ((self._ask_near, self.fetch.ahead), (self.shared.ask, self.fetch.far_ahead)):
            for further in range(line + max(ahead, 1) if goes_on else line + 1, min(line + ahead + 1, self.numbers.lines)):
                ask(further, now, max(now, there))
        return there

    def _ask_near(self, line: int, now: int, entered: int) -> int:
        """Return the cycle in which the TPC's cache has a line. entered: when the warp has the line for which it asks, too."""
        there = self.near.find(line)
        if there is None:
            there = self.near.put(line, self.shared.send(line, now, entered))
        return there
