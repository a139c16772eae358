"""Constants: the caches of an SM, and which of their lines the instructions of a program name.

Caches have lines of 64 bytes: each scheduler's for operands and ULDC (an instruction waits for its operand), the SM's for LDC (its result
waits); behind them lies one level with 256 bytes at a time, which keeps what it has had: so far 64 KB of constants were never too many
for it (programs/measurements/h200/tables.csv). Left out: that what one SM has asked for is in L2 for those that ask much later.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isa.architecture import CONSTANT_BANK_BYTES
from isa.program import Program
from isa.vocabulary import Kind
from sim.lowering.fetch import Level, level_of, sms_with_blocks
from sim.traces.trace import names_lanes

if TYPE_CHECKING:
    from sim.gpus.model import Gpu
    from sim.launch.launch import Launch

LINE, GROUP = 64, 256  # bytes
LINES_OF_L2 = 128 // LINE  # of constants in a line of L2
GROUP_LINES = GROUP // LINE
GROUPS_IN_STEP = 2  # a bank begins at a multiple of so many groups: in set 0 of the 8 sets of an H100 (2 KB, 4 ways); assumed


class ConstantLines(NamedTuple):
    """Lines are numbered by bank, bank 0 first, and by address; n instructions."""

    line: np.ndarray  # int32 [n] that the instruction names, where `lanes` the one of its bank's first byte; -1 = none
    late: np.ndarray  # bool [n] its result waits for the line, not its issue
    lanes: np.ndarray  # bool [n] with an address from a register, which the trace has
    present: int  # the level behind has the lines before this one: bank 0, with parameters and sizes, comes with the launch
    all: int  # lines


def constant_lines(program: Program) -> ConstantLines:
    """Return the lines of constants that a program names."""
    encoded, opcodes = program.encoded, [instruction.opcode for instruction in program.instructions]
    named, lanes = encoded.source_kind == Kind.CONSTANT, names_lanes(program)
    slot = named.argmax(axis=1)
    rows = np.arange(len(opcodes))
    bank, offset = encoded.source_bank[rows, slot].astype(np.int64), encoded.source_value[rows, slot].astype(np.int64)
    late = np.array([opcode.split(".")[0] == "LDC" for opcode in opcodes], bool)
    any_named = named.any(axis=1)
    first, groups = {}, 0
    for number in sorted({0, *bank[any_named].tolist()}):
        first[number] = groups * GROUP_LINES
        inside = any_named & (bank == number)
        last = CONSTANT_BANK_BYTES - 1 if (inside & lanes).any() else int(offset[inside].max(initial=-1))
        groups += -(-(last // GROUP + 1) // GROUPS_IN_STEP) * GROUPS_IN_STEP
    begins = np.array([first.get(int(number), 0) for number in bank], np.int64)
    line = np.where(any_named, begins + np.where(lanes, 0, offset // LINE), -1).astype(np.int32)
    present = min((start for number, start in first.items() if number), default=groups * GROUP_LINES)
    return ConstantLines(line, late, lanes, present, groups * GROUP_LINES)


def constant_caches(gpu: "Gpu", lines: ConstantLines) -> tuple[Level, Level]:
    """Return the caches of operands and of LDC; one that holds every line that the program names needs a place for each and no more."""
    return _cache(gpu, lines, ~lines.late), _cache(gpu, lines, lines.late)


def constant_tables(gpu: "Gpu", lines: ConstantLines) -> tuple[np.int64, np.int64, np.ndarray, np.ndarray]:
    """Return the last fields of `Code`: lines that are present, all lines, and int64 [2] sets and ways of the two caches."""
    sets, ways = np.array(constant_caches(gpu, lines), np.int64).T.copy()
    return np.int64(lines.present), np.int64(lines.all), sets, ways


def cycles_of_group(gpu: "Gpu", launch: "Launch") -> np.ndarray:
    """Return int64 [sms]: the cycles of an SM that a group takes of which LDC's cache lacks lines; its share of the port may be slower."""
    return np.maximum(gpu.constants.group_cycles, np.rint(gpu.constants.port_cycles * sms_with_blocks(gpu, launch)).astype(np.int64))


def _cache(gpu: "Gpu", lines: ConstantLines, served: np.ndarray) -> Level:
    """Return the cache that serves some instructions."""
    sets, ways = level_of(gpu.constants.bytes // LINE, gpu.constants.ways)
    named = np.unique(lines.line[served & (lines.line >= 0)])
    if not sets or (not (served & lines.lanes).any() and np.bincount(named % sets, minlength=1).max() <= ways):
        return Level(max(lines.all, 1), 1)
    return Level(sets, ways)
