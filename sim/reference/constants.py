"""Constant caches of an SM: a line that an instruction names comes once, from the level behind them or from L2.

Both caches, for operands and for LDC, ask the same level behind them, 256 bytes at a time. Left out: capacity, bandwidth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.constants import PRESENT, cycles_behind

if TYPE_CHECKING:
    from sim.reference.decode import Instruction
    from sim.reference.machine import Machine


class Constants:
    """What one SM has of the constants that the program names."""

    def __init__(self, machine: Machine) -> None:
        self.env, self.near, self.far = machine.env, machine.gpu.constants.near, cycles_behind(machine.gpu)
        self.lines: dict[int, int] = {}  # line -> cycle from which it is there; those never asked for are absent
        self.groups: dict[int, int] = {}  # the same for the level behind

    def wait(self, instruction: Instruction, for_result: bool) -> int:
        """Ask for an instruction's constant if its result (LDC), or else its issue, waits for one; return how many cycles it takes."""
        if instruction.constant is None or instruction.constant.late is not for_result:
            return 0
        now, line, group = int(self.env.now), instruction.constant.line, instruction.constant.group
        if line not in self.lines:
            behind = now if group == PRESENT else self.groups.setdefault(group, now + self.far)
            self.lines[line] = max(now, behind) + self.near
        return max(0, self.lines[line] - now)
