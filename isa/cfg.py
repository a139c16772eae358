"""Control-flow graph of a program: basic blocks, and the immediate post-dominator of each, where diverged lanes meet again.

Lanes that end at a guarded EXIT need not meet again, so such an EXIT has one successor, the next instruction. A loop that no path
leaves is treated as if its unconditional backward branch could fall through to the end: its inner branches then meet inside it.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from isa.program import Encoded
from isa.vocabulary import PT, Operation

MARKERS = tuple(
    Operation[name] for name in ("SSY", "SYNC", "BSSY", "BSYNC", "PBK", "BRK", "CAL", "RET", "BRX", "BREAK")
)  # a listing with these says itself where lanes meet

# The warp's next instruction is known only when one of these is done.
BRANCHES = (
    Operation.BRA,
    Operation.BRA_DIVERGENT,
    Operation.BRA_CONVERGENT,
    Operation.SYNC,
    Operation.BSYNC,
    Operation.BRX,
    Operation.BRK,
    Operation.CAL,
    Operation.RET,
    Operation.WARPSYNC,
)


class Graph(NamedTuple):
    """Blocks 0..b-1 in the order of the listing, and block b, the exit."""

    start: list[int]  # [b + 1] first instruction of each block; of the exit: the number of instructions
    successors: list[list[int]]  # [b + 1] blocks; of the exit: none


def is_always(encoded: Encoded, i: int) -> bool:
    """Return True when instruction i has no guard, or @PT; nor has a BRA a predicate operand or .DIV or .CONV."""
    return bool(
        encoded.operation[i] not in (Operation.BRA_DIVERGENT, Operation.BRA_CONVERGENT)
        and encoded.guard[i] == PT
        and not encoded.guard_not[i]
        and encoded.predicate_source[i, 0] == PT
        and not encoded.predicate_source_not[i, 0]
    )


def graph(encoded: Encoded) -> Graph:
    """Return the control-flow graph by BRA and EXIT. SSY and SYNC, BSSY and BSYNC count as ordinary instructions."""
    n = len(encoded.operation)
    branches = np.isin(encoded.operation, (Operation.BRA, Operation.BRA_DIVERGENT, Operation.BRA_CONVERGENT))
    ends = branches | (encoded.operation == Operation.EXIT)
    leaders = sorted({0, n} | {int(i) + 1 for i in np.flatnonzero(ends)} | {int(t) for t in encoded.target if t >= 0})
    block = {first: index for index, first in enumerate(leaders)}
    successors = []
    for following in leaders[1:]:
        last = following - 1
        reached = {int(encoded.target[last])} if branches[last] else set()
        if not (ends[last] and is_always(encoded, last)):
            reached.add(following)
        elif encoded.operation[last] == Operation.EXIT:
            reached.add(n)
        successors.append(sorted(block[first] for first in reached))
    return Graph(leaders, [*successors, []])


def with_exits(cfg: Graph) -> list[list[int]]:
    """Return the successors, with an edge to the exit for each unconditional backward branch of a loop that no path leaves."""
    end = len(cfg.start) - 1
    leaving = _reached(_reversed(cfg.successors), end)
    successors = [list(blocks) for blocks in cfg.successors]
    for block, blocks in enumerate(cfg.successors):
        if block not in leaving and len(blocks) == 1 and blocks[0] <= block:
            successors[block].append(end)
    return successors


def post_dominators(successors: list[list[int]]) -> list[int]:
    """Return each block's immediate post-dominator; the exit is the last block and its own.

    Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001), on the reversed graph. Every block must reach the exit.
    """
    end = len(successors) - 1
    order = _postorder(_reversed(successors), end)
    number = {block: position for position, block in enumerate(order)}
    immediate = {end: end}
    changed = True
    while changed:
        changed = False
        for block in reversed(order[:-1]):
            known = [successor for successor in successors[block] if successor in immediate]
            meeting = known[0]
            for other in known[1:]:
                meeting = _meet(meeting, other, immediate, number)
            changed |= immediate.get(block) != meeting
            immediate[block] = meeting
    return [immediate[block] for block in range(end + 1)]


def reaching(cfg: Graph, wanted: Iterable[int]) -> set[int]:
    """Return the blocks from which a way leads to one of those wanted, these among them."""
    edges = _reversed(cfg.successors)
    return set().union(*(_reached(edges, block) for block in wanted))


def reconvergence(encoded: Encoded) -> np.ndarray:
    """Return int32 [n]: where the lanes of each conditional BRA meet again, n = the exit, -1 = not a conditional BRA."""
    meeting = np.full(len(encoded.operation), -1, np.int32)
    branches = [i for i in np.flatnonzero(encoded.operation == Operation.BRA).tolist() if not is_always(encoded, i)]
    if not branches:
        return meeting
    cfg = graph(encoded)
    immediate = post_dominators(with_exits(cfg))
    for i in branches:
        block = int(np.searchsorted(cfg.start, i, side="right")) - 1
        meeting[i] = cfg.start[immediate[block]]
    return meeting


def _meet(a: int, b: int, immediate: dict[int, int], number: dict[int, int]) -> int:
    while a != b:
        while number[a] < number[b]:
            a = immediate[a]
        while number[b] < number[a]:
            b = immediate[b]
    return a


def _reversed(successors: list[list[int]]) -> list[list[int]]:
    predecessors: list[list[int]] = [[] for _ in successors]
    for block, blocks in enumerate(successors):
        for successor in blocks:
            predecessors[successor].append(block)
    return predecessors


def _reached(edges: list[list[int]], start: int) -> set[int]:
    return set(_postorder(edges, start))


def _postorder(edges: list[list[int]], start: int) -> list[int]:
    """Return the blocks reached from `start`, each after those it leads to first (depth first, no recursion)."""
    order, seen, stack = [], {start}, [(start, iter(edges[start]))]
    while stack:
        block, rest = stack[-1]
        following = next((edge for edge in rest if edge not in seen), None)
        if following is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(edges[following])))
    return order
