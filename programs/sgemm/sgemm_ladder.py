"""`sgemm-ladder`: fewer threads with more outputs each need less of the shared memory's bandwidth.

V. Volkov, "Better Performance at Lower Occupancy", GTC 2010, part IV; what it states is in published.toml.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from programs.reproduction import Check, Reproduction
from programs.steady import PERFECT, Steady, steady
from sim.functional import execute
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.gpus.occupancy import occupancy
from sim.launch import Launch
from sim.launchfile import load_launch
from sim.report.curves import Curve

FOLDER = Path(__file__).parent
OUTPUTS = (1, 2, 4, 8)  # per thread
SIZE = 1024  # of the matrices
TILE = 32
WITHIN = 15  # percent
WAVES = (1, 2)  # of blocks that fill the chip; 1024 blocks are 18 to 69


class Rung(NamedTuple):
    """One kernel of the ladder, simulated."""

    gigaflops: float
    bound: float  # Gflop/s that the shared memory's bandwidth allows
    bytes_per_flop: float  # of shared memory, in the inner loop
    registers: int
    blocks: int  # on an SM
    occupancy: float  # percent
    shared_busy: float  # share of the time that the banks pass
    issue_busy: float  # share of the issue slots used
    dram_busy: float  # share of the pin bandwidth
    conflicts: float


def reproduce(gpu: str | None = None) -> Reproduction:
    """Multiply a slice of 1024 x 1024 matrices with 1, 2, 4, 8 outputs per thread on `gpu` (default gtx480)."""
    name = gpu or "gtx480"
    machine = load(name).replace(PERFECT)
    published = tomllib.loads((FOLDER / "published.toml").read_text(encoding="utf-8")).get(name, {})
    rungs = {outputs: rung(machine, outputs) for outputs in OUTPUTS}
    return Reproduction(
        title=f"SGEMM, 1 to 8 outputs per thread, {machine.name}",
        checks=tuple(judged(published, rungs)) or tuple(_shown(rungs)),
        notes=(_binds(rungs), *_fitted(load(name)), *_scoreboard(load(name), rungs), SLICE),
        curves=_curves(machine, rungs, published),
        x_label="outputs per thread",
        y_label="percent of the FP32 peak",
    )


def launch_of(outputs: int) -> Launch:
    """Return the launch of a kernel of the ladder on 1024 x 1024 matrices, one block."""
    launch = load_launch(FOLDER / f"sgemm_{outputs}.toml").launch
    a, b, c = (np.zeros((SIZE, SIZE), np.float32) for _ in range(3))
    return replace(launch, grid=(1, 1), args=(a, b, c, np.uint32(SIZE)))


def run(gpu: Gpu, outputs: int) -> Steady:
    """Time whole waves of blocks: a slice of C, each block with its 32 tiles of A and B."""
    launch = launch_of(outputs)
    fits = occupancy(gpu, launch.block, launch.registers_per_thread, launch.shared_per_block).blocks
    wave = gpu.sms * fits
    width = next(width for width in range(SIZE // TILE, 0, -1) if wave % width == 0)
    short, long = (execute(replace(launch, grid=(width, wave // width * waves))) for waves in WAVES)
    return steady(short, long, gpu)


def rung(gpu: Gpu, outputs: int) -> Rung:
    """Return what one kernel reaches on `gpu`."""
    found, launch = run(gpu, outputs), launch_of(outputs)
    bytes_per_flop = 4 * (1 + outputs) / (2 * outputs)  # a step loads a word of B and one of A per output, for a multiply-add each
    bandwidth = 128 * gpu.sms * gpu.clock.alu_mhz / 1e3 / gpu.shared.pass_cycles  # GB/s: 32 banks of 4 bytes
    slots = gpu.sms * found.cycles
    return Rung(
        gigaflops=found.per_second(found.count("fp32_flops")) / 1e9,
        bound=bandwidth / bytes_per_flop,
        bytes_per_flop=bytes_per_flop,
        registers=launch.registers_per_thread,
        blocks=found.long.occupancy.blocks,
        occupancy=found.occupancy,
        shared_busy=found.count("shared_wavefronts") * gpu.shared.pass_cycles / slots,
        issue_busy=found.count("warp_instructions") / slots * gpu.core.issue_interval / gpu.core.schedulers,
        dram_busy=found.per_second(found.count("dram_bytes_read")) / 1e9 / gpu.dram.bandwidth,
        conflicts=found.count("shared_bank_conflicts"),
    )


def judged(published: Mapping[str, Any], rungs: Mapping[int, Rung]) -> Iterator[Check]:
    """Yield the judged checks: each rung's numbers, their order, and what binds."""
    rows = published.get("rung", ())
    for row in rows:
        yield from _rung(row, rungs[row["outputs"]])
    if rows:
        rates = [found.gigaflops for found in rungs.values()]
        order = " < ".join(f"{rate:.0f}" for rate in rates)
        said = " < ".join(str(row["gigaflops"]) for row in rows)
        yield Check("Gflop/s rise with the outputs per thread", said, order, rates == sorted(rates))
        yield Check("the busiest resource", "shared memory", ", ".join(map(busiest, rungs.values())), all(map(_shared_binds, rungs.values())))


