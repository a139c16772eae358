"""Figures of a sweep: curves, a heat map, bandwidth against bytes in flight, cost against speed; readable in grey, by colour-blind too."""

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from isa.errors import UserError
from sim.analysis import little
from sim.gpus.fields import unit
from sim.gpus.model import Gpu
from sim.gpus.path import SECTOR
from sim.report.curves import STYLES
from sim.report.figures import check_path, write
from sim.report.gpus import value as field_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

KIB = 1024
COLUMN = 0.46  # inches of one column of a heat map
MOST_CELLS = 400  # of a heat map that has its numbers written in
MOST_LINES = len(STYLES)
POINTS, LETTER_WIDTH, LETTER_HIGH = 72, 3.9, 8.0  # of an inch; of letters of size 7, in points

Box = tuple[float, float, float, float]  # left, low, right, high, in points


class Drawing(NamedTuple):
    """What a figure shows: the points that could be simulated, the names varied, the column that says how good each is."""

    frame: "DataFrame"
    gpu: Gpu
    axes: tuple[str, ...]
    metric: str
    weights: Mapping[str, float]


def weights(texts: list[str] | None, axes: Mapping[str, Sequence[Any]], gpu: Gpu) -> dict[str, float]:
    """Return what each varied field costs relative to the base GPU's, 1 unless said. Raises UserError for a name that is not varied."""
    numbers = [name for name in axes if isinstance(field_value(gpu, name), int | float)]
    found = dict.fromkeys(numbers, 1.0)
    for text in texts or []:
        name, _, weight = text.partition("=")
        try:
            number = float(weight)
        except ValueError:
            raise UserError(f"--cost {text}: not of the form name=weight", hint="write --cost core.schedulers=2") from None
        if name not in found:
            raise UserError(f"--cost {name}: this sweep varies no such field", hint=f"fields varied: {', '.join(numbers) or 'none'}")
        found[name] = number
    return found


def check(path: Path, kind: str | None, axes: Mapping[str, Sequence[Any]]) -> None:
    """Raise UserError, before anything is simulated, when no such figure can be drawn of these axes."""
    check_path(path)
    if kind is not None and kind not in KINDS:
        raise UserError(f"no figure is called '{kind}'", hint=f"kinds: {', '.join(KINDS)}")
    several = [name for name, values in axes.items() if len(values) > 1]
    if kind == "heat" and len(axes) != 2:
        raise UserError(f"a heat map shows two axes; this sweep has {len(axes)}")
    if kind == "in-flight" and "gpu" in axes:
        raise UserError("Little's law is drawn for one GPU; this sweep has several", hint="--plot curve --metric bytes_in_flight")
    if (kind or "curve") == "curve" and len(several) > 2:
        raise UserError(f"curves show one or two axes, not {len(several)}: {', '.join(several)}", hint="--plot in-flight or --plot pareto")


def save(
    frame: "DataFrame", gpu: Gpu, axes: tuple[str, ...], metric: str, costs: Mapping[str, float], path: Path, kind: str | None = None
) -> None:
    """Write a figure of a sweep's points. kind: one of KINDS; None = a heat map of two axes of numbers, else curves."""
    from matplotlib.figure import Figure

    good = frame[frame["error"].isna()]
    drawing = Drawing(good, gpu, axes, metric, costs)
    columns = good[axes[1]].nunique() if len(axes) == 2 else 0
    canvas = Figure(figsize=(max(7.6, 2.8 + COLUMN * columns), 5.2), layout="constrained")
    KINDS[kind or _usual(drawing)](drawing, canvas.subplots(), canvas)
    write(canvas, path)


def _usual(drawing: Drawing) -> str:
    """Return the figure of who asks for none: a heat map of two axes of numbers, or of words that are too many for curves."""
    names = [name for name in drawing.axes if not _is_number(drawing.frame, name)]
    many = any(drawing.frame[name].nunique() > MOST_LINES for name in names)
    return "heat" if len(drawing.axes) == 2 and (not names or many) else "curve"


def _is_number(frame: "DataFrame", name: str) -> bool:
    return frame[name].dtype.kind in "if"


