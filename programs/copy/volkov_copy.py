"""`volkov-copy`: hide memory latency with more bytes per thread instead of more threads.

V. Volkov, "Better Performance at Lower Occupancy", GTC 2010, part II; what it states is in published.toml.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from programs.copy.sweep import COPIES, FOLDER, PINS, Point, curve, machine, plateau, saturation
from programs.published import fitted_to, published
from programs.reproduction import Check, Reproduction
from sim.analysis import little
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.report.curves import Curve

Curves = Mapping[str, Sequence[Point]]
FITTED = ("dram.efficiency", "blocks.retire_latency")


def reproduce(gpu: str | None = None) -> Reproduction:
    """Copy at rising occupancy with 4 to 224 bytes per thread on `gpu` (default gtx480)."""
    name = gpu or "gtx480"
    preset = load(name)
    said = published(FOLDER).get(name, {})
    curves = {copy: curve(machine(preset), copy) for copy in COPIES}
    return Reproduction(
        title=f"Copying with more bytes per thread, {preset.name}",
        checks=(*judged(said, curves, preset), *_shown(said, curves)),
        notes=(*_fitted(preset), *_in_flight(preset, curves), STEADY),
        curves=tuple(_curve(copy, points, said) for copy, points in curves.items()),
        x_label="occupancy, percent",
        y_label=f"percent of {preset.dram.bandwidth:g} GB/s, read and written",
    )


def words(copy: str) -> str:
    """Return a copy's name in words: "8 float4"."""
    return copy.replace("_", " ")


def judged(said: Mapping[str, Any], curves: Curves, gpu: Gpu) -> Iterator[Check]:
    """Yield one judged check per statement of published.toml about this GPU."""
    for row in said.get("reaches", ()):
        yield _reaches(row, curves[row["copy"]], _label(gpu, "dram.efficiency"))
    if "cuda_memcpy" in said:
        yield _memcpy(said["cuda_memcpy"], [plateau(curves[row["copy"]]) for row in said["reaches"]])
    for row in said.get("saturates", ()):
        yield _saturates(row, curves[row["copy"]], _label(gpu, "blocks.retire_latency"))
    if "climbs" in said:
        yield _climbs(said["climbs"], curves, _label(gpu, "blocks.retire_latency"))
    if "in_flight" in said:
        yield _kilobytes(said["in_flight"], curves)


def _label(gpu: Gpu, field: str) -> str:
    return f"{field} FITTED to it" if fitted_to(gpu, field) else ""


def _reaches(row: Mapping[str, Any], points: Sequence[Point], label: str) -> Check:
    found = next(one for one in points if one.warps == row["warps"])
    what = f"{words(row['copy'])}, {row['warps']} warps per SM ({found.occupancy:.0f} % occupancy)"
    passed = abs(found.percent - row["percent"]) <= row["within"] and found.bound == PINS
    return Check(
        what, f"{row['percent']} %", f"{found.percent:.1f} %, {found.gigabytes:.1f} GB/s", passed, f"within {row['within']} points; {label}"
    )


def _memcpy(row: Mapping[str, Any], best: Sequence[float]) -> Check:
    """Judge that the talk's copies are above what cudaMemcpy achieves, which is not simulated: its code is not public."""
    simulated = ", ".join(f"{percent:.1f} %" for percent in best)
    what = "copies of float4, against cudaMemcpy"
    return Check(what, f"above its {row['percent']} %", simulated, min(best) > row["percent"], "cudaMemcpy itself is not simulated")


def _saturates(row: Mapping[str, Any], points: Sequence[Point], label: str) -> Check:
    found, best = next(one for one in points if round(one.occupancy) == row["occupancy"]), plateau(points)
    passed = found.percent >= best * (1 - row["within"] / 100)
    simulated = f"{found.percent:.1f} %, {100 * (1 - found.percent / best):.1f} % below the plateau of {best:.1f} %"
    what = f"{words(row['copy'])}, {row['occupancy']} % occupancy"
    return Check(what, f"sufficient: within {row['within']} % of the plateau", simulated, passed, label)


def _climbs(row: Mapping[str, Any], curves: Curves, label: str) -> Check:
    points = curves[row["copy"]]
    first = saturation(points)
    before = points[points.index(first) - 1]
    simulated = f"from {first.occupancy:.0f} % on ({first.percent:.1f} %; {before.percent:.1f} % at {before.occupancy:.0f} %)"
    what = f"{words(row['copy'])}: occupancy for the plateau"
    return Check(what, f"{row['occupancy']} %", simulated, round(first.occupancy) == row["occupancy"], label)


