"""One step up and one step down of each number of a GPU that a run reads: ten percent, or the next value that makes a difference."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from isa.errors import UserError
from sim.gpus.model import Gpu
from sim.lowering.rescheduling import difference, words_of
from sim.lowering.unread import why_unread_by
from sim.lowering.used import Used, used_by
from sim.result.result import Result
from sim.traces.trace import Trace

SHARE = 0.1
# What a run does not read by itself (clocks: the numbers of L2 and DRAM hold them), the overhead of a launch, granularities of allocation.
SKIPPED = (
    *("clock.core_mhz", "clock.tensor_mhz", "clock.l2_mhz", "clock.dram_mhz", "blocks.launch_overhead", "blocks.launch_us"),
    *("limits.sub_partitions", "limits.launch_partitions"),
    *("limits.threads_per_block", "limits.registers_per_thread", "limits.registers_per_block", "limits.register_unit"),
    *("limits.warp_granularity", "limits.shared_unit", "limits.shared_reserved", "limits.shared_per_block"),
)
GRAINS = {
    **{"limits.registers": 4096, "limits.shared_bytes": 1024, "limits.warps": 4, "l1.bytes": 1024, "l2.bytes": 65536},
    **{"fetch.near_bytes": 512, "fetch.bytes": 2048, "fetch.prefetched": 128},
}


class Step(NamedTuple):
    """One parameter and its neighbours; None where there is no legal one."""

    field: str
    value: float
    lower: float | None
    higher: float | None


def steps(trace: Trace, gpu: Gpu, run: Result | None = None) -> Iterator[Step]:
    """Yield the parameters that a run of `trace` reads. run: its result on `gpu`; None = by what the trace executed, no counters."""
    words = words_of(trace.launch, gpu)
    used = used_by(run) if run else Used(trace.program, trace.executed, words, uniform="uniform" in gpu.units)
    seen: set[frozenset[tuple[str, Any]]] = set()  # machines that the steps of another field make: of a pipe within another
    for name in gpu.names():
        value = _value(gpu, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not value or name in SKIPPED:
            continue
        if why_unread_by(gpu, name, words, used):
            continue
        lower, higher = (_legal(gpu, name, candidate) for candidate in neighbours(name, value, gpu.core.warp_size))
        if words.kind != "none" and _is_held(trace, gpu, name, [value for value in (lower, higher) if value is not None]):
            continue
        made = {frozenset({name: to, **followers(gpu, name, to)}.items()) for to in (lower, higher) if to is not None}
        if made - seen:
            seen |= made
            yield Step(name, value, lower, higher)


def _is_held(trace: Trace, gpu: Gpu, name: str, values: list[float]) -> bool:
    """Return whether control words that must be kept hold all of a field, so that a step of it would change nothing."""
    found = [difference(trace.program, variant(gpu, name, value)) for value in values]
    held = any(name in fields for _, fields, _ in found) and (name.endswith(".latency") or name == "core.reissue_distance")
    return held and (trace.launch.control_words == "keep" or any(why for *_, why in found))


def neighbours(name: str, value: float, warp: int = 32) -> tuple[float, float]:
    """Return the values one step below and above. warp: threads of one."""
    if name.endswith(".lanes"):
        hold = -(-warp // int(value))
        return -(-warp // (hold + 1)), -(-warp // max(hold - 1, 1))
    if isinstance(value, float):
        return value / (1 + SHARE), value * (1 + SHARE)
    grain = GRAINS.get(name, 1)  # of which it must be a multiple, so that a step counts
    step = max(round(value * SHARE / grain), 1) * grain
    return value - step, value + step


def variant(gpu: Gpu, name: str, value: Any) -> Gpu:
    """Return the GPU with one field changed, and those that must follow it. Raises UserError when it cannot be."""
    return gpu.replace({name: value} | followers(gpu, name, value))


def followers(gpu: Gpu, name: str, value: Any) -> dict[str, Any]:
    """Return the fields that must change with one, by name: a GPU with the one alone would be refused, or the step be in vain."""
    changes: dict[str, Any] = {}
    if name == "limits.shared_bytes":
        changes["limits.shared_per_block"] = min(gpu.limits.shared_per_block, value - gpu.limits.shared_reserved)
        if gpu.limits.shared_carveouts:
            changes["limits.shared_carveouts"] = (*(size for size in gpu.limits.shared_carveouts[:-1] if size < value), value)
    section, _, field = name.rpartition(".")
    if section.startswith("pipes.") and field == "lanes":  # a pipe within another has the same lanes
        own = section.removeprefix("pipes.")
        others = [other for other, pipe in gpu.pipes.items() if pipe.within == own or other == gpu.pipes[own].within]
        changes |= {f"pipes.{other}.lanes": value for other in others}
    if name == "limits.warps":
        changes["limits.threads_per_block"] = min(gpu.limits.threads_per_block, gpu.core.warp_size * value)
    return {field: new for field, new in changes.items() if new != _value(gpu, field)}


def _legal(gpu: Gpu, name: str, value: float) -> float | None:
    if value == _value(gpu, name):
        return None
    try:
        variant(gpu, name, value)
    except UserError:
        return None
    return value


def _value(gpu: Gpu, name: str) -> Any:
    place: Any = gpu
    for part in name.split("."):
        place = place.get(part) if isinstance(place, Mapping) else getattr(place, part, None)
    return place
