"""What a worker does, in whichever process it lives: execute a launch once, time its trace on variants of GPUs, return rows."""

import dataclasses
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import isa
from isa.errors import UserError
from sim.functional import execute
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.launch import Launch
from sim.result import Result
from sim.timing import simulate
from sim.trace import Trace
from sim.vocabulary import CAUSE_NAMES, SLOT_CAUSE_NAMES

Row = dict[str, Any]
FIRST = ("key", "error", "cycles", "elapsed_cycles", "seconds", "resident_blocks", "resident_warps", "limiters")  # columns of a table
LAST = (*(f"stall_{name}" for name in CAUSE_NAMES), *(f"slot_{name}" for name in SLOT_CAUSE_NAMES))


class Job(NamedTuple):
    """One point to simulate: the name of its row, the name of its GPU, and what it changes of that."""

    key: str
    gpu: str
    changes: dict[str, Any]


class Failure(NamedTuple):
    """Why a launch could not be executed, in place of its trace."""

    message: str


def executed(launch: Launch) -> Trace | Failure:
    """Execute a launch on copies of its arrays, so that it can be executed again; the trace, or why there is none."""
    copies: dict[int, np.ndarray] = {}  # an array given twice stays one array
    args = tuple(copies.setdefault(id(a), a.copy()) if isinstance(a, np.ndarray) and a.ndim else a for a in launch.args)
    try:
        return execute(dataclasses.replace(launch, args=args))
    except UserError as error:
        return Failure(str(error))


def evaluated(trace: Trace | Failure, gpus: Mapping[str, Gpu], jobs: Sequence[Job]) -> tuple[list[Row], float]:
    """Return a row per job, and the seconds that they took."""
    start = time.perf_counter()
    rows = [{"key": job.key} | evaluate(trace, gpus[job.gpu], job.changes) for job in jobs]
    return rows, time.perf_counter() - start


def evaluate(trace: Trace | Failure, gpu: Gpu, changes: Mapping[str, Any]) -> Row:
    """Return what a run of `trace` on the changed GPU finds; a point that cannot be has only an error."""
    if isinstance(trace, Failure):
        return {"error": trace.message}
    try:
        return row(simulate(trace, gpu.replace(changes), threads=1))  # a sweep gives the other cores to other points
    except UserError as error:
        return {"error": str(error)}


def row(result: Result) -> Row:
    """Return a result as one row of a table: cycles, counters, `stall_` warp-cycles and `slot_` issue slots by cause."""
    return {
        "error": None,
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


def warm_up() -> None:
    """Compile or load the kernels, once, before processes are made of this one or many of them compile the same."""
    trace = executed(Launch(isa.parse(".kernel nothing\nEXIT"), grid=(1,), block=(32,)))
    assert isinstance(trace, Trace)
    simulate(trace, load("textbook"))
