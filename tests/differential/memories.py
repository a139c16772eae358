"""Random memory hierarchies: small queues, caches of a few lines, odd rates."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from sim.gpus.model import Gpu
from sim.gpus.path import path

RATES = (7.3, 16, 32, 64)  # bytes per cycle
PLENTY = 10_000  # cycles: more than all stages that an end-to-end latency contains


@st.composite
def hierarchies(draw: Callable) -> dict[str, Any]:
    """Return the tables of the memory hierarchy; latencies are filled in by `with_latencies`."""

    def pick(*choices: Any) -> Any:
        return draw(st.sampled_from(choices))

    return {
        "memory": {"kind": "hierarchy", "shared_load": 0, "constant_load": pick(0, 1, 4, 10)},
        "lsu": {
            "coalescing": pick("sectors", "sectors", "cc12", "cc10"),
            "depth": pick(1, 2, 5),
            "latency": pick(1, 3, 10),
            "interval": pick(1, 2, 3),
            "replay": pick(1, 3),
            "word_cycles": pick(0, 2, 9),
            "load_read": pick(1, 6),
            "store_read": pick(1, 4, 11),
            "shared_store_read": pick(1, 2),
            "store_lines": pick(0, 0, 1, 3, 20),
            "store_wait": pick(1, 10, 300),
            "store_line_cycles": pick(0.0, 1.5, 2.25),
            "fence_latency": pick(3, 40, 700),
        },
        "shared": {"rule": pick("fermi", "kepler4", "kepler8", "cc1"), "pass_cycles": pick(1, 2), "pass_latency": pick(0, 0, 1, 3)},
        "l1": None
        if pick(0, 0, 0, 1)
        else {
            "bytes": 128 * pick(1, 2, 4, 9, 64),
            "sector": pick(32, 64, 128),
            "ways": pick(1, 2, 4),
            "latency": 0,
            "bytes_per_cycle": pick(7.3, 64, 128),
            "line_cycles": pick(1, 2),
            "tags_per_cycle": pick(0, 1, 4),
            "pass_latency": pick(0, 2),
            "global_loads": pick(True, True, False),
            "stores": pick("allocate", "update", "evict"),
            "pending": pick(0, 128, 129, 160),
        },
        "interconnect": {
            "latency": pick(1, 2, 15),
            "request_bytes_per_cycle": pick(*RATES),
            "response_bytes_per_cycle": pick(*RATES),
            "header": pick(0, 8),
            "depth": pick(8, 30, 140),
            "store_least": pick(4, 16, 32),
            "store_mask": pick(0, 24),
        },
        "l2": None
        if pick(0, 0, 0, 1)
        else {
            "bytes": 128 * pick(1, 4, 16, 256),
            "sector": pick(32, 32, 64, 128),
            "ways": pick(1, 2, 4),
            "latency": 0,
            "bytes_per_cycle": pick(2.9, 16, 64),
            "atomic_cycles": pick(1, 4),
            "far": pick(0, 0, 3, 50),
            "partial_cost": pick(1, 2.3),
            "write_port": pick(False, True),
            "start": pick("cold", "warm", "dirty"),
        },
        "dram": {
            "bandwidth": pick(20, 73, 200),
            "efficiency": pick(0.8, 1.0),
            "write_cost": pick(1, 1.2),
            "turnaround": pick(0, 0, 1, 37),
            "write_batch": pick(1, 2, 8),
            "refresh": pick(0, 5, 300),
            "refresh_interval": pick(301, 1000),
            "latency": 0,
            "access_bytes": pick(32, 64, 128),
            "channels": draw(st.integers(1, 6)),
            "depth": draw(st.integers(1, 4)),
            "channel_depth": pick(0, 0, 1, 3, 9),
        },
    }


@st.composite
def with_latencies(draw: Callable, table: dict[str, Any]) -> dict[str, Any]:
    """Return a GPU's table with latencies that leave each array of memory a few cycles of its own."""
    if table["l2"]:  # a set of lines in each slice at least
        table["l2"]["bytes"] = max(table["l2"]["bytes"], 128 * table["l2"]["ways"] * table["dram"]["channels"])
    least, store_read = table["lsu"]["latency"], table["lsu"]["store_read"]
    # No draw of its own: cases that tests name stay as they are.
    table["lsu"] |= {"leaving_lines": (0, 1, 4, 8)[(least + store_read) % 4], "leaving_cycles": (1, 2, 5)[table["lsu"]["interval"] - 1]}
    table["memory"]["shared_load"] = least + draw(st.integers(1, 20))
    if table["l1"]:
        table["l1"]["latency"] = least + draw(st.integers(1, 20))
        table["l1"]["sets"] = (0, 1, 4, 64)[(least + table["l1"]["latency"]) % 4]
        table["l1"]["replacement"] = ("lru", "srrip", "lru", "plru", "random")[(store_read + table["l1"]["latency"]) % 5]
    if table["l2"]:
        table["l2"]["latency"] = PLENTY
        table["l2"]["coalesced"] = (1, 2, 4)[table["dram"]["channels"] % 3]  # no draw of its own: cases that tests name stay as they are
        halves = table["dram"]["channels"] in (1, 2, 4, 6)  # which the hash needs
        table["l2"]["hash"] = ("turns", "hopper")[halves and table["dram"]["depth"] % 2]
        table["l2"]["gpcs"] = ((), (1, 2), (2, 1, 1))[(table["dram"]["channels"] + table["dram"]["depth"]) // 2 % 3]
        table["l2"]["lookup_cycles"] = (0, 1.165, 3)[(table["dram"]["channels"] + table["dram"]["depth"] // 2) % 3]
    table["dram"]["activate_cycles"] = (0, 2.3, 9)[(table["dram"]["channels"] + table["dram"]["depth"]) % 3]  # nor this
    table["dram"]["latency"] = 2 * PLENTY
    left = path(Gpu.from_table(table))
    if table["l2"]:
        table["l2"]["latency"] -= left.l2 - draw(st.integers(1, 20))
        table["dram"]["latency"] = table["l2"]["latency"] + PLENTY
        left = path(Gpu.from_table(table))
        table["l2"]["across"] = (left.l2 - 1) * (table["dram"]["depth"] % 2)  # nor this
    table["dram"]["latency"] -= left.dram - draw(st.integers(1, 60))
    return table
