"""How fast sweeps are: points per second, from the call of `sim.sweep` to its table, on all cores; what is compiled is loaded before."""

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sim.bench import COPY, chain, elementwise
from sim.compiled.cores import cores
from sim.functional import execute
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.launch.copies import copied
from sim.launch.file import load_launch
from sim.launch.launch import Launch
from sim.sweeps import sweep

PROGRAMS = Path(__file__).parents[1] / "programs"
POINTS = 1000


class Swept(NamedTuple):
    """How long a sweep took, executing the program included."""

    program: str
    points: int
    instructions: int  # warp instructions of each
    workers: int  # processes
    seconds: float

    @property
    def per_second(self) -> float:
        """Points per second."""
        return self.points / self.seconds


class Work(NamedTuple):
    """A sweep to time. over: names and values, as of `sim.sweep`."""

    program: str
    launch: Launch
    gpu: Gpu
    over: Mapping[str, Sequence[int]]


def sweeps(scale: float = 1.0) -> Iterator[Swept]:
    """Time sweeps over a thousand variants of a GPU; scale: how many of them."""
    for program, launch, gpu, over in works(max(round(scale * POINTS), 2)):
        sweep(launch, gpu, {name: values[:1] for name, values in over.items()}, workers=1)  # loads what is compiled, and pandas
        start = time.perf_counter()
        table = sweep(launch, gpu, over)
        seconds = time.perf_counter() - start
        assert table["error"].isna().all(), table["error"].dropna().iloc[0]
        yield Swept(program, len(table), execute(copied(launch)).warp_instructions, cores(), seconds)


def works(points: int) -> list[Work]:
    """Return the sweeps: a lesson's, two of 100,000 warp instructions, compiled code by its own control words and by new ones."""
    gtx480 = load("gtx480").replace({"dram.latency": 1000, "l2.latency": 400})
    h100, few = load("h100"), max(points // 5, 2)
    both = {"dram.latency": range(600, 600 + max(points // 25, 1)), "units.fp32.latency": range(6, 31)}
    lesson = {"units.fp32.latency": range(1, 1 + max(points // 25, 1)), "core.issue_interval": range(1, 26)}
    saxpy, n_body = (load_launch(PROGRAMS / "cuda" / f"{name}.sm_90.sass").launch for name in ("saxpy", "n_body"))
    return [
        Work("FFMA chain of a lesson, 8 warps, 1 SM of a gtx480", chain(1, 8, 5), gtx480.replace({"sms": 1}), lesson),
        Work("FFMA chain, gtx480", chain(15, 8, 4), gtx480, both),
        Work("copy, gtx480", elementwise(COPY, 1136), gtx480, both),
        Work("saxpy.sm_90, h100", saxpy, h100, {"dram.bandwidth": range(2000, 2000 + few)}),
        Work(
            "n_body.sm_90, h100, words rescheduled",
            n_body,
            h100,
            {"units.fp32.latency": range(2, 12), "dram.bandwidth": range(2000, 2000 + max(few // 10, 1))},
        ),
    ]
