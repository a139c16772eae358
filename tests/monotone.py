"""More of a resource, other things equal: does a run's median time grow by more than its noise? Which of it is known, and why.

Each field of every preset is tried with a few programs; from preset to preset they rotate, so that a field meets others there.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

import sim
from isa.errors import UserError
from sim.causes.sensitivity.steps import _value, variant
from sim.gpus.model import Gpu
from sim.gpus.unread import why_unread
from sim.launch.file import load_launch
from sim.traces.ensemble import members
from sim.traces.trace import Trace
from tests.listings import FOLDER

PROGRAMS = (
    *("collatz", "reduce_shared", "neighbour_race", "copy/copy_1_float", "copy/copy_4_float", "copy/copy_8_float4", "access/strided"),
    *(
        "access/random",
        "access/offset",
        "access/array_of_structures",
        "access/broadcast",
        "shared/transpose_naive",
        "shared/transpose_tile",
    ),
    *("atomics/histogram", "atomics/histogram_global", "sgemm/sgemm_4", "intervals/add_one", "fft/fft_1024_4", "intervals/mxv_lcs"),
    "volkov/ffma_ilp4",
)
MORE = (  # twice as much of it
    *("sms", "core.schedulers", "limits.warps", "limits.blocks", "limits.registers", "limits.shared_bytes", "lsu.depth"),
    *("l1.bytes", "l1.bytes_per_cycle", "l1.pending", "interconnect.request_bytes_per_cycle", "interconnect.response_bytes_per_cycle"),
    *("interconnect.depth", "l2.bytes", "l2.bytes_per_cycle", "dram.bandwidth", "dram.depth"),
)
LESS = (  # a tenth less of it; lsu.latency is a part of others, which stay: less of it is more of what is behind
    *("units.fp32.latency", "units.int32.latency", "memory.shared_load", "l1.latency", "l2.latency", "dram.latency"),
    *("blocks.start_latency", "blocks.retire_latency", "core.branch_latency", "core.barrier_latency", "lsu.interval"),
)
MEMBERS = 3
LEAST = 0.01  # of the time: what is less is no cause to act upon


class Slower(NamedTuple):
    """A run that more of a resource makes slower. share: of its time before."""

    gpu: str
    field: str
    program: str
    share: float


@cache
def ensemble(program: str) -> list[Trace]:
    """Return the members that a program is timed with."""
    return members(sim.execute(load_launch(FOLDER / f"{program}.sass").launch), MEMBERS)


def richer(gpu: Gpu) -> Iterator[tuple[str, Gpu]]:
    """Yield each field, and the GPU with more of the resource; not where nothing reads it, or where it cannot be more."""
    pipes = [f"pipes.{pipe}.lanes" for pipe in gpu.pipes]
    for field in (*MORE, *pipes, *LESS):
        value = _value(gpu, field)
        if not value or why_unread(gpu, field):
            continue
        better = value - max(value // 10, 1) if field in LESS else min(2 * value, 32) if field in pipes else 2 * value
        try:
            changed = variant(gpu, field, better)
        except UserError:
            continue
        if better != value:
            yield field, changed


def cycles(program: str, gpu: Gpu) -> np.ndarray:
    """Return int64 [MEMBERS], or none when the GPU cannot hold a block or lacks what the program needs."""
    try:
        return np.array([sim.simulate(trace, gpu, threads=1).cycles for trace in ensemble(program)], np.int64)
    except UserError:
        return np.zeros(0, np.int64)


@cache
def before(program: str, name: str) -> np.ndarray:
    """Return the cycles on a preset."""
    return cycles(program, sim.gpu(name))


def grown(program: str, name: str, changed: Gpu) -> float:
    """Return by what share the median on a preset grows when it is changed; 0 within noise, and when one of them cannot run it."""
    old, new = before(program, name), cycles(program, changed)
    if not len(old) or not len(new):
        return 0.0
    more, noise = np.median(new) - np.median(old), max(np.ptp(old), np.ptp(new), LEAST * np.median(old))
    return float(more / np.median(old)) if more > noise else 0.0


def pairs(name: str, programs: int) -> Iterator[tuple[str, Gpu, str]]:
    """Yield each field of a preset, the GPU with more of it, and a program to try: so many for each field."""
    turn = sim.gpus().index(name) * programs
    for number, (field, changed) in enumerate(richer(sim.gpu(name))):
        for k in range(programs):
            yield field, changed, PROGRAMS[(turn + 7 * number + k) % len(PROGRAMS)]


def slower(name: str, programs: int) -> list[Slower]:
    """Return what more makes slower by more than noise on a preset, each field with so many of the programs."""
    tried = ((field, program, grown(program, name, changed)) for field, changed, program in pairs(name, programs))
    return [Slower(name, field, program, share) for field, program, share in tried if share]
