"""`occupancy-lecture`: limits, proposed block sizes, waves and tails.

P. Richmond, "Parallel Computing with GPUs: Performance Part 3 - Occupancy"; what it states is in published.toml.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from programs.published import published
from programs.reproduction import Check, Reproduction
from programs.volkov.sweep import chains
from sim.functional import execute
from sim.gpus.best_block import best_block
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.gpus.occupancy import occupancy
from sim.gpus.waves import Waves
from sim.report.curves import Curve
from sim.timing import simulate

FOLDER = Path(__file__).parent
GPU = "k20c"
THREADS, REGISTERS = 1024, 32  # two blocks fill an SM of a Kepler
GRIDS = tuple(part / 8 for part in range(1, 25))  # in waves


class Tail(NamedTuple):
    """One grid, simulated."""

    waves: Waves
    cycles: int
    rate: float  # blocks per cycle


def reproduce(gpu: str | None = None) -> Reproduction:
    """Check the lecture's limits and proposals, and time grids of an eighth of a wave to three waves on `gpu` (default k20c)."""
    said, name = published(FOLDER), gpu or GPU
    machine = load(name)
    checks = [*_limits(said), *_proposals(said)]
    tails = [tail(machine, part) for part in GRIDS]
    best = max(one.rate for one in tails)
    checks += _tails(tails, best)
    share = tuple(100 * one.rate / best for one in tails)
    expected = tuple(100 * one.waves.efficiency for one in tails)
    return Reproduction(
        title=f"Occupancy, waves and tails, {machine.name}",
        checks=tuple(checks),
        notes=(NOTE,),
        curves=(Curve("simulated", GRIDS, share), Curve("if each wave takes as long", GRIDS, expected)),
        x_label=f"grid, in waves of {tails[0].waves.places} blocks of {THREADS} threads",
        y_label="blocks per time, percent of the best",
    )


def _limits(said: Mapping[str, Any]) -> Iterator[Check]:
    for row in said["blocks"]:
        found = {load(preset).limits.blocks for preset in row["presets"]}
        yield Check(f"{row['what']}: active blocks per SM", str(row["limit"]), ", ".join(map(str, found)), found == {row["limit"]})
    threads, gpu = said["warp"]["threads"], load(GPU)
    one_more = occupancy(gpu, threads + 1)
    warps = one_more.warps // one_more.blocks
    yield Check("a block is whole warps", f"of {threads} threads", f"{threads + 1} threads take {warps} warps", warps == 2)


def _proposals(said: Mapping[str, Any]) -> Iterator[Check]:
    gpu, registers, per_thread = load(said["kernel"]["preset"]), said["kernel"]["registers"], said["shared"]["bytes_per_thread"]
    for what, shared in (("no shared memory", 0), (f"{per_thread} bytes per thread", lambda threads: threads * per_thread)):
        found = best_block(gpu, registers, shared)
        fraction = found.occupancy.fraction if found.occupancy else 0.0
        simulated = f"{found.block} threads, at least {found.grid} blocks, {fraction:.0%}"
        note = f"{registers} registers, {gpu.name}; the tests compare 600 proposals with those of NVIDIA's cuda_occupancy.h"
        yield Check(f"best block, {what}", "-", simulated, None, note)


def tail(gpu: Gpu, part: float) -> Tail:
    """Time `part` waves of equal blocks of arithmetic, as in Volkov's chains."""
    fits = occupancy(gpu, THREADS, REGISTERS).blocks
    places = gpu.sms * fits
    waves = Waves(max(1, round(part * places)), places)
    launch = chains(4)
    out, b, c, _ = launch.args
    args = (np.zeros(THREADS, out.dtype), b, c, np.uint32(1))
    cycles = simulate(execute(replace(launch, grid=(waves.blocks,), block=(THREADS,), args=args, registers=REGISTERS)), gpu).cycles
    return Tail(waves, cycles, waves.blocks / cycles)


def _tails(tails: Sequence[Tail], best: float) -> Iterator[Check]:
    """Judge that a block more than a whole wave costs a wave, and show what tails cost."""
    places = tails[0].waves.places
    by_blocks = {one.waves.blocks: one for one in tails}
    for count in (1, 2):
        whole, more = by_blocks[count * places], by_blocks[count * places + places // 8]
        off = more.cycles / whole.cycles
        simulated = f"{whole.cycles:,} and {more.cycles:,} cycles, {off:.2f} times"
        note = f"{more.waves.blocks} blocks; as waves go {(count + 1) / count:.2f} times. {more.waves.sentence()}"
        what = f"{count} whole wave{'s' * (count > 1)} of {places} blocks, and an eighth more"
        yield Check(what, "larger blocks may execute inefficiently", simulated, off > 1 + 0.45 / count, note)
    low = min(tails, key=lambda one: abs(one.waves.efficiency - 0.55) + (one.waves.number < 2))
    simulated = f"{100 * low.rate / best:.0f} % of the best rate"
    yield Check(f"{low.waves.blocks} blocks", "-", simulated, None, f"as waves go {100 * low.waves.efficiency:.0f} %")


NOTE = (
    "A wave is what the chip holds at once. The second curve assumes that each wave takes as long, however few blocks are in it; a block "
    "that has an SM to itself is done sooner, so the simulated tail costs less. The best proposal is not always the fastest block: see "
    "volkov-tlp-ilp and sgemm-ladder."
)
