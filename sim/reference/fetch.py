"""Instruction fetch of an SM: it gets each line of code once; those behind it are fetched ahead, a jump elsewhere waits.

Left out: capacities, the small caches of the sub-cores, bandwidth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.reference.decode import Instruction
    from sim.reference.machine import Machine

LINE_INSTRUCTIONS = 8  # of 16 bytes


class InstructionCache:
    """Which code one SM has."""

    def __init__(self, machine: Machine) -> None:
        self.env, self.jump = machine.env, machine.gpu.fetch.jump
        self.lines: dict[int, int] = {}  # line -> cycle from which it is there

    def start(self, first: Instruction) -> None:
        """A warp starts: its first instruction comes with its block."""
        self.lines.setdefault(first.number // LINE_INSTRUCTIONS, 0)

    def wait(self, last: Instruction, following: Instruction) -> int:
        """Ask for the instruction that follows another; return how many cycles it takes."""
        now, line = int(self.env.now), following.number // LINE_INSTRUCTIONS
        ahead = following.number == last.number + 1
        return max(0, self.lines.setdefault(line, now if ahead else now + self.jump) - now)
