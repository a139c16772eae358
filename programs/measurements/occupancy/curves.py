"""`occupancy-curves`: bandwidth of one-element kernels by warps per SM, as RRZE measured it on six GPUs."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import isa
import sim
from isa.errors import UserError
from programs.measurements.copies import part_of
from programs.published import published
from programs.reproduction import Check, Reproduction
from programs.steady import shared_for
from sim.gpus.model import Gpu
from sim.gpus.occupancy import WARP
from sim.report.curves import Curve

FOLDER = Path(__file__).parent
KERNELS = {"read": 8, "scale": 16}  # bytes moved per thread
ACCEPTED = 9.0  # percent: mean error of a GPU's points
TWO_BLOCKS_FROM = 4  # warps per SM
PARTS = 2  # of the chip; one is simulated
WAVES = (4, 10)  # of blocks, simulated; the bandwidth is that of the waves between
KIB = 1024


def reproduce(gpu: str | None = None) -> Reproduction:
    """Run both kernels at every occupancy published. Raises UserError for a GPU: each curve is of its own."""
    if gpu is not None:
        raise UserError(f"each of these curves was measured on its own GPU; {gpu} is one", hint="leave --gpu out")
    checks: list[Check] = []
    lines: list[Curve] = []
    for row in measured():
        found = {kernel: tuple(bandwidth(row, kernel, warps) for warps in row["warps"]) for kernel in KERNELS}
        checks += _checks(row, found)
        lines += _curves(row, found)
    title = "Bandwidth against occupancy, one double per thread"
    return Reproduction(title, tuple(checks), NOTES, tuple(lines), "warps per SM", "GB/s")


def measured() -> list[dict[str, Any]]:
    """Return the measured GPUs."""
    return list(published(FOLDER)["gpu"])


def machine(row: Mapping[str, Any]) -> Gpu:
    """Return the GPU of a row."""
    return sim.gpu(row["preset"]).replace(row.get("replace", {}))


def bandwidth(row: Mapping[str, Any], kernel: str, warps: int, whole: Gpu | None = None) -> float:
    """Return GB/s in the steady state with so many warps per SM; of the GPU `whole` instead of the row's, if given."""
    gpu = whole or machine(row)
    part = part_of(gpu, PARTS)
    resident = 2 if warps >= row.get("two_blocks_from", TWO_BLOCKS_FROM) else 1
    threads = WARP * warps // resident
    few, many = (sim.run(_launch(kernel, wave * resident * part.sms, threads, resident, gpu), part).cycles for wave in WAVES)
    moved = KERNELS[kernel] * threads * resident * gpu.sms * (WAVES[1] - WAVES[0])
    return moved / (many - few) * gpu.clock.core_mhz * 1e-3


def _launch(kernel: str, blocks: int, threads: int, resident: int, gpu: Gpu) -> sim.Launch:
    arrays = (np.zeros(blocks * threads), np.zeros(blocks * threads))
    args = arrays if kernel == "read" else (*arrays, np.float64(1.25))
    return sim.Launch(isa.load(FOLDER / f"{kernel}.sass"), (blocks,), (threads,), args, shared_dynamic=shared_for(gpu, resident, KIB))


def _errors(row: Mapping[str, Any], kernel: str, found: tuple[float, ...]) -> list[float]:
    return [100 * (simulated / measured - 1) for simulated, measured in zip(found, row[kernel], strict=True)]


def _checks(row: Mapping[str, Any], found: Mapping[str, tuple[float, ...]]) -> Iterator[Check]:
    """Yield the mean error of a GPU's points, judged, then each column, shown."""
    errors = [error for kernel in KERNELS for error in _errors(row, kernel, found[kernel])]
    mean = sum(map(abs, errors)) / len(errors)
    note = "block overhead FITTED to reads at 1 to 8 warps" if row["fitted"] else "block overhead of the H100 SXM, nothing fitted here"
    worst = max(errors, key=abs)
    yield Check(
        f"{row['name']}, mean error of {len(errors)} points",
        f"under {ACCEPTED:g}%",
        f"{mean:.1f}%, worst {worst:+.0f}%",
        mean < ACCEPTED,
        note,
    )
    for kernel in KERNELS:
        what = f"{kernel}, GB/s at {', '.join(map(str, row['warps']))} warps per SM"
        yield Check(what, ", ".join(map(str, row[kernel])), ", ".join(f"{one:.0f}" for one in found[kernel]), None)


def _curves(row: Mapping[str, Any], found: Mapping[str, tuple[float, ...]]) -> Iterator[Curve]:
    x = tuple(float(warps) for warps in row["warps"])
    for kernel in KERNELS:
        yield Curve(f"{kernel}, measured", x, tuple(float(one) for one in row[kernel]), panel=row["name"])
        yield Curve(f"{kernel}, simulated", x, found[kernel], panel=row["name"])


NOTES = (
    "Latencies are the presets' published ones. What they leave of the measured round trip, 400 to 550 cycles, is the start and the end of "
    "every block; their sum was fitted per chip to the reads at 1 to 8 warps per SM. Scales and higher occupancies are predictions, but "
    "for the GH200, whose dram.efficiency is fitted too, to its scale at 64 warps.",
    "Half of each chip is simulated, with half of its channels and bandwidth, and a small L2: a stream reuses nothing that it keeps.",
)
