"""The curve of time against threads: what interval analysis says at least, what is simulated, and the third opinion."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sim.analysis.curve import Point
from sim.analysis.interval import Analysis
from sim.report.curves import STYLES
from sim.report.figures import check_path, write


def save(analysis: Analysis, points: Sequence[Point], path: str | Path, title: str) -> None:
    """Write the figure to `path` (.png, .svg, .pdf). Raises UserError for another ending, or without matplotlib."""
    check_path(path)
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, StrMethodFormatter

    drawing = Figure(figsize=(8.5, 5.4), layout="constrained")
    axes: Any = drawing.subplots()
    warps = [point.warps for point in points]
    lines = (
        ("simulated", [point.simulated for point in points]),
        ("interval analysis: at least", [point.bound for point in points]),
        ("Hong and Kim (MWP, CWP)", [point.opinion for point in points]),
    )
    for (label, cycles), (colour, dash, marker) in zip(lines, STYLES, strict=False):
        axes.plot(warps, cycles, color=colour, linestyle=dash, marker=marker, markersize=5, label=label)
    knee = analysis.warps_per_sm
    if warps[0] <= knee <= warps[-1]:
        axes.axvline(knee, color="#666666", linewidth=0.9, linestyle=":")
        side = 1 if knee**2 < warps[0] * warps[-1] else -1  # towards the middle, so that the label stays within the axes
        axes.annotate(
            f"{knee:.1f}: {analysis.binding.name} full",
            (knee, 0.99),
            xycoords=("data", "axes fraction"),
            xytext=(4 * side, 0),
            textcoords="offset points",
            ha="left" if side > 0 else "right",
            va="top",
            fontsize="small",
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(warps, [str(count) for count in warps])
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.minorticks_off()
    axes.set(xlabel=f"warps per SM (times {32 * analysis.gpu.sms} = threads on the chip)", ylabel="cycles of the launch")
    axes.set_title(title, fontsize="medium")
    axes.grid(alpha=0.3, which="both")
    axes.legend(loc="best", framealpha=1.0)
    write(drawing, path)
