"""What a worker does, in whichever process it lives: execute a launch once, time its trace on variants of GPUs, return rows."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from isa.errors import UserError
from sim.functional import execute
from sim.gpus.clocks import SET_BY_USER
from sim.gpus.model import Gpu
from sim.launch.copies import copied
from sim.launch.launch import Launch
from sim.lowering.clock import not_reached
from sim.lowering.rescheduling import worded
from sim.lowering.unread import why_unread_by
from sim.lowering.used import used_by
from sim.result.causes import CAUSE_NAMES, SLOT_CAUSE_NAMES
from sim.result.result import Result
from sim.timing import simulate
from sim.traces.ensemble import members
from sim.traces.trace import Trace

Row = dict[str, Any]
FIRST = (
    *("key", "error", "control_words", "not_read", "cycles", "cycles_median", "cycles_low", "cycles_high", "elapsed_cycles", "seconds"),
    *("resident_blocks", "resident_warps", "limiters"),
)  # columns of a table
LAST = (*(f"stall_{name}" for name in CAUSE_NAMES), *(f"slot_{name}" for name in SLOT_CAUSE_NAMES))


_kept: dict[tuple[int, int], tuple[Trace, list[Trace]]] = {}  # by identity of the trace's arrays, which are kept alive here


class Job(NamedTuple):
    """One point to simulate: the name of its row, the name of its GPU, what it changes of that; words: of the launch, "" = as it says."""

    key: str
    gpu: str
    changes: dict[str, Any]
    words: Literal["", "keep", "schedule"] = ""
    repeat: int = 1  # members of the ensemble


class Failure(NamedTuple):
    """Why a launch could not be made or executed, in place of it or its trace."""

    message: str


def executed(launch: Launch | Failure) -> Trace | Failure:
    """Execute a launch on copies of its arrays, so that it can be executed again; the trace, or why there is none."""
    if isinstance(launch, Failure):
        return launch
    try:
        return execute(copied(launch), threads=1)
    except UserError as error:
        return Failure(str(error))


def evaluated(trace: Trace | Failure, gpus: Mapping[str, Gpu], jobs: Sequence[Job]) -> tuple[list[Row], float]:
    """Return a row per job, and the seconds that they took."""
    start = time.perf_counter()
    rows = [{"key": job.key} | evaluate(trace, gpus[job.gpu], job) for job in jobs]
    return rows, time.perf_counter() - start


def evaluate(trace: Trace | Failure, gpu: Gpu, job: Job) -> Row:
    """Return what a run of `trace` on the changed GPU finds; a point that cannot be has only an error."""
    if isinstance(trace, Failure):
        return {"error": trace.message}
    try:
        wanted = worded(trace, job.words) if job.words else trace
        changed = gpu.replace(job.changes)
        result = simulate(wanted, changed, threads=1)  # a sweep gives the other cores to other points
        used = used_by(result)
        mine = [name for name, source in changed.source.items() if source.text.startswith(f"{SET_BY_USER};")]  # here, or before the sweep
        unread = {name: why_unread_by(changed, name, result.words, used) for name in mine}
        if "clock.core_mhz" in unread:
            unread["clock.core_mhz"] = not_reached(changed, result.gpu)
        spread = _spread([result.cycles, *(simulate(one, changed, threads=1).cycles for one in _others(wanted, job.repeat))])
        return row(result) | spread | {"not_read": "; ".join(f"{name} {why}" for name, why in unread.items() if why) or None}
    except UserError as error:
        return {"error": str(error)}


def _spread(cycles: list[int]) -> Row:
    """Return the columns of an ensemble's cycles, none of a single run."""
    low, high = min(cycles), max(cycles)
    return {"cycles_median": float(np.median(cycles)), "cycles_low": low, "cycles_high": high} if len(cycles) > 1 else {}


def _others(trace: Trace, repeat: int) -> list[Trace]:
    """Return the members but the first, made once for the points that follow each other."""
    if repeat < 2:
        return []
    key = (id(trace.arrays), repeat)
    found = _kept.get(key)
    if found is None:
        found = trace, members(trace, repeat)[1:]
        _kept.clear()  # a worker of Dask may have threads: each has what it found
        _kept[key] = found
    return [worded(one, trace.launch.control_words) for one in found[1]]


def row(result: Result) -> Row:
    """Return a result as one row of a table: cycles, counters, `stall_` warp-cycles and `slot_` issue slots by cause."""
    return {
        "error": None,
        "control_words": result.words.kind,
        "cycles": result.cycles,
        "elapsed_cycles": result.elapsed_cycles,
        "seconds": result.seconds,
        "resident_blocks": result.occupancy.blocks,
        "resident_warps": result.occupancy.warps,
        "limiters": " ".join(result.occupancy.limiters),
        **{name: value for name, value in result.counters.items() if name != "cycles"},
        **{f"stall_{name}": result.stalls.get(name, 0) for name in CAUSE_NAMES},
        **{f"slot_{name}": result.issue_slots.get(name, 0) for name in SLOT_CAUSE_NAMES},
    }
