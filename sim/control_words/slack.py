"""Cycles that stall counts lose: how far each could fall without breaking what `hazards` asks.

Counted within blocks, one after the other, so that the cycles found may be added up. Not counted are stall counts beside instructions of
variable latency, which keep time with queues, and before an instruction that waits on a counter: it would wait anyway. So this is the
least that could be saved, not the most.
"""

from collections.abc import Iterator

import numpy as np

from isa.program import Program
from isa.vocabulary import COUNTERS, PT
from sim.control_words.finding import INFORMATION, Finding
from sim.control_words.flow import Block
from sim.control_words.hazards import Analysis, State
from sim.control_words.latency import MOST_STALL

FIXED = ("alu", "fma", "wide", "half", "half_product", "vote", "pair_move", "uniform", "uniform_move", "uniform_load")
FLOOR = 2  # a stall of 2 may keep time with a pipe that takes a warp in two cycles, or with a counter


def slack(program: Program, analysis: Analysis) -> Iterator[Finding]:
    """Yield the instructions whose stall counts are larger than what follows in their block needs."""
    for block, entry in zip(analysis.blocks, analysis.states, strict=True):
        if entry is not None:
            yield from _of_block(program, analysis, block, entry)


def unset(program: Program) -> Iterator[Finding]:
    """Yield the instructions that wait on a dependence counter which no instruction of the program sets."""
    control = program.control
    assert control is not None
    used = {int(counter) for counter in np.concatenate([control.write_barrier, control.read_barrier])}
    for i, mask in enumerate(control.wait_mask):
        idle = [counter for counter in range(COUNTERS) if mask >> counter & 1 and counter not in used]
        if idle:
            what = program.instructions[i]
            names = ", ".join(f"SB{counter}" for counter in idle)
            message = f"waits on {names}, which no instruction of {program.name} sets"
            yield Finding(
                INFORMATION, "unset", i, what.line, what.text, message, "drop the wait, or set the counter where the result is made"
            )


def _of_block(program: Program, analysis: Analysis, block: Block, entry: State) -> Iterator[Finding]:
    first, last, spare = _bounds(analysis, block, entry)
    for i in range(block.start, block.end - 1):
        if analysis.classes.names[i] not in FIXED or i + 1 in analysis.variable or analysis.waits(i + 1):
            continue
        spans = (first <= i) & (i < last)
        saved = min(int(spare[spans].min(initial=MOST_STALL)), analysis.cycles[i] - FLOOR)
        if saved > 0:
            what, stall = program.instructions[i], analysis.cycles[i]
            message = f"its stall count of {stall} is {saved} more than what follows in its block needs"
            yield Finding(INFORMATION, "slack", i, what.line, what.text, message, f"a stall of {stall - saved} would do", saved)
            spare[spans] -= saved


def _bounds(analysis: Analysis, block: Block, entry: State) -> tuple[np.ndarray, ...]:
    """Return, of each producer and consumer in a block, both instructions and the cycles by which they are further apart than needed.

    Behind the block each result is taken to be wanted at once, by what needs it soonest of all.
    """
    now, found = 0, []
    issued = {key: (block.start, -age) for key, age in entry.fixed.items()}  # key -> (where its stall counts begin, when it issued)
    for i in range(block.start, block.end):
        if i not in analysis.never:
            for (written, producer), (start, then) in issued.items():
                if written in analysis.reads[i]:
                    needed = analysis.needed(producer, i, written)
                    found.append((start, i, 0 if needed is None else now - then - needed))
                if written in analysis.writes[i]:
                    found.append((start, i, now - then - analysis.needed_between(producer, i, written)))
            if analysis.encoded.guard[i] == PT:
                issued = {key: when for key, when in issued.items() if key[0] not in analysis.writes[i]}
            if i not in analysis.variable:
                issued |= {(written, i): (i, now) for written in analysis.writes[i]}
        now += analysis.cycles[i]
    for (written, producer), (start, then) in issued.items():
        found.append((start, block.end, max(now - then - analysis.longest(producer, written), 0)))
    return tuple(np.array(found, dtype=np.int64).reshape(-1, 3).T.copy())