def _rung(row: Mapping[str, Any], found: Rung) -> Iterator[Check]:
    name = f"{row['outputs']} output{'s' * (row['outputs'] > 1)}"
    fits = (found.registers, round(found.occupancy), found.blocks)
    said = (row["registers"], row["occupancy"], row["blocks"])
    form = "{} registers, {} % occupancy, blocks per SM: {}".format
    yield Check(f"{name}: what fits", form(*said), form(*fits), fits == said)
    off = 100 * (found.gigaflops / row["gigaflops"] - 1)
    simulated = f"{found.gigaflops:.0f} Gflop/s ({off:+.0f} %)"
    yield Check(name, f"{row['gigaflops']} Gflop/s", simulated, abs(off) <= WITHIN, f"within {WITHIN} %; lsu.depth FITTED to all four")
    what = f"{name}: bound of shared memory, {row['bytes_per_flop']:g} B/flop"
    yield Check(what, f"{row['bound']} Gflop/s", f"{found.bound:.0f} Gflop/s", abs(found.bound / row["bound"] - 1) < 0.005)


def _shared_binds(found: Rung) -> bool:
    return found.shared_busy >= max(found.issue_busy, found.dram_busy)


def busiest(found: Rung) -> str:
    """Return the busiest resource of a rung, in words."""
    shares = {"shared memory": found.shared_busy, "issue slots": found.issue_busy, "DRAM": found.dram_busy}
    name = max(shares, key=lambda key: shares[key])
    return f"{name} {100 * shares[name]:.0f} %"


def _shown(rungs: Mapping[int, Rung]) -> Iterator[Check]:
    for outputs, found in rungs.items():
        simulated = f"{found.gigaflops:.0f} Gflop/s, {found.blocks} blocks per SM, {found.occupancy:.0f} % occupancy"
        yield Check(f"outputs per thread: {outputs}", "-", simulated, None, f"bound of shared memory {found.bound:.0f}; {busiest(found)}")


def _binds(rungs: Mapping[int, Rung]) -> str:
    shares = "; ".join(
        f"{outputs}: {100 * one.shared_busy:.0f}, {100 * one.issue_busy:.0f}, {100 * one.dram_busy:.0f}" for outputs, one in rungs.items()
    )
    return (
        f"Percent busy of shared memory, issue slots and DRAM, by outputs per thread: {shares}. Shared-memory bandwidth is what binds where "
        "it is the largest, in phases: between two barriers, while tiles are fetched, the banks rest. Bank conflicts: "
        f"{sum(one.conflicts for one in rungs.values()):.0f}. Fewer bytes of shared memory per flop raise the bound, and the rate with it."
    )


def _fitted(gpu: Gpu) -> Iterator[str]:
    source = gpu.source_of("lsu.depth")
    if source and source.kind == "fitted":
        yield f"FITTED: lsu.depth = {gpu.lsu.depth}: {source.text}. One number for four rates; their ratios are predicted."


def _scoreboard(gpu: Gpu, rungs: Mapping[int, Rung]) -> Iterator[str]:
    """Say what the preset's own scoreboard would make of the last rung."""
    if gpu.replace(PERFECT).core == gpu.core:
        return
    last = OUTPUTS[-1]
    yield (
        f"With a perfect scoreboard; the preset's own ({gpu.core.wake_rule}, {gpu.core.in_flight_cap} in flight), fitted to chains of "
        f"multiply-adds, gives {rung(gpu, last).gigaflops:.0f} instead of {rungs[last].gigaflops:.0f} Gflop/s with {last} outputs: it lets "
        f"a warp have {gpu.core.in_flight_cap} loads under way."
    )


def _curves(gpu: Gpu, rungs: Mapping[int, Rung], published: Mapping[str, Any]) -> tuple[Curve, ...]:
    peak = gpu.peak_fp32_flops / 1e11  # Gflop/s per percent
    curves = [
        Curve("simulated", OUTPUTS, tuple(one.gigaflops / peak for one in rungs.values())),
        Curve("bound of shared memory", OUTPUTS, tuple(one.bound / peak for one in rungs.values())),
        Curve("occupancy", OUTPUTS, tuple(one.occupancy for one in rungs.values())),
    ]
    rows = published.get("rung", ())
    if rows:
        curves.append(Curve("published", tuple(row["outputs"] for row in rows), tuple(row["gigaflops"] / peak for row in rows)))
    return tuple(curves)


SLICE = (
    "A slice of the 1024 x 1024 product: one more wave of blocks beside another, each with all of its 32 tiles of A and B, so that launch "
    "and tail cancel. The whole product would end with a wave that is not full: 1024 blocks on 15 SMs keep them busy 95 to 99 % of the time."
)
