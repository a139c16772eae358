"""Launches that were measured with counters and cold caches, and what the simulator makes of them.

`h100/kernels.csv`: the ordinary kernels of `programs/cuda`. `h100/memory.csv`: the memory experiments of `gpu/plans/memory.toml`.
Cycles are those in which the busiest SM had a block (`sm__cycles_active.max`), the median of seven launches.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import isa
import sim
from programs.measurements.copies import H100
from programs.measurements.placements import median_placed
from programs.published import rows
from sim.gpus.model import Gpu
from sim.launch.file import load_launch
from sim.launch.launch import Launch
from sim.result.result import Result

CUDA = Path(__file__).parents[1] / "cuda"
EXPERIMENTS = Path(__file__).parent / "gpu"
SHAPES = ("grid", "block")
# Code too long for the listing, and a kernel whose constants the listing does not show.
LEFT_OUT = ("line_1024", "line_2048", "line_4096", "line_8192", "constants")
MOST_THREADS = 1_100_000  # of a launch that is simulated: the larger ones of memory.csv take minutes
NOT_STALLED = ("selected", "not_selected")
COUNTS = (
    "warp_instructions",
    "thread_instructions",
    "global_load_requests",
    "global_load_sectors",
    "global_store_requests",
    "global_store_sectors",
)


@dataclass(frozen=True)
class Profiled:
    """One measured launch."""

    name: str
    listing: Path
    kernel: str | None
    file: Path  # launch file
    values: dict[str, Any]  # what differs from it
    counters: dict[str, float]

    @property
    def cycles(self) -> float:
        """Median cycles of the busiest SM."""
        return self.counters["cycles"]

    @property
    def largest_stall(self) -> str:
        """The cause that most warps waited for, by Nsight Compute's name."""
        causes = {name.removeprefix("stall_"): value for name, value in self.counters.items() if name.startswith("stall_")}
        return max((name for name in causes if name not in NOT_STALLED), key=lambda name: causes[name])

    def share(self, cause: str) -> float:
        """Return the percent of the warps' time that they waited for a cause, by its name: of what they wait per issue, and the issue."""
        waits = sum(value for name, value in self.counters.items() if name.startswith("stall_"))
        return 100 * self.counters[f"stall_{cause}"] / (waits + 1)

    def launch(self) -> Launch:
        """Return the launch, to be simulated."""
        shape = {name: value for name, value in self.values.items() if name in SHAPES}
        arguments = {name: value for name, value in self.values.items() if name not in SHAPES}
        return load_launch(self.file, _program(self.listing, self.kernel), args=arguments, **shape).launch


@cache
def _program(listing: Path, kernel: str | None) -> isa.Program:
    return isa.load(listing, kernel)


def kernels() -> Iterator[Profiled]:
    """Yield the ordinary kernels."""
    for row in rows(H100 / "kernels.csv"):
        yield _profiled(row, row["listing"].split(".")[0], (CUDA, H100 / "kernels"), (CUDA, CUDA / "heldout"))


def experiments() -> Iterator[Profiled]:
    """Yield the memory experiments, but those that are too large to simulate quickly."""
    for row in rows(H100 / "memory.csv"):
        if row["kernel"] not in LEFT_OUT:
            one = _profiled(row, f"{row['kernel']} {row['values']}", (H100,), (EXPERIMENTS,))
            launch = one.launch()
            if launch.blocks * launch.threads_per_block <= MOST_THREADS:
                yield one


def _profiled(row: dict[str, str], name: str, listings: tuple[Path, ...], files: tuple[Path, ...]) -> Profiled:
    which = ("listing", "kernel", "file", "values")
    values = json.loads(row.get("values") or "{}")
    counters = {name: float(value) for name, value in row.items() if name not in which and value}
    return Profiled(name, _first(listings, row["listing"]), row.get("kernel") or None, _first(files, row["file"]), values, counters)


def _first(folders: tuple[Path, ...], name: str) -> Path:
    """Return the file in the last of the folders that has it: measured code goes before code of the same name."""
    return next(folder / name for folder in reversed(folders) if (folder / name).exists())


def simulate(profiled: Profiled, gpu: Gpu) -> Result:
    """Run a launch on `gpu`, its arrays at one place, as the memory experiments had them: how far that is decides what few loads take."""
    return sim.run(profiled.launch(), gpu)


def simulate_placed(profiled: Profiled, gpu: Gpu) -> Result:
    """Run a launch on `gpu` where its arrays lie at the median of several places (`placements.py`)."""
    return median_placed(sim.execute(profiled.launch()), gpu)


def largest_stall(result: Result) -> str:
    """Return the cause that most warps of a run waited for."""
    return max((name for name in result.stalls if name not in NOT_STALLED), key=lambda name: result.stalls[name])


def share(result: Result, cause: str) -> float:
    """Return the percent of a run's warp-cycles that warps waited for a cause."""
    return 100 * result.stalls.get(cause, 0) / sum(result.stalls.values())
