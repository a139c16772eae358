"""Barriers in shared memory as the timing engines see them: instructions that count for a phase, and instructions that wait for one.

The trace says which phase (`sim.traces.trace.PHASE_SHIFT`), so the engines need no values: a phase is over when as many instructions have
been carried out as counted for it when the program was executed.
"""

from collections.abc import Sequence

import numpy as np

from isa.errors import UserError
from isa.program import Program
from isa.vocabulary import Flag, Mbarrier, Operation, Unit
from sim.gpus.model import Gpu
from sim.gpus.path import LINE, SECTOR
from sim.lowering.memory import SECTORS
from sim.result.causes import RESULT_CAUSE, StallCause
from sim.result.result import Phases
from sim.traces.trace import (
    ADDRESS,
    APART,
    BYTES,
    DIMENSIONS,
    NUMBERED,
    PHASE,
    PHASE_SHIFT,
    PHASES,
    RANK_SHIFT,
    RANKS,
    SOURCE,
    Trace,
    bulk_copies,
    instruction_of,
)
from sim.traces.trace import COUNTS as ROWS

MOST_RANKS = 16  # blocks of a cluster
NO_PHASE, COUNTS, WAITS = range(3)  # Op.phase
# Op.copies: COPY_NEAR is from shared memory of one block to that of another; the last two are the barrier of a cluster
NO_COPY, COPY_IN, COPY_OUT, COPY_NEAR, CLUSTER_ARRIVES, CLUSTER_WAITS = range(6)
MBARRIER = int(Operation.MBARRIER)  # a plain integer: members take long to name
COPYING = (int(Operation.BULK_COPY), int(Operation.CLUSTER_BARRIER))


def phase_use(program: Program, i: int) -> int:
    """Return what instruction i has to do with a phase: NO_PHASE, COUNTS or WAITS."""
    if program.encoded.operation[i] != MBARRIER or program.encoded.function[i] == Mbarrier.SET:
        return NO_PHASE
    return WAITS if program.encoded.function[i] == Mbarrier.CHECK else COUNTS


def counts_for_phase(program: Program, i: int) -> bool:
    """Return whether instruction i counts for a phase, of an mbarrier or of the barrier of a cluster."""
    return phase_use(program, i) == COUNTS or copies(program, i) == CLUSTER_ARRIVES


def answers_nothing(program: Program, i: int) -> bool:
    """Return whether instruction i is a SYNCS without a result: over, like a store, when the load/store unit has done with it."""
    encoded = program.encoded
    return bool(encoded.operation[i] == MBARRIER and phase_use(program, i) != WAITS and not (encoded.writes[i] >= 0).any())


def result_cause(program: Program, i: int) -> StallCause:
    """Return what a warp waits for that waits for the result of instruction i; of a phase as Nsight Compute counts it on an H100."""
    far = program.encoded.flags[i] & int(Flag.CLUSTER) and program.encoded.operation[i] in (Operation.LOAD, Operation.ATOM)
    slow = phase_use(program, i) == WAITS or copies(program, i) == COPY_OUT or far
    return StallCause.LONG_SCOREBOARD if slow else RESULT_CAUSE[Unit(program.encoded.unit[i])]


def copies(program: Program, i: int) -> int:
    """Return NO_COPY, COPY_IN of a bulk copy whose lines count for a phase when they are there, or COPY_OUT."""
    operation = program.encoded.operation[i]
    if operation not in COPYING:
        return NO_COPY
    if operation == Operation.CLUSTER_BARRIER:
        return CLUSTER_WAITS if program.encoded.function[i] else CLUSTER_ARRIVES
    if program.encoded.function[i] == 0 and program.encoded.flags[i] & int(Flag.CLUSTER):
        return COPY_NEAR
    return COPY_OUT if program.encoded.function[i] & 1 else COPY_IN


def reduces(program: Program, i: int) -> bool:
    """Return whether instruction i is a bulk copy that is reduced into global memory, by the atomic units of L2."""
    return copies(program, i) == COPY_OUT and bool(program.encoded.combine[i])


def barriers_of_phases(trace: Trace, phases: int) -> np.ndarray:
    """Return int64 [2, phases]: the block of each phase's barrier, and its address in shared memory; -1: no thread of the block uses it."""
    found = np.full((2, phases), -1, np.int64)
    used = trace.program.encoded.operation == Operation.MBARRIER
    if phases < 2 or not used.any():
        return found
    arrays, (instruction, mask) = trace.arrays, instruction_of(trace)
    near = used[instruction] & (mask != 0) & ((arrays.access_base & ADDRESS) >> RANK_SHIFT == 0)
    warp = np.repeat(np.arange(len(arrays.warp_path)), np.diff(arrays.access_start))
    phase = arrays.access_base[near] >> PHASE_SHIFT
    found[:, phase] = warp[near] // trace.launch.warps_per_block, arrays.access_base[near] & ADDRESS
    found[:, 0] = -1
    return found


