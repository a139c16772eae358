"""One differential case: a program, a launch and a GPU; run on both engines and compared."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st

import isa
from isa.program import Control
from sim import timing
from sim.causes.explain import Recording, why
from sim.causes.explain.segments import segments
from sim.functional import execute
from sim.gpus.model import Gpu
from sim.launch.launch import Launch
from sim.result.causes import CAUSE_NAMES
from sim.result.result import Result
from sim.traces.trace import Trace
from tests.compare import first_difference
from tests.differential.gpus import tables
from tests.differential.programs import WORDS, listings

MEMORY = ("memory", "lsu", "shared", "l1", "interconnect", "l2", "dram")
ASKED = 4  # waits of a run whose chains are checked
EVERYTHING = (0, 10**9)  # the timeline of a whole run


@dataclass(frozen=True)
class Case:
    """What was drawn."""

    text: str
    blocks: int
    threads: int
    table: dict[str, Any]  # of the GPU
    words: int = 0  # seed of the control words; 0 = none

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print as hypothesis shows a failing case: a listing and a machine that a person can read."""
        printer.text(
            f"\n\n{self.text}\ngrid ({self.blocks},), block ({self.threads},), control words of seed {self.words}\n{overview(self.table)}\n"
        )

    def trace(self, warp_size: int = 32) -> Trace:
        """Execute the program."""
        data, program = np.arange(WORDS, dtype=np.float32), isa.parse(self.text)
        if self.words:
            program = replace(program, control=control_words(len(program), self.words))
        constants = {3: np.linspace(0, 1, 512, dtype=np.float32)}
        arguments = data, np.float32(1.5)
        return execute(Launch(program, (self.blocks,), (self.threads,), arguments, constants=constants, warp_size=warp_size))

    def gpu(self) -> Gpu:
        return Gpu.from_table(self.table)


def overview(table: dict[str, Any]) -> str:
    """Return a GPU's table in a few lines."""
    units = " ".join(f"{name}={unit['latency']}" for name, unit in table["units"].items() if "latency" in unit)
    rows = [f"{name}: {table[name]}" for name in ("sms", "core", "pipes", "blocks", "fetch", "constants", *MEMORY) if name in table]
    return "\n".join([*rows, f"latencies: {units}", f"limits: warps {table['limits']['warps']}, blocks {table['limits']['blocks']}"])


@st.composite
def cases(draw: Callable) -> Case:
    """Return a random case."""
    warps = draw(st.sampled_from((1, 1, 2, 2, 3, 4, 5, 8)))
    threads = warps * 32 - draw(st.sampled_from((0, 0, 0, 5, 31)))
    words = draw(st.sampled_from((0, 1, 1))) * draw(st.integers(1, 10**6))
    return Case(draw(listings()), draw(st.sampled_from((1, 2, 2, 3, 4, 6))), threads, draw(tables(warps)), words)


def control_words(count: int, seed: int) -> Control:
    """Return random control words of that many instructions: engines must agree on careless ones too.

    Those of odd seeds let a warp issue nearly every cycle, so that register ports and the reuse cache decide.
    """
    rng, tight = np.random.default_rng(seed), seed % 2

    def barriers() -> np.ndarray:
        return rng.choice((-1,) * (9 if tight else 3) + (0, 1, 2, 5), count).astype(np.int8)

    stall = rng.choice((1,) * 7 + (2,) if tight else (0, 1, 1, 2, 4, 5, 13, 15), count)
    return Control(
        stall=stall.astype(np.int8),
        yield_=(rng.random(count) < (0.02 if tight else 0.3)).astype(np.uint8),
        write_barrier=barriers(),
        read_barrier=barriers(),
        wait_mask=rng.choice((0,) * (30 if tight else 3) + (1, 2, 3, 6, 36, 63), count).astype(np.uint8),
        reuse=rng.choice((0, 3, 7, 7, 7) if tight else (0, 0, 1, 2, 3, 7), count).astype(np.uint8),
        dual=((stall == 0) & (rng.random(count) < 0.5)).astype(np.uint8),
    )


def check_account(result: Result, trace: Trace) -> None:
    """Assert that every warp-cycle and every issue slot has exactly one cause, and that what was executed was issued."""
    assert sum(result.stalls.values()) == result.counters["warp_cycles"] == result.stalls_by_instruction.sum()
    assert sum(result.issue_slots.values()) == result.counters["issue_slots"]
    assert result.stalls_by_instruction.min() >= 0
    assert min(result.issue_slots.values()) >= 0
    assert np.array_equal(result.issues_by_instruction, trace.executed)
    assert result.stalls["selected"] == result.counters["issue_active"]


def check_engines(trace: Trace, gpu: Gpu) -> None:
    """Assert that both engines find the same, and that chains of causes have no gap."""
    recording = Recording(trace, gpu, EVERYTHING)
    assert first_difference(timing.simulate(trace, gpu, EVERYTHING), recording.result) is None
    check_chains(recording)


def check_chains(recording: Recording) -> None:
    """The critical path is as long as the run, without a gap; chains of some waits have no gap and the cause that was charged."""
    moments, cycles = recording.moments, recording.result.cycles
    path = list(segments(moments.end))
    assert sum(segment.cycles for segment in path) == moments.end.cycle == cycles
    assert all(segment.resource and segment.cycles > 0 for segment in path)
    for issue in (issue for issues in moments.issues.values() for issue in issues):
        assert issue.before is not None
        assert issue.before.cycle == issue.cycle
    rows = recording.result.timeline
    assert rows is not None
    waited = np.flatnonzero(rows.cycle > rows.since)
    for row in waited[:: 1 + len(waited) // ASKED].tolist():
        warp, since, eligible, cycle = (int(rows.block[row]), int(rows.warp[row])), rows.since[row], rows.eligible[row], rows.cycle[row]
        for asked in (int(since), int(cycle) - 1):
            chain = why(recording, warp, asked)
            assert chain.begin <= asked < chain.end <= chain.issue == cycle
            assert (chain.links[0].end, chain.links[-1].begin <= chain.begin) == (chain.end, True)
            assert all(one.begin == other.end for one, other in pairwise(chain.links))
            assert asked >= eligible or chain.cause == CAUSE_NAMES[rows.cause[row]]
