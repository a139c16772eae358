"""The memory chart as a figure: a box per level, arrows as wide as the bytes that moved, like Nsight Compute's."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from isa.errors import UserError
from sim.report.figures import check_path, write
from sim.report.memory import accesses, chart, flow, hits, past_l1
from sim.report.words import count, size
from sim.result.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

READ, WRITTEN, BOX, EDGE = "#0072B2", "#D55E00", "#F4F4F4", "#444444"  # Okabe and Ito's blue and vermilion
WIDTH, GAP = 1.5, 1.5  # of a box and between two, inches
TOP = 2.6  # where the row of levels begins, inches
THINNEST, THICKEST = 0.015, 0.13  # inches, of an arrow without bytes and of the one that moved most


def save(result: Result, path: str | Path) -> None:
    """Write the chart to `path` (.png, .svg, .pdf). Raises UserError for another ending, and when there is nothing to draw."""
    check_path(path)
    if not chart(result):
        why = "memory has a fixed latency" if result.gpu.memory.kind == "fixed" else "the kernel does not access memory"
        raise UserError(f"no memory figure: {why}", path=str(path))
    write(figure(result), path)


def figure(result: Result) -> "Figure":
    """Return the drawing: the kernel's accesses at the left, then L1, L2 and DRAM; shared memory below L1."""
    from matplotlib.figure import Figure

    moved, counters = flow(result), result.counters
    rows = {row.kind: row for row in accesses(result)}
    shared = rows.get("shared memory")
    wide, low, high = 4 * WIDTH + 3 * GAP + 0.6, 0.0 if shared else TOP - 1.2, 5.0
    drawing = Figure(figsize=(wide, high - low))
    axes = drawing.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, wide), ylim=(low, high))
    axes.axis("off")
    axes.text(0.3, high - 0.35, f"{result.name} on {result.gpu.name}: what moved through memory in {result.cycles:,} cycles", fontsize=11)
    axes.text(0.3, low + 0.25, _caption(result), fontsize=8, color=EDGE)
    kinds = [f"{kind}\n{row.requests:,} requests\n{row.each:.2f} sectors each" for kind, row in rows.items() if kind != "shared memory"]
    joined = [f"{moved.l1_merged:,} sectors joined\na fetch under way"] if moved.l1_merged else []
    _box(axes, 0, "registers", kinds, 0.7 if shared else TOP - 0.6, 3.5 if shared else 1.6 + 0.6)
    _box(
        axes,
        1,
        "L1",
        [hits(moved.l1_hits), *joined],
    )
    _box(axes, 2, "L2", [hits(moved.l2_hits)])
    _box(axes, 3, "DRAM", [f"{moved.dram_share:.1%} of {result.gpu.dram.bandwidth:g} GB/s"])
    most = max(moved.l1_read, moved.l2_read, moved.written, moved.dram_read, moved.dram_written, 1)
    for gap, (read, written) in enumerate(
        [(moved.l1_read, moved.written), (moved.l2_read, moved.written), (moved.dram_read, moved.dram_written)]
    ):
        _arrow(axes, gap, TOP + 1.1, read, most, read_back=True)
        _arrow(axes, gap, TOP + 0.35, written, most, read_back=False)
    if shared:
        conflicts = int(counters["shared_bank_conflicts"])
        _box(axes, 1, "shared memory", [f"{shared.parts:,} passes\n{conflicts:,} bank conflicts"], 0.7, 1.3)
        axes.annotate("", (_left(1), 1.3), (_left(0) + WIDTH, 1.3), arrowprops={"arrowstyle": "<|-|>", "color": READ, "linewidth": 2})
        axes.text(
            _left(0) + WIDTH + GAP / 2, 1.42, f"{count(shared.requests, 'request')}\n{shared.each:.2f} passes each", fontsize=8, ha="center"
        )
    return drawing


def _caption(result: Result) -> str:
    counters = result.counters
    return (
        "blue: read, vermilion: written; an arrow is as wide as its bytes. "
        f"A load takes {counters['load_latency']:,.0f} cycles on average; {size(counters['bytes_in_flight'])} are in flight."
        + "".join(f"\n{line.strip()}" for line in past_l1(result))
    )


def _left(column: int) -> float:
    return 0.3 + column * (WIDTH + GAP)


def _box(axes: "Axes", column: int, title: str, lines: list[str], bottom: float = TOP, high: float = 1.6) -> None:
    from matplotlib.patches import FancyBboxPatch

    style: dict[str, Any] = {"boxstyle": "round,pad=0,rounding_size=0.08", "facecolor": BOX, "edgecolor": EDGE}
    axes.add_patch(FancyBboxPatch((_left(column), bottom), WIDTH, high, **style))
    axes.text(_left(column) + WIDTH / 2, bottom + high - 0.12, title, fontsize=10, fontweight="bold", ha="center", va="top")
    axes.text(_left(column) + WIDTH / 2, bottom + high - 0.42, "\n\n".join(lines), fontsize=8, ha="center", va="top")


def _arrow(axes: "Axes", gap: int, height: float, moved: int, most: int, *, read_back: bool) -> None:
    """Draw an arrow over the gap right of box `gap`, towards the registers when `read_back`; grey and thin when nothing moved."""
    left, right = _left(gap) + WIDTH + 0.06, _left(gap + 1) - 0.06
    start, way = (right, left - right) if read_back else (left, right - left)
    colour = (READ if read_back else WRITTEN) if moved else "#BBBBBB"
    body = THINNEST + (THICKEST - THINNEST) * moved / most
    axes.arrow(
        start, height, way, 0, width=body, head_width=body + 0.1, head_length=0.16, length_includes_head=True, color=colour, linewidth=0
    )
    axes.text((left + right) / 2, height + 0.14, size(moved), fontsize=9, ha="center")
