"""Control words: whether a launch is timed by them, and what their dependence counters are called.

Rules of Volta and later: Huerta et al., "Dissecting and Modeling the Architecture of Modern GPU Cores", MICRO 2025, sections 4 to 6.
"""

from isa.architecture import KEPLER, family
from isa.dependences import depbar
from isa.program import Program
from isa.vocabulary import COUNTERS, Unit
from sim.gpus.model import Gpu

# Units whose instructions read their registers through the banks' ports in a fixed number of cycles.
PORTED = (Unit.FP32, Unit.INT32, Unit.IMAD, Unit.SHIFT, Unit.FP64)


def obeys_control_words(gpu: Gpu, program: Program) -> bool:
    """Return whether `program` on `gpu` is timed by its control words; else the scoreboard finds dependences.

    Not for a listing without control words, nor for another kind of GPU, whose latencies its stall counts do not know, nor for Kepler,
    whose control words name no dependences; not on a GPU whose core.kind is "scoreboard"; and not where a DEPBAR waits for a counter to
    fall to a value above zero: in which order results then return is not modelled.
    """
    if gpu.core.kind != "control" or program.control is None:
        return False
    written, own = family(program.architecture), family(gpu.architecture)
    if written is KEPLER or (written and own and written is not own):
        return False
    barriers = (depbar(instruction.text)[1] for instruction in program.instructions if instruction.opcode.startswith("DEPBAR"))
    return all(partial is None or partial[1] == 0 for partial in barriers)


def waited_counters(program: Program, i: int) -> tuple[int, ...]:
    """Return the dependence counters that must be zero before instruction i may issue: its wait mask and what a DEPBAR names."""
    assert program.control is not None
    mask, instruction = int(program.control.wait_mask[i]), program.instructions[i]
    if instruction.opcode.startswith("DEPBAR"):
        named, partial = depbar(instruction.text)
        mask |= sum(1 << number for number in named | ({partial[0]} if partial else set()))
    return tuple(number for number in range(COUNTERS) if mask >> number & 1)


def distance(program: Program, i: int) -> int:
    """Return the smallest distance from instruction i to the warp's next issue, cycles: its stall count.

    A yield keeps the warp from the very next cycle. Before Volta, 0 without a yield pairs the instruction with the next one.
    """
    assert program.control is not None
    return max(int(program.control.stall[i]), 2 if program.control.yield_[i] else 1)
