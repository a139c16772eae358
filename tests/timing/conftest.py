"""A toy GPU small enough to check by hand, and traces of straight-line programs that need no executor."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import isa
from sim import reference, timing
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.launch.launch import Launch
from sim.result.causes import CAUSE_NAMES
from sim.result.result import Result
from sim.traces.trace import Trace, TraceArrays, logged

Accesses = Sequence[tuple[int, int]]


def straight(program: isa.Program, blocks: int, warps: int, accesses: Accesses = (), masked: int | None = None) -> Trace:
    """Return the trace of a program without branches: every warp executes every instruction with all lanes.

    accesses: (address of lane 0, bytes between lanes) of each memory instruction, for all warps; where they end, (0, 4).
    masked: an instruction that no lane executes.
    """
    n, count = len(program), blocks * warps
    memory = int(logged(program).sum())
    base, stride = np.array([*accesses, *[(0, 4)] * (memory - len(accesses))], np.int64).reshape(-1, 2).T
    mask = np.where(np.arange(n) == masked, 0, 0xFFFFFFFF).astype(np.uint32)
    arrays = TraceArrays(
        path_start=np.array([0, n], np.int64),
        instruction=np.arange(n, dtype=np.int32),
        mask=mask,
        warp_path=np.zeros(count, np.int32),
        access_start=np.arange(count + 1, dtype=np.int64) * memory,
        access_base=np.tile(base, count),
        access_stride=np.tile(stride, count),
        scattered=np.zeros((0, 32), np.uint32),
    )
    executed = np.full(n, count, np.int64)
    launch = Launch(program, grid=(blocks,), block=(32 * warps,))
    return Trace(launch, arrays, executed, executed * 32, executed * 32)


@dataclass
class Run:
    """A result, asked in the words of the tests."""

    result: Result

    def issues(self, instruction: int, warp: int = 0, block: int = 0) -> list[int]:
        """Return the cycles in which the warp issued the instruction."""
        rows = self.result.timeline
        assert rows is not None
        chosen = (rows.instruction == instruction) & (rows.warp == warp) & (rows.block == block)
        return [int(cycle) for cycle in rows.cycle[chosen]]

    def first(self, warp: int = 0, block: int = 0) -> list[int]:
        """Return the issue cycle of each instruction of the warp, in program order."""
        return [self.issues(i, warp, block)[0] for i in range(len(self.result.program))]

    def stalls(self, instruction: int) -> dict[str, int]:
        row = self.result.stalls_by_instruction[instruction]
        return {name: int(n) for name, n in zip(CAUSE_NAMES, row, strict=True) if n}

    def check_account(self) -> None:
        """Every warp-cycle and every issue slot has exactly one cause."""
        assert sum(self.result.stalls.values()) == self.result.counters["warp_cycles"]
        assert sum(self.result.issue_slots.values()) == self.result.counters["issue_slots"]
        assert min(self.result.stalls_by_instruction.ravel(), default=0) >= 0
        assert min(self.result.issue_slots.values()) >= 0
        assert self.result.issues_by_instruction.sum() == self.result.counters["warp_instructions"]


TOY = {
    "sms": 1,
    "core.schedulers": 1,
    "core.dispatch": "pipe",
    "core.policy": "gtr",
    "units.fp32.latency": 6,
    "units.int32.latency": 4,
    "memory.global_load": 100,
    "memory.shared_load": 20,
    "pipes.ldst.lanes": 16,
    "units.mufu.latency": 12,
}


@pytest.fixture(params=[timing, reference], ids=["numba", "simpy"])
def run(request: pytest.FixtureRequest) -> Callable[..., Run]:
    """Return a function that times a listing on the toy GPU, with overrides by dotted name; every test runs on both engines."""

    def timed(
        listing: str,
        blocks: int = 1,
        warps: int = 1,
        accesses: Accesses = (),
        masked: int | None = None,
        gpu: Gpu | None = None,
        **overrides: Any,
    ) -> Run:
        gpu = gpu or load("textbook").replace(TOY | {name.replace("__", "."): value for name, value in overrides.items()})
        done = Run(request.param.simulate(straight(isa.parse(listing), blocks, warps, accesses, masked), gpu, timeline=(0, 10**9)))
        done.check_account()
        return done

    return timed