def curve(drawing: Drawing, axes: "Axes", canvas: "Figure") -> None:
    """Draw the metric over the first axis, a line per value of the second."""
    frame = drawing.frame
    x, *others = sorted(drawing.axes, key=lambda name: (not _is_number(frame, name), -frame[name].nunique()))
    several = bool(others) and frame[others[0]].nunique() > 1
    groups = [(_short(key), part) for key, part in frame.groupby(others[0], sort=False)] if several else [("", frame)]
    if len(groups) > MOST_LINES:
        raise UserError(f"{len(groups)} lines cannot be told apart", hint="--plot heat shows two axes with many values")
    for (label, part), (colour, dash, marker) in zip(groups, STYLES, strict=False):
        ordered = part.sort_values(x) if part[x].dtype.kind in "if" else part
        (line,) = axes.plot(ordered[x], ordered[drawing.metric], color=colour, label=f"{others[0]} = {label}" if label else None)
        line.set(linestyle=dash, marker=marker, markersize=5)
        if drawing.metric == "cycles" and "cycles_low" in ordered:
            axes.fill_between(ordered[x], ordered["cycles_low"], ordered["cycles_high"], color=colour, alpha=0.25, linewidth=0)
    if several:
        axes.legend(framealpha=1.0)
    _label(axes, x, drawing.metric, drawing)
    axes.set_ylim(0, 1.08 * float(frame[drawing.metric].max()) or 1)


def heat(drawing: Drawing, axes: "Axes", canvas: "Figure") -> None:
    """Draw the metric as a field of two axes, light = high, with its numbers written in."""
    down, across = drawing.axes
    table = drawing.frame.pivot_table(index=down, columns=across, values=drawing.metric, sort=False)
    table = table.sort_index() if drawing.frame[down].dtype.kind in "if" else table
    table = table.reindex(sorted(table.columns), axis=1) if drawing.frame[across].dtype.kind in "if" else table
    low, high = float(table.min().min()), float(table.max().max())
    # The lightness of cividis rises evenly: it reads the same in grey.
    field = axes.imshow(table.to_numpy(), cmap="cividis", aspect="auto", origin="lower", vmin=low, vmax=high)
    axes.set_xticks(range(len(table.columns)), [_short(name) for name in table.columns])
    axes.set_yticks(range(len(table.index)), [_short(name) for name in table.index])
    if table.size <= MOST_CELLS:
        for (row, column), number in _cells(table):
            text = f"{number:.2g}" if abs(number) < 100 else f"{number:.0f}"
            axes.text(column, row, text, ha="center", va="center", fontsize=8, color="black" if 2 * number > low + high else "white")
        for row, column in zip(*table.isna().to_numpy().nonzero(), strict=True):
            axes.text(column, row, "no such\nmachine", ha="center", va="center", fontsize=6, color="#444444")
    axes.set_facecolor("#DDDDDD")  # of what could not be simulated
    canvas.colorbar(field, ax=axes, label=_named(drawing.metric))
    _label(axes, across, down, drawing)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def in_flight(drawing: Drawing, axes: "Axes", canvas: "Figure") -> None:
    """Draw the bytes loaded per second over the bytes in flight, with Little's law and what DRAM leaves to loads."""
    frame, gpu = drawing.frame, drawing.gpu
    if "bytes_in_flight" not in frame:
        raise UserError("bytes in flight are not known where memory.kind = 'fixed'", hint="take a GPU whose memory is modelled")
    rate = SECTOR * frame["global_load_sectors"] / (frame["cycles"] / (gpu.clock.core_mhz * 1e6)) / 1e9
    law, moved = little.memory(gpu), frame["dram_bytes_read"] + frame["dram_bytes_written"]
    roof = gpu.dram.bandwidth * gpu.dram.efficiency * float((frame["dram_bytes_read"] / moved).mean())
    end = max(float(frame["bytes_in_flight"].max()), law.nanoseconds * roof) * 1.15 / KIB
    label = f"Little's law at {law.latency} cycles, up to what DRAM streams to loads, on the GPU unchanged"
    axes.plot([0, law.nanoseconds * roof / KIB, end], [0, roof, roof], color="#000000", linestyle="--", linewidth=1.4, label=label)
    axes.scatter(frame["bytes_in_flight"] / KIB, rate, color="#0072B2", marker="o", s=28, zorder=3, label="simulated")
    canvas.legend(loc="outside lower center", ncols=2)
    _label(axes, "KiB in flight, whole chip, mean", "GB/s loaded", drawing)
    axes.set_xlim(0, end)
    axes.set_ylim(0, 1.15 * max(roof, float(rate.max())))
    _annotate(axes, drawing, list(frame["bytes_in_flight"] / KIB), list(rate))


