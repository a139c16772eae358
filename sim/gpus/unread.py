"""Which fields of a GPU a run never looks at, and why: a change of one of them changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.gpus.checks import MATRICES

if TYPE_CHECKING:
    from sim.gpus.model import Gpu

HIERARCHY = ("lsu", "shared", "l1", "interconnect", "l2", "dram")
# by fences, products of warpgroups, code and constants
READ_ALL_THE_SAME = ("lsu.fence_latency", "shared.pass_cycles", "l2.start", "l2.gpcs")
MISSES = ("near", "load_near", "far", "cold", "group_cycles", "port_cycles")
WAYS_OF = {"fetch.near_ways": "near_bytes", "fetch.ways": "bytes"}
PORTS = ("warpgroup.port_cycles", "warpgroup.port_backlog")
SWITCHED = {
    "fetch.prefetch_cycles": ("prefetched", "no code comes unasked"),
    "dram.refresh_interval": ("refresh", "no bank is ever away"),
    "dram.write_batch": ("turnaround", "writes go in order"),
    "warpgroup.port_backlog": ("port_cycles", "products need no ports"),
}  # by another field of the section
READS = ("core.register_banks", "core.read_window", "core.source_read")
OF_POLICIES = {"core.group_size": ("two_level", "two_level_active"), "core.policy_seed": ("random",)}
CONTROL = (
    *READS,
    *PORTS,
    "lsu.load_read",
    "lsu.store_read",
    "lsu.shared_store_read",
)


def why_unread(gpu: Gpu, name: str) -> str:
    """Return why a run on `gpu` does not read the field `name`, as a clause; "" when it does."""
    section = name.split(".", maxsplit=1)[0]
    if gpu.memory.kind == "fixed" and section in HIERARCHY and name not in READ_ALL_THE_SAME:
        return "not read: memory.kind = 'fixed' has one latency for every access"
    if gpu.memory.kind == "hierarchy" and name == "memory.global_store":
        return "not read: with memory.kind = 'hierarchy' a store is over when it has left the SM or passed L1"
    if gpu.memory.kind == "hierarchy" and section in ("l1", "l2") and name != section and getattr(gpu, section) is None:
        return f"not read: this GPU has no {section.upper()}"
    if section == "warpgroup" and gpu.warpgroup is None:
        return "not read: this GPU has no products of warpgroups"
    if section == "clusters" and gpu.clusters is None:
        return "not read: this GPU has no clusters of blocks"
    if name in CONTROL and gpu.core.kind == "scoreboard":
        return "not read: core.kind = 'scoreboard' obeys no control words"
    if name in SWITCHED and not getattr(getattr(gpu, section), SWITCHED[name][0]):
        return f"not read: {section}.{SWITCHED[name][0]} = 0, so {SWITCHED[name][1]}"
    if name == "l1.pass_latency" and not (gpu.l1 and gpu.l1.tags_per_cycle):
        return "not read: l1.tags_per_cycle = 0, so loads from L1 pass over no banks"
    if (name == "core.read_window" or name.endswith(".reads") or name in PORTS) and not gpu.core.register_banks:
        return "not read: without register banks reads never conflict"
    if name == "clock.tensor_mhz" and MATRICES.isdisjoint(gpu.units):
        return "not read: this GPU has no tensor cores"
    if name in OF_POLICIES and gpu.core.policy not in OF_POLICIES[name] and not getattr(gpu.core.policy, "begins", False):
        what = "fetch groups" if name == "core.group_size" else "random numbers"
        return f"not read: core.policy = '{gpu.core.policy}' has no {what}"
    if name == "blocks.group_size" and gpu.blocks.policy != "grouped":
        return f"not read: blocks.policy = '{gpu.blocks.policy}' has no groups"
    if section == "l2" and (why := _of_l2(gpu, name)):
        return why
    if section == "fetch" and name not in ("fetch.first", "fetch.far", "fetch.jump") and not gpu.fetch.jump:
        return "not read: fetch.jump = 0, so code is always there"
    if name in WAYS_OF and not getattr(gpu.fetch, WAYS_OF[name]):
        return f"not read: fetch.{WAYS_OF[name]} = 0, so the cache has room for all code"
    if name in ("constants.bytes", "constants.ways") and not any(getattr(gpu.constants, cost) for cost in MISSES):
        return "not read: all that a miss of constants costs = 0, so they are there at once"
    if name == "limits.shared_carveouts" and not (gpu.l1 and gpu.l1.unified):
        return "not read: l1.unified = false, so L1 keeps its size whatever shared memory takes"
    if name == "constants.ways" and not gpu.constants.bytes:
        return "not read: constants.bytes = 0, so the caches have room for all constants"
    if name == "constants.cold" and not (gpu.l2 and gpu.l2.start == "cold"):
        return "not read: L2 does not start cold"
    if name.endswith(".wide_passes") and name != "units.imad.wide_passes":
        return "not read: only units.imad takes products of 64 bits"
    if section == "lsu" and (why := _of_stores(gpu, name)):
        return why
    if name == "clock.scheduler_mhz":
        return "not read: core.issue_interval says how often a scheduler issues"
    return ""


def _of_stores(gpu: Gpu, name: str) -> str:
    """Return why a field of the load/store unit about stores is not read; "" when it is."""
    if name == "lsu.store_wait" and not gpu.lsu.store_lines:
        return "not read: lsu.store_lines = 0, so a store joins none"
    if name.startswith("lsu.leaving_") and not (gpu.l1 and gpu.l1.stores != "evict"):
        return "not read: a store leaves nothing in L1"
    if name == "lsu.leaving_cycles" and not gpu.lsu.leaving_lines:
        return "not read: lsu.leaving_lines = 0, so stores take nothing from L1"
    return ""


def _of_l2(gpu: Gpu, name: str) -> str:
    """Return why a field of L2 is not read; "" when it is."""
    share = gpu.constants.port_cycles or gpu.fetch.jump
    if name == "l2.gpcs" and gpu.l2 and gpu.l2.coalesced == 1 and not (gpu.l2.far or gpu.fetch.far or share):
        return "not read: l2.coalesced = 1, l2.far = 0, code is always there and the port of constants is free: SMs of a GPC share nothing"
    if name == "l2.across" and gpu.dram.channels % 2:
        return "not read: dram.channels is odd, so L2 has no two parts"
    if name == "l2.hash" and gpu.dram.channels == 1:
        return "not read: dram.channels = 1, so all lines lie on one slice"
    return "not read: says what a change of clock.core_mhz leaves as it is" if name == "l2.core_cycles" else ""
