"""The region that interval analysis looks at: one iteration of a loop as a warp really executed it.

The loop is found by itself: of those that the control-flow graph shows, the one that most warp instructions were spent in, an inner one
before the one around it. A program without a loop is one region, from its first instruction to its last.
"""

import itertools
from typing import NamedTuple

import numpy as np

from isa.errors import UserError
from isa.loops import Loop, loops
from isa.program import Program
from isa.vocabulary import Operation
from sim.traces.trace import Trace

MOST_PATHS = 64  # looked at for an iteration


class Region(NamedTuple):
    """One iteration, and how often it was executed."""

    path: tuple[int, ...]  # static instructions in the order of one warp's execution
    loop: Loop | None  # None = the whole program
    warps: int  # executions by warps
    threads: int  # executions by threads


def find(trace: Trace, label: str | None = None) -> Region:
    """Return the region of an executed program. label: the loop that begins there, instead of the hottest.

    Raises UserError when no loop begins at `label`, or none was executed from end to end.
    """
    program = trace.program
    found = _labelled(program, label) if label else _hottest(trace)
    if found is None:
        path = tuple(trace.arrays.instruction[: int(trace.arrays.path_start[1])].tolist())
        warps = len(trace.arrays.warp_path)
        return Region(path, None, warps, trace.launch.blocks * trace.launch.threads_per_block)
    iteration = _iteration(trace, found)
    if iteration is None:
        raise UserError("no warp executes this loop", path=program.path, hint="choose another --loop, or a launch that enters it")
    return Region(iteration, found, int(trace.executed[found.header]), int(trace.true_lanes[found.header]))


def _labelled(program: Program, label: str) -> Loop:
    if label not in program.labels:
        raise UserError(f"no label is called {label}", path=program.path, hint=f"labels: {', '.join(program.labels) or 'none'}")
    here = [loop for loop in loops(program.encoded) if loop.header == program.labels[label]]
    if not here:
        raise UserError(f"no loop begins at {label}", path=program.path, hint="name the label that a backward branch goes to")
    return here[0]


def _hottest(trace: Trace) -> Loop | None:
    """Return the loop in which most warp instructions were executed; of equal ones and of nested ones the inner."""
    executed = trace.executed
    candidates = [loop for loop in loops(trace.program.encoded) if executed[loop.header] > 0]
    inner = [a for a in candidates if not any(b is not a and _inside(b, a) and _repeats(executed, b, a) for b in candidates)]
    return max(inner, key=lambda loop: int(executed[list(loop.instructions)].sum()), default=None)


def _inside(inner: Loop, outer: Loop) -> bool:
    return set(inner.instructions) < set(outer.instructions)


def _repeats(executed: np.ndarray, inner: Loop, outer: Loop) -> bool:
    """Return whether the inner loop holds most of what the outer one executes."""
    return bool(executed[list(inner.instructions)].sum() * 2 > executed[list(outer.instructions)].sum())


def _iteration(trace: Trace, loop: Loop) -> tuple[int, ...] | None:
    """Return the instructions from one pass through the header to the next, or to where the loop is left."""
    inside = np.zeros(len(trace.program) + 1, bool)
    inside[list(loop.instructions)] = True
    starts = trace.arrays.path_start
    last: tuple[int, ...] | None = None
    for start, end in list(itertools.pairwise(starts))[:MOST_PATHS]:
        path = trace.arrays.instruction[start:end]
        heads = np.flatnonzero(path == loop.header)
        for k, head in enumerate(heads[:2]):
            stop = int(heads[k + 1]) if k + 1 < len(heads) else len(path)
            body = path[head:stop]
            body = body[: int(np.argmin(np.append(inside[body], False)))]
            if k + 1 < len(heads):
                return tuple(body.tolist())
            last = last or tuple(body.tolist())
    return last


def intervals(program: Program, region: Region) -> list[tuple[int, ...]]:
    """Return the parts of a region's path that barriers separate; a barrier ends its part, and a loop goes on after its end."""
    path = region.path
    ends = [k + 1 for k, i in enumerate(path) if program.encoded.operation[i] == Operation.BAR]
    if region.loop and ends:
        path, ends = path[ends[-1] :] + path[: ends[-1]], [end + len(path) - ends[-1] for end in ends]
    cuts = sorted({0, *ends, len(path)})
    return [tuple(path[a:b]) for a, b in itertools.pairwise(cuts)]