def pareto(drawing: Drawing, axes: "Axes", canvas: "Figure") -> None:
    """Draw speed over cost, and the front: the points that no other one beats in both."""
    if not drawing.weights:
        raise UserError("no field of the GPU is varied: nothing has a cost", hint="vary some, as --over core.schedulers=1,2,4")
    frame = drawing.frame.reset_index(drop=True)
    speed = frame["seconds"].max() / frame["seconds"]
    cost = sum(weight * frame[name] / field_value(drawing.gpu, name) for name, weight in drawing.weights.items())
    axes.scatter(cost, speed, facecolors="#BBBBBB", edgecolors="#666666", marker="o", s=22, label="other points")
    best = front(list(cost), list(speed))
    x, y = [float(cost[k]) for k in best], [float(speed[k]) for k in best]
    (line,) = axes.plot(x, y, color="#D55E00", drawstyle="steps-post", label="front: nothing is cheaper and faster")
    line.set(marker="s", markersize=6, linewidth=1.6)
    canvas.legend(loc="outside lower center", ncols=2)
    terms = " + ".join(f"{weight:g} x {name}" for name, weight in drawing.weights.items())
    _label(axes, textwrap.fill(f"cost: {terms}; each field over the {drawing.gpu.name}'s", 80), "speed; the slowest point = 1", drawing)
    axes.margins(0.08, 0.12)
    _annotate(axes, drawing._replace(frame=frame.loc[best]), x, y)


def front(cost: Sequence[float], speed: Sequence[float]) -> list[int]:
    """Return the points that no other beats in both, by rising cost."""
    found: list[int] = []
    for k in sorted(range(len(cost)), key=lambda k: (cost[k], -speed[k])):
        if not found or speed[k] > speed[found[-1]]:
            found.append(k)
    return found


KINDS: dict[str, Callable[[Drawing, "Axes", "Figure"], None]] = {"curve": curve, "heat": heat, "in-flight": in_flight, "pareto": pareto}


def _annotate(axes: "Axes", drawing: Drawing, x: Sequence[float], y: Sequence[float], most: int = 16) -> None:
    """Write the values of the axes beside points, where they are few enough to be read: none over another, nor over a point."""
    if len(x) > most:
        return
    dots = axes.transData.transform(list(zip(x, y, strict=True))) / axes.figure.dpi * POINTS
    taken: list[Box] = [(left - 4, low - 4, left + 4, low + 4) for left, low in dots]
    for place, (_, row) in enumerate(drawing.frame.iterrows()):
        text = ", ".join(_short(row[name]) for name in drawing.axes)
        across, up = _free(dots[place], LETTER_WIDTH * len(text), taken, axes.bbox.x0 / axes.figure.dpi * POINTS)
        arrow = {"arrowstyle": "-", "color": "#888888", "linewidth": 0.5} if abs(up) > 2 * LETTER_HIGH else None
        axes.annotate(
            text, (x[place], y[place]), xytext=(across, up), textcoords="offset points", fontsize=7, va="center", arrowprops=arrow
        )


def _free(dot: Any, wide: float, taken: list[Box], edge: float) -> tuple[float, float]:
    """Return where beside a dot, in points from it, a label covers nothing, right of an edge; note it. Without such a place the first."""
    heights = [step * LETTER_HIGH * sign for step in range(1, 9) for sign in (-1, 1)]
    for across, up in [(across, up) for up in heights for across in (7.0, -7.0 - wide)]:
        left, low = dot[0] + across, dot[1] + up - LETTER_HIGH / 2
        box = (left, low, left + wide, low + LETTER_HIGH)
        if left > edge and not any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in taken):
            taken.append(box)
            return across, up
    return 7.0, -LETTER_HIGH


def _label(axes: "Axes", x: str, y: str, drawing: Drawing) -> None:
    axes.set_xlabel(_named(x))
    axes.set_ylabel(_named(y))
    axes.set_title(f"{drawing.gpu.name}: {', '.join(drawing.axes)}", fontsize="medium")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def _named(axis: str) -> str:
    """Return an axis with its unit: of a field of the GPU as its description says, of a counter as its name does."""
    found = unit(Gpu, axis)
    return f"{axis}, {found}" if found else axis


def _cells(table: "DataFrame") -> list[tuple[tuple[int, int], float]]:
    """Return (row, column) and number of every cell that has one."""
    rows = table.to_numpy()
    return [((r, c), number) for r, numbers in enumerate(rows) for c, number in enumerate(numbers) if not math.isnan(number)]


def _short(value: Any) -> str:
    """Return a value as a tick shows it; of a path the file's name without its ending."""
    if isinstance(value, str):
        return Path(value).stem if value.endswith((".sass", ".toml", ".cu", ".cubin")) else value
    return f"{value:g}"
