"""`block-scheduling`: waves of blocks, blocks of unequal length, and blocks that share lines of L1, with each way to hand blocks to SMs.

Equal: every block evaluates the same chain of multiply-adds. Unequal: chains of one to eight lengths, at random. Neighbours: each block
adds up four columns of a matrix, so that blocks in a row read the same sectors. What is stated of them is in `published.toml`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

import isa
from programs.published import published
from programs.reproduction import Check, Reproduction
from programs.scheduling.policies import misses
from programs.steady import shared_for
from sim.functional import execute
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.gpus.occupancy import occupancy
from sim.launch.launch import Launch
from sim.report.curves import Curve
from sim.result.result import Result
from sim.timing import simulate
from sim.traces.trace import Trace

THREADS = 256
POLICIES = ("emptiest", "round_robin", "fill_first", "grouped")
ORDERS = ("launch", "largest_first")
QUARTERS = tuple(range(1, 13))  # of a wave
PASSES, LENGTHS = 40, 8
WIDTH, ROWS = 4, 1024  # columns of a block, rows of the matrix
NEAR = 0.05

CHAINS = """.kernel chains
.param ptr lengths
.param ptr out
S2R R0, SR_CTAID.X
S2R R1, SR_TID.X
IMAD R2, R0, 4, c[0x0][lengths]
LDG R3, [R2]
.Loop:
FFMA R4, R4, R5, R5
FFMA R4, R4, R5, R5
FFMA R4, R4, R5, R5
FFMA R4, R4, R5, R5
IADD R3, R3, -1
ISETP.NE.AND P0, PT, R3, RZ, PT
@P0 BRA .Loop
IMAD R0, R0, 256, R1
ISCADD R0, R0, c[0x0][out], 2
STG [R0], R4
EXIT
"""
COLUMNS = """.kernel columns
.param ptr matrix
.param ptr out
.param u32 pitch
S2R R0, SR_CTAID.X
S2R R1, SR_TID.X
LOP.AND R2, R1, 3
SHR.U32 R3, R1, 2
ISCADD R2, R0, R2, 2
IMAD R4, R3, c[0x0][pitch], RZ
ISCADD R2, R2, c[0x0][matrix], 2
IADD R2, R2, R4
MOV R5, c[0x0][pitch]
SHL R5, R5, 6
MOV R6, 0
MOV R7, RZ
.Loop:
LDG R8, [R2]
IADD R2, R2, R5
IADD R6, R6, 64
ISETP.LT.AND P0, PT, R6, 1024, PT
FADD R7, R7, R8
@P0 BRA .Loop
IMAD R0, R0, 256, R1
ISCADD R0, R0, c[0x0][out], 2
STG [R0], R7
EXIT
"""


def chains(gpu: Gpu, lengths: np.ndarray, places: int) -> Trace:
    """Execute a block for each of `lengths`, its passes; shared memory that nobody uses lets `places` of them on an SM."""
    arrays = lengths.astype(np.uint32), np.zeros(THREADS * len(lengths), np.float32)
    return execute(Launch(isa.parse(CHAINS), (len(lengths),), (THREADS,), arrays, shared_dynamic=shared_for(gpu, places)))


def columns(gpu: Gpu) -> Launch:
    """Return the launch of two waves that adds up columns."""
    program = isa.parse(COLUMNS)
    blocks = 2 * gpu.sms * occupancy(gpu, THREADS, Launch(program, (1,), (THREADS,)).registers_per_thread, 0).blocks
    matrix = np.random.default_rng(1).random((ROWS, blocks * WIDTH), np.float32)
    return Launch(program, (blocks,), (THREADS,), (matrix, np.zeros(blocks * THREADS, np.float32), np.uint32(4 * matrix.shape[1])))


def reproduce(gpu: str | None = None) -> Reproduction:
    """Time the three kernels on `gpu`, or on a GTX 480."""
    machine = load(gpu or "gtx480")
    said = published(Path(__file__).parent)
    equal, unequal = waves(machine), lengths(machine)
    trace = execute(columns(machine))
    shared = {policy: simulate(trace, machine.replace({"blocks.policy": policy})) for policy in POLICIES}
    checks = [*_waves(machine, equal, said["waves"]), *_lengths(machine, unequal, said["graham"]), *_shared(shared, said["neighbours"])]
    x = tuple(quarter / 4 for quarter in QUARTERS)
    best = max(1 / time for times in equal.values() for time in times)
    curves = [Curve(policy, x, tuple(100 / time / best for time in times), "equal blocks, two per SM") for policy, times in equal.items()]
    curves += [
        Curve(order, x, tuple(100 * bound / time for time, bound in times), "unequal blocks, one per SM")
        for order, times in unequal.items()
    ]
    title = f"Block scheduling, {machine.name}"
    return Reproduction(title, tuple(checks), (NOTE,), tuple(curves), "waves of blocks", "percent of the best")


def waves(gpu: Gpu) -> dict[str, list[float]]:
    """Return, by policy, the cycles per block of launches of so many quarters of a wave, two blocks per SM."""
    traces = [chains(gpu, np.full(max(gpu.sms * quarter // 2, 1), PASSES), 2) for quarter in QUARTERS]
    return {
        policy: [simulate(trace, gpu.replace({"blocks.policy": policy})).cycles / trace.launch.blocks for trace in traces]
        for policy in POLICIES
    }


def lengths(gpu: Gpu) -> dict[str, list[tuple[int, float]]]:
    """Return, by order, the cycles of such launches of unequal blocks, one per SM, and the least that any order could take.

    No order ends before all SMs together have done the work, nor before the longest block: Graham's bounds are in these two.
    """
    random = np.random.default_rng(1)
    alone = np.array([simulate(chains(gpu, np.array([PASSES * n]), 1), gpu).cycles for n in range(1, LENGTHS + 1)])
    found: dict[str, list[tuple[int, float]]] = {order: [] for order in ORDERS}
    for quarter in QUARTERS:
        chosen = random.integers(1, LENGTHS + 1, max(gpu.sms * quarter // 4, 1))
        trace, times = chains(gpu, PASSES * chosen, 1), alone[chosen - 1]
        least = max(times.sum() / gpu.sms, times.max())
        for order in ORDERS:
            found[order].append((simulate(trace, gpu.replace({"blocks.order": order})).cycles, float(least)))
    return found


def _waves(gpu: Gpu, found: Mapping[str, list[float]], said: Mapping[str, str]) -> Iterator[Check]:
    """Judge that one block more than a wave costs a wave; show what each policy does with half a wave."""
    one, more = (simulate(chains(gpu, np.full(gpu.sms + extra, PASSES * LENGTHS), 1), gpu).cycles for extra in (0, 1))
    yield Check(
        "one block more than a wave", said["text"], f"{more / one:.2f} times as long", abs(more / one - 2) < 2 * NEAR, said["source"]
    )
    half = QUARTERS.index(2)
    for policy in POLICIES[1:]:
        shown = f"{found[policy][half] / found['emptiest'][half]:.2f} times as long as emptiest"
        yield Check(f"half a wave, {policy}", "-", shown, None)


def _lengths(gpu: Gpu, found: Mapping[str, list[tuple[int, float]]], said: Mapping[str, str]) -> Iterator[Check]:
    """Judge Graham's two bounds, with what blocks take to start and retire."""
    for order, bound in (("launch", 2 - 1 / gpu.sms), ("largest_first", 4 / 3 - 1 / (3 * gpu.sms))):
        worst = max(time / least for time, least in found[order])
        wanted, shown = f"at most {bound:.2f} of the best order", f"{worst:.2f} of its lower bound"
        yield Check(f"unequal blocks, {order}", wanted, shown, worst < bound + NEAR, said["source"])
    gain = max(slow / fast for (slow, _), (fast, _) in zip(found["launch"], found["largest_first"], strict=True))
    yield Check("unequal blocks, largest_first", "-", f"up to {100 * (gain - 1):.0f} % faster than in launch order", None)


def _shared(found: Mapping[str, Result], said: Mapping[str, str]) -> Iterator[Check]:
    """Judge that neighbours on one SM have fewer misses; show all policies."""
    for policy in POLICIES[1:]:
        few, many = misses(found[policy]), misses(found["emptiest"])
        shown = (
            f"{100 * (few / max(many, 1) - 1):+.0f} % misses, {100 * (found[policy].cycles / found['emptiest'].cycles - 1):+.0f} % cycles"
        )
        if policy == "grouped":
            yield Check(f"neighbours, {policy}", said["text"], shown, few < many, said["source"])
        else:
            yield Check(f"neighbours, {policy}", "-", shown, None)


NOTE = (
    "A wave is as many blocks as all SMs hold. Graham's bounds are against the best order, which is not known: the simulated times are "
    "against a lower bound of it, so they may exceed them where the lower bound is loose, and have what a block takes to start and to "
    f"retire beside ({100 * NEAR:.0f} % are allowed). fill_first and grouped wait for the SM that they chose, which on some GPUs takes a "
    "block only every 20 cycles or so (blocks.sm_interval): with many short blocks that costs more than is gained. Nothing is fitted."
)
