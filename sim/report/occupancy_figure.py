"""The occupancy calculator's three curves: warps per SM by threads per block, by registers, by shared memory; the launch marked on each."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sim.gpus.model import Gpu
from sim.gpus.occupancy import occupancy
from sim.report.figures import check_path, write
from sim.report.occupancy import Use, limit_sentence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE, MARK = "#0072B2", "#D55E00"
SHARED_STEPS = 256  # points of the curve over shared memory


def save(gpu: Gpu, use: Use, path: Path) -> None:
    """Write the figure to `path` (.png, .svg, .pdf)."""
    check_path(path)
    from matplotlib.figure import Figure

    limits, warp = gpu.limits, gpu.core.warp_size
    grain = max(limits.shared_per_block // SHARED_STEPS, 1)
    panels: tuple[tuple[str, int, Sequence[int], Callable[[int], Use]], ...] = (
        ("threads per block", use.block, range(warp, limits.threads_per_block + 1, warp), lambda n: use._replace(block=n)),
        ("registers per thread", use.registers, range(1, limits.registers_per_thread + 1), lambda n: use._replace(registers=n)),
        ("bytes of shared memory per block", use.shared, range(0, limits.shared_per_block + 1, grain), lambda n: use._replace(shared=n)),
    )
    canvas = Figure(figsize=(13.5, 4.4), layout="constrained")
    found = occupancy(gpu, *use)
    canvas.suptitle(f"{gpu.name}: {limit_sentence(found, gpu)}", fontsize="medium")
    row = canvas.subplots(1, len(panels), sharey=True)
    for axes, (label, mine, values, changed) in zip(row, panels, strict=True):
        _panel(axes, gpu, list(values), [occupancy(gpu, *changed(n)).warps for n in values])
        _mark(axes, mine, found.warps)
        axes.set_xlabel(label)
        axes.set_xlim(left=0)
    row[0].set_ylabel("warps resident on an SM")
    _percent(row[-1], gpu)
    write(canvas, path)


def _panel(axes: "Axes", gpu: Gpu, x: list[int], warps: list[int]) -> None:
    # A step holds up to its value: 225 to 256 threads are eight warps.
    axes.plot(x, warps, drawstyle="steps-pre", color=LINE, linewidth=1.6)
    axes.set_ylim(0, 1.12 * gpu.limits.warps)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def _mark(axes: "Axes", x: int, warps: int) -> None:
    axes.plot([x], [warps], marker="D", markersize=9, markerfacecolor="none", markeredgewidth=2, color=MARK, linestyle="")
    axes.annotate(f"this launch: {warps}", (x, warps), xytext=(7, 8), textcoords="offset points", fontsize=9, color=MARK)


def _percent(axes: "Axes", gpu: Gpu) -> None:
    """Put a scale in percent to the right."""
    share = axes.twinx()
    low, high = axes.get_ylim()
    share.set_ylim(100 * low / gpu.limits.warps, 100 * high / gpu.limits.warps)
    share.set_ylabel("occupancy, %")
    share.spines[["top", "right"]].set_visible(False)
