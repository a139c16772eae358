"""Constants: which lines of an SM's constant caches the instructions of a program name.

Two caches, one for operands and ULDC (an instruction waits for its operand), one for LDC (its result waits), have lines of 64 bytes;
behind both lies one level with 256 bytes at a time. The sizes are measured: on an H100 a load of a constant takes 66 cycles when its
line is there, at strides of 64 bytes 162 on average and of 256 bytes 303 (programs/measurements). Left out: capacities, addresses in
registers, and that what one SM has asked for is in L2 for those that ask much later.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isa.program import Program
from isa.vocabulary import Kind

if TYPE_CHECKING:
    from sim.gpus.model import Gpu

LINE, GROUP = 64, 256  # bytes
PRESENT = -1  # bank 0, where parameters and sizes are, comes with the launch: the level behind has it


class ConstantLines(NamedTuple):
    """Lines are numbered in the order of their first instruction; n instructions, L lines."""

    line: np.ndarray  # int32 [n] that the instruction names, -1 = none
    late: np.ndarray  # bool [n] its result waits for the line, not its issue
    group: np.ndarray  # int64 [L] the 256 bytes that the line lies in, numbered; PRESENT = the level behind has them


def cycles_behind(gpu: "Gpu") -> int:
    """Return the cycles until 256 bytes of constants come to the level behind an SM's caches: from L2, or through it from DRAM."""
    # In a dirty L2, which stands for launches that are repeated, they are taken to be there from the launch before: not measured.
    is_cold = gpu.l2 is not None and gpu.l2.start == "cold"
    return gpu.constants.far + (gpu.constants.cold if is_cold else 0)


def constant_lines(program: Program) -> ConstantLines:
    """Return the lines of constants that a program names by their addresses."""
    encoded, opcodes = program.encoded, [instruction.opcode for instruction in program.instructions]
    named = encoded.source_kind == Kind.CONSTANT
    slot = named.argmax(axis=1)
    rows = np.arange(len(opcodes))
    bank, offset = encoded.source_bank[rows, slot].astype(np.int64), encoded.source_value[rows, slot].astype(np.int64)
    late = np.array([opcode.split(".")[0] == "LDC" for opcode in opcodes], bool)
    lines: dict[tuple[bool, int, int], int] = {}
    groups: dict[tuple[int, int], int] = {}
    line, group = np.full(len(opcodes), -1, np.int32), []
    for i in np.flatnonzero(named.any(axis=1)):
        key = bool(late[i]), int(bank[i]), int(offset[i]) // LINE
        if key not in lines:
            lines[key] = len(lines)
            part = int(bank[i]), int(offset[i]) // GROUP
            group.append(groups.setdefault(part, len(groups)) if bank[i] else PRESENT)
        line[i] = lines[key]
    return ConstantLines(line, late, np.array(group, np.int64))
