"""Control words: whether a launch is timed by them, and what their dependence counters are called.

Rules of Volta and later: Huerta et al., "Dissecting and Modeling the Architecture of Modern GPU Cores", MICRO 2025, sections 4 to 6.
"""

import re

from isa.program import Program
from isa.vocabulary import Unit
from sim.gpus.model import Gpu

COUNTERS = 6  # dependence counters of a warp
# Units whose instructions read their registers through the banks' ports in a fixed number of cycles.
PORTED = (Unit.FP32, Unit.INT32, Unit.IMAD, Unit.SHIFT, Unit.FP64)
_AT_MOST = re.compile(r"DEPBAR\.LE SB(\d), (0x[0-9a-f]+)")
_LISTED = re.compile(r"\{([\d, ]+)\}")


def obeys_control_words(gpu: Gpu, program: Program) -> bool:
    """Return whether `program` on `gpu` is timed by its control words; else the scoreboard finds dependences.

    Not for a listing without control words, not on a GPU whose core.kind is "scoreboard", and not where a DEPBAR waits for a counter
    to fall to a value above zero: in which order results then return is not modelled.
    """
    if gpu.core.kind != "control" or program.control is None:
        return False
    return all(_threshold(instruction.text) == 0 for instruction in program.instructions if instruction.opcode.startswith("DEPBAR"))


def waited_counters(program: Program, i: int) -> tuple[int, ...]:
    """Return the dependence counters that must be zero before instruction i may issue: its wait mask and what a DEPBAR names."""
    assert program.control is not None
    mask, instruction = int(program.control.wait_mask[i]), program.instructions[i]
    if instruction.opcode.startswith("DEPBAR"):
        named = [int(found[1]) for found in _AT_MOST.finditer(instruction.text)]
        named += [int(number) for found in _LISTED.finditer(instruction.text) for number in found[1].split(",")]
        mask |= sum(1 << number for number in set(named) if number < COUNTERS)
    return tuple(number for number in range(COUNTERS) if mask >> number & 1)


def _threshold(text: str) -> int:
    """Return the value to which a DEPBAR waits for its counter to fall."""
    found = _AT_MOST.search(text)
    return int(found[2], 16) if found else 0


def distance(program: Program, i: int) -> int:
    """Return the smallest distance from instruction i to the warp's next issue, cycles: its stall count.

    A yield keeps the warp from the very next cycle. Before Volta, 0 without a yield pairs the instruction with the next one.
    """
    assert program.control is not None
    return max(int(program.control.stall[i]), 2 if program.control.yield_[i] else 1)
