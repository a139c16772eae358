"""`Result`: what a run found, as values. Nothing here computes timing; `sim.report` turns it into words and figures."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isa.errors import UserError
from isa.program import Program
from sim.gpus.model import Gpu
from sim.gpus.occupancy import Occupancy
from sim.result.causes import CAUSE_NAMES
from sim.result.sample import Sample
from sim.result.words import Words
from sim.traces.trace import Trace


class Timeline(NamedTuple):
    """One row per issue inside the window asked for, in order of issue. All int64 [rows]."""

    cycle: np.ndarray  # of issue
    sm: np.ndarray
    scheduler: np.ndarray
    block: np.ndarray  # in launch order
    warp: np.ndarray  # within the block
    instruction: np.ndarray  # static
    lanes: np.ndarray  # how many executed it
    dispatched: np.ndarray  # first cycle after its port was held
    ready: np.ndarray  # first cycle in which a dependent instruction may issue
    since: np.ndarray  # first cycle of the wait before it (the cycle after the warp's previous issue)
    eligible: np.ndarray  # first cycle in which only the choice of the scheduler or a held port kept it back
    cause: np.ndarray  # StallCause of [since, eligible)


class Phases(NamedTuple):
    """Phases of the barriers in shared memory (`mbarrier`) of a run, by block, barrier and time. All int64 [phases].

    What counts is what the run executed: the last phase of a barrier may have been left with arrivals still missing.
    """

    block: np.ndarray  # in launch order
    barrier: np.ndarray  # byte address in shared memory
    begun: np.ndarray  # cycle in which the first arrival or byte counts
    over: np.ndarray  # cycle in which the last one that came does


@dataclass(frozen=True)
class Result:
    """The outcome of one launch on one GPU.

    cycles: ALU-clock cycles from the first block's start to the last block's end. elapsed_cycles: plus the launch
    overhead. counters: by the names in the README, meanings as Nsight Compute's. stalls: warp-cycles per cause; they sum
    to counters["warp_cycles"]. issue_slots: scheduler-cycles per cause; they sum to counters["issue_slots"].
    stalls_by_instruction: int64 [instruction, cause], warp-cycles charged to the instruction that waited.
    issues_by_instruction: int64 [instruction], warp instructions issued. words: which control words the run obeyed.
    phases: of a program with `mbarrier`s on a GPU with a memory hierarchy, else None.
    """

    program: Program
    gpu: Gpu
    occupancy: Occupancy
    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    engine: str
    cycles: int
    elapsed_cycles: int
    counters: dict[str, float]
    stalls: dict[str, int]
    issue_slots: dict[str, int]
    stalls_by_instruction: np.ndarray
    issues_by_instruction: np.ndarray
    clock_reads: np.ndarray  # int64 [reads, 4]: cycle, block, warp, instruction of each clock read
    block_starts: np.ndarray = field(repr=False)  # int64 [blocks] cycle in which each block starts, in launch order
    block_ends: np.ndarray = field(repr=False)  # int64 [blocks] cycle in which its last warp has ended
    timeline: Timeline | None = None
    phases: Phases | None = None
    words: Words = field(default_factory=Words)
    sample: Sample | None = None  # of a sampled run: what was executed and timed, and the bars of what is estimated from it
    trace: Trace | None = field(default=None, repr=False, compare=False)  # what was timed, for `why` and `critical_path`
    explain: Callable[[], Any] | None = field(
        default=None, repr=False, compare=False
    )  # returns `sim.causes.explain`, a room above this one

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy in another process needs: not the trace, which may be large, nor what was found from it."""
        return {name: value for name, value in vars(self).items() if name != "recording"} | {"trace": None}

    @cached_property
    def recording(self) -> Any:
        """The same run with everything that each event had to wait for, a `sim.causes.explain.Recording`.

        Raises UserError for a run that is too long, and for a result without its trace.
        """
        if self.sample is not None:
            raise UserError("a sampled run has no moments that could be explained", hint="run a smaller launch without a sample")
        if self.trace is None or self.explain is None:
            raise UserError("this result came without its trace", hint="take one that sim.run or sim.simulate has returned in this process")
        return self.explain().record(self)

    def why(self, warp: int | tuple[int, int], cycle: int) -> Any:
        """Return why a warp did not issue in a cycle: the chain of causes, back to hardware that was busy. Print it, or take its links.

        warp: its number in launch order, or (block, warp within the block). The first call times the run once more, with the SimPy
        engine. Raises UserError for a warp or a cycle that is none, and for a run that is too long.
        """
        return self.recording.why(warp, cycle)

    def longest_wait(self, warp: int | tuple[int, int] | None = None) -> Any:
        """Return the longest wait of a warp, or, of None, the longest on the critical path, as `why` does."""
        return self.recording.longest_wait(warp)

    def critical_path(self) -> Any:
        """Return what the run's length is made of: the hardware that was busy, without a gap, from cycle 0 to the end.

        Raises UserError for a run that is too long.
        """
        return self.recording.critical_path()

    @property
    def printed(self) -> str:
        """What the program's printf() wrote, in the order of execution: `trace.printed`; nothing of a result without its trace."""
        return self.trace.printed if self.trace is not None else ""

    @property
    def seconds(self) -> float:
        """Run time at the preset's clock, launch overhead included."""
        return self.elapsed_cycles / (self.gpu.clock.core_mhz * 1e6)

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the timeline as plain values, ready for JSON."""
        return {
            "name": self.name,
            "gpu": self.gpu.name,
            "engine": self.engine,
            "grid": list(self.grid),
            "block": list(self.block),
            "cycles": self.cycles,
            "elapsed_cycles": self.elapsed_cycles,
            "seconds": self.seconds,
            "counters": self.counters,
            "stalls": self.stalls,
            "issue_slots": self.issue_slots,
            "instructions": [
                {
                    "index": i.index,
                    "line": i.line,
                    "text": i.text,
                    "issues": int(self.issues_by_instruction[i.index]),
                    "stalls": {name: int(n) for name, n in zip(CAUSE_NAMES, self.stalls_by_instruction[i.index], strict=True) if n},
                }
                for i in self.program.instructions
            ],
            "clock_reads": self.clock_reads.tolist(),
            "printed": self.printed,
            "control_words": self.words.kind,
            "control_words_hold": list(self.words.fields),
        } | ({} if self.sample is None else {"sample": self.sample.as_dict()})

    def to_json(self, path: str | Path) -> None:
        """Write `as_dict()` to `path`."""
        Path(path).write_text(json.dumps(self.as_dict(), indent=1) + "\n")


def named(causes: np.ndarray, names: tuple[str, ...] = CAUSE_NAMES) -> dict[str, int]:
    """Return the non-zero entries of a per-cause array by name, in the order of the vocabulary."""
    return {name: int(n) for name, n in zip(names, causes, strict=True) if n}
