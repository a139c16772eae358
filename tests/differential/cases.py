"""One differential case: a program, a launch and a GPU; run on both engines and compared."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import isa
from sim.functional import execute
from sim.gpus.model import Gpu
from sim.launch import Launch
from sim.result import Result
from sim.trace import Trace
from tests.differential.gpus import tables
from tests.differential.programs import WORDS, listings

MEMORY = ("memory", "lsu", "shared", "l1", "interconnect", "l2", "dram")
EVERYTHING = (0, 10**9)  # the timeline of a whole run


@dataclass(frozen=True)
class Case:
    """What was drawn."""

    text: str
    blocks: int
    threads: int
    table: dict[str, Any]  # of the GPU

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print as hypothesis shows a failing case: a listing and a machine that a person can read."""
        printer.text(f"\n\n{self.text}\ngrid ({self.blocks},), block ({self.threads},)\n{overview(self.table)}\n")

    def trace(self) -> Trace:
        """Execute the program."""
        data = np.arange(WORDS, dtype=np.float32)
        return execute(Launch(isa.parse(self.text), (self.blocks,), (self.threads,), (data, np.float32(1.5))))

    def gpu(self) -> Gpu:
        return Gpu.from_table(self.table)


def overview(table: dict[str, Any]) -> str:
    """Return a GPU's table in a few lines."""
    units = " ".join(f"{name}={unit['latency']}" for name, unit in table["units"].items() if "latency" in unit)
    rows = [f"{name}: {table[name]}" for name in ("sms", "core", "pipes", "blocks", *MEMORY) if name in table]
    return "\n".join([*rows, f"latencies: {units}", f"limits: warps {table['limits']['warps']}, blocks {table['limits']['blocks']}"])


@st.composite
def cases(draw: Callable) -> Case:
    """Return a random case."""
    warps = draw(st.sampled_from((1, 1, 2, 2, 3, 4, 5, 8)))
    threads = warps * 32 - draw(st.sampled_from((0, 0, 0, 5, 31)))
    return Case(draw(listings()), draw(st.sampled_from((1, 2, 2, 3, 4, 6))), threads, draw(tables(warps)))


def check_account(result: Result, trace: Trace) -> None:
    """Assert that every warp-cycle and every issue slot has exactly one cause, and that what was executed was issued."""
    assert sum(result.stalls.values()) == result.counters["warp_cycles"] == result.stalls_by_instruction.sum()
    assert sum(result.issue_slots.values()) == result.counters["issue_slots"]
    assert result.stalls_by_instruction.min() >= 0
    assert min(result.issue_slots.values()) >= 0
    assert np.array_equal(result.issues_by_instruction, trace.executed)
    assert result.stalls["selected"] == result.counters["issue_active"]
