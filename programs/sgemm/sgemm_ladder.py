"""`sgemm-ladder`: fewer threads with more outputs each need less of the shared memory's bandwidth.

V. Volkov, "Better Performance at Lower Occupancy", GTC 2010, part IV; what it states is in published.toml.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from programs.published import fitted_to, published
from programs.reproduction import Check, Reproduction
from programs.steady import steady
from sim.analysis.banks import GEOMETRY
from sim.functional import execute
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.gpus.occupancy import occupancy
from sim.launch.file import load_launch
from sim.launch.launch import Launch
from sim.report.curves import Curve
from sim.traces.trace import Trace

FOLDER = Path(__file__).parent
OUTPUTS = (1, 2, 4, 8)  # per thread
SIZE = 1024  # of the matrices
TILE = 32
WITHIN = 10  # percent
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
    conflicts: float  # passes over the banks beyond one per access

    @property
    def busy(self) -> dict[str, float]:
        """How busy each resource is, 0 to 1, by its name in words."""
        return {"shared memory": self.shared_busy, "issue slots": self.issue_busy, "DRAM": self.dram_busy}


def reproduce(gpu: str | None = None) -> Reproduction:
    """Multiply a slice of 1024 x 1024 matrices with 1, 2, 4, 8 outputs per thread on `gpu` (default gtx480)."""
    name = gpu or "gtx480"
    machine = load(name)
    said = published(FOLDER).get(name, {})
    traces = {outputs: slices(machine, outputs) for outputs in OUTPUTS}
    rungs = {outputs: rung(machine, outputs, traces[outputs]) for outputs in OUTPUTS}
    gains = {outputs: relieved(machine, outputs, traces[outputs], rungs[outputs]) for outputs in OUTPUTS} if said else {}
    return Reproduction(
        title=f"SGEMM, 1 to 8 outputs per thread, {machine.name}",
        checks=tuple(judged(said, rungs, gains, fitted_to(machine, "lsu.depth"))) or tuple(_shown(rungs)),
        notes=(*([_binds(rungs)] if gains else []), *_fitted(machine), SLICE),
        curves=_curves(machine, rungs, said),
        x_label="outputs per thread",
        y_label="percent of the FP32 peak",
    )


def launch_of(outputs: int, rows: int = 0) -> Launch:
    """Return the launch of a kernel of the ladder on 1024 x 1024 matrices, one block. rows: of A and C, where that is not enough."""
    launch = load_launch(FOLDER / f"sgemm_{outputs}.toml").launch
    a, b, c = (np.zeros((most, SIZE), np.float32) for most in (max(rows, SIZE), SIZE, max(rows, SIZE)))
    return replace(launch, grid=(1, 1), args=(a, b, c, np.uint32(SIZE)))


def slices(gpu: Gpu, outputs: int) -> tuple[Trace, Trace]:
    """Return the traces of whole waves of blocks: a slice of C, each block with its 32 tiles of A and B."""
    launch = launch_of(outputs)
    fits = occupancy(gpu, launch.block, launch.registers_per_thread, launch.shared_per_block).blocks
    wave = gpu.sms * fits
    width = next(width for width in range(SIZE // TILE, 0, -1) if wave % width == 0)
    launch = launch_of(outputs, TILE * (wave // width) * max(WAVES))  # a large chip has room for more blocks than the matrix has
    short, long = (execute(replace(launch, grid=(width, wave // width * waves))) for waves in WAVES)
    return short, long


def relieved(gpu: Gpu, outputs: int, traces: tuple[Trace, Trace], found: Rung) -> dict[str, float]:
    """Return by how many percent the rung gains when a resource becomes twice as fast."""
    changes = twice_as_fast(gpu).items()
    return {name: 100 * (rung(gpu.replace(faster), outputs, traces).gigaflops / found.gigaflops - 1) for name, faster in changes}


def twice_as_fast(gpu: Gpu) -> dict[str, dict[str, int]]:
    """Return, by resource, the fields of `gpu` with half their cycles: port, address unit and banks of shared memory; issue."""
    halved = {
        name: max(1, cycles // 2)
        for name, cycles in {
            "lsu.interval": gpu.lsu.interval,
            "lsu.replay": gpu.lsu.replay,
            "shared.pass_cycles": gpu.shared.pass_cycles,
        }.items()
    }
    lanes = min(2 * gpu.pipes["ldst"].lanes, 32)
    return {
        "shared memory": {"pipes.ldst.lanes": lanes} | halved,
        "issue": {"core.issue_interval": max(1, gpu.core.issue_interval // 2)},
    }


def rung(gpu: Gpu, outputs: int, traces: tuple[Trace, Trace]) -> Rung:
    """Return what one kernel reaches on `gpu`."""
    found, launch = steady(*traces, gpu), traces[0].launch
    bytes_per_flop = 4 * (1 + outputs) / (2 * outputs)  # a step loads a word of B and one of A per output, for a multiply-add each
    pass_bytes = GEOMETRY[gpu.shared.rule].pass_bytes
    bandwidth = pass_bytes * gpu.sms * gpu.clock.core_mhz / 1e3 / gpu.shared.pass_cycles  # GB/s
    return Rung(
        gigaflops=found.per_second(found.grown("fp32_flops")) / 1e9,
        bound=bandwidth / bytes_per_flop,
        bytes_per_flop=bytes_per_flop,
        registers=launch.registers_per_thread,
        blocks=found.long.occupancy.blocks,
        occupancy=found.occupancy,
        shared_busy=found.shared_busy,
        issue_busy=found.grown("warp_instructions") / (gpu.sms * found.cycles) * gpu.core.issue_interval / gpu.core.schedulers,
        dram_busy=found.dram_busy,
        conflicts=found.grown("shared_bank_conflicts"),
    )


def judged(said: Mapping[str, Any], rungs: Mapping[int, Rung], gains: Mapping[int, Mapping[str, float]], fit: str = "") -> Iterator[Check]:
    """Yield the judged checks: each rung's numbers, what binds it, and their order.

    gains: percent, by outputs and resource made faster. fit: what lsu.depth is fitted to, "" when it is not.
    """
    rows = said.get("rung", ())
    for row in rows:
        yield from _rung(row, rungs[row["outputs"]], "; lsu.depth FITTED to all four" if fit else "")
        yield _binding(row["outputs"], rungs[row["outputs"]], gains[row["outputs"]])
        if "speedup" in row:
            yield _against_one(row, rungs[row["outputs"]], rungs[OUTPUTS[0]])
    if rows:
        yield from _passed_bounds(rungs)
        rates = [found.gigaflops for found in rungs.values()]
        rising = " < ".join(str(row["gigaflops"]) for row in rows)
        order = ", ".join(f"{rate:.0f}" for rate in rates)
        yield Check("Gflop/s rise with the outputs per thread", rising, order, rates == sorted(rates))


def _binding(outputs: int, found: Rung, gain: Mapping[str, float]) -> Check:
    """Judge what binds by what helps most: a twice as fast shared memory, or twice the issue rate."""
    simulated = "; ".join(f"{name} twice as fast: {percent:+.0f} %" for name, percent in gain.items())
    note = "busy: " + ", ".join(f"{name} {100 * share:.0f} %" for name, share in found.busy.items())
    passed = gain["shared memory"] == max(gain.values())
    return Check(f"{_outputs(outputs)}: what binds", "shared-memory bandwidth", simulated, passed, note)


def _against_one(row: Mapping[str, Any], found: Rung, one: Rung) -> Check:
    """Judge what the slides say of a rung against one output per thread: the speed-up, and its registers."""
    speedup, registers = found.gigaflops / one.gigaflops, found.registers / one.registers
    form = "{:.2f}x speedup, {:.1f}x the registers".format
    passed = abs(speedup / row["speedup"] - 1) <= WITHIN / 100 and abs(registers / row["registers_times"] - 1) <= 0.03
    what = f"{_outputs(row['outputs'])} against 1"
    return Check(what, form(row["speedup"], row["registers_times"]), form(speedup, registers), passed, f"within {WITHIN} %; {row['less']}")


def _passed_bounds(rungs: Mapping[int, Rung]) -> Iterator[Check]:
    """Judge "already above 336 bound" of 2 outputs, and "we'll surpass this too" of theirs."""
    for outputs, of in ((2, 1), (8, 2)):
        rate, bound = rungs[outputs].gigaflops, rungs[of].bound
        what = f"{_outputs(outputs)}: above the bound of {_outputs(of)}"
        yield Check(what, f"above {bound:.0f} Gflop/s", f"{rate:.0f} Gflop/s", rate > bound)


def _outputs(number: int) -> str:
    return f"{number} output{'s' * (number > 1)}"


def _rung(row: Mapping[str, Any], found: Rung, fit: str) -> Iterator[Check]:
    name = _outputs(row["outputs"])
    fits = (found.registers, round(found.occupancy), found.blocks)
    said = (row["registers"], row["occupancy"], row["blocks"])
    form = "{} registers, {} % occupancy, blocks per SM: {}".format
    yield Check(f"{name}: what fits", form(*said), form(*fits), fits == said)
    off = 100 * (found.gigaflops / row["gigaflops"] - 1)
    simulated = f"{found.gigaflops:.0f} Gflop/s ({off:+.0f} %)"
    yield Check(name, f"{row['gigaflops']} Gflop/s", simulated, abs(off) <= WITHIN, f"within {WITHIN} %{fit}")
    what = f"{name}: bound of shared memory, {row['bytes_per_flop']:g} B/flop"
    yield Check(what, f"{row['bound']} Gflop/s", f"{found.bound:.0f} Gflop/s", abs(found.bound / row["bound"] - 1) < 0.005)


def busiest(found: Rung) -> str:
    """Return the busiest resource of a rung, in words."""
    name, share = max(found.busy.items(), key=lambda item: item[1])
    return f"{name} {100 * share:.0f} %"


def _shown(rungs: Mapping[int, Rung]) -> Iterator[Check]:
    for outputs, found in rungs.items():
        simulated = f"{found.gigaflops:.0f} Gflop/s, {found.blocks} blocks per SM, {found.occupancy:.0f} % occupancy"
        yield Check(f"outputs per thread: {outputs}", "-", simulated, None, f"bound of shared memory {found.bound:.0f}; {busiest(found)}")


def _binds(rungs: Mapping[int, Rung]) -> str:
    conflicts = sum(one.conflicts for one in rungs.values())
    return (
        f"Shared-memory bandwidth binds: what helps most is a faster shared memory. No rung reaches its bound: between two barriers, while "
        f"tiles are fetched, the banks rest, and with 8 outputs the issue slots are as busy, 17 instructions for 9 loads. Bank conflicts: "
        f"{conflicts:.0f}. Fewer bytes of shared memory per flop raise the bound, and the rate with it."
    )


def _fitted(gpu: Gpu) -> Iterator[str]:
    if points := fitted_to(gpu, "lsu.depth"):
        yield f"FITTED: lsu.depth = {gpu.lsu.depth}: {points}. One number for four rates; their ratios are predicted."


def _curves(gpu: Gpu, rungs: Mapping[int, Rung], said: Mapping[str, Any]) -> tuple[Curve, ...]:
    peak = gpu.peak_fp32_flops / 1e11  # Gflop/s per percent
    curves = [
        Curve("simulated", OUTPUTS, tuple(one.gigaflops / peak for one in rungs.values())),
        Curve("bound of shared memory", OUTPUTS, tuple(one.bound / peak for one in rungs.values())),
        Curve("occupancy", OUTPUTS, tuple(one.occupancy for one in rungs.values())),
    ]
    rows = said.get("rung", ())
    if rows:
        curves.append(Curve("published", tuple(row["outputs"] for row in rows), tuple(row["gigaflops"] / peak for row in rows)))
    return tuple(curves)


SLICE = (
    "A slice of the 1024 x 1024 product: one more wave of blocks beside another, each with all of its 32 tiles of A and B, so that "
    "launch and tail cancel. The whole product would end with a wave that is not full: 1024 blocks on 15 SMs keep them busy 95 to "
    "99 % of the time."
)
