"""Figures of one warp access: threads above, memory segments or shared-memory banks below, as the lectures draw them."""

from pathlib import Path
from typing import TYPE_CHECKING

from sim.analysis.banks import GEOMETRY
from sim.analysis.coalescing import LANES, Access
from sim.gpus.path import LINE, SECTOR
from sim.report.banks import SharedAccess
from sim.report.coalescing import WORD, sectors_moved
from sim.report.figures import check_path, write
from sim.report.words import count, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

USED, WASTED, IDLE, EDGE = "#0072B2", "#F5C6A5", "#FFFFFF", "#666666"  # Okabe and Ito's blue; a light orange: apart in grey too
THREADS_Y, MEMORY_Y, HEIGHT = 3.0, 0.0, 0.5
GAP = 8.0  # between two lines, in bytes of the drawing
LINES_LABELLED = 16
MOST_INCHES = 24.0
MOST_NUMBERED = 64  # wavefronts whose threads are named


def save_access(access: Access, path: str | Path, title: str) -> None:
    """Write the drawing of a global-memory access to `path`. Raises UserError for another ending than .png, .svg, .pdf."""
    drawing, axes = _canvas(path, 3.6)
    lines = sorted({sector // LINE * LINE for sector in sectors_moved(access)})
    places = {line: k * (LINE + GAP) for k, line in enumerate(lines)}  # touched lines side by side, whatever lies between
    _threads(axes, access, places, lines)
    _memory(axes, access, places)
    moved = f"{count(len(access.transactions), 'transaction')}, {access.moved:,} bytes, {percent(access.efficiency)} used"
    axes.set_title(f"{title}: {moved}", fontsize=10)
    axes.set_xlim(-4, max(places.values(), default=0) + LINE + 4)
    axes.set_ylim(-0.1, THREADS_Y + 1)
    _legend(drawing, {"used": USED, "moved but not used": WASTED, "not moved": IDLE})
    write(drawing, path)


def save_banks(access: SharedAccess, path: str | Path, title: str) -> None:
    """Write the drawing of a shared-memory access to `path`: banks across, wavefronts down, the thread's number in each box."""
    wavefronts, banks = access.wavefronts, GEOMETRY[access.rule].banks
    drawing, axes = _canvas(path, min(1.8 + 0.28 * max(len(wavefronts), 2), MOST_INCHES))
    for y, wavefront in enumerate(wavefronts):
        served = {place.bank: place.lanes for place in wavefront}
        for bank in range(banks):
            axes.broken_barh([(bank, 1)], (y, 1), facecolors=USED if bank in served else IDLE, edgecolor=EDGE, linewidth=0.5)
            if bank in served and len(wavefronts) <= MOST_NUMBERED:
                text = str(served[bank][0]) if len(served[bank]) == 1 else "*"
                axes.text(bank + 0.5, y + 0.5, text, ha="center", va="center", fontsize=7, color="white")
    axes.set_xticks([bank + 0.5 for bank in range(banks)], [str(bank) for bank in range(banks)], fontsize=7)
    axes.set_yticks([y + 0.5 for y in range(len(wavefronts))], [str(y + 1) for y in range(len(wavefronts))], fontsize=7)
    axes.set(xlim=(0, banks), ylim=(max(len(wavefronts), 1), 0), xlabel="bank", ylabel="wavefront")
    axes.set_title(f"{title}: {count(len(wavefronts), 'wavefront')}, {access.fewest} without conflicts", fontsize=10)
    _legend(drawing, {"serves the thread named (* several)": USED, "idle": IDLE})
    write(drawing, path)


def _canvas(path: str | Path, height: float) -> "tuple[Figure, Axes]":
    check_path(path)
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(12, height), layout="constrained")
    axes = drawing.subplots()
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    return drawing, axes


def _threads(axes: "Axes", access: Access, places: dict[int, float], lines: list[int]) -> None:
    """Draw the threads in a row, and an arrow from each active one to its word."""
    width = max(places.values(), default=0) + LINE
    step = width / LANES
    for lane in range(LANES):
        active = lane in access.lanes
        left = lane * step
        axes.broken_barh([(left, step)], (THREADS_Y, HEIGHT), facecolors="#DDDDDD" if active else IDLE, edgecolor=EDGE, linewidth=0.5)
        axes.text(left + step / 2, THREADS_Y + HEIGHT / 2, str(lane), ha="center", va="center", fontsize=7)
        if active:
            address = access.addresses[lane]
            x = places[address // LINE * LINE] + address % LINE + access.width / 2
            arrow = {"arrowstyle": "-|>", "linewidth": 0.6, "color": "#333333", "mutation_scale": 6}
            axes.annotate("", (x, MEMORY_Y + HEIGHT), (left + step / 2, THREADS_Y), arrowprops=arrow)
    axes.text(0, THREADS_Y + HEIGHT + 0.1, "threads of the warp", fontsize=8)
    axes.set_yticks([])


def _memory(axes: "Axes", access: Access, places: dict[int, float]) -> None:
    """Draw every line that is touched: words used, words moved for nothing, sectors left alone; addresses below."""
    moved = sectors_moved(access)
    used = {access.addresses[lane] + byte for lane in access.lanes for byte in range(0, access.width, min(WORD, access.width))}
    piece = min(WORD, access.width)
    for line, left in places.items():
        for sector in range(line, line + LINE, SECTOR):
            fill = WASTED if sector in moved else IDLE
            axes.broken_barh([(left + sector - line, SECTOR)], (MEMORY_Y, HEIGHT), facecolors=fill, edgecolor="none")
        words = [(left + byte - line, piece) for byte in sorted(used) if line <= byte < line + LINE]
        axes.broken_barh(words, (MEMORY_Y, HEIGHT), facecolors=USED, edgecolor="white" if len(places) <= 4 else USED, linewidth=0.4)
        boxes = [(left + offset, SECTOR) for offset in range(0, LINE, SECTOR)]
        axes.broken_barh(boxes, (MEMORY_Y, HEIGHT), facecolors="none", edgecolor=EDGE, linewidth=0.8 if len(places) <= 8 else 0.3)
    every = -(-len(places) // LINES_LABELLED)
    first = min(places, default=0)
    shown = [(left, line - first) for k, (line, left) in enumerate(places.items()) if k % every == 0]
    axes.set_xticks([left for left, _ in shown], [f"{offset:,}" for _, offset in shown], fontsize=8)
    axes.set_xlabel("byte address; one box is a 32-byte sector, four are a 128-byte line", fontsize=9)


def _legend(drawing: "Figure", colours: dict[str, str]) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=colour, edgecolor=EDGE, label=label) for label, colour in colours.items()]
    drawing.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=8)
