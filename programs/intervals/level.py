"""Where the notes' matrix-vector kernels level off as warps are added: simulated on the GTX 1080 and the K20, beside interval analysis."""

from collections.abc import Iterator
from typing import NamedTuple

import sim
from programs.intervals.kernels import FOLDER, part_of, pass_cycles
from programs.published import published
from programs.reproduction import Check
from sim.analysis.interval import analyse
from sim.functional import execute
from sim.gpus.model import Gpu
from sim.launch.file import load_launch
from sim.report.curves import Curve

WARPS = (1, 2, 3, 4, 6, 8, 9, 12, 16, 18, 20, 24)
LEVEL = 0.95  # of the best performance: a curve has levelled off when it has come so far
LINES = "l1.bytes_per_cycle"
NOTES_RATE = 128.0  # bytes per cycle: the notes' 32 load/store lanes of 4 bytes


class Series(NamedTuple):
    """One kernel on one GPU: performance, percent of its best, by warps per SM."""

    kernel: str
    warps: tuple[int, ...]
    percent: tuple[float, ...]
    analysed: float  # warps per SM at which interval analysis sees the first resource full
    binding: str

    @property
    def level(self) -> int:
        """The fewest warps with which it comes near its best."""
        return next(w for w, percent in zip(self.warps, self.percent, strict=True) if percent >= 100 * LEVEL)

    @property
    def least(self) -> float:
        """The least performance from there on, percent of the best."""
        return min(percent for w, percent in zip(self.warps, self.percent, strict=True) if w >= self.level)

    def at(self, warps: int) -> float:
        return self.percent[self.warps.index(warps)]


def series(kernel: str, gpu: Gpu, warps: tuple[int, ...] = WARPS) -> Series:
    """Return the simulated steady-state performance of a kernel, and what interval analysis says."""
    rates = [1 / pass_cycles(kernel, gpu, count)[0] for count in warps]
    trace = execute(load_launch(FOLDER / f"{kernel}.toml").launch)
    found = analyse(trace, gpu)
    return Series(kernel, warps, tuple(100 * rate / max(rates) for rate in rates), found.warps_per_sm, found.binding.name)


def gtx1080() -> tuple[list[Check], list[Curve]]:
    """Return the three kernels of the notes on the GTX 1080."""
    preset = part_of(sim.gpu("gtx1080"), 4)
    wide = preset.replace({LINES: NOTES_RATE})
    checks, curves = [], []
    for row in published(FOLDER, "figures.toml")["gtx1080"]:
        found = series(row["kernel"], wide)
        checks.append(_levels(row, found))
        curves.append(Curve(found.kernel, found.warps, found.percent, "GTX 1080"))
    slow = series("mxv_per_thd", preset)
    rate = preset.l1.bytes_per_cycle if preset.l1 else 0.0
    why = f"its L1 passes {rate:g} bytes per cycle to the registers, 9 cycles per load; the notes' 32 load/store lanes pass {NOTES_RATE:g}"
    shown = f"{slow.at(4):.0f}% of its best at 4, {slow.least:.0f}% or more from {slow.level} on"
    checks.append(Check("GTX 1080, mxv_per_thd with the preset's L1", "16 to 20 warps", shown, None, why))
    return checks, curves


def _levels(row: dict, found: Series) -> Check:
    low, high = row["warps"]
    said = f"{low} to {high} warps" if low < high else f"{low} warps"
    passed = row["from"] <= found.level <= high
    simulated = f"{found.at(low):.0f}% of its best at {low}; at {found.level} within 5%, {found.least:.0f}% or more from there on"
    note = f"{found.binding} is full with {found.analysed:.1f} warps; {row['note']}"
    return Check(f"GTX 1080, {row['kernel']}: warps per SM", said, simulated, passed, note)


def k20() -> tuple[list[Check], list[Curve]]:
    """Return what the order of the multiply-adds costs at 4 warps per SM on the K20."""
    gpu, row = sim.gpu("k20c").replace({"l2.start": "dirty"}), published(FOLDER, "figures.toml")["k20c"]
    apart, chained = (series(kernel, gpu, tuple(row["measured"])) for kernel in ("mxv_wide", "mxv_wide_rows"))
    half = f"{chained.at(4):.0f}% of its best"
    low, high = row["between"]
    latency = f"L_F = {gpu.units['fp32'].latency} cycles"
    hidden = f"{apart.at(4):.0f}% of its best"
    checks = [
        Check("K20, 4 warps per SM, chains of multiply-adds", "1/2", half, low <= chained.at(4) <= high, f"one after the other, {latency}"),
        Check("K20, 4 warps per SM, multiply-adds 16 apart", "-", hidden, apart.at(4) > high, "more than their latency"),
    ]
    return checks, [Curve(found.kernel, found.warps, found.percent, "K20") for found in (apart, chained)]


def everything() -> Iterator[tuple[list[Check], list[Curve]]]:
    """Yield the checks and curves of both GPUs."""
    yield gtx1080()
    yield k20()
