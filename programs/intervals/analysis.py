"""`interval-analysis`: the lecture notes' worked numbers, where their kernels level off, and how far simulations stay above the bounds.

GPU Microarchitecture Note Set 5 (Interval Analysis).
"""

from collections.abc import Iterator
from pathlib import Path

import sim
from isa.errors import UserError
from programs.intervals import level, worked
from programs.reproduction import Check, Reproduction
from sim.analysis.prior_bounds import bounds
from sim.functional import execute
from sim.launch.file import load_launch

PROGRAMS = Path(__file__).parents[1]
BOUNDED = (
    ("volkov/ffma_ilp1.sass", "gtx480"),
    ("volkov/ffma_ilp4.sass", "gtx480"),
    ("volkov/ffma_ilp3.sass", "textbook"),
    ("collatz.sass", "gtx460"),
    ("cuda/mandelbrot.sm_90.sass", "h100"),
    ("cuda/monte_carlo.sm_80.sass", "a100"),
)


def reproduce(gpu: str | None = None) -> Reproduction:
    """Work out the notes' numbers, simulate their figures, and print how far arithmetic stays above its bounds."""
    if gpu is not None:
        raise UserError(f"the notes' numbers are for their own devices, not for {gpu}", hint="leave --gpu out, or use simtlab interval")
    figures = list(level.everything())
    return Reproduction(
        title="Interval analysis: the lecture notes' numbers and figures",
        checks=(*worked.checks(), *(check for checks, _ in figures for check in checks), *gaps()),
        notes=NOTES,
        curves=tuple(curve for _, curves in figures for curve in curves),
        x_label="warps per SM",
        y_label="percent of the best performance",
    )


def gaps(programs: tuple[tuple[str, str], ...] = BOUNDED) -> Iterator[Check]:
    """Yield, per arithmetic program, the largest lower bound on its cycles and the simulated ones, judged."""
    for path, name in programs:
        gpu, trace = sim.gpu(name), execute(load_launch(PROGRAMS / path).launch)
        bound, cycles = bounds(trace, gpu)[0], sim.simulate(trace, gpu).cycles
        gap = f"{cycles:,}: {100 * (cycles / bound.cycles - 1):+.1f}%"
        what = f"{Path(path).stem} on {name}: cycles, never below"
        yield Check(what, f"{bound.cycles:,.0f}", gap, cycles >= bound.cycles, bound.name)


NOTES = (
    "Listings: programs/intervals, their loads, multiply-adds and stores alone, on a device with the notes' lanes and latencies (L_F 4 or "
    "6, L_M 400, 8 load/store lanes per scheduler); bytes per thread from the executed addresses. `slip` rows show what the notes print "
    "and what follows from their own rules.",
    "Figures: a quarter of the GTX 1080, and the K20, from whose steady state a pass is taken; a kernel has levelled off with the fewest "
    "warps that come within 5 % of its best. The "
    "simulated L2 moves a sector for each 4-byte access of a 64-byte-strided vector, so mxv_lcs is bound there before DRAM is; the K20's "
    "kernels use 128-bit accesses for that reason.",
)
