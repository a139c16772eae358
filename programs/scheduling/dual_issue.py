"""`dual-issue`: one to four instructions of a warp in one cycle, on a Kepler and on an H100 that never was.

Chains of multiply-adds (ILP 1 to 4) by warps per SM; multiply-adds with loads from shared memory among them; matrix products; and compiled
kernels on an H100 whose schedulers are wider, their control words rescheduled for each width. What is stated is in `published.toml`;
where nothing is, the column holds what lanes, ports and issue slots allow, or nothing: then the run is a prediction.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

import isa
from isa.vocabulary import Operation, Unit
from programs.cuda.references import FOLDER as KERNELS
from programs.published import published
from programs.reproduction import Check, Reproduction
from programs.sgemm import sgemm_ladder
from programs.volkov.sweep import ONE_SM, REACHED, chains
from sim.functional import execute
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.launch.file import load_launch
from sim.launch.launch import Launch
from sim.lowering.rescheduling import worded
from sim.report.curves import Curve
from sim.timing import simulate
from sim.traces.trace import Trace

KEPLER, MAXWELL, IMAGINED = "k20c", "gtx980", "h100"
WIDTHS, ILPS, LEVELS = (1, 2, 3, 4), (1, 2, 3, 4), (4, 8, 16, 24, 32, 40, 48, 56, 64)  # levels: warps per SM
PASSES = 1  # through a loop of 1680 multiply-adds
MIXES, CHAINS, ROUNDS = (2, 4, 8), 8, 60  # multiply-adds per load, independent sums, repetitions
WINDOW = (0.3, 0.6)  # of the cycles that a run takes at peak: in between rates are taken
BELOW = 0.95  # share of what the parts allow that a full SM has to reach
OUTPUTS = (1, 8)  # per thread, of the matrix products
COMPILED = ("n_body", "mandelbrot", "black_scholes", "monte_carlo", "sgemm_8x8", "sgemm", "fft", "convolution", "scan", "softmax")
DREAMS: Mapping[str, Mapping[str, int]] = {
    "2 together": {"core.issue_width": 2},
    "2, registers for both": {"core.issue_width": 2, "core.register_banks": 0},
    "2, and lanes for both": {"core.issue_width": 2, "core.register_banks": 0, "pipes.fp32.lanes": 32, "pipes.imad.lanes": 32},
}

Percents = Mapping[int, Mapping[int, tuple[float, ...]]]  # by ILP, by issue width, for each level


class Mix(NamedTuple):
    """Multiply-adds with loads from shared memory among them, on a full SM."""

    allowed: float  # percent of the FP32 peak, by lanes, by the port and the queue of loads, by issue slots
    reached: float


def full(launch: Launch, warps: int) -> Trace:
    """Execute two blocks that have so many warps together."""
    args = tuple(np.zeros(warps * 32, arg.dtype) if isinstance(arg, np.ndarray) else arg for arg in launch.args)
    return execute(replace(launch, grid=(2,), block=(16 * warps,), args=args))


def percent(trace: Trace, gpu: Gpu) -> float:
    """Return the rate of the trace's multiply-adds on one SM, in percent of its FP32 lanes, in the middle of the run.

    Not over the whole run: schedulers take their turns at the SM's ports in a fixed order, and the first of them end first.
    """
    multiply_adds = trace.program.encoded.operation == Operation.FFMA
    at_peak = int(trace.true_lanes[multiply_adds].sum()) / gpu.lanes(Unit.FP32)
    first, end = (int(share * at_peak) for share in WINDOW)
    rows = simulate(trace, gpu, (first, end - 1)).timeline
    assert rows is not None
    return 100.0 * int(rows.lanes[multiply_adds[rows.instruction]].sum()) / ((end - first) * gpu.lanes(Unit.FP32))


def percents(gpu: Gpu) -> tuple[tuple[int, ...], Percents]:
    """Return the warps per SM, and the percent of one SM's FP32 peak that chains reach with them."""
    levels = tuple(level for level in LEVELS if level <= gpu.limits.warps and 16 * level <= gpu.limits.threads_per_block)
    machines = {width: gpu.replace(ONE_SM | {"core.issue_width": width}) for width in WIDTHS}
    found: dict[int, dict[int, tuple[float, ...]]] = {}
    for ilp in ILPS:
        launch = chains(ilp)
        traces = [full(replace(launch, args=(*launch.args[:-1], np.uint32(PASSES))), level) for level in levels]
        found[ilp] = {width: tuple(percent(trace, machine) for trace in traces) for width, machine in machines.items()}
    return levels, found


