"""`fft`: a 1024-point FFT per block, by 512 threads with 2 outputs each up to 64 threads with 16.

V. Volkov, "Better Performance at Lower Occupancy", GTC 2010, part V; what it states is in published.toml.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from programs.published import published
from programs.reproduction import Check, Reproduction
from programs.steady import Steady, steady
from sim.functional import execute
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.gpus.occupancy import occupancy
from sim.launch.file import load_launch
from sim.report.curves import Curve

FOLDER = Path(__file__).parent
POINTS = 1024
OUTPUTS = (2, 4, 8, 16)  # per thread
FLOPS = 5 * POINTS * math.log2(POINTS)  # as is customary: 5 N log2 N
WAVES = (2, 6)  # of blocks that fill the chip


class Transform(NamedTuple):
    """One kernel, simulated."""

    threads: int
    gigaflops: float
    occupancy: float  # percent
    blocks: int  # on an SM
    wavefronts: float  # of shared memory, per transform
    conflicts: float  # of these, beyond one per access
    steady: Steady


def reproduce(gpu: str | None = None) -> Reproduction:
    """Transform with 2, 4, 8 and 16 outputs per thread on `gpu` (default gtx480)."""
    name = gpu or "gtx480"
    machine = load(name)
    found = {outputs: transform(machine, outputs) for outputs in OUTPUTS}
    return Reproduction(
        title=f"1024-point FFT, 2 to 16 outputs per thread, {machine.name}",
        checks=(*judged(published(FOLDER).get(name, {}), found), *_shown(found)),
        notes=(*_causes(found), NOTE),
        curves=_curves(machine, found),
        x_label="outputs per thread",
        y_label="percent",
    )


def transform(gpu: Gpu, outputs: int) -> Transform:
    """Return what one kernel reaches on `gpu` in steady state."""
    launch = load_launch(FOLDER / f"fft_1024_{outputs}.toml").launch
    blocks = occupancy(gpu, launch.block, launch.registers_per_thread, launch.shared_per_block).blocks
    traces = []
    for waves in WAVES:
        grid = gpu.sms * blocks * waves
        source = np.random.default_rng(1).random((grid, POINTS, 2), np.float32)
        traces.append(execute(replace(launch, grid=(grid,), args=(np.zeros_like(source), source))))
    found = steady(traces[0], traces[1], gpu)
    transforms = gpu.sms * blocks * (WAVES[1] - WAVES[0])
    return Transform(
        threads=launch.threads_per_block,
        gigaflops=found.per_second(FLOPS * transforms) / 1e9,
        occupancy=found.occupancy,
        blocks=blocks,
        wavefronts=found.grown("shared_wavefronts") / transforms,
        conflicts=found.grown("shared_bank_conflicts") / transforms,
        steady=found,
    )


def judged(said: Mapping[str, Any], found: Mapping[int, Transform]) -> Iterator[Check]:
    """Yield the one judged check: fewer threads with more outputs win, at a lower occupancy."""
    if "rises" not in said:
        return
    row = said["rises"]
    few, many = found[row["few_outputs"]], found[row["many_outputs"]]
    rates, held = [one.gigaflops for one in found.values()], [one.occupancy for one in found.values()]
    passed = rates == sorted(rates) and held == sorted(held, reverse=True) and many.occupancy < few.occupancy
    passed = passed and (few.threads, many.threads) == (row["few_threads"], row["many_threads"])
    simulated = f"{few.gigaflops:.0f} to {many.gigaflops:.0f} Gflop/s, {few.occupancy:.0f} to {many.occupancy:.0f} % occupancy"
    yield Check(f"{row['few_outputs']} to {row['many_outputs']} outputs per thread", row["quote"], simulated, passed, "part V, last figure")


def _shown(found: Mapping[int, Transform]) -> Iterator[Check]:
    for outputs, one in found.items():
        simulated = f"{one.gigaflops:.0f} Gflop/s, {one.occupancy:.0f} % occupancy, {one.blocks} blocks per SM"
        note = f"{one.wavefronts:.0f} wavefronts of shared memory per transform, {one.conflicts:.0f} of them bank conflicts"
        yield Check(f"{outputs} outputs, {one.threads} threads", "-", simulated, None, note)


def _causes(found: Mapping[int, Transform]) -> Iterator[str]:
    """Say what keeps each kernel busy and waiting."""
    for outputs, one in found.items():
        run = one.steady
        waits = sorted(((run.stall(cause), cause) for cause in run.long.stalls if cause != "selected"), reverse=True)[:3]
        why = ", ".join(f"{cause} {100 * share:.0f} %" for share, cause in waits)
        busy = f"shared memory {100 * run.shared_busy:.0f} % busy, DRAM {100 * run.dram_busy:.0f} % of its pins"
        yield f"{outputs} outputs: {busy}. The warps' time: {why}."


def _curves(gpu: Gpu, found: Mapping[int, Transform]) -> tuple[Curve, ...]:
    peak = gpu.peak_fp32_flops / 1e11
    return (
        Curve("Gflop/s, percent of the FP32 peak", OUTPUTS, tuple(one.gigaflops / peak for one in found.values())),
        Curve("occupancy", OUTPUTS, tuple(one.occupancy for one in found.values())),
    )


NOTE = (
    "Gflop/s by 5 N log2 N, whatever a kernel really computes; nothing here is fitted to the FFT. The talk's points "
    "are only in a picture: the direction is judged, nothing else."
)
