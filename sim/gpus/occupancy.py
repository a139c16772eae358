"""Occupancy: how many blocks of a launch an SM holds at once, and what limits them. Exact for CC 1.0 to 9.0.

The rules are those of NVIDIA's `cuda_occupancy.h` (CUDA 7.0 for CC 1.x and 2.x, CUDA 12.9 for 3.0 to 9.0); `up(x, unit)` rounds up to a
multiple. Each resource alone would allow a number of blocks; the smallest is the residency, and every resource that gives it is a limiter.
Left out: the named barriers of CC 9.0 (a limit only from three per block on) and partitioned global caching (CC 5.2, off by default).
"""

import operator
from collections.abc import Sequence
from math import prod
from typing import NamedTuple, SupportsIndex

from isa.errors import UserError
from sim.gpus.assumed import presets_of
from sim.gpus.front_sections import Limits
from sim.gpus.model import Gpu

WARP = 32
UNLIMITED = 2**31


class Occupancy(NamedTuple):
    """blocks, warps: resident per SM. fraction: warps over the SM's limit. limiters: every resource that allows no more blocks."""

    blocks: int
    warps: int
    fraction: float
    limiters: tuple[str, ...]
    by_limiter: dict[str, int]  # blocks that each resource alone would allow: warps, blocks, registers, shared
    registers_per_block: int  # registers a block takes, allocation granularity included
    shared_per_block: int  # bytes a block takes, reserved bytes and granularity included