def allowed(gpu: Gpu, width: int, ilp: int) -> float:
    """Return the percent of the FP32 peak that issue slots allow chains of this ILP."""
    return min(100.0, 100.0 * 32 * gpu.core.schedulers * min(width, ilp) / gpu.core.issue_interval / gpu.lanes(Unit.FP32))


def mixed(per_load: int) -> isa.Program:
    """Return multiply-adds of eight sums with a load from shared memory after each so many."""
    sums = [f"FFMA R{8 + k % CHAINS}, R{8 + k % CHAINS}, R2, R3" for k in range(math.lcm(per_load, CHAINS))]
    loads = [f"LDS R{16 + k % CHAINS}, [R1]" for k in range(len(sums) // per_load)]
    body = [line for k, load in enumerate(loads) for line in (*sums[k * per_load : (k + 1) * per_load], load)]
    return isa.parse("\n".join([".kernel mixed", ".param ptr out", ".shared 4096", f".rept {ROUNDS}", *body, ".endr", "EXIT"]))


def mixes(gpu: Gpu) -> dict[tuple[int, int], Mix]:
    """Time the mixes on a full SM; by multiply-adds per load and issue width."""
    warps = min(gpu.limits.warps, gpu.limits.threads_per_block // 16)
    lanes, ports = gpu.lanes(Unit.FP32) / 32, gpu.lanes(Unit.SHARED) / 32
    queues = gpu.core.schedulers if gpu.pipes[gpu.units["shared"].pipe].owner == "scheduler" else 1
    loads = min(ports, queues * gpu.lsu.depth / (gpu.lsu.latency + 1))  # a place is free again when the unit takes the load
    found = {}
    for per_load in MIXES:
        trace = full(Launch(mixed(per_load), (1,), (32,), (np.zeros(1, np.float32),)), warps)
        for width in WIDTHS:
            slots = gpu.core.schedulers * width / gpu.core.issue_interval * per_load / (per_load + 1)
            reached = percent(trace, gpu.replace(ONE_SM | {"core.issue_width": width}))
            found[per_load, width] = Mix(100 * min(lanes, loads * per_load, slots) / lanes, reached)
    return found


def compiled(gpu: Gpu) -> dict[str, dict[str, float]]:
    """Return by kernel how many times as fast it is on each imagined machine; all run control words scheduled for their machine."""
    found: dict[str, dict[str, float]] = {}
    for name in COMPILED:
        trace = worded(execute(load_launch(KERNELS / f"{name}.{gpu.architecture}.sass").launch), "schedule")
        before = simulate(trace, gpu).cycles
        found[name] = {what: before / simulate(trace, gpu.replace(changes)).cycles for what, changes in DREAMS.items()}
    return found


def reproduce(gpu: str | None = None) -> Reproduction:
    """Time chains and mixes on `gpu`, or on a K20c; beside it a Maxwell, and compiled code on an imagined H100."""
    machine, said = load(gpu or KEPLER), published(Path(__file__).parent)
    levels, found = percents(machine)
    checks = [*judged(machine, found, said), *_mixes(mixes(machine)), *_maxwell(load(MAXWELL), said), *_products(machine), *_compiled()]
    curves = tuple(
        Curve(f"issue width {width}", tuple(map(float, levels)), values, f"ILP {ilp}")
        for ilp, widths in found.items()
        for width, values in widths.items()
    )
    title = f"Instructions of a warp issued together, {machine.name}"
    return Reproduction(title, tuple(checks), (NOTE,), curves, "warps per SM", "percent of the SM's FP32 peak")


def judged(gpu: Gpu, found: Percents, said: Mapping[str, Mapping[str, str]]) -> Iterator[Check]:
    """Judge each width and ILP on a full SM by what its slots allow; on a Kepler, what is stated of it."""
    for width in WIDTHS:
        most = [allowed(gpu, width, ilp) for ilp in ILPS]
        got = [max(found[ilp][width]) for ilp in ILPS]
        passed = all(BELOW * limit <= one <= limit + 0.5 for limit, one in zip(most, got, strict=True))
        what = f"issue width {width}: ILP {', '.join(map(str, ILPS))}"
        yield Check(what, f"at most {_row(most)} %", f"{_row(got)} %", passed, "not published: arithmetic of schedulers, width and lanes")
    if gpu.chip.startswith("GK"):
        single, alone, pairs = max(found[4][1]), max(found[1][2]), max(found[2][2])
        units, ilp = said["kepler_units"], said["kepler_ilp"]
        yield Check("one issue per scheduler, ILP 4", "67 %", f"{single:.0f} %", abs(single - 100 * 2 / 3) < 2, units["source"])
        shown = f"ILP 1: {alone:.0f} %, ILP 2: {pairs:.0f} % of the peak"
        yield Check("two, by ILP", ilp["text"], shown, alone < 70 and pairs > REACHED - 1, ilp["source"])


def _mixes(found: Mapping[tuple[int, int], Mix]) -> Iterator[Check]:
    for per_load in MIXES:
        rows = [found[per_load, width] for width in WIDTHS]
        passed = all(BELOW * row.allowed <= row.reached <= row.allowed + 0.5 for row in rows)
        most, got = _row([row.allowed for row in rows]), _row([row.reached for row in rows])
        what = f"an LDS per {per_load} FFMAs, issue width {', '.join(map(str, WIDTHS))}"
        note = "not published: arithmetic of lanes, port and queue of loads, issue slots"
        yield Check(what, f"at most {most} %", f"{got} %", passed, note)


def _maxwell(gpu: Gpu, said: Mapping[str, Mapping[str, str]]) -> Iterator[Check]:
    trace = full(replace(chains(2), args=(*chains(2).args[:-1], np.uint32(PASSES))), min(LEVELS[-1], gpu.limits.warps))
    one, two = (percent(trace, gpu.replace(ONE_SM | {"core.issue_width": width})) for width in (1, 2))
    shown = f"{one:.0f} % with one, {two:.0f} % with two"
    yield Check(f"{gpu.name}: ILP 2", said["maxwell"]["text"], shown, one > REACHED - 1, said["maxwell"]["source"])


def _products(gpu: Gpu) -> Iterator[Check]:
    for outputs in OUTPUTS:
        traces = sgemm_ladder.slices(gpu, outputs)
        rates = [sgemm_ladder.rung(gpu.replace({"core.issue_width": width}), outputs, traces).gigaflops for width in (1, 2)]
        what = f"SGEMM, outputs per thread: {outputs}; issue width 1, 2"
        yield Check(what, "-", ", ".join(f"{rate:.0f}" for rate in rates) + " Gflop/s", None, "a prediction")


def _compiled() -> Iterator[Check]:
    for name, gains in compiled(load(IMAGINED)).items():
        shown = ", ".join(f"{what}: {100 * (gain - 1):+.1f} %" for what, gain in gains.items())
        yield Check(f"{IMAGINED}, {name}", "-", shown, None, "a prediction; control words rescheduled")


def _row(values: list[float]) -> str:
    return ", ".join(f"{value:.0f}" for value in values)


NOTE = (
    "No number for these kernels was found published: what is judged is what vendors state of lanes and slots, and their arithmetic. "
    "Kepler's register banks, which keep its hand-written kernels from the peak, are not modelled: what two issues bring is an upper "
    "bound. On the H100 a scheduler has as many FP32 lanes as it issues threads, and ports for one instruction's registers: two issues "
    "alone can pair arithmetic with memory accesses and branches only. Nothing is fitted."
)
