"""Where a warp may go next, returns and reconvergence included: the paths along which a hazard is looked for.

`isa.cfg` knows what lanes do at branches; here a path is what the issue stage of one warp sees.
"""

from typing import NamedTuple

import numpy as np

from isa.cfg import is_always
from isa.program import Program
from isa.vocabulary import Operation

OPENS = {Operation.SYNC: Operation.SSY, Operation.BRK: Operation.PBK}  # what ends -> what named where it goes
NAMING = (Operation.BRA, Operation.BRA_DIVERGENT, Operation.BRA_CONVERGENT, Operation.CAL)  # what goes to its own target
LEAVES = (*NAMING, Operation.EXIT, Operation.SYNC, Operation.BRK, Operation.BRX, Operation.RET)


class Block(NamedTuple):
    """Instructions that are always passed together."""

    start: int
    end: int  # exclusive
    following: tuple[int, ...]  # numbers of blocks


def blocks(program: Program) -> list[Block]:
    """Return the basic blocks in the order of the listing.

    A jump or a call through a register may lead wherever nothing else does; a return, behind the calls of its function.
    """
    n = len(program)
    operation = program.encoded.operation
    jumps = [int(i) for i in np.flatnonzero(np.isin(operation, LEAVES))]
    targets = {int(t) for t in program.encoded.target if 0 <= t < n}
    leaders = sorted({0} | targets | {i + 1 for i in jumps if i + 1 < n})
    last = {start: end - 1 for start, end in zip(leaders, [*leaders[1:], n], strict=True)}
    following = {start: _successors(program, last[start]) for start in leaders}
    calls = [i for i in jumps if _is_call(program, i) and i + 1 < n]
    orphans = set(leaders) - {0}.union(*following.values(), (call + 1 for call in calls))
    for start in leaders:
        if _is_table_jump(program, last[start]):
            following[start] |= orphans
    within = {start: {last[start] + 1} if last[start] in calls else following[start] for start in leaders}
    for call in calls:
        target = int(program.encoded.target[call])
        for start in _reached(within, {target} if target >= 0 else orphans):
            if _is_return(program, last[start]):
                following[start] = following[start] | {call + 1}
    number = {start: block for block, start in enumerate(leaders)}
    return [Block(start, last[start] + 1, tuple(sorted(number[first] for first in following[start]))) for start in leaders]


def _successors(program: Program, i: int) -> set[int]:
    """Return the instructions that may follow the last one of a block, but for those that a register names."""
    encoded, operation = program.encoded, int(program.encoded.operation[i])  # a number of NumPy takes long to compare with members
    following = set() if operation in LEAVES and is_always(encoded, i) else {i + 1}
    if operation in NAMING:
        following.add(int(encoded.target[i]))
    elif operation in OPENS:
        following |= _closing(program, i, OPENS[Operation(operation)])
    return {first for first in following if first < len(program)}


def _closing(program: Program, i: int, opening: Operation) -> set[int]:
    """Return where the innermost SSY or PBK around instruction i says to go on; where any does, when none is around it."""
    encoded = program.encoded
    named = [(int(s), int(encoded.target[s])) for s in np.flatnonzero(encoded.operation == opening)]
    around = [target for opened, target in named if opened < i < target]
    return {around[-1]} if around else {target for _, target in named}


def _reached(following: dict[int, set[int]], starts: set[int]) -> set[int]:
    """Return the blocks that functions pass: those reached from where they start, not through their returns."""
    found, waiting = set(starts), list(starts)
    while waiting:
        more = following[waiting.pop()] - found
        found |= more
        waiting += more
    return found


def _is_call(program: Program, i: int) -> bool:
    return program.instructions[i].opcode.split(".")[0] in ("CALL", "CAL")


def _is_return(program: Program, i: int) -> bool:
    return program.instructions[i].opcode.split(".")[0] == "RET"


def _is_table_jump(program: Program, i: int) -> bool:
    return bool(program.encoded.operation[i] == Operation.BRX) and not _is_return(program, i)
