"""`Trace`: what was executed, and nothing about when.

Each warp's execution is a *path*: the static instructions it executed, in order, with the lanes that took part.
Warps that took the same path share one copy, so that a regular kernel of any size needs a few kilobytes. Memory
accesses are kept per warp, in the order of the path's LOAD, STORE and ATOM entries: a base and a stride where the lanes'
addresses are evenly spaced, a row of 32 addresses where they are not.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isa.errors import UserError
from isa.program import Program
from isa.vocabulary import Operation
from sim.launch import Launch

FLOPS = {Operation.FADD: 1, Operation.FMUL: 1, Operation.FFMA: 2}
SCATTERED = np.int64(-(2**62))  # stride of an access whose addresses lie in `scattered`; its base is the row number


class TraceArrays(NamedTuple):
    """blocks = grid size in launch order; warps = warps per block; warp index = block * warps + warp within the block."""

    path_start: np.ndarray  # int64 [paths + 1] first entry of each path
    instruction: np.ndarray  # int32 [entries] static instruction
    mask: np.ndarray  # uint32 [entries] lanes that execute it (active and guard true; a BSYNC once more: all that go on); 0 = no lane
    warp_path: np.ndarray  # int32 [blocks * warps]
    access_start: np.ndarray  # int64 [blocks * warps + 1] first access of each warp
    access_base: np.ndarray  # int64 [accesses] byte address of lane 0, or row of `scattered`
    access_stride: np.ndarray  # int64 [accesses] bytes between lanes, or SCATTERED
    scattered: np.ndarray  # uint32 [rows, 32] byte addresses, all below 4 GiB; lanes outside the mask hold 0


class NoProgressError(UserError):
    """Warps wait at barriers that the others of their block never reach: the trace cannot be timed."""

    def __init__(self, block: int) -> None:
        super().__init__(
            f"block {block} makes no progress: its warps wait at different barriers",
            hint="lanes of a warp that arrive at a BAR one group after the other are not modelled: each group counts as the warp",
        )


@dataclass(frozen=True)
class Trace:
    """The execution of one launch."""

    launch: Launch
    arrays: TraceArrays
    executed: np.ndarray  # int64 [n instructions] warp instructions executed, per static instruction
    active_lanes: np.ndarray  # int64 [n] lanes active (guard true or not), at BSYNC those that count there; summed over executions
    true_lanes: np.ndarray  # int64 [n] lanes active with the guard true, summed over executions

    @property
    def program(self) -> Program:
        return self.launch.program

    @property
    def warp_instructions(self) -> int:
        return int(self.executed.sum())

    @property
    def thread_instructions(self) -> int:
        return int(self.active_lanes.sum())

    @property
    def fp32_flops(self) -> int:
        """FP32 operations done by the lanes whose guard was true: FADD and FMUL one, FFMA two."""
        operations = self.program.encoded.operation
        return sum(flops * int(self.true_lanes[operations == operation].sum()) for operation, flops in FLOPS.items())
