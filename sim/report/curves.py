"""Curves with published points: one panel per machine, one line per series, readable in grey and to colour-blind readers."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sim.report.figures import check_path, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, in an order whose lightness alternates, each with its own dash and marker.
STYLES = (
    ("#000000", "-", "o"),
    ("#D55E00", "--", "s"),
    ("#0072B2", "-.", "^"),
    ("#009E73", ":", "D"),
    ("#CC79A7", (0, (5, 1)), "v"),
    ("#56B4E9", (0, (3, 1, 1, 1)), "P"),
    ("#E69F00", (0, (1, 1)), "X"),
    ("#7F7F7F", (0, (8, 2)), "*"),
)


@dataclass(frozen=True)
class Curve:
    """One line of a figure.

    period: the line joins every period-th point, those in between are drawn as faint dots. mark: x of a published point, drawn at
    mark_y. hollow: for each point, whether its marker is drawn hollow; () = none.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    panel: str = ""
    period: int = 1
    mark: float | None = None
    mark_y: float = 100.0
    hollow: tuple[bool, ...] = ()


def save(curves: tuple[Curve, ...], path: str | Path, *, title: str = "", x_label: str = "", y_label: str = "") -> None:
    """Write the figure of `curves` to `path` (.png, .svg, .pdf). Raises UserError for another ending or without matplotlib."""
    check_path(path)
    write(_figure(curves, title, x_label, y_label), path)


def _figure(curves: tuple[Curve, ...], title: str, x_label: str, y_label: str) -> "Figure":
    from matplotlib.figure import Figure

    panels = list(dict.fromkeys(curve.panel for curve in curves))
    drawing = Figure(figsize=(6.4 * len(panels) + 0.6, 5.4), layout="constrained")
    drawing.suptitle(title)
    row = drawing.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, panel in zip(row, panels, strict=True):
        _panel(axes, [curve for curve in curves if curve.panel == panel], panel)
        axes.set_xlabel(x_label)
    row[0].set_ylabel(y_label)
    labels = [[curve.label for curve in curves if curve.panel == panel] for panel in panels]
    for axes, own in zip(row, labels, strict=True):
        if axes is row[-1] or own != labels[-1]:
            axes.legend(loc="lower right", framealpha=1.0)
    return drawing


def _panel(axes: "Axes", curves: list[Curve], title: str) -> None:
    for number, (curve, (colour, dash, marker)) in enumerate(zip(curves, STYLES * (1 + len(curves) // len(STYLES)), strict=False)):
        step = curve.period
        joined = slice(step - 1, None, step)
        width = 1.2 + 1.8 * (len(curves) - number) / len(curves)  # where lines lie on each other, the wider ones below still show
        (line,) = axes.plot(curve.x[joined], curve.y[joined], color=colour, label=curve.label)
        line.set(linestyle=dash, linewidth=width, marker=marker, markersize=3.5 + width)
        if step > 1:
            axes.plot(curve.x, curve.y, color=colour, linestyle="", marker=".", markersize=3, alpha=0.4)
        if any(curve.hollow):
            x, y = ([value for value, is_hollow in zip(values, curve.hollow, strict=True) if is_hollow] for values in (curve.x, curve.y))
            axes.plot(x, y, color=colour, linestyle="", marker=marker, markersize=3.5 + width, markerfacecolor="white")
        if curve.mark is not None:
            _mark(axes, curve, colour, number)
    notes = ["arrows: published"] if any(curve.mark is not None for curve in curves) else []
    notes += ["faint: points that no line joins"] if any(curve.period > 1 for curve in curves) else []
    if notes:
        axes.text(0.99, 0.98, "; ".join(notes), transform=axes.transAxes, ha="right", va="top", fontsize="small")
    axes.set_title(title, fontsize="medium")
    axes.set_ylim(0, 122)
    axes.set_xlim(left=0)
    axes.set_yticks(range(0, 101, 10))
    axes.grid(alpha=0.3)


def _mark(axes: "Axes", curve: Curve, colour: str, number: int) -> None:
    """Mark a published point by a line down to its value and its x, staggered so that neighbours do not overlap."""
    height = curve.mark_y + 5 + 5 * (number % 4 == 0) + 5 * (number % 2)
    axes.annotate(
        f"{curve.label}: {curve.mark:g}",
        xy=(curve.mark, curve.mark_y),
        xytext=(curve.mark, height),
        ha="left" if (curve.mark or 0.0) < 0.1 * max(curve.x) else "center",
        fontsize="small",
        color=colour,
        arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1.2},
    )