def _kilobytes(row: Mapping[str, Any], curves: Curves) -> Check:
    """Judge the bytes in flight where the one-float copy saturates, at full occupancy: twice those of the loads."""
    found = saturation(curves["1_float"])
    both = 2 * found.in_flight / 1000
    simulated = f"{both:.0f} KB: 2 x {both / 2:.0f} KB of loads, which are half the traffic"
    passed = abs(both / row["kilobytes"] - 1) <= row["within"] / 100
    note = f"'about' read as within {row['within']} %; counter bytes_in_flight"
    return Check("1 float, in flight at saturation", f"{row['kilobytes']} KB", simulated, passed, note)


def _shown(said: Mapping[str, Any], curves: Curves) -> Iterator[Check]:
    """Yield each curve in short, for comparison."""
    for copy, points in curves.items():
        found = saturation(points)
        wanted = next((f"{row['occupancy']} %" for row in said.get("saturates", ()) if row["copy"] == copy), "-")
        simulated = f"{found.occupancy:.0f} % occupancy, {found.resident / 1000:.0f} KB could be in flight"
        note = f"{COPIES[copy]} B per thread; loads in flight {found.in_flight / 1000:.0f} KB, latency {found.latency:.0f} cycles"
        yield Check(f"{words(copy)}: saturates at", wanted, simulated, None, note)
        yield Check(f"{words(copy)}: what bounds it", "-", _bounds(points), None, f"places stand empty {_empty(points)} of the time")


def _bounds(points: Sequence[Point]) -> str:
    """Return what bounds each point of a curve: "4, 8, 12 %: starts and ends of blocks; 25, 38 %: DRAM's pins"."""
    runs = itertools.groupby(points, key=lambda one: one.bound)
    return "; ".join(f"{', '.join(f'{one.occupancy:.0f}' for one in run)} %: {bound}" for bound, run in runs)


def _empty(points: Sequence[Point]) -> str:
    """Return the share of time that places of warps stand empty, at the lowest and the highest occupancy."""
    return f"{100 * points[0].empty:.0f} to {100 * points[-1].empty:.0f} %"


def _curve(copy: str, points: Sequence[Point], said: Mapping[str, Any]) -> Curve:
    row = next((row for row in said.get("reaches", ()) if row["copy"] == copy), None)
    mark = next(one.occupancy for one in points if one.warps == row["warps"]) if row else None
    x, y = tuple(one.occupancy for one in points), tuple(one.percent for one in points)
    hollow = tuple(one.bound != PINS for one in points)
    return Curve(words(copy), x, y, mark=mark and round(mark, 1), mark_y=row["percent"] if row else 100.0, hollow=hollow)


def _fitted(gpu: Gpu) -> Iterator[str]:
    found = [f"{field}: {points}" for field in FITTED if (points := fitted_to(gpu, field))]
    if found:
        yield (
            "FITTED: "
            + ". ".join(found)
            + ". All else is predicted: the curves of 2 and 8 floats and 8 float2, and where 8 and 14 float4 saturate."
        )


def _in_flight(gpu: Gpu, curves: Curves) -> Iterator[str]:
    law = little.streams(gpu)
    widest = little.memory(gpu, latency=800)
    found = saturation(curves["1_float"])
    loads = found.in_flight / 1000
    yield (
        f"Little's law: {law.latency} cycles x {law.bandwidth:.0f} GB/s = {law.bytes / 1000:.0f} KB unloaded; the talk's "
        f"< 800 cycles x < {widest.bandwidth:.0f} GB/s give < {widest.bytes / 1000:.0f} KB. The counter bytes_in_flight counts "
        f"loads alone, half of a copy's traffic: {loads:.0f} KB with 1 float at its saturation, {2 * loads:.0f} KB doubled, at a loaded "
        f"latency of {found.latency:.0f} cycles. Its threads could hold {found.resident / 1000:.0f} KB; the rest of their time goes to the "
        "starts and ends of blocks. More bytes than that only queue."
    )


STEADY = (
    "What bounds a point is counted: DRAM's pins where loads queue for them, 15 % longer than alone (full markers in the figure); "
    "elsewhere (hollow) "
    "what takes most of the time of a warp's place: standing empty between two blocks, or waiting for loads. "
    "Steady state: the difference of two runs whose grids differ by whole waves, L2 full of other data not written back at the start. "
    "Points of 2 and 4 warps are one block of 64 and 128 threads on an SM, all others blocks of 192."
)
