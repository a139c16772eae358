"""Loops of a program, found by themselves: the natural loop of each backward edge of the control-flow graph."""

from typing import NamedTuple

import numpy as np

from isa.cfg import graph
from isa.program import Encoded


class Loop(NamedTuple):
    """One loop. Instructions are static indices."""

    header: int  # first instruction, where the backward branch goes
    instructions: tuple[int, ...]  # of the body, ascending, header and branch among them


def loops(encoded: Encoded) -> list[Loop]:
    """Return the loops in the order of their headers, an inner one after the one around it.

    The natural loop of an edge from a block to an earlier one is that block and all that reach it without passing the header
    (Aho, Sethi and Ullman, Compilers, section 10.4); edges to the same header make one loop.
    """
    cfg = graph(encoded)
    predecessors: list[set[int]] = [set() for _ in cfg.successors]
    for block, blocks in enumerate(cfg.successors):
        for successor in blocks:
            predecessors[successor].add(block)
    members: dict[int, set[int]] = {}
    for block, blocks in enumerate(cfg.successors):
        for header in blocks:
            if header <= block:
                members.setdefault(header, {header}).update(_body(header, block, predecessors))
    found = [_loop(cfg.start, header, body) for header, body in members.items()]
    return sorted(found, key=lambda loop: (loop.header, -len(loop.instructions)))


def _body(header: int, last: int, predecessors: list[set[int]]) -> set[int]:
    """Return the blocks that reach `last` without passing the header."""
    body, stack = {header}, [last]
    while stack:
        block = stack.pop()
        if block not in body:
            body.add(block)
            stack += predecessors[block]
    return body


def _loop(start: list[int], header: int, body: set[int]) -> Loop:
    ranges = [np.arange(start[block], start[block + 1]) for block in sorted(body)]
    return Loop(start[header], tuple(int(i) for i in np.concatenate(ranges)))
