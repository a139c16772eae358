"""Every measured launch of a GPU beside the simulated one: error by family, worst launches, correlation, a scatter plot.

Which presets are fitted to which family stands in FITTED; the others only score.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sim
from isa.errors import UserError
from programs.intervals.kernels import part_of
from programs.measurements import copies, core, intervals, profiled, strides
from sim.gpus.model import Gpu
from sim.report.figures import check_path, write
from sim.result.result import Result

# Notes of a launch that are percentages; the others are equal or not.
L1_HITS, STALL_SHARE = "L1 hit rate", "share of the largest stall"
PERCENT = (L1_HITS, STALL_SHARE)

FITTED = {
    "bar_sync": "core.barrier_latency",
    "bra_loop": "core.branch_latency",
    "copy 1 float": "dram.channel_depth; blocks.retire_interval agrees with its ceiling",
    **{f"copy {kernel}": "dram.channel_depth" for kernel in ("4 float", "8 float", "1 float4", "8 float4", "14 float4")},
    "memory, read_1": "dram.efficiency (larger launches, not simulated here)",
    "memory, empty": "fetch.first, blocks.start_latency",
    "memory, stores_1_64": "interconnect.request_bytes_per_cycle",
    "diverge": "core.sync_latency (one warp)",
    "ldg_l1": "that hits and loads that waited share the banks of L1 was inferred from it",
    "mix_ffma_imad": "the rule that stall counts count from the first read was inferred from it",
    "interval add_one": "dram.turnaround, dram.write_batch: to a loop of the same shape (turnarounds.csv)",
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
    notes: dict[str, tuple[Any, Any]] = field(default_factory=dict)  # what else was measured and simulated

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

    copying: also the memory experiments, the interval-analysis kernels and the copies of 1 GB, which take minutes. changes: fields
    of the GPU, by dotted name.
    """
    if gpu not in (None, "h100"):
        raise UserError(f"no measurements of '{gpu}' are in the package", hint="there are: h100")
    machine = sim.gpu("h100").replace(changes or {})
    wanted = (_kernels, _core, _shared, *((_experiments, _copies, _intervals) if copying else ()))
    return tuple(point for points in wanted for point in points(machine))


def _kernels(gpu: Gpu) -> Iterator[Point]:
    for one in profiled.kernels():
        yield _profiled("kernels", one, profiled.simulate_placed(one, gpu))


def _experiments(gpu: Gpu) -> Iterator[Point]:
    for one in profiled.experiments():
        yield _profiled(f"memory, {one.kernel}", one, profiled.simulate(one, gpu))


def _profiled(family: str, one: profiled.Profiled, result: Result) -> Point:
    found, counts = result.counters, one.counters
    notes = {
        "largest stall": (one.largest_stall, profiled.largest_stall(result)),
        **{name: (counts[name], found[name]) for name in profiled.COUNTS},
        L1_HITS: (counts["l1_hit_rate"], 100 * found["l1_hit_rate"]),
        STALL_SHARE: (one.share(one.largest_stall), profiled.share(result, one.largest_stall)),
    }
    return Point(family, one.name, one.cycles, found["sm_active_cycles_max"], notes)


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


def _intervals(gpu: Gpu) -> Iterator[Point]:
    part = part_of(gpu, intervals.PARTS)
    for one in intervals.measured():
        yield Point(f"interval {one.kernel}", f"{one.warps} warps per SM", one.milliseconds, intervals.simulated(one, part))


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

    kinds = (("cycles", _is_cycles), ("milliseconds (whole chip)", lambda point: not _is_cycles(point)))
    panels = [(unit, own) for unit, chosen in kinds if (own := [point for point in points if chosen(point)])]
    drawing = Figure(figsize=(7.5 * len(panels), 7), layout="constrained")
    columns = drawing.subplots(2, len(panels), squeeze=False, sharex="col", height_ratios=(3, 2))
    for place, (unit, own) in enumerate(panels):
        _panel(columns[0, place], columns[1, place], unit, own)
    write(drawing, path)


def _is_cycles(point: Point) -> bool:
    return not point.family.startswith(("copy", "interval"))


MARKS = "os^vD<>Pp*Xhd8"


BAND = 10  # percent, of the grey band
LEGEND_COLUMNS = 3


def _panel(above: Any, below: Any, unit: str, points: list[Point]) -> None:
    """Draw simulated over measured durations, and below the error of each with a band of BAND percent to both sides."""
    groups = [point.family.split(",")[0] for point in points]
    for number, group in enumerate(dict.fromkeys(groups)):
        own = [point for point, its in zip(points, groups, strict=True) if its == group]
        style = {"marker": MARKS[number % len(MARKS)], "color": f"C{number % 10}", "linestyle": "", "markersize": 4, "alpha": 0.7}
        above.plot([p.measured for p in own], [p.simulated for p in own], label=group, **style)
        below.plot([p.measured for p in own], [p.error for p in own], **style)
    ends = [min(p.measured for p in points), max(p.measured for p in points)]
    above.plot(ends, ends, "k-", lw=0.8)
    above.set(xscale="log", yscale="log", ylabel=f"simulated {unit}")
    above.legend(fontsize=7, ncols=LEGEND_COLUMNS, loc="upper left", framealpha=1.0)
    below.axhspan(-BAND, BAND, color="#DDDDDD", label=f"within {BAND} %")
    below.axhline(0, color="#000000", linewidth=0.8)
    below.set(xlabel=f"measured {unit}", ylabel="error, percent")
    below.legend(fontsize=7, loc="upper right", framealpha=1.0)
    for axes in (above, below):
        axes.grid(alpha=0.3)
        axes.set_axisbelow(True)
