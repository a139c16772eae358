"""The roofline of a run (`sim.analysis.roofline.of_run`) in words and as a figure: a roof and a point for each level of memory."""

from pathlib import Path
from typing import TYPE_CHECKING

from sim.analysis.roofline import RunRoofline
from sim.report.curves import STYLES
from sim.report.figures import check_path, write
from sim.report.words import rate, size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPAN = 4.0  # how far the figure reaches beyond its points and ridges, as a factor


def text_of(roof: RunRoofline) -> str:
    """Return the run's speed, and a line for each level: bytes, flop per byte, share of its bandwidth, the most that it allows."""
    head = f"Roofline: {rate(roof.achieved)} of FP32, {roof.achieved / roof.peak:.1%} of the chip's {rate(roof.peak)}"
    if not roof.flops:
        head = "Roofline: no FP32 operations, so the run has no place under the roof; its bandwidths"
    lines = [head, f"  {'level':<14}{'moved':>10}{'flop/B':>10}{'ridge':>8}{'bandwidth':>13}{'used':>8}  allows"]
    for name, level in roof.levels.items():
        bandwidth = f"{level.bandwidth / 1e9:,.0f} GB/s"
        allows = rate(level.attainable) if roof.flops else "-"
        numbers = f"{size(level.bytes):>10}{level.intensity:>10.3g}{level.ridge:>8.3g}{bandwidth:>13}{roof.used(name):>8.1%}"
        lines.append(f"  {name:<14}{numbers}  {allows}")
    lines.append(f"The lowest roof is that of {roof.limit}: the run reaches {roof.shares[roof.limit]:.1%} of what it allows.")
    return "\n".join(lines)


def save(roof: RunRoofline, path: str | Path, title: str = "") -> None:
    """Write the figure to `path` (.png, .svg, .pdf). Raises UserError for another ending or without matplotlib."""
    check_path(path)
    write(figure(roof, title), path)


def figure(roof: RunRoofline, title: str = "") -> "Figure":
    """Return the drawing: flop/s against flop per byte, both logarithmic; of each level its roof, and the run as a point below it."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(7.6, 5.2), layout="constrained")
    axes = drawing.subplots()
    levels = {name: level for name, level in roof.levels.items() if roof.flops}
    marks = [level.intensity for level in levels.values()] + [level.ridge for level in roof.levels.values()] or [1.0]
    low, high = min(marks) / SPAN, max(marks) * SPAN
    axes.axhline(roof.peak / 1e9, color="#444444", linewidth=1.5)
    axes.text(high, roof.peak / 1e9 * 1.06, f"FP32 peak, {rate(roof.peak)}", ha="right", va="bottom", fontsize=9)
    for number, ((name, level), (colour, dash, marker)) in enumerate(zip(roof.levels.items(), STYLES[1:], strict=False)):
        label = f"{name}, {level.bandwidth / 1e9:,.0f} GB/s"
        slope = (low, level.ridge)
        axes.plot(slope, [x * level.bandwidth / 1e9 for x in slope], color=colour, linestyle=dash, linewidth=1.8, label=label)
        if name in levels:
            axes.plot([level.intensity] * 2, [roof.achieved / 1e9, level.attainable / 1e9], color=colour, linewidth=0.8, alpha=0.6)
            axes.plot([level.intensity], [roof.achieved / 1e9], color=colour, marker=marker, markersize=13 - 2 * number, linestyle="")
    ends = [roof.peak, *(low * level.bandwidth for level in roof.levels.values()), *([roof.achieved] if roof.flops else [])]
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(min(ends) / 1e9 / 2, roof.peak / 1e9 * SPAN))
    axes.set(xlabel="flop per byte of the level", ylabel="Gflop/s", title=title)
    axes.grid(which="major", alpha=0.3)
    if roof.levels:
        axes.legend(loc="lower right", fontsize=9, framealpha=1.0)
    return drawing
