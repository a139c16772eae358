"""What the shape of a launch costs: lanes that no thread has, places for blocks that run out before warps do, a last wave that is not full.

Each is named with the most of the run's time that another shape could save, and only from LEAST on. That bound is counted from the run
itself; what another resource is full of limits it: lanes without a thread cost little of a run that waits for DRAM.
"""

import math
from collections.abc import Iterator

import numpy as np

from isa.vocabulary import Operation
from sim.analysis.lanes import threads_per_warp
from sim.analysis.resources import DRAM, resources
from sim.causes.memory_advice import Verdict
from sim.causes.residency import blocks_of_each_size, resident_blocks
from sim.gpus.waves import Waves
from sim.launch.launch import Launch
from sim.result.memory_counters import ratio
from sim.result.result import Result

LEAST = 0.05  # share of the time that another shape could save, from which it is named
SETTLED = 0.9  # of the blocks that fit: with fewer resident on an SM, its places do not bind
HALF = 0.5  # of what the last wave costs: a block size that costs more is not worth naming


def waves(result: Result) -> Waves:
    """Return the waves of blocks of a run."""
    return Waves(math.prod(result.grid), result.gpu.sms * result.occupancy.blocks)


def shape(result: Result) -> Iterator[Verdict]:
    """Yield what the shape of its blocks and of its grid costs a run, each with its share of the time."""
    for found in (_lanes(result), _block_slots(result), _last_wave(result)):
        if found and found.share is not None and found.share >= LEAST:
            yield found


def _spare(result: Result, *, instructions: bool = True) -> float:
    """Return the share of the run's time in which the fullest resource of the chip was idle. instructions: issue slots and pipes count."""
    uses = [0.0]
    for one in resources(result):
        if instructions or one.kind == "bandwidth" or one.name == DRAM:
            uses.append(ratio(one.demand, one.capacity * result.cycles * (result.gpu.sms if one.per_sm else 1)))
    return max(0.0, 1 - max(uses))


def _lanes(result: Result) -> Verdict | None:
    """Lanes of its warps that a block has no threads for."""
    threads = math.prod(result.block)
    warp = result.gpu.core.warp_size
    lanes = warp * math.ceil(threads / warp)
    missing = lanes - threads
    if not missing or math.prod(result.grid) == 1:
        return None
    share = min(1 - threads_per_warp(result) / warp, _spare(result, instructions=False))
    return Verdict(
        "lanes",
        f"A block of {threads} threads has {missing} lanes ({missing / lanes:.0%}) in which no thread ever works: the same threads in "
        f"blocks of a multiple of {warp} would need fewer warps, which could save up to {share:.0%} of the time.",
        share,
    )


def _block_slots(result: Result) -> Verdict | None:
    """Blocks of so few warps that an SM's places for blocks run out before its warps do."""
    found, limits = result.occupancy, result.gpu.limits
    if found.limiters != ("blocks",) or waves(result).number < 2 or resident_blocks(result) < SETTLED * found.blocks:
        return None
    if result.trace is None:
        return None
    threads, held = max(blocks_of_each_size(result, result.trace.launch), key=lambda one: (one[1].warps, -one[0]))
    share = min(1 - found.warps / max(held.warps, 1), _spare(result))
    return Verdict(
        "block_slots",
        f"Blocks of {math.prod(result.block)} threads fill the {limits.blocks} places that an SM has for blocks with {found.warps} of the "
        f"{limits.warps} warps that it can hold: blocks of {threads} threads would make it {held.warps}, which could save up to "
        f"{share:.0%} of the time.",
        share,
    )


def _last_wave(result: Result) -> Verdict | None:
    """A last wave of blocks that leaves places empty."""
    found = waves(result)
    if found.number < 2 or found.last == found.places or (result.sample is not None and not result.sample.whole):
        return None  # the blocks of a sample are not the last of the launch
    last = int(result.block_starts.max())
    span = result.cycles - last
    held = int(np.maximum(result.block_ends - np.maximum(result.block_starts, last), 0).sum())
    empty = max(0.0, 1 - ratio(held, found.places * span))
    share = min(empty * span / result.cycles, 1 - found.efficiency, _spare(result))
    return Verdict(
        "last_wave",
        f"The last wave has {found.last:,} of the {found.places:,} blocks that run at once: once the last block has started, with "
        f"{span / result.cycles:.0%} of the time left, {empty:.0%} of the places stay empty. {_whole(result, found)} could save up to "
        f"{share:.0%} of the time.",
        share,
    )


def _whole(result: Result, found: Waves) -> str:
    """Return which grids make waves that are whole, and which block size comes near, if one with as many warps on an SM does."""
    fewer, more = (found.number - 1) * found.places, found.number * found.places
    grid = f"A grid of {fewer:,} or {more:,} blocks, each with an equal share of the work,"
    threads, size = math.prod(result.grid) * result.block[0], result.block[0]
    if result.trace is None or math.prod(result.block) != size or not _is_free(result.trace.launch):
        return grid
    others = [(block, held) for block, held in blocks_of_each_size(result, result.trace.launch) if held.warps >= result.occupancy.warps]
    sizes = {block: Waves(math.ceil(threads / block), held.blocks * result.gpu.sms) for block, held in others}
    best = max(sizes, key=lambda block: (round(sizes[block].efficiency, 2), -abs(block - size)), default=size)
    if best == size or 1 - sizes[best].efficiency > HALF * (1 - found.efficiency):
        return grid
    return f"Blocks of {best} threads ({sizes[best].blocks / sizes[best].places:.2f} waves), or {grid[0].lower()}{grid[1:]}"


def _is_free(launch: Launch) -> bool:
    """Return whether nothing in a program ties it to the size of its blocks: no shared memory, no barrier."""
    return not launch.shared_per_block and Operation.BAR not in launch.program.encoded.operation
