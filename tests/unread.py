"""Every field of a GPU changed in one run: whether anything in the result is different, and what the report says of it."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

import sim
from isa.errors import UserError
from sim.causes.sensitivity.steps import variant
from sim.gpus.model import Gpu
from sim.lowering.unread import why_unread_by
from sim.lowering.used import used_by
from sim.result.result import Result
from sim.traces.trace import Trace
from tests.fields import LABELS, candidates

MOST = 5  # values of a field
ARRAYS = ("stalls_by_instruction", "issues_by_instruction", "block_starts", "block_ends", "clock_reads")


class Change(NamedTuple):
    """What one value of a field does to a run. differs: in anything that the result holds; says: why it is not read, "" = nothing."""

    field: str
    value: Any
    differs: bool
    says: str


def is_equal(a: Result, b: Result) -> bool:
    """Return whether two runs are the same: all times, counters and accounts."""
    return (
        (a.cycles, a.elapsed_cycles, a.seconds, a.counters, a.stalls, a.issue_slots, a.occupancy)
        == (b.cycles, b.elapsed_cycles, b.seconds, b.counters, b.stalls, b.issue_slots, b.occupancy)
        and all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ARRAYS)
    )  # fmt: skip


class Machine:
    """A GPU, and its changed copies, each made once: checking all numbers of one takes as long as to time a small program."""

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self.made: dict[tuple[str, int], Gpu | None] = {}

    def changed(self, name: str, place: int, value: Any) -> Gpu | None:
        """Return the GPU with a field's value, the one at `place` of its candidates; None when no GPU has it."""
        if (name, place) not in self.made:
            self.made[name, place] = None
            with suppress(UserError):
                self.made[name, place] = self.gpu.replace(value) if isinstance(value, dict) else variant(self.gpu, name, value)
        return self.made[name, place]


def changes(trace: Trace, machine: Machine) -> Iterator[Change]:
    """Yield each field of a GPU with some other values that the run can have."""
    gpu = machine.gpu
    before = sim.simulate(trace, gpu, threads=1)
    for name in gpu.names():
        if name in (*LABELS, "core.warp_size", "core.kind", "memory.kind"):  # other programs; other counters
            continue
        tried = 0
        for place, value in enumerate(candidates(gpu, name)):
            if (changed := machine.changed(name, place, value)) is None:
                continue
            try:
                after = sim.simulate(trace, changed, threads=1)
            except UserError:
                continue
            yield Change(name, value, not is_equal(before, after), why_unread_by(changed, name, after.words, used_by(after)))
            tried += 1
            if tried == MOST:
                break
