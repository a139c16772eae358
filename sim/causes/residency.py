"""How many warps and blocks were resident on an SM, what keeps it from holding more, and which launch would change that, in words."""

import math
from collections.abc import Iterator

from sim.gpus.occupancy import Occupancy, occupancy
from sim.launch.launch import Launch
from sim.result.result import Result

LIMITERS = {  # resource -> what limits, what would let an SM hold more
    "warps": ("the SM's warp slots", ""),
    "blocks": ("the SM's block slots", ""),
    "registers": ("the kernel's registers", "fewer registers per thread"),
    "shared": ("the kernel's shared memory", "less shared memory per block"),
}
SPREADING = ("emptiest", "round_robin")  # policies by which each SM takes a block before one takes a second


def resident_warps(result: Result) -> float:
    """Return the warps resident per SM, averaged over the time the SM had work."""
    active = result.counters["sm_active_cycles"]
    return result.counters["warp_cycles"] / active if active else 0.0


def resident_blocks(result: Result) -> float:
    """Return the blocks resident per SM, as `resident_warps`."""
    return resident_warps(result) / math.ceil(math.prod(result.block) / result.gpu.core.warp_size)


def blocks_of_each_size(result: Result, launch: Launch) -> Iterator[tuple[int, Occupancy]]:
    """Yield each block size in whole warps, with its residency; shared memory grows with the threads of a block."""
    warp = result.gpu.core.warp_size
    for block in range(warp, result.gpu.limits.threads_per_block + 1, warp):
        shared = math.ceil(launch.shared_per_block * block / launch.threads_per_block)
        yield block, occupancy(result.gpu, block, launch.registers_per_thread, shared)


def has_places(result: Result) -> bool:
    """Return whether SMs could hold more blocks than the launch gives them."""
    return math.prod(result.grid) < result.occupancy.blocks * result.counters["sms_used"]


def holdable(result: Result) -> float:
    """Return the warps of the kernel that an SM holds when the launch has more blocks, or larger ones where its slots run out.

    No more than are resident where neither helps: then only a kernel that takes less would.
    """
    if best := _best(result):
        return best[1].warps
    return result.occupancy.warps if has_places(result) else resident_warps(result)


def _best(result: Result) -> tuple[int, Occupancy] | None:
    """Return the block size with most warps on an SM, if slots for warps or for blocks alone keep it from holding more."""
    found = result.occupancy
    if result.trace is None or not {*found.limiters} <= {"blocks", "warps"} or found.warps == result.gpu.limits.warps:
        return None
    best = max(blocks_of_each_size(result, result.trace.launch), key=lambda one: (one[1].warps, -one[0]))
    return best if best[1].warps > found.warps else None


def room(result: Result, *, of_chip: bool = False) -> str:
    """Return what keeps an SM from holding more warps, and what would let it, as a clause. of_chip: warps on other SMs help as well."""
    gpu, found, empty = result.gpu, result.occupancy, result.gpu.sms - int(result.counters["sms_used"])
    if of_chip and empty:
        return f"launch more blocks, as {empty} {'SM has' if empty == 1 else 'SMs have'} none"
    if has_places(result):
        given = math.prod(result.grid) / result.counters["sms_used"]
        others_first = given == 1 and empty and gpu.blocks.policy in SPREADING
        more = f"more than {gpu.sms} blocks (each SM takes one first)" if others_first else "more blocks"
        larger = " or larger ones" if math.prod(result.block) < gpu.limits.threads_per_block else ""
        return f"the launch gives an SM {number(given)} of the {found.blocks} blocks it could hold, so launch {more}{larger}"
    if found.warps == gpu.limits.warps:
        return f"the SM already holds all the {gpu.limits.warps} warps it can"
    limits = f"an SM holds only {found.blocks} of its blocks, limited by {' and '.join(LIMITERS[name][0] for name in found.limiters)}"
    best = _best(result)
    remedies = [f"blocks of {best[0]} threads"] if best else [LIMITERS[name][1] for name in found.limiters if LIMITERS[name][1]]
    return limits + (f"; {' and '.join(remedies)} would let it hold more" if remedies else "")


def number(value: float) -> str:
    """Return one decimal where it says something."""
    return f"{value:,.0f}" if value >= 20 or abs(value - round(value)) < 0.05 else f"{value:.1f}"


def size(number: float) -> str:
    """Return bytes with a binary unit."""
    return f"{number / 2**20:,.2f} MiB" if number >= 1 << 20 else f"{number / 1024:,.1f} KiB"