def up(value: int, unit: int) -> int:
    """Round `value` up to a multiple of `unit`."""
    return -(-value // unit) * unit


def sizes_of(block: int | Sequence[int]) -> tuple[int, ...]:
    """Return the sizes of a block given as a count or as its sizes."""
    if isinstance(block, tuple):  # asking for SupportsIndex takes twenty times as long
        return block
    return (operator.index(block),) if isinstance(block, SupportsIndex) else tuple(block)


def threads_of(block: int | Sequence[int]) -> int:
    """Return the threads of a block given as a count or as its sizes."""
    return prod(sizes_of(block))


def register_unit(limits: Limits, registers: int) -> int:
    """Return the allocation unit for a kernel of that many registers per thread (Fermi has eight exceptions)."""
    return limits.register_unit_exceptions.get(registers, limits.register_unit)


def registers_taken(gpu: Gpu, warps: int, registers: int) -> int:
    """Return the registers that a block takes."""
    limits, warp = gpu.limits, gpu.core.warp_size
    unit, granular = register_unit(limits, registers), up(warps, limits.warp_granularity)
    if limits.register_scope == "block":
        return up(warp * registers * granular, unit)
    return up(warp * registers, unit) * warps


def blocks_by_registers(gpu: Gpu, warps: int, registers: int) -> int:
    """Return how many blocks the register file holds: by block before CC 2.0, by warp and sub-partition since."""
    limits = gpu.limits
    if registers == 0:
        return UNLIMITED
    if registers > limits.registers_per_thread:
        return 0
    if limits.register_scope == "block":
        return limits.registers // registers_taken(gpu, warps, registers)
    per_warp, parts = up(gpu.core.warp_size * registers, register_unit(limits, registers)), limits.sub_partitions
    if per_warp * up(warps, limits.launch_partitions or parts) > (limits.registers_per_block or limits.registers):
        return 0
    return parts * (limits.registers // parts // per_warp) // warps


def shared_taken(limits: Limits, shared: int) -> int:
    """Return the bytes of shared memory that a block takes."""
    return up(shared + limits.shared_reserved, limits.shared_unit)


def blocks_by_shared(gpu: Gpu, shared: int, carveout: int | None) -> int:
    """Return how many blocks shared memory holds, when the driver is asked for a carve-out of that many bytes."""
    limits, taken = gpu.limits, shared_taken(gpu.limits, shared)
    if shared > limits.shared_per_block:
        return 0
    return shared_size(gpu, taken, carveout) // taken if taken else UNLIMITED


def shared_size(gpu: Gpu, taken: int, carveout: int | None) -> int:
    """Return the bytes of shared memory per SM that the driver chooses for blocks that take `taken`.

    The smallest supported size that holds what was asked for. If a block does not fit in that: the smallest in which it does (from CC 7.0),
    or the largest (before).
    """
    largest, sizes = gpu.limits.shared_bytes, gpu.limits.shared_carveouts
    if carveout is None or not sizes:
        return largest
    size = next((size for size in sizes if size >= carveout), largest)
    if size >= taken:
        return size
    modern = float(gpu.compute_capability) >= 7
    return next((size for size in sizes if size >= taken), largest) if modern else largest


def occupancy(gpu: Gpu, block: int | Sequence[int], registers: int = 0, shared: int = 0, carveout: int | None = None) -> Occupancy:
    """Return the residency of blocks of `block` threads with `registers` per thread and `shared` bytes per block.

    block: threads, or sizes in x, y and z. registers: 0 = no limit. carveout: bytes of shared memory per SM asked of the driver (default:
    the largest). A launch that cannot run has 0 blocks; `refusals` says why. Raises UserError for a size that no launch can have.
    """
    limits, threads = gpu.limits, threads_of(block)
    smallest = min(sizes_of(block), default=0)
    for name, value, least in (("block", smallest, 1), ("registers", registers, 0), ("shared", shared, 0), ("carveout", carveout or 0, 0)):
        if value < least:
            raise UserError(f"{name} = {value} is too small", hint=f"give at least {least}")
    warps = -(-threads // gpu.core.warp_size)
    by_limiter = {
        "warps": limits.warps // up(warps, limits.warp_granularity) if threads <= limits.threads_per_block else 0,
        "blocks": limits.blocks,
        "registers": blocks_by_registers(gpu, warps, registers),
        "shared": blocks_by_shared(gpu, shared, carveout),
    }
    blocks = min(by_limiter.values())
    resident = blocks * warps
    return Occupancy(
        blocks=blocks,
        warps=resident,
        fraction=resident / limits.warps,
        limiters=tuple(name for name, allowed in by_limiter.items() if allowed == blocks),
        by_limiter=by_limiter,
        registers_per_block=registers_taken(gpu, warps, registers),
        shared_per_block=shared_taken(limits, shared),
    )


def most_registers(gpu: Gpu, block: int | Sequence[int], blocks: int = 1, shared: int = 0) -> int:
    """Return the most registers per thread with which `blocks` blocks stay resident; 0 when none do."""
    each = range(gpu.limits.registers_per_thread, 0, -1)
    return next((registers for registers in each if occupancy(gpu, block, registers, shared).blocks >= blocks), 0)


def refusals(gpu: Gpu, block: int | Sequence[int], registers: int = 0, shared: int = 0) -> list[tuple[str, str]]:
    """Return (limit that the launch breaks, remedy) for each reason why not one block fits; empty when one does."""
    limits, threads, found = gpu.limits, threads_of(block), occupancy(gpu, block, registers, shared)
    reasons = []
    if found.by_limiter["warps"] == 0:
        most = min(limits.threads_per_block, limits.warps * gpu.core.warp_size)
        reasons.append((f"{threads} threads per block, at most {most}", f"use at most {most} threads per block"))
    if found.by_limiter["registers"] == 0:
        if registers > limits.registers_per_thread:
            reason = f"{registers} registers per thread, at most {limits.registers_per_thread}"
        else:
            most = limits.registers_per_block or limits.registers
            reason = f"{registers} registers per thread in {threads} threads take {found.registers_per_block} of {most} registers"
            reason += ", in whole warps per part of the register file" if found.registers_per_block <= most else ""
        fitting = most_registers(gpu, block)
        remedy = f"use at most {fitting} registers per thread" + (" or smaller blocks" if registers <= limits.registers_per_thread else "")
        reasons.append((reason, remedy if fitting else "use smaller blocks"))
    if found.by_limiter["shared"] == 0:
        most = limits.shared_per_block
        reasons.append((f"{shared} bytes of shared memory per block, at most {most}", f"use at most {most} bytes of shared memory"))
    return reasons


def residency(gpu: Gpu, block: int | Sequence[int], registers: int = 0, shared: int = 0, architecture: str = "") -> Occupancy:
    """Return the occupancy of a launch of code of an architecture.

    Raises UserError when not even one block fits, with the limiter and what to reduce, or which GPU the code was compiled for.
    """
    if reasons := refusals(gpu, block, registers, shared):
        why, remedies = zip(*reasons, strict=True)
        hint, own = "; ".join(remedies), presets_of(architecture)
        if own and gpu.architecture != architecture.rstrip("af"):
            hint = f"the code is for {architecture}: choose --gpu {' or '.join(own)}; or {hint}"
        raise UserError(f"a block does not fit on {gpu.name}: {'; '.join(why)}", hint=hint)
    return occupancy(gpu, block, registers, shared)
