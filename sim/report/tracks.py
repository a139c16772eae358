"""A recorded window warp by warp: the rows of `Timeline` in another order, and which earlier row each one waited for.

The page of `simtlab view` and the exports (Perfetto, Konata, tables) all start from these.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from isa.errors import UserError
from isa.program import Program
from isa.vocabulary import Operation, Space
from sim.result.result import Result, Timeline

FAR = (Space.GLOBAL, Space.GENERIC, Space.LOCAL)  # memory beyond the SM's shared memory


class Tracks(NamedTuple):
    """rows: issues, those of a warp next to each other and in order; warps: by SM, block and number."""

    rows: Timeline  # int64 [rows] each
    first: np.ndarray  # int64 [warps + 1] first row of each warp
    producer: np.ndarray  # int64 [rows] row whose result came last and kept this one waiting; -1 = none in the window
    dependence: np.ndarray  # int64 [rows] through which register or predicate, as `isa.dependences` numbers them; -1 = none


def recorded(result: Result) -> Timeline:
    """Return the timeline of a run. Raises UserError when none was recorded, or nothing issued in its window."""
    if result.timeline is None:
        raise UserError("this result has no timeline", hint="ask for one: sim.run(launch, gpu, timeline=(0, 500))")
    if not len(result.timeline.cycle):
        raise UserError(f"nothing issued in these cycles; the run ends at cycle {result.cycles}", hint="choose an earlier first cycle")
    return result.timeline


def tracks(result: Result, sms: Sequence[int] | None = None, until: int | None = None) -> Tracks:
    """Return the recorded window warp by warp. sms: which SMs, None = all. until: last cycle in which a wait may begin, None = any.

    Raises UserError when there is no timeline, or no such row.
    """
    timeline = recorded(result)
    order = np.lexsort((np.arange(len(timeline.cycle)), timeline.warp, timeline.block, timeline.sm))
    if until is not None:
        order = order[timeline.since[order] <= until]
    if sms is not None:
        order = order[np.isin(timeline.sm[order], sms)]
    if not len(order):
        raise UserError(f"nothing issued there in the window; the run used SMs {timeline.sm.min()} to {timeline.sm.max()}")
    rows = Timeline(*(column[order] for column in timeline))
    changes = np.flatnonzero(np.diff(rows.block) | np.diff(rows.warp) | np.diff(rows.sm)) + 1
    first = np.concatenate([[0], changes, [len(order)]])
    uses = dependences(result.program)
    wakes = rows.eligible if result.gpu.core.wake_rule == "all_outstanding" else rows.since
    found = [
        producers(uses, *(column[a:b].tolist() for column in (rows.instruction, rows.ready, rows.since, wakes)))
        for a, b in zip(first[:-1].tolist(), first[1:].tolist(), strict=True)
    ]
    producer = np.array([a + row if row >= 0 else -1 for a, warp in zip(first, found, strict=False) for row, _ in warp], np.int64)
    return Tracks(rows, first, producer, np.array([name for warp in found for _, name in warp], np.int64))


class Uses(NamedTuple):
    """What each instruction depends on; numbers of `isa.dependences`."""

    needs: list[list[int]]  # read or written
    writes: list[list[int]]


def dependences(program: Program) -> Uses:
    """Return what each instruction reads and writes."""
    writes = [[int(name) for name in row if name >= 0] for row in program.encoded.writes]
    reads = [[int(name) for name in row if name >= 0] for row in program.encoded.reads]
    return Uses([[*needed, *mine] for needed, mine in zip(reads, writes, strict=True)], writes)


def producers(
    uses: Uses, instruction: list[int], ready: list[int], since: list[int], wakes: list[int] | None = None
) -> list[tuple[int, int]]:
    """Return for each issue of one warp the earlier issue whose result came last and kept it waiting, and through which dependence.

    -1, -1 when no result did. instruction, ready, since: of the warp's issues, in order, as in `Timeline`. wakes: the cycle until which
    each waited, where a warp that waits goes on when all its results are there: the last of them is named, whoever needs it.
    """
    back: dict[int, int] = {}  # dependence -> the row that wrote it last
    coming: dict[int, int] = {}  # cycle in which a result is there -> its row
    found = []
    for row, i in enumerate(instruction):
        late = [(ready[back[name]], name) for name in uses.needs[i] if name in back and ready[back[name]] > since[row]]
        there, last = max(late, key=lambda pair: pair[0], default=(0, -1))
        maker = back[last] if last >= 0 else -1
        if wakes and last >= 0 and there < wakes[row] and wakes[row] in coming:
            maker = coming[wakes[row]]
            last = uses.writes[instruction[maker]][0]
        found.append((maker, last))
        back.update(dict.fromkeys(uses.writes[i], row))
        if uses.writes[i]:
            coming[ready[row]] = row
    return found


def far_loads(program: Program) -> np.ndarray:
    """Return bool [instructions]: which load from beyond shared memory, or are atomics with a result."""
    encoded = program.encoded
    returns = np.isin(encoded.operation, (Operation.LOAD, Operation.ATOM)) & (encoded.writes >= 0).any(axis=1)
    return returns & np.isin(encoded.space, FAR)


def in_flight(result: Result, rows: Timeline) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that are loads from beyond shared memory, and the bytes their lanes asked for: in flight from `cycle` to `ready`."""
    chosen = np.flatnonzero(far_loads(result.program)[rows.instruction] & (rows.lanes > 0))
    return chosen, rows.lanes[chosen] * result.program.encoded.width[rows.instruction[chosen]].astype(np.int64)


def steps(at: np.ndarray, change: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (cycle, value from that cycle on) of a quantity that begins at 0 and changes by `change` in the cycles `at`."""
    cycles, place = np.unique(at, return_inverse=True)
    return cycles, np.cumsum(np.bincount(place, weights=change)).astype(np.int64)