def phases_of(trace: Trace, left: Sequence[int], begun: Sequence[int], over: Sequence[int]) -> Phases | None:
    """Return the phases for which all has counted that the trace holds, None where there are none.

    left, begun, over: by phase, as an engine has counted them at the end; cycles.
    """
    block, barrier = barriers_of_phases(trace, len(left))
    moments = np.array([begun, over], np.int64)
    shown = np.flatnonzero((block >= 0) & (np.array(left) == 0) & (moments[1] > 0))
    order = shown[np.lexsort((shown, barrier[shown], block[shown]))]
    return Phases(block[order], barrier[order], *moments[:, order]) if len(order) else None


def lines_of_row(row: list[int]) -> list[tuple[int, int]]:
    """Return the lines that a copy asks for, with a mask of their sectors: of a tile those of each row. row: of the trace."""
    if not row[BYTES]:
        return []
    starts = starts_of_rows(row[SOURCE], row[ROWS : ROWS + DIMENSIONS], row[APART : APART + DIMENSIONS])
    return [line for start in starts.tolist() for line in lines_of_copy(start, row[BYTES])]


def starts_of_rows(source: int, counts: Sequence[int], apart: Sequence[int]) -> np.ndarray:
    """Return int64 [rows]: where the rows of a tile begin, the second dimension the fastest."""
    starts = np.array([source], np.int64)
    for count, distance in zip(counts, apart, strict=True):
        starts = (starts + np.arange(count, dtype=np.int64)[:, None] * distance).ravel()
    return starts


def lines_of_copy(source: int, size: int) -> list[tuple[int, int]]:
    """Return the 128-byte lines of bytes in a row, with a mask of their sectors."""
    first, end = source // SECTOR, -(-(source + size) // SECTOR)
    lines = range(first // SECTORS, -(-end // SECTORS))
    whole = (1 << SECTORS) - 1
    return [(n, whole & (whole << max(first - SECTORS * n, 0)) & (whole >> max(SECTORS * n + SECTORS - end, 0))) for n in lines]


def lines_of_rows(rows: np.ndarray) -> np.ndarray:
    """Return int64 [copies]: how many lines bulk copies ask for. rows: int64 [copies, 32], of the trace."""
    where = np.arange(APART, APART + DIMENSIONS)
    alike = rows.copy()  # copies that differ by whole lines ask for as many
    alike[:, [SOURCE, *where]] %= LINE
    alike, which = np.unique(alike[:, [SOURCE, BYTES, *range(ROWS, ROWS + DIMENSIONS), *where]], axis=0, return_inverse=True)
    found = np.zeros(len(alike), np.int64)
    for k, (source, size, *rest) in enumerate(alike.tolist()):
        starts = starts_of_rows(source, rest[:DIMENSIONS], rest[DIMENSIONS:])
        found[k] = (-(-(starts + size) // LINE) - starts // LINE).sum() if size else 0
    return found[which.reshape(-1)]


def counts_of_phases(trace: Trace, gpu: Gpu) -> np.ndarray:
    """Return int64 [phases + 1]: how many warp instructions, and lines of bulk copies, count for each phase; phase 0 is none.

    Raises UserError for a GPU of fixed latencies, which has no unit that could wait.
    """
    encoded = trace.program.encoded
    barriers, bulk = np.isin(encoded.operation, NUMBERED), encoded.operation == Operation.BULK_COPY
    if not (barriers | bulk).any():
        return np.zeros(1, np.int64)
    if gpu.memory.kind == "fixed":
        line = trace.program.instructions[int(np.argmax(barriers | bulk))].line
        raise UserError(
            "barriers in shared memory and bulk copies (SYNCS, UBLKCP) need a GPU with a memory hierarchy",
            path=trace.program.path,
            line=line,
            hint='set memory.kind = "hierarchy", or take h100 or h200',
        )
    instruction, mask = instruction_of(trace)
    phase = np.where(barriers[instruction], trace.arrays.access_base >> PHASE_SHIFT, 0)
    counting = np.array([counts_for_phase(trace.program, i) for i in range(len(trace.program))])[instruction] & (mask != 0)
    found = bulk_copies(trace)
    rows = trace.arrays.scattered[trace.arrays.access_base[found]].astype(np.int64)
    near = np.array([copies(trace.program, i) == COPY_NEAR for i in range(len(trace.program))])[instruction[found]]
    lines = np.where(near, 1, lines_of_rows(rows))
    several = rows[:, [PHASE, *range(PHASES, PHASES + MOST_RANKS)]] * np.where(
        np.arange(MOST_RANKS + 1) > 0, rows[:, RANKS, None] > 0, True
    )
    most = max(int(phase.max(initial=0)), int(several.max(initial=0)))
    counts = np.bincount(phase[counting], minlength=most + 1)
    counts += np.bincount(several.ravel(), np.repeat(lines, MOST_RANKS + 1), most + 1).astype(np.int64)
    counts[0] = 0
    return counts
