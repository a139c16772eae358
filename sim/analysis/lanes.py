"""SIMT efficiency: of the lanes that an issue could keep busy, how many are active, how many execute."""

import math
from typing import NamedTuple

import numpy as np

from isa.vocabulary import Operation
from sim.result.memory_counters import ratio
from sim.result.result import Result
from sim.traces.trace import Trace

PARTING = (Operation.BRA, Operation.BRK, Operation.RET)  # part lanes when their guard is true in some; BRX goes where registers say
WHOLE = 31.5 / 32  # of the lanes, executing on average, from which a run is said to have no idle lanes


class Lanes(NamedTuple):
    """Lanes per warp instruction, 0 to 32: active, and active without those predicated off (Nsight Compute's two averages of threads)."""

    active: float
    executing: float


class Branches(NamedTuple):
    """Branches that warps executed, and those that parted the lanes which reached them.

    lines: (line, text, executed, parted), most parted first.
    """

    executed: int
    parted: int
    lines: tuple[tuple[int, str, int, int], ...]


class IdleLanes(NamedTuple):
    """A line of the listing that lanes sit out, inactive or predicated off. share: of all idle lanes of the run."""

    line: int
    text: str
    share: float
    lanes: Lanes


def threads_per_warp(result: Result) -> float:
    """Return how many of its lanes a warp has threads for, in the mean of a block."""
    threads = math.prod(result.block)
    return threads / math.ceil(threads / result.gpu.core.warp_size)


def lanes(result: Result) -> Lanes:
    """Return the averages over a run."""
    counters = result.counters
    issues = counters["warp_instructions"]
    return Lanes(ratio(counters["thread_instructions"], issues), ratio(counters["thread_instructions_predicated_on"], issues))


def idle_lanes(trace: Trace, rows: int = 3) -> list[IdleLanes]:
    """Return the lines with most idle lanes, the most first; copies of a line that `.rept` makes count as one."""
    executed, idle = trace.executed, trace.executed * trace.launch.warp_size - trace.true_lanes
    lines: dict[tuple[int, str], list[int]] = {}
    for instruction in trace.program.instructions:
        lines.setdefault((instruction.line, instruction.text), []).append(instruction.index)
    order = sorted(lines, key=lambda key: -int(idle[lines[key]].sum()))
    found = []
    for line, text in order[:rows]:
        members = lines[line, text]
        average = Lanes(*(ratio(int(np.sum(n[members])), int(executed[members].sum())) for n in (trace.active_lanes, trace.true_lanes)))
        if lost := int(idle[members].sum()):
            found.append(IdleLanes(line, text, lost / int(idle.sum()), average))
    return found


def branches(trace: Trace) -> Branches | None:
    """Return how branches under a guard parted lanes; copies of a line that `.rept` makes count as one. None: a file's trace does not say.

    Not among them: a jump to an address in a register, which may go to many places at once.
    """
    if trace.parted is None:
        return None
    operations = trace.program.encoded.operation
    lines: dict[tuple[int, str], list[int]] = {}
    for instruction in trace.program.instructions:
        if operations[instruction.index] in PARTING and trace.executed[instruction.index]:
            lines.setdefault((instruction.line, instruction.text), []).append(instruction.index)
    found = [(*key, int(trace.executed[members].sum()), int(trace.parted[members].sum())) for key, members in lines.items()]
    parted = tuple(sorted((one for one in found if one[3]), key=lambda one: -one[3]))
    return Branches(sum(one[2] for one in found), sum(one[3] for one in found), parted)
