"""`thread-coarsening`: polynomials whose coefficients lie in shared memory, 1 to 16 points per thread.

After the note on "Better Performance at Lower Occupancy": a coefficient fetched once serves all the outputs of a thread, so shared memory
is asked for less, and its outputs are independent. Each output takes two registers more; in the end they decide how many threads there are.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

import isa
from isa.program import Program
from programs.reproduction import Check, Reproduction
from programs.steady import Steady, steady
from sim.functional import execute
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.gpus.occupancy import occupancy
from sim.launch.launch import Launch
from sim.report.curves import Curve

OUTPUTS = (1, 2, 4, 8, 16)
THREADS = 256
DEGREE = 128  # coefficients, a multiple of 4
GPUS = ("gtx480", "g80")
GAIN = 2  # "improves performance": so many times, at least


class Rung(NamedTuple):
    """One kernel; `busy` is None where not one block fits."""

    registers: int
    blocks: int  # on an SM
    occupancy: float  # percent
    percent: float  # of peak
    busy: Steady | None


def listing(outputs: int) -> str:
    """Return the kernel: y = y * x + s[k] for each of a thread's points, all coefficients of a block in shared memory."""
    values = range(outputs)
    x, y, step = [16 + 2 * j for j in values], [17 + 2 * j for j in values], 4 * THREADS
    lines = [
        f".kernel horner_{outputs}",
        f".shared {4 * DEGREE}",
        ".param ptr out",
        ".param ptr points",
        ".param ptr coefficients",
        "S2R R0, SR_TID.X",
        "S2R R1, SR_CTAID.X",
        "SHL R2, R0, 2",
        f"LOP.AND R2, R2, {4 * DEGREE - 4}",
        "IADD R3, R2, c[0x0][coefficients]",
        "LDG R4, [R3]",
        "STS [R2], R4",
        f"IMAD R1, R1, {THREADS * outputs}, R0",
        "ISCADD R3, R1, c[0x0][points], 2",
        *(f"LDG R{x[j]}, [R3+{step * j}]" for j in values),
        *(f"MOV R{y[j]}, RZ" for j in values),
        "MOV R5, RZ",
        "BAR.SYNC 0x0",
        *(f"LDS R{8 + k}, [RZ+{4 * k}]" for k in range(4)),
        ".Loop:",
        "IADD R5, R5, 16",
        f"ISETP.NE.AND P0, PT, R5, {4 * DEGREE}, PT",
    ]
    for k in range(4):
        lines += [f"FFMA R{y[j]}, R{y[j]}, R{x[j]}, R{8 + k}" for j in values]
        lines.append(f"@P0 LDS R{8 + k}, [R5+{4 * k}]")
    lines += ["@P0 BRA .Loop", "ISCADD R3, R1, c[0x0][out], 2"]
    lines += [f"STG [R3+{step * j}], R{y[j]}" for j in values]
    return "\n".join([*lines, "EXIT"])


def launch(outputs: int, blocks: int) -> Launch:
    """Return the launch of so many blocks: points between -1 and 1, coefficients between 0 and 1."""
    random = np.random.default_rng(1)
    points = (2 * random.random(blocks * THREADS * outputs, np.float32) - 1).astype(np.float32)
    program: Program = isa.parse(listing(outputs))
    return Launch(program, (blocks,), (THREADS,), (np.zeros_like(points), points, random.random(DEGREE, np.float32)))


def rung(gpu: Gpu, outputs: int) -> Rung:
    """Time one wave of blocks more than one."""
    one = launch(outputs, 1)
    fits = occupancy(gpu, THREADS, one.registers_per_thread, one.shared_per_block)
    if not fits.blocks:
        return Rung(one.registers_per_thread, 0, 0.0, 0.0, None)
    short, long = (execute(launch(outputs, gpu.sms * fits.blocks * waves)) for waves in (2, 4))
    found = steady(short, long, gpu)
    rate = found.per_second(found.grown("fp32_flops"))
    return Rung(one.registers_per_thread, fits.blocks, found.occupancy, 100 * rate / gpu.peak_fp32_flops, found)


def reproduce(gpu: str | None = None) -> Reproduction:
    """Run 1 to 16 outputs per thread on `gpu`, or on a GTX 480 and an 8800 GTX."""
    machines = [load(name) for name in ((gpu,) if gpu else GPUS)]
    ladders = {machine.name: {outputs: rung(machine, outputs) for outputs in OUTPUTS} for machine in machines}
    checks = [check for name, rungs in ladders.items() for check in _checks(name, rungs)]
    curves = [
        Curve(label, tuple(float(n) for n in OUTPUTS if rungs[n].blocks), tuple(value for n in OUTPUTS if (value := one(rungs[n]))), name)
        for name, rungs in ladders.items()
        for label, one in (("percent of the FP32 peak", lambda r: r.percent), ("occupancy", lambda r: r.occupancy))
    ]
    return Reproduction("Thread coarsening", tuple(checks), (NOTE,), tuple(curves), "outputs per thread", "percent")


def _checks(name: str, rungs: Mapping[int, Rung]) -> Iterator[Check]:
    """Show each rung; judge that coarsening pays, and what a register too many does."""
    for outputs, one in rungs.items():
        what = f"{name}: {outputs} output{'s' * (outputs > 1)} per thread"
        if one.busy is None:
            yield Check(what, "-", "no block fits: registers end it", None, f"{one.registers} registers x {THREADS} threads")
            continue
        busy = one.busy
        simulated = f"{one.percent:.0f} % of peak, {one.registers} registers, {one.occupancy:.0f} % occupancy"
        waits = sorted(((busy.stall(cause), cause) for cause in busy.long.stalls if cause != "selected"), reverse=True)[:2]
        why = ", ".join(f"{cause} {100 * share:.0f} %" for share, cause in waits)
        yield Check(what, "-", simulated, None, f"shared memory {100 * busy.shared_busy:.0f} % busy; warps' time: {why}")
    fitting = [n for n in OUTPUTS if rungs[n].blocks]
    first, best = rungs[1].percent, max(fitting, key=lambda n: rungs[n].percent)
    simulated = f"{first:.0f} to {rungs[best].percent:.0f} % with {best} outputs"
    passed = rungs[best].percent > GAIN * first and best > 1
    yield Check(f"{name}: coarsening", "improves performance", simulated, passed, "a coefficient fetched once serves all outputs")


NOTE = (
    "A thread with n outputs asks shared memory for one word per n multiply-adds and has n of them independent. Registers grow by two per "
    "output: occupancy falls, which costs nothing while the outputs hide the latency, until not one block of 256 threads fits."
)
