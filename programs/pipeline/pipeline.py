"""`pipeline`: products on tensor cores by depth of the pipeline that feeds them, size of tile, and machine; what nobody can measure.

C of 512 x 2,048 sums of 1,536 products of halves, by `pipeline.cu`: 1 to 6 buffers between the warp that copies and the eight that
multiply, tiles of 128 rows and 64, 128 or 256 columns, at most one block on an SM; on a GPU as it is, with twice the rate of its tensor
cores, and with half the bandwidth of its shared memory. Lesson 17 says what the curves mean.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import isa
import sim
from isa.errors import UserError
from programs.reproduction import Check, Reproduction
from sim.causes.advice import utilisation
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.launch.launch import Launch
from sim.report.curves import Curve

LISTING = Path(__file__).parent / "pipeline.sm_90.sass"
LINES, COLUMNS, TERMS = 512, 2048, 1536  # of C; products in each of its sums
ROWS, BUFFER_TERMS, BYTES, BARRIERS = 128, 64, 2, 1024  # of a tile; of a buffer; of a number; bytes of all barriers
TILES, STAGES = (64, 128, 256), (1, 2, 3, 4, 5, 6)
PRODUCT = 64 * 16  # multiply-adds for a column of a product of a warpgroup
AS_IT_IS, TWICE, HALF = "as it is", "twice the tensor rate", "half the shared memory's bandwidth"
MACHINES = (AS_IT_IS, TWICE, HALF)


class Found(NamedTuple):
    """A run: cycles; percent of the peak of the SMs that have blocks, as they are; percent of active cycles with the tensor cores taken."""

    cycles: int
    peak: float
    taken: float


Runs = dict[tuple[int, str], dict[int, Found]]  # by tile and machine, then by buffers


def machines(gpu: Gpu) -> dict[str, Gpu]:
    """Return a GPU, and what is asked of it, by name. Raises UserError where it has no products of warpgroups."""
    if gpu.warpgroup is None:
        raise UserError(f"{gpu.name} has no products of warpgroups (wgmma)", hint="GPUs that have: h100, h200")
    changes: tuple[dict[str, Any], ...] = (
        {},
        {"warpgroup.column_cycles": gpu.warpgroup.column_cycles / 2},
        {"shared.pass_cycles": 2 * gpu.shared.pass_cycles},
    )
    return {name: gpu.replace(change) for name, change in zip(MACHINES, changes, strict=True)}


def launch(tile: int, stages: int, lines: int = LINES, terms: int = TERMS) -> Launch:
    """Return the product with tiles of so many columns and so many buffers; factors from one seed, packed as the kernel wants them."""
    numbers = np.random.default_rng(1)
    a, b = ((numbers.random(count * terms, np.float32) - 0.5).astype(np.float16) for count in (lines, COLUMNS))
    return Launch(
        isa.load(LISTING, f"tiles_of_{tile}"),
        grid=(COLUMNS // tile, lines // ROWS),
        block=(288,),
        args=(a, b, np.zeros((lines, COLUMNS), np.float32), np.int32(COLUMNS), np.int32(terms), np.int32(stages)),
        shared_dynamic=shared_bytes(tile, stages),
    )


def shared_bytes(tile: int, stages: int) -> int:
    """Return the shared memory of a block, bytes."""
    return BARRIERS + stages * (ROWS + tile) * BUFFER_TERMS * BYTES


def measured(gpu: Gpu, lines: int = LINES, terms: int = TERMS) -> Runs:
    """Return the runs, of as many buffers as a block's shared memory holds."""
    machine_of = machines(gpu)
    column_cycles = gpu.warpgroup.column_cycles if gpu.warpgroup else 0.0
    found: Runs = {(tile, name): {} for tile in TILES for name in MACHINES}
    for tile in TILES:
        for stages in STAGES:
            if shared_bytes(tile, stages) <= gpu.limits.shared_per_block:
                trace = sim.execute(launch(tile, stages, lines, terms))
                for name, machine in machine_of.items():
                    result = sim.simulate(trace, machine)
                    least = lines * COLUMNS * terms / PRODUCT * column_cycles / result.counters["sms_used"]
                    found[tile, name][stages] = Found(result.cycles, 100 * least / result.cycles, 100 * utilisation(result)["wgmma pipe"])
    return found


def reproduce(gpu: str | None = None) -> Reproduction:
    """Sweep buffers, tiles and machines; what lesson 17 says of them is judged on an H100."""
    runs = measured(load(gpu or "h100"))
    checks = [*claims(runs)] if gpu in (None, "h100") else []
    for (tile, name), by_stages in runs.items():
        shown = ", ".join(f"{stages}: {one.cycles:,} ({one.taken:.0f} %)" for stages, one in by_stages.items())
        checks.append(Check(f"{ROWS} x {tile}, {name}", "-", shown, None, "buffers: cycles (tensor cores taken)"))
    return Reproduction(
        title=f"Feeding tensor cores: {LINES:,} x {COLUMNS:,} sums of {TERMS:,} products on {gpu or 'h100'}",
        checks=tuple(checks),
        notes=("No GPU can be asked this: nothing published stands behind these curves. Claims are those of lesson 17.",),
        curves=tuple(
            Curve(f"{ROWS} x {tile}", tuple(map(float, by_stages)), tuple(one.peak for one in by_stages.values()), panel=name)
            for (tile, name), by_stages in runs.items()
        ),
        x_label="buffers",
        y_label="percent of the peak of the SMs used, as they are",
    )


def best(by_stages: dict[int, Found]) -> float:
    """Return the highest share of the peak."""
    return max(one.peak for one in by_stages.values())


def claims(runs: Runs) -> Iterator[Check]:
    """Yield what lesson 17 says of the curves."""
    for tile in TILES:
        by_stages = runs[tile, AS_IT_IS]
        gain = by_stages[2].cycles / by_stages[3].cycles
        yield Check(f"{ROWS} x {tile}: three buffers against two", "1.3 times as fast or more", f"{gain:.2f} times", gain >= 1.3)
    rates = [best(runs[tile, AS_IT_IS]) for tile in TILES]
    said = "the wider the tile, the fuller the SMs used"
    yield Check("tiles at their best depth", said, ", ".join(f"{one:.0f} %" for one in rates) + " of their peak", rates == sorted(rates))
    for tile, least, most in ((64, 1.0, 1.1), (128, 1.0, 1.15), (256, 1.15, 1.5)):
        gain = best(runs[tile, TWICE]) / best(runs[tile, AS_IT_IS])
        yield Check(f"{ROWS} x {tile}: twice the tensor rate", f"{least} to {most} times", f"{gain:.2f} times", least <= gain <= most)
    gain = runs[128, HALF][3].cycles / runs[128, HALF][6].cycles
    yield Check(f"{ROWS} x 128: half the bandwidth, six buffers against three", "under 1.1 times", f"{gain:.2f} times", gain < 1.1)
