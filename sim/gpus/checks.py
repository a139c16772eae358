"""What must hold between the fields of a GPU. Each check yields sentences that say which field is wrong and what it may be."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from isa.vocabulary import MATRIX_UNITS, Unit
from sim.gpus.fields import nearest
from sim.gpus.path import LINE, too_short

if TYPE_CHECKING:
    from sim.gpus.model import Gpu

UNIT_NAMES = tuple(unit.name.lower() for unit in Unit if unit is not Unit.NONE)
MATRICES = frozenset(unit.name.lower() for unit in MATRIX_UNITS)
MAY_LACK = MATRICES | {Unit.UNIFORM.name.lower()}
MASK = 64  # warps of a scheduler, as both engines and policies number them
# Units whose wait has its own field: a latency in [units] would be a second truth.
LATENCY_ELSEWHERE = {
    "global": "memory.global_load",
    "local": "memory.global_load",
    "shared": "memory.shared_load",
    "constant": "memory.constant_load",
    "branch": "core.branch_latency",
    "barrier": "core.barrier_latency",
}


def problems(gpu: Gpu) -> Iterator[str]:
    """Yield one sentence per contradiction in `gpu`."""
    yield from _units(gpu)
    yield from _pipes(gpu)
    yield from _core(gpu)
    yield from _limits(gpu)
    yield from _memory(gpu)
    yield from _sources(gpu)


def _units(gpu: Gpu) -> Iterator[str]:
    for name in sorted(set(UNIT_NAMES) - set(gpu.units) - MAY_LACK):
        yield f"units.{name} is missing: every kind of instruction needs a pipe ({', '.join(UNIT_NAMES)})"
    for name, unit in gpu.units.items():
        if name not in UNIT_NAMES:
            near = nearest(name, UNIT_NAMES)
            yield f"unknown unit units.{name}" + (f", did you mean {near}?" if near else f"; units are {', '.join(UNIT_NAMES)}")
        elif unit.pipe not in gpu.pipes:
            yield f"units.{name}.pipe = '{unit.pipe}' is not a pipe; pipes are {', '.join(gpu.pipes)}"
        elif name in LATENCY_ELSEWHERE and unit.latency is not None:
            yield f"units.{name}.latency must be absent: the latency of {name} instructions is {LATENCY_ELSEWHERE[name]}"
        elif name not in LATENCY_ELSEWHERE and unit.latency is None:
            yield f"units.{name}.latency is missing: cycles from issue to the issue of a dependent instruction"

    if "wgmma" in gpu.units and not gpu.warpgroup:
        yield "units.wgmma needs the section [warpgroup], which says how long products of warpgroups take"


def _pipes(gpu: Gpu) -> Iterator[str]:
    memory = {gpu.units[unit].pipe for unit in ("global", "local", "shared") if unit in gpu.units}
    outer = [pipe.within for pipe in gpu.pipes.values() if pipe.within]
    for name, pipe in gpu.pipes.items():
        other = gpu.pipes.get(pipe.within or name)
        if other is None:
            yield f"pipes.{name}.within = '{pipe.within}' is not a pipe; pipes are {', '.join(gpu.pipes)}"
        elif pipe.within and (other.within or pipe.within == name or outer.count(pipe.within) > 1):
            yield f"pipes.{name}.within = '{pipe.within}': a pipe holds one other, which holds none"
        elif pipe.within and (pipe.count != 1 or pipe.lanes != other.lanes or {pipe.owner, other.owner} != {"scheduler"}):
            together = f"; change pipes.{pipe.within}.lanes and pipes.{name}.lanes together" if pipe.lanes != other.lanes else ""
            yield f"pipes.{name} is a port of pipes.{pipe.within}: count 1, the same lanes, and each scheduler has its own{together}"
        elif pipe.within and name in memory:
            yield f"pipes.{name}.within: memory instructions have a pipe of their own"


def _core(gpu: Gpu) -> Iterator[str]:
    core, clock = gpu.core, gpu.clock
    if clock.scheduler_mhz is not None and clock.scheduler_mhz > clock.core_mhz:
        yield f"clock.scheduler_mhz = {clock.scheduler_mhz:g} exceeds clock.core_mhz = {clock.core_mhz:g}: the hot clock is the faster one"
    if core.schedulers > gpu.limits.warps:
        yield f"core.schedulers = {core.schedulers} exceeds limits.warps = {gpu.limits.warps}: a scheduler would have no warp"
    if gpu.limits.warps > MASK * core.schedulers:
        yield (
            f"limits.warps = {gpu.limits.warps} exceeds {MASK * core.schedulers}: a scheduler tells its ready warps "
            f"by a mask of {MASK} bits, and there are {core.schedulers} of them (core.schedulers)"
        )


def _limits(gpu: Gpu) -> Iterator[str]:
    limits = gpu.limits
    if limits.warps % limits.warp_granularity:
        yield f"limits.warps = {limits.warps} is not a multiple of limits.warp_granularity = {limits.warp_granularity}"
    if limits.threads_per_block > 32 * limits.warps:
        yield f"limits.threads_per_block = {limits.threads_per_block} exceeds the {32 * limits.warps} threads of limits.warps"
    if limits.registers % limits.sub_partitions:
        yield f"limits.registers = {limits.registers} does not divide into limits.sub_partitions = {limits.sub_partitions}"
    if limits.registers_per_block is not None and limits.registers_per_block > limits.registers:
        yield f"limits.registers_per_block = {limits.registers_per_block} exceeds limits.registers = {limits.registers}"
    if limits.shared_per_block + limits.shared_reserved > limits.shared_bytes:
        yield (
            f"limits.shared_per_block = {limits.shared_per_block} plus limits.shared_reserved = {limits.shared_reserved} "
            f"exceeds limits.shared_bytes = {limits.shared_bytes}"
        )
    if limits.shared_carveouts and (
        list(limits.shared_carveouts) != sorted(set(limits.shared_carveouts)) or limits.shared_carveouts[-1] != limits.shared_bytes
    ):
        yield f"limits.shared_carveouts must ascend and end at limits.shared_bytes = {limits.shared_bytes}"


def _memory(gpu: Gpu) -> Iterator[str]:
    fixed = gpu.memory.kind == "fixed"
    if gpu.dram.refresh >= gpu.dram.refresh_interval:
        yield f"dram.refresh = {gpu.dram.refresh} must be less than dram.refresh_interval = {gpu.dram.refresh_interval}"
    if gpu.l2 and gpu.l2.core_cycles >= gpu.l2.latency:
        yield f"l2.core_cycles = {gpu.l2.core_cycles} must be fewer than l2.latency = {gpu.l2.latency}, which contains them"
    if fixed and gpu.memory.global_load is None:
        yield "memory.global_load is missing: memory.kind = 'fixed' gives every access that many cycles"
    if not fixed and gpu.memory.global_load is not None:
        yield (
            "memory.global_load is not read with memory.kind = 'hierarchy': unset it (--set memory.global_load=none) and set "
            "l1.latency, l2.latency or dram.latency, or memory.kind = 'fixed' for one latency whatever else is going on"
        )
    if not fixed and (sentence := too_short(gpu)):
        yield sentence
    if gpu.l1 and 0 < gpu.l1.pending < 128:
        yield f"l1.pending = {gpu.l1.pending} must be at least 128, as one load may need so many lines at once, or 0 = without limit"
    if gpu.l2 and gpu.l2.bytes < (least := LINE * gpu.dram.channels * gpu.l2.ways):
        yield f"l2.bytes = {gpu.l2.bytes} must be at least {least}: a set of {gpu.l2.ways} lines (l2.ways) in each slice (dram.channels)"
    if gpu.l2 and gpu.l2.hash != "turns" and gpu.dram.channels % 2 and gpu.dram.channels > 1:
        yield f"dram.channels = {gpu.dram.channels} must be even, or 1, with l2.hash = '{gpu.l2.hash}': half of them for each part of L2"
    if gpu.l1 and gpu.l1.sets & gpu.l1.sets - 1:
        yield f"l1.sets = {gpu.l1.sets} is no power of two, which the hash of sets of tags needs; 0 = as many as there are lines for"
    if gpu.l1 and gpu.l1.unified and not gpu.limits.shared_carveouts:
        yield "l1.unified needs limits.shared_carveouts: how much of it may be shared memory"


def _sources(gpu: Gpu) -> Iterator[str]:
    known = _with_sections(tuple(gpu.names()))
    for name in sorted(gpu.source.keys() - known):
        near = nearest(name, known)
        yield f"source.'{name}' names no field" + (f", did you mean '{near}'?" if near else "")


@functools.lru_cache(maxsize=64)  # every variant in a sweep asks for the same
def _with_sections(names: tuple[str, ...]) -> frozenset[str]:
    """Return the names of fields and of all that they are in."""
    return frozenset(names) | {name.rsplit(".", count)[0] for name in names for count in (1, 2) if name.count(".") >= count}
