"""`Result`: what a run found, as values. Nothing here computes timing; `sim.report` turns it into words and figures."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isa.program import Program
from sim.gpus.model import Gpu
from sim.gpus.occupancy import Occupancy
from sim.vocabulary import CAUSE_NAMES


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


@dataclass(frozen=True)
class Result:
    """The outcome of one launch on one GPU.

    cycles: ALU-clock cycles from the first block's start to the last block's end. elapsed_cycles: plus the launch
    overhead. counters: by the names in the README, meanings as Nsight Compute's. stalls: warp-cycles per cause; they sum
    to counters["warp_cycles"]. issue_slots: scheduler-cycles per cause; they sum to counters["issue_slots"].
    stalls_by_instruction: int64 [instruction, cause], warp-cycles charged to the instruction that waited.
    issues_by_instruction: int64 [instruction], warp instructions issued.
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
    timeline: Timeline | None = None

    @property
    def seconds(self) -> float:
        """Run time at the preset's clock, launch overhead included."""
        return self.elapsed_cycles / (self.gpu.clock.alu_mhz * 1e6)

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
        }

    def to_json(self, path: str | Path) -> None:
        """Write `as_dict()` to `path`."""
        Path(path).write_text(json.dumps(self.as_dict(), indent=1) + "\n")


def named(causes: np.ndarray, names: tuple[str, ...] = CAUSE_NAMES) -> dict[str, int]:
    """Return the non-zero entries of a per-cause array by name, in the order of the vocabulary."""
    return {name: int(n) for name, n in zip(names, causes, strict=True) if n}
