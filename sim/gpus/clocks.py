"""Clocks: what a change of one of them changes in a GPU's numbers.

A preset counts everything in cycles of the core, as the chip's own counters do. A field that belongs to another clock says so in its
schema (`clock = "l2"` or "dram"): at another ratio of the two clocks it takes another number of core cycles. A GPU whose preset does
not know the other clock has it tied to the core's: nothing changes then.
"""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from isa.errors import UserError
from sim.gpus.fields import names, said

if TYPE_CHECKING:
    from sim.gpus.model import Gpu

SET_BY_USER = "set by the user"  # how the source of a replaced number begins
CORE = "core_mhz"
DOMAINS = {"l2": "l2_mhz", "dram": "dram_mhz"}
RENAMED = {CORE: "scheduler_mhz", "alu_mhz": CORE}  # of presets and overrides that still say alu_mhz


def renamed(clock: Mapping[str, Any]) -> dict[str, Any]:
    """Return the names of a table of clocks as they are now, where it says `alu_mhz`, as it was called before."""
    return {RENAMED.get(name, name): value for name, value in clock.items()} if "alu_mhz" in clock else dict(clock)


def rescaled(model: type[BaseModel], table: Mapping[str, Any], clocks: Mapping[str, float]) -> dict[str, float]:
    """Return dotted name -> number of the fields of a whole GPU's table that other clocks change, in cycles of the new core clock.

    clocks: what differs, by name without its section. End-to-end latencies hold parts of several clocks: of `l2.latency`, `l2.core_cycles`
    are the core's and the rest L2's; what `dram.latency` has beyond it is DRAM's. `dram.bandwidth` goes with `dram_mhz`.
    """
    if not clocks:
        return {}
    before = table["clock"]
    after = {**before, **clocks}
    if not all(after[name] is None or _is_clock(after[name]) for name in (CORE, *DOMAINS.values())) or after[CORE] is None:
        return {}  # a mistake that validation names
    longer = {domain: _longer(before, after, name) for domain, name in DOMAINS.items()}
    found: dict[str, float] = {}
    for name, domain in _fields(model, table):
        value = _value(table, name)
        if not value or longer[domain] == 1:
            continue
        changed = value / longer[domain] if name.endswith("_per_cycle") else value * longer[domain]
        found[name] = max(1, round(changed)) if said(model, name, "type") == "integer" else changed
    found |= _end_to_end(table, longer)
    if before["dram_mhz"] and after["dram_mhz"] and before["dram_mhz"] != after["dram_mhz"]:
        found["dram.bandwidth"] = table["dram"]["bandwidth"] * after["dram_mhz"] / before["dram_mhz"]
    return found


def while_multiplying(gpu: "Gpu") -> "Gpu":
    """Return the GPU at the clock that tensor cores leave it, `clock.tensor_mhz`, and what this changes; itself if that is no slower."""
    slower = gpu.clock.tensor_mhz
    if slower is None or slower >= gpu.clock.core_mhz:
        return gpu
    table = gpu.model_dump()
    for name, value in (rescaled(type(gpu), table, {CORE: slower}) | {f"clock.{CORE}": slower}).items():
        section, leaf = name.split(".")
        before, source = table[section][leaf], table["source"].get(name)
        told = {"kind": "derived", "text": f"{before:g} without products of matrices, at {gpu.clock.core_mhz:g} MHz"}
        if source and source["text"].startswith(SET_BY_USER):  # what a user has changed stays to be seen
            told = source | {"text": f"{source['text']}; {value:g} where products of matrices keep the clock at clock.tensor_mhz"}
        table["source"][name], table[section][leaf] = told, value
    return gpu.from_table(table)


def _end_to_end(table: Mapping[str, Any], longer: Mapping[str, float]) -> Iterator[tuple[str, int]]:
    l2, far = table["l2"], table["dram"]["latency"]
    near, core = (l2["latency"], l2["core_cycles"]) if l2 else (0, 0)
    moved = core + (near - core) * longer["l2"]
    if round(moved) != near:
        yield "l2.latency", round(moved)
    if round(moved + (far - near) * longer["dram"]) != far:
        yield "dram.latency", round(moved + (far - near) * longer["dram"])


def _longer(before: Mapping[str, Any], after: Mapping[str, Any], name: str) -> float:
    """Return by how much a clock's period, in cycles of the core, grows: 1 where it is tied to the core's, or was."""
    if not before[name] or not after[name]:
        return 1.0
    return float(after[CORE] * before[name] / (before[CORE] * after[name]))  # products first: the same ratio gives exactly 1


def unknown_clock(clock: Mapping[str, Any], clocks: Mapping[str, Any]) -> UserError | None:
    """Return what to say when a clock is to be changed that the GPU does not know."""
    for name in DOMAINS.values():
        if name in clocks and not clock.get(name):
            fields = {"l2_mhz": "l2.latency and l2.bytes_per_cycle", "dram_mhz": "dram.bandwidth and dram.latency"}[name]
            return UserError(f"clock.{name}: this GPU's preset does not know that clock, so it is tied to clock.core_mhz; change {fields}")
    return None


def _fields(model: type[BaseModel], table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the dotted names of the fields that belong to another clock than the core's, and which."""
    pipes, units = (tuple(part) if isinstance(part := table.get(name), Mapping) else () for name in ("pipes", "units"))
    for name in names(model, pipes, units):
        if domain := said(model, name, "clock"):
            yield name, domain


def _value(table: Mapping[str, Any], name: str) -> Any:
    section, field = name.split(".", maxsplit=1)
    return (table[section] or {}).get(field)


def _is_clock(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0
