"""The roofline of a run (`sim.analysis.roofline.of_run`) in words and as a figure: a roof and a point for each level of memory."""

from pathlib import Path
from typing import TYPE_CHECKING

from sim.analysis.roofline import DRAM, L1, L2, SHARED, RunRoofline
from sim.report.curves import STYLES
from sim.report.figures import check_path, write
from sim.report.words import rate, size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPAN = 4.0  # how far the figure reaches beyond its points and ridges, as a factor
LEVEL_STYLES = dict(zip((SHARED, L1, L2, DRAM), STYLES[1:], strict=False))  # colour, dash, marker: a level has the same in every figure
COLUMNS = ("level", "moved", "flop/B", "ridge", "bandwidth", "used", "allows")


def text_of(roof: RunRoofline) -> str:
    """Return the run's speed, and a line for each level: bytes, flop per byte, share of its bandwidth, the most that it allows."""
    wide = "  {:<14}{:>10}{:>10}{:>8}{:>13}{:>8}  {}".format
    lines = [wide(*COLUMNS), *(wide(*row) for row in rows(roof))] if roof.levels else []
    return "\n".join([f"Roofline: {speed_sentence(roof)}", *lines, *limit_sentences(roof)])


def rows(roof: RunRoofline) -> list[tuple[str, ...]]:
    """Return COLUMNS of each level, from the registers outwards."""
    return [
        (
            name,
            size(level.bytes),
            f"{level.intensity:.3g}",
            f"{level.ridge:.3g}",
            f"{level.bandwidth / 1e9:,.0f} GB/s",
            f"{roof.used(name):.1%}",
            rate(level.attainable) if roof.flops else "-",
        )
        for name, level in roof.levels.items()
    ]


def speed_sentence(roof: RunRoofline) -> str:
    """Return the run's speed and its share of the peak, or why it has no place under the roof."""
    if roof.flops:
        return f"{rate(roof.achieved)} of FP32, {roof.achieved / roof.peak:.1%} of the chip's {rate(roof.peak)}"
    return "no FP32 operations, so the run has no place under the roof" + ("; its bandwidths" if roof.levels else "")


def limit_sentences(roof: RunRoofline) -> list[str]:
    """Return which roof is the lowest and how near to it the run is; nothing where there is neither arithmetic nor a level of memory."""
    if not roof.flops and not roof.levels:
        return []
    return [f"The lowest roof is that of {roof.limit}: the run reaches {roof.shares[roof.limit]:.1%} of what it allows."]


def reach(roof: RunRoofline) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the least and the most flop per byte, and the same of flop/s, of axes that hold roofs and points."""
    points = [level.intensity for level in roof.levels.values() if roof.flops]
    marks = points + [level.ridge for level in roof.levels.values()] or [1.0]
    low, high = min(marks) / SPAN, max(marks) * SPAN
    ends = [roof.peak, *(low * level.bandwidth for level in roof.levels.values()), *([roof.achieved] if roof.flops else [])]
    return (low, high), (min(ends) / 2, roof.peak * SPAN)


def save(roof: RunRoofline, path: str | Path, title: str = "") -> None:
    """Write the figure to `path` (.png, .svg, .pdf). Raises UserError for another ending or without matplotlib."""
    check_path(path)
    write(figure(roof, title), path)


def figure(roof: RunRoofline, title: str = "") -> "Figure":
    """Return the drawing: flop/s against flop per byte, both logarithmic; of each level its roof, and the run as a point below it."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(7.6, 5.2), layout="constrained")
    axes = drawing.subplots()
    (low, high), rates = reach(roof)
    axes.axhline(roof.peak / 1e9, color="#444444", linewidth=1.5)
    axes.text(high, roof.peak / 1e9 * 1.06, f"FP32 peak, {rate(roof.peak)}", ha="right", va="bottom", fontsize=9)
    for number, (name, level) in enumerate(roof.levels.items()):
        colour, dash, marker = LEVEL_STYLES[name]
        label = f"{name}, {level.bandwidth / 1e9:,.0f} GB/s"
        slope = (low, level.ridge)
        axes.plot(slope, [x * level.bandwidth / 1e9 for x in slope], color=colour, linestyle=dash, linewidth=1.8, label=label)
        if roof.flops:
            axes.plot([level.intensity] * 2, [roof.achieved / 1e9, level.attainable / 1e9], color=colour, linewidth=0.8, alpha=0.6)
            axes.plot([level.intensity], [roof.achieved / 1e9], color=colour, marker=marker, markersize=13 - 2 * number, linestyle="")
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(rates[0] / 1e9, rates[1] / 1e9))
    axes.set(xlabel="flop per byte of the level", ylabel="Gflop/s", title=title)
    axes.grid(which="major", alpha=0.3)
    if roof.levels:
        axes.legend(loc="lower right", fontsize=9, framealpha=1.0)
    return drawing
