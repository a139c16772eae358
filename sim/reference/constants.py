"""Constant caches of an SM: a line that an instruction names comes from the level behind them, and to that once from L2.

Each scheduler has a cache of operands, the SM one for LDC. The level behind them, which asks L2 for 256 bytes at a time, is the GPC's:
its port takes the lines of an SM one after another, in its share; when all SMs begin, those of the GPC that began before are served
first. LDC with an address per lane is served once for each distinct one, in the order of the lanes; what L2 has to be asked for is asked
for at once. A line that the cache lacks keeps the SM busy longer, unless an earlier lane named its group of 256 bytes. LDC that asks L2
holds one of a few entries as long as one with a single address takes; where none is free, it and all LDC behind it wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.lowering.constant_lines import GROUP_LINES, LINE, LINES_OF_L2, constant_caches, cycles_of_group
from sim.lowering.fetch import CONSTANTS, constants_in_dram, cycles_behind, line_ticks, ticks_before
from sim.lowering.slices import chip_sides_of
from sim.reference.fetch import Lines, Port
from sim.reference.moments import Moment, SetTime, Work

if TYPE_CHECKING:
    from sim.reference.decode import Constant
    from sim.reference.machine import Machine
    from sim.reference.wakeup import Warp


class Constants:
    """What one SM has of the constants that the program names."""

    def __init__(self, machine: Machine, number: int) -> None:
        self.env, self.numbers, self.far = machine.env, machine.gpu.constants, cycles_behind(machine.gpu)
        self.in_dram = constants_in_dram(machine.gpu, machine.trace.launch)
        self.side = int(chip_sides_of(machine.gpu, machine.trace.launch)[number])
        lines = machine.constant_lines
        self.present = lines.present
        operands, loads = constant_caches(machine.gpu, lines)
        self.operands, self.loads = [Lines(operands) for _ in range(machine.gpu.core.schedulers)], Lines(loads)
        self.groups: dict[int, int] = {}  # of lines -> cycle from which the level behind has them; those never asked for are absent
        self.free = 0  # cycle from which the SM takes another address of LDC
        self.entries = [0] * self.numbers.load_entries  # cycle from which each is free
        self.began = 0  # cycle in which the LDC issued last had its turn
        self.group_cycles = int(cycles_of_group(machine.gpu, machine.trace.launch)[number])
        ticks, before = (of(machine.gpu, machine.trace.launch)[number] for of in (line_ticks, ticks_before))
        self.port = Port(int(ticks[CONSTANTS]), int(before))
        self.asked: dict[tuple[int, int], int] = {}  # of a cache's line -> cycle of the earliest turn in which it was asked for
        self.back: dict[int, int] = {}  # of groups -> cycle in which a refresh was over that kept it from coming, 0 = none did
        self.last_back = 0  # of what was asked for last, 0 = no refresh delayed it

    def operand(self, warp: Warp) -> int:
        """Ask for the constant that the issue of the warp's next instruction waits for; return how many cycles it takes."""
        now, constant, self.last_back = int(self.env.now), warp.instruction.constant, 0
        if constant is None or constant.late:
            return 0
        line, *_ = self._lines(warp, constant) or [constant.line]
        return max(0, self._there(self.operands[warp.scheduler.number], line, self.numbers.near, now, now) - now)

    def told(self, before: Moment, cycle: int, work: Work | None) -> Moment:
        """Return the moment in which what was asked for last is there, asked for at `before`."""
        if before.cycle < self.last_back < cycle:
            before = SetTime(self.last_back - self.in_dram.refresh, before.then(self.last_back, "dram.refresh", work))
        return before.then(cycle, "constants.near", work)

    def load(self, warp: Warp) -> int:
        """Ask for the constants that the warp's load waits for; return how many cycles more they take than one that is there."""
        now, constant, self.last_back = int(self.env.now), warp.instruction.constant, 0
        if constant is None or not constant.late:
            return 0
        lines, groups, missing = self._lines(warp, constant), set[int](), 0
        asks = self.entries and any(not self.loads.has(line) and self._lacks(line) for line in lines)
        turn = self.began = max(now, self.began, min(self.entries) if asks else 0)
        if asks:
            taken = self.entries.index(min(self.entries))
            self.entries[taken] = turn + self.far + self.numbers.load_near + warp.instruction.latency
        if constant.lanes:
            for line in lines:
                self._behind(line, turn)  # asks L2 for what it lacks
        for number, line in enumerate(lines):
            turn += self.numbers.address_latency * (number > 0)
            before = self.loads.brought
            turn = max(turn, self._there(self.loads, line, self.numbers.load_near, turn, None if constant.lanes else now))
            missing += constant.lanes and self.loads.brought > before and line // GROUP_LINES not in groups
            groups.add(line // GROUP_LINES)
        self.free = max(self.free, now) + len(lines) * self.numbers.address_cycles + missing * self.group_cycles
        return max(turn, self.free - self.numbers.address_cycles) - now

    def _lines(self, warp: Warp, constant: Constant) -> list[int]:
        """Return the lines of the distinct addresses of the warp's lanes."""
        if not constant.lanes:
            return [constant.line]
        addresses = warp.machine.trace.addresses(warp.next_access, warp.mask)
        return [constant.line + address // LINE for address in dict.fromkeys(addresses.values())]

    def _there(self, cache: Lines, line: int, near: int, turn: int, booked: int | None) -> int:
        """Return the first cycle from its turn on in which a cache has a line.

        booked: when the port is asked, as the instruction issues: in its turn it would be held for later from others; None: by lane,
        where `group_cycles` stands for the port.
        """
        there, name = cache.find(line), (id(cache), line)
        if there is not None and self.asked[name] <= turn:
            self.last_back = max(self.last_back, self.back[line // GROUP_LINES])
            return there
        if there is None:
            served = turn if booked is None else self.port.turn(booked, 0)
            there = cache.put(line, max(served, self._behind(line, turn)) + near)
        else:  # who asked for it has its turn only later
            there = cache.put(line, min(there, self._behind(line, turn) + near))
        self.asked[name], self.last_back = turn, max(self.last_back, self.back[line // GROUP_LINES])
        return there

    def _lacks(self, line: int) -> bool:
        """Return whether L2 has not been asked for a line's 256 bytes yet."""
        return line >= self.present and line // GROUP_LINES not in self.groups

    def _behind(self, line: int, now: int) -> int:
        """Return the first cycle from now on in which the level behind has a line."""
        group, of_l2 = line // GROUP_LINES, line // LINES_OF_L2
        late = self.in_dram.late(of_l2, now)
        there = now + late + (self.far if line >= self.present else 0) + self.in_dram.way(of_l2, self.side)
        if there < self.groups.get(group, there + 1):
            self.groups[group], self.back[group] = there, now + late if late else 0
        return max(now, self.groups[group])
