"""Figures: warps by cycles, issues as dark bars, waits coloured by cause; and how every figure is checked for and written."""

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isa.errors import UserError
from sim.report.barriers import Lane, lanes
from sim.report.timeline import Issue, Warp, warps
from sim.report.tracks import tracks
from sim.report.words import CAUSE_MEANINGS, count
from sim.result.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
DPI = 150
ISSUE = "#000000"
# Okabe and Ito's palette, which the colour-blind tell apart; in grey, lightness tells apart what fills most figures, hatches the rest.
STYLES: dict[str, tuple[str, str]] = {
    "not_selected": ("#EFEFEF", ""),
    "wait": ("#E69F00", ""),
    "long_scoreboard": ("#0072B2", ""),
    "short_scoreboard": ("#56B4E9", ".."),
    "math_pipe_throttle": ("#F0E442", "//"),
    "mio_throttle": ("#D55E00", "\\\\"),
    "lg_throttle": ("#CC79A7", "||"),
    "barrier": ("#009E73", "xx"),
    "branch_resolving": ("#999999", "--"),
    "dispatch_stall": ("#D55E00", "++"),
    "imc_miss": ("#CC79A7", "oo"),
    "no_instruction": ("#FFFFFF", "--"),
    "drain": ("#FFFFFF", ".."),
}
ROOM = 0.025  # share of the window that an instruction's number needs
OTHER = ("#FFFFFF", "**")
LABEL = 50  # characters of a line of the legend: three columns fit side by side
PHASES = ("#CFCFCF", "#8C8C8C")  # in turn
MOST_BARRIERS = 16


def figure(result: Result, show: tuple[int, ...] | None = None) -> "Figure":
    """Return the drawing of the recorded window. show: which warps, None = all. Raises UserError without matplotlib."""
    figures, patches = _matplotlib()
    drawn = warps(result, show)
    shown = {warp.block for warp in drawn}
    every = [lane for lane in lanes(result, tracks(result)) if lane.block in shown]
    barriers = every[:MOST_BARRIERS]
    drawing = figures.Figure(figsize=(12, min(2.4 + 0.28 * (len(drawn) + len(barriers)), 14)), layout="constrained")
    axes = drawing.subplots()
    causes = _draw(axes, drawn)
    _label(axes, drawn, barriers, result)
    _draw_phases(axes, len(drawn), barriers)
    legend = [patches.Patch(facecolor=ISSUE, label="issues, holds its port; its number stands before it")]
    for c in causes:
        label = textwrap.fill(_meaning(c), LABEL)
        legend.append(patches.Patch(facecolor=_style(c)[0], hatch=_style(c)[1], edgecolor="#666666", label=label))
    if barriers:
        left_out = f"; {len(every) - len(barriers)} barriers more" if len(every) > len(barriers) else ""
        phase = textwrap.fill(f"phase of an mbarrier: first arrival or byte to last{left_out}", LABEL)
        legend.append(patches.Patch(facecolor=PHASES[0], edgecolor="#666666", label=phase))
    drawing.legend(handles=legend, loc="outside lower center", ncols=min(len(legend), 3), frameon=False, fontsize=8)
    return drawing


def save(result: Result, path: str | Path, show: tuple[int, ...] | None = None) -> None:
    """Write the drawing to `path`, in the format of its ending (.png, .svg, .pdf). Raises UserError for another ending."""
    check_path(path)
    write(figure(result, show), path)


def check_path(path: str | Path, *texts: str) -> None:
    """Raise UserError when no figure can be written to `path`, before anything is computed for it: its ending, or no matplotlib.

    texts: endings of what is written as text instead.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (*FORMATS, *texts):
        raise UserError(f"'{path}' does not say which kind of figure", hint=f"end the name in {', '.join((*texts[1:], *FORMATS))}")
    if suffix in FORMATS:
        _matplotlib()


def write(drawing: "Figure", path: str | Path) -> None:
    """Write a drawing to `path`. Raises UserError when that cannot be done."""
    try:
        drawing.savefig(path, dpi=DPI)
    except OSError as error:
        raise UserError(f"cannot write the figure: {error.strerror}", path=str(path)) from None


def _matplotlib() -> tuple[Any, Any]:
    """Return matplotlib's figure and patches modules; neither needs a display."""
    try:
        from matplotlib import figure, patches
    except ImportError:
        raise UserError("figures need matplotlib, which is not installed", hint="pip install 'simtlab[figures]'") from None
    return figure, patches


