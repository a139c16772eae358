"""`Trace`: what was executed, and nothing about when.

Each warp's execution is a *path*: the static instructions it executed, in order, with the lanes that took part.
Warps that took the same path share one copy, so that a regular kernel of any size needs a few kilobytes. Memory
accesses are kept per warp, in the order of the path's entries that `logged` names: a base and a stride where the lanes'
addresses are evenly spaced, a row of 32 addresses where they are not.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isa.errors import UserError
from isa.program import Program
from isa.vocabulary import RZ, Operation
from sim.launch.launch import Launch
from sim.traces.hazard import Hazard

FLOPS = {Operation.FADD: 1, Operation.FMUL: 1, Operation.FFMA: 2}
ACCESSES = (Operation.LOAD, Operation.STORE, Operation.ATOM, Operation.MBARRIER, Operation.BULK_COPY, Operation.CLUSTER_BARRIER)
NUMBERED = (Operation.MBARRIER, Operation.CLUSTER_BARRIER)  # whose accesses name phases
# From this bit on, above an address or a row, the base has of SYNCS the number of a phase; of LDGSTS how many pieces its lines have beyond
# one each: what goes to another line of shared memory is a piece of its own.
PHASE_SHIFT = np.int64(32)
ADDRESS = (1 << 32) - 1
RANK_SHIFT = np.int64(24)  # in shared memory an address has from this bit on how many ranks of the cluster further on it is
FAR = 6  # bit of `Store.found` beside those of Spaces: shared memory of another block
# What the row in `scattered` of a bulk copy holds: its place in global memory, bytes, the place in shared memory, the phase or 0; of a
# tile, what lies inside: bytes of each row of the fastest dimension, then for four others how many, and so many bytes apart. TILED: 1 of
# a tile, 0 of bytes, of which there is one row.
SOURCE, BYTES, TARGET, PHASE, COUNTS, APART, TILED = 0, 1, 2, 3, 4, 8, 12
# Of a copy to several blocks of a cluster: RANKS has a bit of each; PHASES + rank the phase there, BLOCK which one copies.
RANKS, PHASES, BLOCK = 13, 14, 30
DIMENSIONS, COPY_LANES = 4, 0x7FFFFFFF  # dimensions beside the fastest; the row's columns as lanes
SCATTERED = np.int64(-(2**62))  # stride of an access whose addresses lie in `scattered`; its base is the row number


class TraceArrays(NamedTuple):
    """blocks = grid size in launch order; warps = warps per block; warp index = block * warps + warp within the block."""

    path_start: np.ndarray  # int64 [paths + 1] first entry of each path
    instruction: np.ndarray  # int32 [entries] static instruction
    mask: np.ndarray  # uint32 [entries] lanes that execute it (active and guard true; a BSYNC once more: all that go on); 0 = no lane
    warp_path: np.ndarray  # int32 [blocks * warps]
    access_start: np.ndarray  # int64 [blocks * warps + 1] first access of each warp
    access_base: np.ndarray  # int64 [accesses] byte address of lane 0, or row of `scattered`; more from bit PHASE_SHIFT on
    access_stride: np.ndarray  # int64 [accesses] bytes between lanes, or SCATTERED
    scattered: np.ndarray  # uint32 [rows, 32] byte addresses, all below 4 GiB; lanes outside the mask hold 0


def logged(program: Program) -> np.ndarray:
    """Return bool [n]: instructions whose addresses a trace keeps: LOAD, STORE, ATOM, and LDC with an address from a register."""
    kept: np.ndarray = np.isin(program.encoded.operation, ACCESSES) | names_lanes(program)
    return kept


def names_lanes(program: Program) -> np.ndarray:
    """Return bool [n]: loads of constants whose addresses a register names: for each lane its own, or, a uniform one, for all the same."""
    encoded = program.encoded
    named: np.ndarray = (encoded.operation == Operation.LDC) & (encoded.address_register >= 0) & (encoded.address_register != RZ)
    return named


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
    spun: int = 0  # warp instructions of waits for other warps' stores that were executed and left out: all rounds of a wait but one
    hazards: tuple[Hazard, ...] = ()  # what the checks that were asked for found
    printed: str = ""  # what the program's printf() wrote, in the order of execution; the first MiB, and how much more there was
    parted: np.ndarray | None = None  # int64 [n] executions whose guard was true in some active lanes, not in all; None: a file's trace

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
    def predicated_on_thread_instructions(self) -> int:
        return int(self.true_lanes.sum())

    def addresses(self, access: int, mask: int) -> dict[int, int]:
        """Return the byte address of each lane of `mask` in an access."""
        base, stride = int(self.arrays.access_base[access]), int(self.arrays.access_stride[access])
        lanes = [lane for lane in range(32) if mask >> lane & 1]
        if stride == SCATTERED:
            return {lane: int(self.arrays.scattered[base & ADDRESS, lane]) for lane in lanes}
        return {lane: (base + lane * stride) & ADDRESS for lane in lanes}

    def bytes_of_copy(self, access: int) -> int:
        """Return the bytes of a bulk copy that was executed, of a tile those of a row."""
        return int(self.arrays.scattered[int(self.arrays.access_base[access]), BYTES])

    @property
    def fp32_flops(self) -> int:
        """FP32 operations done by the lanes whose guard was true: FADD and FMUL one, FFMA two."""
        operations = self.program.encoded.operation
        return sum(flops * int(self.true_lanes[operations == operation].sum()) for operation, flops in FLOPS.items())


def instruction_of(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Return int32 and uint32 [accesses]: the static instruction of each access, and its mask."""
    arrays = trace.arrays
    kept = logged(trace.program)
    instruction, mask = np.zeros(len(arrays.access_base), np.int32), np.zeros(len(arrays.access_base), np.uint32)
    for path, (start, end) in enumerate(zip(arrays.path_start, arrays.path_start[1:], strict=False)):
        entries = start + np.flatnonzero(kept[arrays.instruction[start:end]])
        places = arrays.access_start[:-1][arrays.warp_path == path][:, None] + np.arange(len(entries))
        instruction[places], mask[places] = arrays.instruction[entries], arrays.mask[entries]
    return instruction, mask


def bulk_copies(trace: Trace) -> np.ndarray:
    """Return bool [accesses]: bulk copies that were executed; the base of each is its row of `scattered`."""
    instruction, mask = instruction_of(trace)
    found: np.ndarray = (trace.program.encoded.operation[instruction] == Operation.BULK_COPY) & (mask != 0)
    return found


def work_of_blocks(trace: Trace) -> np.ndarray:
    """Return int64 [blocks]: the warp instructions of each block, in launch order."""
    work: np.ndarray = np.diff(trace.arrays.path_start)[trace.arrays.warp_path].reshape(trace.launch.blocks, -1).sum(axis=1)
    return work
