"""`scheduling-occupancy`: round robin, greedy-then-oldest and cache-conscious scheduling with 1 to all warps per SM.

Rows: as in `warp-scheduling`, but a thread loads four numbers of its row at once, as compilers unroll such a loop, so that a warp that goes
on finds its own lines. Polynomials: no line is used again. Times are of steady state: additional waves of blocks. See `published.toml`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

import isa
from programs.published import published
from programs.reproduction import Check, Reproduction
from programs.scheduling.policies import COLUMNS, PASSES, ROWS, misses, polynomials
from programs.steady import shared_for, steady
from sim.functional import execute
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.gpus.occupancy import occupancy
from sim.launch.launch import Launch
from sim.report.curves import Curve

SENSITIVE, PLAIN = "rows, 4 columns at once", "polynomials, 1 per thread"
POLICIES = ("lrr", "gto", "ccws")
LEVELS = ((1, 1), (1, 2), (1, 4), (1, 6), (1, 8), (1, 12), (1, 16), (1, 24), (2, 16), (2, 24))  # blocks per SM, warps in each
UNROLLED = 4
NEAR = 0.05

BODY = [f"LDG R{9 + k}, [R3+{4 * k}]" for k in range(UNROLLED)] + ["LDG R6, [R4]", "LDG R7, [R4+4]", "LDG R13, [R4+8]", "LDG R14, [R4+12]"]
BODY += [f"IADD R3, R3, {4 * UNROLLED}", f"IADD R4, R4, {4 * UNROLLED}", f"IADD R5, R5, -{UNROLLED}", "ISETP.NE.AND P0, PT, R5, RZ, PT"]
BODY += ["FFMA R8, R9, R6, R8", "FFMA R8, R10, R7, R8", "FFMA R8, R11, R13, R8", "FFMA R8, R12, R14, R8"]


class Point(NamedTuple):
    """A kernel in steady state."""

    speed: float  # warps that end per 1000 cycles
    misses: float  # sectors that L1 did not have, per warp


Points = Mapping[str, Mapping[int, Point]]  # by policy, by warps per SM


def unrolled() -> str:
    """Return the kernel of rows with its loop unrolled."""
    loop, back = ".Loop:\n", "@P0 BRA .Loop"
    return ROWS[: ROWS.index(loop) + len(loop)] + "\n".join(BODY) + "\n" + ROWS[ROWS.index(back) :]


def launch(name: str, blocks: int, warps: int, shared: int) -> Launch:
    """Return the launch of so many blocks; shared: bytes of dynamic shared memory that nobody uses."""
    random, threads = np.random.default_rng(1), 32 * warps * blocks
    out = np.zeros(threads, np.float32)
    if name == SENSITIVE:
        program, last = isa.parse(unrolled()), np.uint32(COLUMNS)
        arrays: tuple[np.ndarray, ...] = random.random((threads, COLUMNS), np.float32), random.random(COLUMNS, np.float32)
    else:
        program, last = isa.parse(polynomials(1)), np.uint32(PASSES)
        arrays = (random.random(threads * PASSES, np.float32),)
    return Launch(program, (blocks,), (32 * warps,), (*arrays, out, last), shared_dynamic=shared)


def points(gpu: Gpu, name: str) -> Points:
    """Time one kernel at every occupancy that the GPU allows it."""
    found: dict[str, dict[int, Point]] = {policy: {} for policy in POLICIES}
    for blocks, warps in LEVELS:
        shared = shared_for(gpu, blocks)
        first = launch(name, 1, warps, shared)
        if 32 * warps > gpu.limits.threads_per_block or occupancy(gpu, 32 * warps, first.registers_per_thread, shared).blocks != blocks:
            continue
        short, long = (execute(launch(name, waves * blocks * gpu.sms, warps, shared)) for waves in (1, 3))
        for policy in POLICIES:
            more, ended = steady(short, long, gpu.replace({"core.policy": policy})), 2 * blocks * warps * gpu.sms
            point = Point(1000 * ended / more.cycles, (misses(more.long) - misses(more.short)) / ended)
            found[policy][blocks * warps] = point
    return found


def reproduce(gpu: str | None = None) -> Reproduction:
    """Time both kernels on `gpu`, or on a GTX 480."""
    machine = load(gpu or "gtx480")
    found = {name: points(machine, name) for name in (SENSITIVE, PLAIN)}
    checks = tuple(judged(found, published(Path(__file__).parent)))
    curves = []
    for name, policies in found.items():
        best = max(point.speed for levels in policies.values() for point in levels.values())
        for policy, levels in policies.items():
            y = tuple(100 * point.speed / best for point in levels.values())
            curves.append(Curve(policy, tuple(map(float, levels)), y, name))
    title = f"Schedulers by occupancy, {machine.name}"
    return Reproduction(title, checks, (NOTE,), tuple(curves), "warps per SM", "percent of the highest speed")


def judged(found: Mapping[str, Points], said: Mapping[str, Mapping[str, str]]) -> Iterator[Check]:
    """Judge where the cache-sensitive kernel is fastest, and what greed keeps of it; show the other kernel."""
    for name, policies in found.items():
        robin, full = policies["lrr"], max(policies["lrr"])
        best, judge = max(robin, key=lambda level: robin[level].speed), name == SENSITIVE and robin[full].misses > 0
        gain = robin[best].speed / robin[full].speed
        shown = f"{best} of {full} warps per SM" + f": {gain:.1f} times as fast as with {full}" * (best < full)
        text, source = (said["fewer"]["text"], said["fewer"]["source"]) if judge else ("-", "")
        yield Check(f"{name}, lrr: fastest with", text, shown, gain > 1 + NEAR if judge else None, source)
        for policy in POLICIES[1:]:
            faster = policies[policy][full].speed / robin[full].speed
            few, many = policies[policy][full].misses, robin[full].misses
            shown = f"{faster:.1f} times as fast as lrr, {few:.0f} misses per warp, not {many:.0f}"
            row = said["greedy" if policy == "gto" else "fewer"] if judge else {"text": "-", "source": ""}
            yield Check(f"{name}, {policy}, {full} warps", row["text"], shown, faster > 1 and few < many if judge else None, row["source"])


NOTE = (
    "Misses are sectors that L1 did not have. With few warps all schedulers are alike: nothing is left to choose. Where each load waits "
    "for the one before (the kernel of warp-scheduling, not unrolled), greedy-then-oldest gains little: a warp that waits for memory "
    "cannot be gone on with. Where L1 takes no global loads nothing is judged. The paper's programs and machine are not these: directions "
    "are judged. Nothing is fitted."
)
