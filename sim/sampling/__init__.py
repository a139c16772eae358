"""Very long launches by sampling: some blocks are executed and timed, the rest follows from them, with an error bar. See README.md."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from isa.errors import UserError
from sim import engines
from sim.functional.execute import LIMIT, execute
from sim.gpus.model import Gpu
from sim.gpus.occupancy import residency
from sim.launch.launch import Launch
from sim.result.result import Result
from sim.result.sample import Sample
from sim.sampling import estimate
from sim.sampling.plan import MOST, Plan, plan, spread
from sim.sampling.scaling import scaled
from sim.traces.ensemble import accesses_of_global
from sim.traces.trace import ADDRESS, SCATTERED, Trace, work_of_blocks

SHARE, LEAST = 0.1, 40_000_000  # of a launch, and warp instructions, that are executed and timed at least unless the user says which share
WHOLE = 200_000_000  # warp instructions of a launch that is executed whole where a sample would be most of it
PILOT, FEW = 32, 3  # blocks that tell whether all do the same; where they are very long
FULL = 1.5  # times the capacity of L2 that the first waves should touch
LINE = 128  # bytes


class Wanted(NamedTuple):
    """How to run, as `sim.run` and `sim.execute` say; a sample has neither a timeline nor checks."""

    engine: str = "numba"
    threads: int | None = None
    timeline: tuple[int, int] | None = None
    check: tuple[str, ...] = ()
    limit: int | None = None


def run(launch: Launch, gpu: Gpu, share: float | None = None, wanted: Wanted = Wanted()) -> Result:  # noqa: B008  a tuple
    """Return an estimate of what `sim.run` would find, with `result.sample`; the caller's arrays stay as they are.

    share: of the blocks that are executed and timed, below 0.6; None = a tenth, or some 40 million warp instructions. Raises UserError
    for what cannot be sampled: blocks in another order than launch order, too few waves of blocks in a launch that is long all the same,
    blocks that wait for others, timelines and checks.
    """
    _check(gpu, share, wanted)
    each = _work(launch, share, wanted)
    chosen = _plan(launch, gpu, (share, wanted), each)
    blocks = np.arange(launch.blocks) if chosen is None else chosen.chosen
    trace = _executed(launch, wanted, blocks)
    result = engines.simulate(trace, gpu, None, wanted.engine, wanted.threads)
    if chosen is None:
        sample = Sample(launch.blocks, launch.blocks, trace.warp_instructions, ((0, launch.blocks),), 0.0, 0.0)
        return replace(result, grid=tuple(launch.grid), sample=sample, trace=None)
    work = work_of_blocks(trace)
    issued = estimate.instructions(launch.blocks, each)
    time = estimate.cycles(chosen, result.block_starts, result.cycles, work, issued)
    sample = Sample(len(blocks), launch.blocks, trace.warp_instructions, chosen.pieces, time.bar, issued.bar)
    return replace(scaled(result, round(time.value), issued.value / trace.warp_instructions, launch), sample=sample)


def _check(gpu: Gpu, share: float | None, wanted: Wanted) -> None:
    """Raise UserError for what a sampled run cannot do."""
    if share is not None and not 0 < share < MOST:
        usual = "none (--sample auto) for what is usual"
        raise UserError(f"there is no sample of {share:g} of the blocks", hint=f"give a share above 0 and below {MOST:g}, or {usual}")
    if wanted.timeline is not None or wanted.check:
        what = "timeline" if wanted.timeline is not None else "checks"
        raise UserError(f"a sampled run has no {what}: most blocks are not executed", hint="leave that or the sample out")
    if gpu.blocks.order != "launch":
        message = f"blocks.order = '{gpu.blocks.order}' needs to know the work of every block: such a launch cannot be sampled"
        raise UserError(message, hint="leave the sample out, or set blocks.order to launch")


def _executed(launch: Launch, wanted: Wanted, blocks: np.ndarray) -> Trace:
    """Execute some blocks."""
    return execute(launch, LIMIT if wanted.limit is None else wanted.limit, blocks=blocks, threads=wanted.threads)


def _work(launch: Launch, share: float | None, wanted: Wanted) -> np.ndarray:
    """Return int64: the warp instructions of blocks spread over the launch, in launch order.

    Where they differ, more of them are executed, without being timed: they do most to make an estimate good.
    """

    def of(count: int) -> np.ndarray:
        return work_of_blocks(_executed(launch, wanted, spread(0, launch.blocks, min(count, launch.blocks), 1)))

    work = of(PILOT if int(of(1)[0]) * PILOT < LEAST else FEW)
    if _is_even(work):
        return work
    budget = max(LEAST, (share or SHARE) * launch.blocks * work.mean()) / 2
    return of(max(int(budget / work.mean()), len(work)))


def _is_even(work: np.ndarray) -> bool:
    """Return whether all blocks that were looked at execute as many instructions."""
    return bool((work == work[0]).all())


def _plan(launch: Launch, gpu: Gpu, most: tuple[float | None, Wanted], each: np.ndarray) -> Plan | None:
    """Return which blocks to execute, None for all of them. most: share of the blocks, and how to run. each: work of blocks.

    Raises UserError where a sample would be most of a launch that is too long to be executed whole.
    """
    (share, wanted), work, even = most, float(each.mean()), _is_even(each)
    places = (
        gpu.sms * residency(gpu, launch.block, launch.registers_per_thread, launch.shared_per_block, launch.program.architecture).blocks
    )
    waves = launch.blocks / places
    affordable = waves * share if share is not None else max(SHARE * waves, LEAST / (work * places))
    if affordable < waves and (found := plan(launch.blocks, places, 0, affordable, even)) is not None:
        hierarchy = gpu.l2 is not None and gpu.memory.kind == "hierarchy"
        return plan(launch.blocks, places, _cold(launch, gpu, places, wanted), affordable, even) if hierarchy else found
    if work * launch.blocks > WHOLE:
        message = (
            f"{launch.blocks:,} blocks of some {work:,.0f} warp instructions are {waves:.1f} waves of the {places:,} that {gpu.name} "
            "holds at once: too few to stand for each other"
        )
        raise UserError(message, hint="sampling takes blocks, not parts of one: leave the sample out, or shorten the loops of the launch")
    return None


def _cold(launch: Launch, gpu: Gpu, places: int, wanted: Wanted) -> int:
    """Return after how many waves L2 holds what it does from then on: when they have touched more than fits; 0 where that never is."""
    assert gpu.l2 is not None
    seen = np.zeros((1 << 32) // LINE, bool)
    touched = []
    for wave in range(2):
        seen[_lines(_executed(launch, wanted, np.arange(wave * places, (wave + 1) * places)))] = True
        touched.append(int(np.count_nonzero(seen)) * LINE)
    grown = touched[1] - touched[0]
    if touched[0] + grown * (launch.blocks // places - 1) <= gpu.l2.bytes:
        return 0
    return 1 + int(np.ceil(max(FULL * gpu.l2.bytes - touched[0], 0) / grown)) if grown else 0


def _lines(trace: Trace) -> np.ndarray:
    """Return the lines of 128 bytes that warps touch in global memory, some of them several times."""
    arrays, (chosen, _) = trace.arrays, accesses_of_global(trace)
    spaced = chosen & (arrays.access_stride != SCATTERED)
    base, stride = arrays.access_base[spaced], arrays.access_stride[spaced]
    lanes = [(base + lane * stride) & ADDRESS for lane in (0, 10, 21, 31)]
    rows = arrays.scattered[arrays.access_base[chosen & ~spaced] & ADDRESS].ravel().astype(np.int64)
    return np.concatenate([*lanes, rows]) // LINE
