"""Which fields of a GPU a run never looks at, and why: a change of one of them changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.gpus.model import Gpu

HIERARCHY = ("lsu", "shared", "l1", "interconnect", "l2", "dram")
CONTROL = (
    "core.register_banks",
    "core.read_window",
    "core.source_read",
    "lsu.load_read",
    "lsu.store_read",
    "lsu.shared_store_read",
)


def why_unread(gpu: Gpu, name: str) -> str:
    """Return why a run on `gpu` does not read the field `name`, as a clause; "" when it does."""
    section = name.split(".", maxsplit=1)[0]
    if gpu.memory.kind == "fixed" and section in HIERARCHY:
        return "not read: memory.kind = 'fixed' has one latency for every access"
    if gpu.memory.kind == "hierarchy" and name == "memory.global_store":
        return "not read: with memory.kind = 'hierarchy' a store is over when it has left the SM"
    if gpu.memory.kind == "hierarchy" and section in ("l1", "l2") and getattr(gpu, section) is None:
        return f"not read: this GPU has no {section.upper()}"
    if name in CONTROL and gpu.core.kind == "scoreboard":
        return "not read: core.kind = 'scoreboard' obeys no control words"
    if name == "dram.write_batch" and not gpu.dram.turnaround:
        return "not read: dram.turnaround = 0, so writes go in order"
    if name in ("l1.pass_latency", "l1.replay_cycles") and not (gpu.l1 and gpu.l1.tags_per_cycle):
        return "not read: l1.tags_per_cycle = 0, so loads from L1 pass over no banks"
    if name == "core.read_window" and not gpu.core.register_banks:
        return "not read: without register banks reads never conflict"
    if name == "core.group_size" and gpu.core.policy != "two_level":
        return f"not read: core.policy = '{gpu.core.policy}' has no fetch groups"
    if name == "clock.core_mhz":
        return "not read: core.issue_interval says how often a scheduler issues"
    return ""
