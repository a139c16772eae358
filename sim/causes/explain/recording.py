"""A run with everything that each moment had to wait for, and what is asked of it: whose work, which instruction, which lanes."""

import gc
import math
from collections.abc import Iterator
from contextlib import contextmanager
from operator import itemgetter

import numpy as np

from isa.errors import UserError
from isa.program import Instruction
from isa.vocabulary import PT, Operation
from sim.gpus.model import Gpu
from sim.reference import Session
from sim.reference.moments import Moment, Work
from sim.result.result import Result
from sim.traces.trace import Trace

MOST_SECONDS = 60.0
SCHEDULER_CYCLE, WARP_CYCLE, ISSUE = (
    5e-6,
    2.5e-6,
    30e-6,
)  # seconds of the SimPy engine; fitted to four runs, within a fifth of each


class Recording:
    """The moments of a run, computed by the SimPy engine. `check_size` says beforehand when that would take too long."""

    def __init__(self, trace: Trace, gpu: Gpu, timeline: tuple[int, int] | None = None) -> None:
        session = Session(trace, gpu, timeline, record=True)
        with no_collector():
            self.result = session.result()
        self.trace, self.gpu, self.program = trace, gpu, trace.program
        self.moments = session.record
        self._ends: dict[tuple[int, int], list[tuple[Moment, int]]] = {}  # of those asked for

    def _entry(self, work: Work) -> int:
        """Return the entry of the trace that a warp's work is for."""
        arrays, number = self.trace.arrays, work.block * self.trace.launch.warps_per_block + work.warp
        return int(arrays.path_start[arrays.warp_path[number]]) + work.step

    def instruction(self, work: Work) -> Instruction | None:
        """Return the instruction that the work was for; None for that of a block."""
        return None if work.step < 0 else self.program.instructions[int(self.trace.arrays.instruction[self._entry(work)])]

    def mask(self, work: Work) -> int:
        """Return the lanes that execute the instruction, as a mask of 32 bits."""
        return int(self.trace.arrays.mask[self._entry(work)])

    def parted_at(self, work: Work) -> Instruction | None:
        """Return the branch that parted the lanes that execute the instruction from others of the warp; None when all go together."""
        arrays, encoded = self.trace.arrays, self.program.encoded
        entry = self._entry(work)
        indices, masks = arrays.instruction[entry - work.step : entry], arrays.mask[entry - work.step : entry]
        here, guarded = arrays.mask[entry], encoded.guard[indices] != PT
        (together,) = np.nonzero(~guarded & (masks & here != 0) & (masks & ~here != 0))  # steps that they still took with others
        if not len(together):
            return None
        after = slice(together[-1] + 1, None)
        (branches,) = np.nonzero(guarded[after] & (encoded.operation[indices[after]] == Operation.BRA) & (masks[after] != 0))
        return self.program.instructions[int(indices[after][branches[0]])] if len(branches) else None

    def warp(self, warp: int | tuple[int, int]) -> tuple[int, int]:
        """Return (block, warp within it); a number counts warps in launch order. Raises UserError when there is none."""
        launch = self.trace.launch
        block, number = divmod(warp, launch.warps_per_block) if isinstance(warp, int) else warp
        if not (0 <= block < launch.blocks and 0 <= number < launch.warps_per_block):
            all_ = launch.blocks * launch.warps_per_block
            hint = f"{launch.blocks} blocks of {launch.warps_per_block} warps: 0 to {all_ - 1}, or a block and a warp in it"
            raise UserError(f"there is no warp {warp}", hint=hint)
        return block, number

    def ends_of_waits(self, block: int, warp: int) -> list[tuple[Moment, int]]:
        """Return (the end of each wait of a warp for one cause, the cycle after it). An issue takes its cycle, another end none."""
        if (block, warp) not in self._ends:
            issues = [(moment, moment.cycle + 1) for moment in self.issues(block, warp)]
            waits = [(moment, moment.cycle) for moment in self.moments.waits[block, warp]]
            end = self.moments.ends[block, warp]
            self._ends[block, warp] = [*sorted(issues + waits, key=itemgetter(1)), (end, end.cycle)]
        return self._ends[block, warp]

    def issues(self, block: int, warp: int) -> list[Moment]:
        """Return the issues of a warp, in order."""
        return self.moments.issues[block, warp]


@contextmanager
def no_collector() -> Iterator[None]:
    """Let Python not look for cycles among objects: moments have none, and looking through millions takes longer than making them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def seconds(result: Result) -> float:
    """Return about how long the SimPy engine takes for a run."""
    counters = result.counters
    schedulers = counters["sms_used"] * result.gpu.core.schedulers
    issues = counters["warp_instructions"]
    return counters["cycles"] * schedulers * SCHEDULER_CYCLE + counters["warp_cycles"] * WARP_CYCLE + issues * ISSUE


def check_size(result: Result) -> None:
    """Raise UserError for a run whose chains would take too long to find."""
    needed = seconds(result)
    if needed > MOST_SECONDS:
        blocks = int(math.prod(result.grid) * MOST_SECONDS / needed)
        raise UserError(
            f"this run is too long for chains of causes: the SimPy engine finds them, and would take about {needed:,.0f} s of at most "
            f"{MOST_SECONDS:.0f}",
            hint=f"launch {blocks:,} of its blocks (--grid), or shorten its loops" if blocks else "shorten its loops",
        )