def _draw(axes: "Axes", drawn: list[Warp]) -> list[str]:
    """Draw every warp's waits and issues; return the causes that occur, in the order of STYLES."""
    waits: dict[str, list[list[tuple[int, int]]]] = {}
    for row, warp in enumerate(drawn):
        for issue in warp.issues:
            for cause, start, end in _waits(issue):
                waits.setdefault(cause, [[] for _ in drawn])[row].append((start, end - start))
    for cause, rows in waits.items():
        colour, hatch = _style(cause)
        for row, spans in enumerate(rows):
            axes.broken_barh(spans, (row - 0.4, 0.8), facecolors=colour, hatch=hatch or None, edgecolor="#66666655", linewidth=0.3)
    bars: dict[str, Any] = {"facecolors": ISSUE, "edgecolor": "white", "linewidth": 0.4}
    room = ROOM * (max(i.end for w in drawn for i in w.issues) - min(w.issues[0].since for w in drawn))
    for row, warp in enumerate(drawn):
        axes.broken_barh([(issue.cycle, issue.end - issue.cycle) for issue in warp.issues], (row - 0.4, 0.8), **bars)
        _number(axes, row, warp, room)
    return sorted(waits, key=[*STYLES, *waits].index)


def _waits(issue: Issue) -> list[tuple[str, int, int]]:
    """Return (cause, first cycle, end) of the waits before an issue; what kept it back once it could go counts as not_selected."""
    ready = max(issue.eligible, issue.since)
    return [wait for wait in ((issue.cause, issue.since, issue.eligible), ("not_selected", ready, issue.cycle)) if wait[2] > wait[1]]


def _number(axes: "Axes", row: int, warp: Warp, room: float) -> None:
    """Write an instruction's number at the end of its wait, before its bar, as the page does, where the wait is of `room` cycles."""
    place: dict[str, Any] = {"xytext": (-2, 0), "textcoords": "offset points", "ha": "right", "va": "center"}
    background: dict[str, Any] = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    begins = [warp.issues[0].since, *(issue.end for issue in warp.issues)]
    for issue, begin in zip(warp.issues, begins, strict=False):
        if issue.cycle - begin >= room:
            axes.annotate(f"I{issue.instruction}", (issue.cycle, row), bbox=background, fontsize=6, annotation_clip=True, **place)


def _draw_phases(axes: "Axes", first: int, barriers: list[Lane]) -> None:
    """Draw a row for each barrier in shared memory, from row `first` on: its phases, by number where there is room."""
    begin, end = axes.get_xlim()
    for row, lane in enumerate(barriers, first):
        for span in lane.spans:
            wide = max(span.last - span.first, 1)
            axes.broken_barh([(span.first, wide)], (row - 0.3, 0.6), facecolors=PHASES[span.number % 2])
            middle = span.first + wide / 2
            if wide >= ROOM * (end - begin) and begin < middle < end:
                axes.text(middle, row, f"phase {span.number}", fontsize=6, ha="center", va="center")


def _label(axes: "Axes", drawn: list[Warp], barriers: list[Lane], result: Result) -> None:
    several = len({warp.block for warp in drawn}) > 1
    step = max(len(drawn) // 40, 1)
    rows = range(0, len(drawn), step)
    names = [(f"b{drawn[r].block} " if several else "") + f"wp{drawn[r].warp}" for r in rows]
    names += [(f"b{lane.block} " if several else "") + f"mbarrier {lane.barrier:#x}" for lane in barriers]
    axes.set_yticks([*rows, *range(len(drawn), len(drawn) + len(barriers))], names, fontsize=8)
    axes.set_ylim(len(drawn) + len(barriers) - 0.4, -0.6)
    axes.set_xlim(min(w.issues[0].since for w in drawn), max(i.end for w in drawn for i in w.issues))
    axes.set_xlabel(f"cycle (core clock, {result.gpu.clock.core_mhz:g} MHz)")
    axes.set_title(f"{result.name} on {result.gpu.name}: {count(len(drawn), 'warp')} of a run of {result.cycles:,} cycles", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


def _style(cause: str) -> tuple[str, str]:
    return STYLES.get(cause, OTHER)


def _meaning(cause: str) -> str:
    return "ready, but not its turn or its port taken" if cause == "not_selected" else f"{cause}: {CAUSE_MEANINGS[cause]}"
