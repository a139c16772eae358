"""Every measured launch of a GPU beside the simulated one: error by family, worst launches, correlation, a scatter plot.

Which presets are fitted to which family stands in FITTED; the others only score.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sim
from isa.errors import UserError
from programs.measurements import copies, core, strides
from sim.gpus.model import Gpu
from sim.report.figures import check_path, write

FITTED = {
    "bar_sync": "core.barrier_latency",
    "bra_loop": "core.branch_latency",
    "copy 1 float": "blocks.start_interval, start_latency and retire_latency; dram.efficiency",
    "ffma": "units.fp32.latency (chains of one warp)",
    "fadd": "units.fp32.latency (chains of one warp)",
    "imad": "units.imad.latency, pipes.imad",
    "mufu_ex2": "units.mufu.latency, pipes.sfu",
    "dfma": "units.fp64.latency",
    "lds_chase": "memory.shared_load",
    "lds_stride": "lsu.replay (strides 4 to 32 with one warp), lsu.interval",
}


@dataclass(frozen=True)
class Point:
    """One launch: measured and simulated duration, in the same unit (cycles, or milliseconds of copies)."""

    family: str
    what: str
    measured: float
    simulated: float

    @property
    def error(self) -> float:
        """Percent of the measured duration; positive = simulated too slow."""
        return 100 * (self.simulated / self.measured - 1)


@dataclass(frozen=True)
class Family:
    """The launches of one family. Errors in percent of the measured durations."""

    name: str
    launches: int
    mean: float  # of the absolute errors
    worst: Point
    correlation: float | None  # Pearson's, of the logarithms; None where the measured durations are all alike
    fitted: str  # fields of the preset that come from this family, "" = none


def validate(gpu: str | None = None, copying: bool = True, changes: Mapping[str, Any] | None = None) -> tuple[Point, ...]:
    """Return every measured launch of `gpu` (default h100, the only one measured). Raises UserError for another.

    copying: also the copies of 1 GB, which take a minute. changes: fields of the GPU, by dotted name.
    """
    if gpu not in (None, "h100"):
        raise UserError(f"no measurements of '{gpu}' are in the package", hint="there are: h100")
    machine = sim.gpu("h100").replace(changes or {})
    return tuple(point for points in (_core, _shared, *([_copies] if copying else [])) for point in points(machine))


def _core(gpu: Gpu) -> Iterator[Point]:
    one = core.one_sm(gpu)
    for launch in core.measured():
        yield Point(launch.family, f"{launch.parameter}, {launch.threads} threads", launch.cycles, core.simulated(launch, one))


def _shared(gpu: Gpu) -> Iterator[Point]:
    for stride, threads, cycles in strides.shared_loads():
        yield Point("lds_stride", f"stride {stride}, {threads} threads", cycles, strides.shared_cycles(stride, threads, gpu))


def _copies(gpu: Gpu) -> Iterator[Point]:
    part = copies.part_of(gpu)
    for copy in copies.measured():
        what = f"{copy.resident} blocks of {copy.threads} threads per SM"
        yield Point(f"copy {copy.kernel}", what, copy.milliseconds, copies.simulated(copy, part))


def families(points: Iterable[Point]) -> list[Family]:
    """Return the points by family, in the order of their first launches."""
    groups: dict[str, list[Point]] = {}
    for point in points:
        groups.setdefault(point.family, []).append(point)
    return [_family(name, own) for name, own in groups.items()]


def _family(name: str, own: list[Point]) -> Family:
    mean = sum(abs(point.error) for point in own) / len(own)
    return Family(name, len(own), mean, max(own, key=lambda point: abs(point.error)), correlation(own), FITTED.get(name, ""))


def correlation(points: list[Point]) -> float | None:
    """Return Pearson's correlation of the logarithms of measured and simulated durations, None where either does not vary."""
    import numpy as np

    logs = np.array([(math.log(point.measured), math.log(point.simulated)) for point in points])
    return float(np.corrcoef(logs.T)[0, 1]) if len(points) > 1 and (logs.std(axis=0) > 0).all() else None


def scatter(points: Iterable[Point], path: str | Path) -> None:
    """Draw simulated against measured durations. Raises UserError for another ending than .png, .svg, .pdf, or without matplotlib."""
    check_path(path)
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(11, 5.5), layout="constrained")
    cycles, milliseconds = drawing.subplots(1, 2)
    for axes, unit, chosen in (
        (cycles, "cycles", _is_cycles),
        (milliseconds, "milliseconds (copies of 1 GB)", lambda point: not _is_cycles(point)),
    ):
        _panel(axes, unit, [point for point in points if chosen(point)])
    write(drawing, path)


def _is_cycles(point: Point) -> bool:
    return not point.family.startswith("copy")


MARKS = "os^vD<>Pp*Xhd8"


def _panel(axes: object, unit: str, points: list[Point]) -> None:
    draw: Callable = axes.plot  # type: ignore[attr-defined]
    for number, family in enumerate(dict.fromkeys(point.family for point in points)):
        own = [point for point in points if point.family == family]
        draw([p.measured for p in own], [p.simulated for p in own], MARKS[number % len(MARKS)], label=family, ms=4, alpha=0.7)
    if points:
        ends = [min(p.measured for p in points), max(p.measured for p in points)]
        draw(ends, ends, "k-", lw=0.8)
        axes.set(xscale="log", yscale="log")  # type: ignore[attr-defined]
        axes.legend(fontsize=7, ncols=2)  # type: ignore[attr-defined]
    axes.set(xlabel=f"measured {unit}", ylabel=f"simulated {unit}")  # type: ignore[attr-defined]
