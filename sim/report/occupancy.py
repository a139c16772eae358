"""Occupancy in words: what limits it, the next step up, and the curve over block sizes."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sim.gpus.best_block import BestBlock, best_block
from sim.gpus.model import Gpu
from sim.gpus.occupancy import UNLIMITED, Occupancy, occupancy, refusals, threads_of
from sim.report.words import bar, count

RESOURCES = {
    "warps": "warps per SM",
    "blocks": "blocks per SM",
    "registers": "registers",
    "shared": "shared memory",
}


class Use(NamedTuple):
    """What a kernel takes: threads per block, registers per thread, bytes of shared memory per block."""

    block: int
    registers: int
    shared: int


def limit_sentence(found: Occupancy, gpu: Gpu) -> str:
    """Return theoretical occupancy and what limits it, as a clause."""
    limits = " and ".join(RESOURCES[name] for name in found.limiters)
    if not found.blocks:
        return f"0% theoretical: not even one block fits, for its {limits}"
    size = count(found.warps // found.blocks, "warp") + (" each" if found.blocks > 1 else "")
    held = f"{count(found.blocks, 'block')} of {size}"
    return f"{found.fraction:.1%} theoretical ({held} on an SM that holds {gpu.limits.warps} warps; limited by {limits})"


def report(gpu: Gpu, block: int | Sequence[int], registers: int, shared: int) -> str:
    """Return what `simtlab occupancy` prints."""
    use = Use(threads_of(block), registers, shared)
    found = occupancy(gpu, *use)
    reason = "; ".join(broken for broken, _ in refusals(gpu, *use))
    head = [
        f"{gpu.name}: {use.block} threads per block, {use.registers} registers per thread, {use.shared:,} bytes of shared memory per block",
        f"A block does not fit: {reason}." if reason else f"Occupancy {limit_sentence(found, gpu)}.",
    ]
    steps = [f"Next step: {step}." for step in next_steps(gpu, use)] or ["Next step: none, the SM holds all the warps it can."]
    return "\n\n".join(["\n".join(head), limiters(gpu, found), "\n".join(steps), curve_text(gpu, use)])


def limiters(gpu: Gpu, found: Occupancy) -> str:
    """Return a table: how many blocks each resource alone would allow."""
    limits = gpu.limits
    have = {
        "warps": f"{limits.warps} warps, at most {limits.threads_per_block} threads per block",
        "blocks": f"{limits.blocks} blocks",
        "registers": f"{limits.registers:,} registers; a block takes {found.registers_per_block:,}",
        "shared": f"{limits.shared_bytes:,} bytes; a block takes {found.shared_per_block:,}",
    }
    lines = ["Limit            blocks   the SM has"]
    for name, blocks in found.by_limiter.items():
        allowed = "any" if blocks >= UNLIMITED else str(blocks)
        lines.append(f"  {RESOURCES[name]:<14} {allowed:>6}   {have[name]}" + ("   <- limits" if name in found.limiters else ""))
    return "\n".join(lines)


def next_steps(gpu: Gpu, use: Use) -> list[str]:
    """Return what would let the SM hold more: the smallest saving of each resource that admits another block, else a block size."""
    found = occupancy(gpu, *use)
    if found.fraction == 1.0:
        return []
    steps = [step for step in (_fewer_registers(gpu, use, found), _less_shared(gpu, use, found)) if step]
    if not steps:
        steps = [step for step in (_both(gpu, use, found), _other_block(gpu, use, found)) if step][:1]
    return steps or ["no saving of registers or shared memory and no other block size holds more warps"]


def curve(gpu: Gpu, use: Use) -> list[tuple[int, Occupancy]]:
    """Return (threads per block, occupancy) for every whole number of warps that a block may have."""
    return [
        (32 * warps, occupancy(gpu, 32 * warps, use.registers, use.shared)) for warps in range(1, gpu.limits.threads_per_block // 32 + 1)
    ]


def curve_text(gpu: Gpu, use: Use) -> str:
    """Return the curve as bars, the block size asked for marked."""
    mine = 32 * math.ceil(use.block / 32)
    lines = ["Occupancy by threads per block, other things equal"]
    for threads, found in curve(gpu, use):
        mark = "   <- this launch" if threads == mine else ""
        lines.append(f"  {threads:>5} {found.fraction:>7.1%} {bar(found.fraction)} {count(found.blocks, 'block')}{mark}".rstrip())
    return "\n".join(lines)


def as_dict(gpu: Gpu, use: Use) -> dict[str, Any]:
    """Return the occupancy, the next steps and the curve as plain values."""
    found = occupancy(gpu, *use)
    return {
        "gpu": gpu.name,
        **use._asdict(),
        "occupancy": found._asdict() | {"by_limiter": {k: None if n >= UNLIMITED else n for k, n in found.by_limiter.items()}},
        "refusals": [broken for broken, _ in refusals(gpu, *use)],
        "next_steps": next_steps(gpu, use),
        "curve": [{"block": threads, "blocks": o.blocks, "fraction": o.fraction} for threads, o in curve(gpu, use)],
    }


def best_of(gpu: Gpu, use: Use, per_thread: int) -> BestBlock:
    """Return the proposed block of a kernel that takes `per_thread` bytes of shared memory per thread beside those of a block."""
    return best_block(gpu, use.registers, lambda threads: use.shared + threads * per_thread)


def best_use(gpu: Gpu, use: Use, per_thread: int) -> Use:
    """Return what the proposed block takes."""
    found = best_of(gpu, use, per_thread)
    return Use(found.block or gpu.limits.threads_per_block, use.registers, found.shared if found.block else use.shared)


def best_text(gpu: Gpu, use: Use, per_thread: int) -> str:
    """Return what `simtlab occupancy --best` prints."""
    found = best_of(gpu, use, per_thread)
    shared = f"{use.shared:,} bytes of shared memory per block" + (f" and {per_thread:,} per thread" if per_thread else "")
    head = f"{gpu.name}: {use.registers} registers per thread, {shared}"
    if found.occupancy is None:
        return f"{head}\nNo block fits, whatever its size."
    rivals = [
        threads
        for threads in range(32, gpu.limits.threads_per_block + 1, 32)
        if threads != found.block
        and occupancy(gpu, threads, use.registers, use.shared + threads * per_thread).warps == found.occupancy.warps
    ]
    as_good = f"As many warps with {', '.join(map(str, rivals))} threads." if rivals else "No other size holds as many warps."
    return "\n".join(
        [
            head,
            f"Best block: {found.block} threads; occupancy {limit_sentence(found.occupancy, gpu)}.",
            f"The smallest grid that fills the chip: {count(found.grid, 'block')}, {found.occupancy.blocks} on each of {gpu.sms} SMs.",
            f"The largest of the sizes with the most warps, as cudaOccupancyMaxPotentialBlockSize proposes. {as_good}",
        ]
    )


def _fewer_registers(gpu: Gpu, use: Use, found: Occupancy) -> str:
    registers = largest(lambda n: occupancy(gpu, use.block, n, use.shared).blocks > found.blocks, 1, use.registers - 1)
    if registers is None:
        return ""
    blocks = occupancy(gpu, use.block, registers, use.shared).blocks
    saved = count(use.registers - registers, "register")
    return f"use {saved.replace('register', 'fewer register')} per thread ({registers}) to get {_more(found.blocks, blocks)}"


def _less_shared(gpu: Gpu, use: Use, found: Occupancy) -> str:
    shared = largest(lambda n: occupancy(gpu, use.block, use.registers, n).blocks > found.blocks, 0, use.shared - 1)
    if shared is None:
        return ""
    blocks = occupancy(gpu, use.block, use.registers, shared).blocks
    return f"use {use.shared - shared:,} bytes less shared memory per block ({shared:,}) to get {_more(found.blocks, blocks)}"


def _both(gpu: Gpu, use: Use, found: Occupancy) -> str:
    """Return the saving of registers and of shared memory that only together admit another block."""
    registers = largest(lambda n: occupancy(gpu, use.block, n, 0).blocks > found.blocks, 1, use.registers - 1)
    shared = largest(lambda n: occupancy(gpu, use.block, 1, n).blocks > found.blocks, 0, use.shared - 1)
    if registers is None or shared is None:
        return ""
    blocks = occupancy(gpu, use.block, registers, shared).blocks
    return (
        f"use at most {registers} registers per thread and {shared:,} bytes of shared memory per block, both, to get "
        f"{_more(found.blocks, blocks)}"
    )


def _other_block(gpu: Gpu, use: Use, found: Occupancy) -> str:
    best = max(curve(gpu, use), key=lambda point: (point[1].fraction, -abs(point[0] - use.block)))
    if best[1].fraction <= found.fraction:
        return ""
    return f"use blocks of {best[0]} threads to get {best[1].warps} warps instead of {found.warps} ({best[1].fraction:.1%})"


def _more(before: int, after: int) -> str:
    extra = "one more block" if after == before + 1 else f"{after - before} more blocks"
    return f"{extra} ({after} instead of {before})"


def largest(fits: Callable[[int], bool], low: int, high: int) -> int | None:
    """Return the largest number of low..high that fits, None when none does; what fits must shrink, not grow, with the number."""
    if high < low or not fits(low):
        return None
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
