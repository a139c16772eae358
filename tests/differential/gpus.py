"""Random GPUs: small, odd, and legal."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from sim.gpus.checks import LATENCY_ELSEWHERE, UNIT_NAMES
from sim.policies import Policy
from sim.policies.supplied import SUPPLIED
from tests.differential.memories import hierarchies, with_latencies
from tests.differential.policies import Witness

PIPES = ("alu", "sfu", "memory", "control")
HOME = {"mufu": "sfu", "special": "sfu", "convert": "sfu", "branch": "control", "barrier": "control"} | dict.fromkeys(
    ("global", "local", "shared", "constant"), "memory"
)
FETCH = {  # what each may be
    "first": (0, 0, 7, 90),
    "jump": (0, 0, 3, 40),
    "ahead": (0, 1, 3),
    "far_ahead": (0, 2, 6),
    "near_bytes": (0, 128, 512),
    "near_ways": (1, 2),
    "bytes": (0, 512, 1024),
    "ways": (1, 2, 4),
    "prefetched": (0, 128, 1024),
}
CONSTANTS = {
    "near": (0, 0, 5, 30),
    "load_near": (0, 0, 9, 40),
    "load_entries": (0, 1, 2, 4),
    "far": (0, 0, 11, 80),
    "cold": (0, 0, 40),
    "bytes": (0, 64, 192, 256, 512),
    "ways": (1, 2, 4),
    "address_latency": (0, 3, 11),
    "address_cycles": (0, 1, 2),
}
LIMITS = {
    "blocks": 8,
    "registers": 65536,
    "registers_per_thread": 255,
    "register_unit": 64,
    "register_scope": "warp",
    "sub_partitions": 1,
    "shared_bytes": 65536,
    "shared_per_block": 49152,
    "shared_unit": 128,
}


def latencies(most: int) -> st.SearchStrategy[int]:
    """Short ones often: they make ties."""
    return st.one_of(st.integers(1, 4), st.integers(1, most))


def from_zero(most: int) -> st.SearchStrategy[int]:
    """The same, and none at all."""
    return st.one_of(st.integers(0, 4), st.integers(0, most))


def with_ports(fetch: dict[str, Any]) -> dict[str, Any]:
    """Return the [fetch] table with ports, by what it has: no draw more, so that cases keep their names."""
    kind = fetch["near_ways"] + fetch["prefetched"] // 128  # 1, 2, 3, 9, 10
    own = {"port_cycles": 2.5 * (kind % 3), "far": 4 * (kind % 4), "prefetch_cycles": 6.1 * (fetch["ways"] % 2)}
    return fetch | own


def with_port(constants: dict[str, Any]) -> dict[str, Any]:
    """Return the [constants] table with a port, likewise."""
    return constants | {"port_cycles": 1.3 * ((constants["near"] + constants["load_near"] + constants["ways"]) % 4)}


@st.composite
def cores(draw: Callable) -> dict[str, Any]:
    """Return the [core] table."""
    return {
        "kind": draw(st.sampled_from(("scoreboard", "control", "control"))),
        "register_banks": draw(st.sampled_from((0, 2, 2, 4))),
        "read_window": draw(st.sampled_from((1, 1, 2, 3))),
        "source_read": draw(from_zero(12)),
        "schedulers": draw(st.integers(1, 4)),
        "issue_width": draw(st.sampled_from((1, 1, 2, 2, 3, 4))),
        "issue_interval": draw(st.sampled_from((1, 1, 2, 3))),
        "dispatch": draw(st.sampled_from(("pipe", "scheduler"))),
        "policy": draw(st.sampled_from((*(policy.name.lower() for policy in Policy), *SUPPLIED, Witness, Witness, Witness))),
        "group_size": draw(st.integers(1, 3)),
        "wake_rule": draw(st.sampled_from(("per_register", "all_outstanding"))),
        "in_flight_cap": draw(st.integers(0, 5)),
        "reissue_distance": draw(st.sampled_from((1, 1, 2, 5))),
        "branch_latency": draw(from_zero(12)),
        "sync_latency": draw(st.sampled_from((0, 0, 3, 8))),
        "barrier_latency": draw(latencies(20)),
    }


@st.composite
def pipes(draw: Callable) -> dict[str, dict[str, Any]]:
    """Return the [pipes] table; where the arithmetic pipe is a scheduler's, its last port may be a pipe of its own."""
    table: dict[str, dict[str, Any]] = {
        name: {
            "lanes": draw(st.sampled_from((32, 32, 16, 8, 4))),
            "count": draw(st.integers(1, 3)),
            "owner": draw(st.sampled_from(("scheduler", "sm"))),
        }
        for name in PIPES
    }
    if table["alu"]["owner"] == "scheduler" and draw(st.booleans()):
        table["inner"] = {"lanes": table["alu"]["lanes"], "within": "alu"}
    return table


@st.composite
def units(draw: Callable, pipes: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the [units] table: every unit on its usual pipe, or all on one; shared memory's with the global one or apart."""
    together = draw(st.integers(0, 9)) == 0
    home = HOME | ({"imad": "inner", "fp64": "inner", "int32": "inner"} if "inner" in pipes else {})
    home |= {"shared": draw(st.sampled_from(("memory", "memory", "sfu")))}
    table: dict[str, dict[str, Any]] = {}
    for name in UNIT_NAMES:
        if name == "wgmma":
            continue  # it needs a section of its own (tests/unit/test_warpgroups.py draws that)
        table[name] = {"pipe": "alu" if together else home.get(name, "alu")}
        if name not in LATENCY_ELSEWHERE:
            table[name]["latency"] = draw(from_zero(24))
    table["imad"]["wide_passes"] = draw(st.sampled_from((1, 1, 2, 3)))
    return table


@st.composite
def fixed_memories(draw: Callable) -> dict[str, Any]:
    """Return the [memory] and [dram] tables of a GPU whose every access takes the same time."""
    memory = {
        "kind": "fixed",
        "global_load": draw(from_zero(90)),  # beyond the 64 cycles that the wheel of sim.timing.wakeup reaches
        "global_store": draw(from_zero(40)),
        "shared_load": draw(from_zero(30)),
        "constant_load": draw(from_zero(10)),
    }
    return {"memory": memory, "dram": {"bandwidth": 100, "latency": 100}}


@st.composite
def tables(draw: Callable, warps_per_block: int) -> dict[str, Any]:
    """Return the table of a GPU on which a block of that many warps fits."""
    core = draw(cores())
    least = max(warps_per_block, core["schedulers"])
    fixed = draw(st.integers(0, 2)) == 0
    ports = draw(pipes())
    table = {
        "name": "random",
        "chip": "random",
        "compute_capability": "1.0",
        "sms": draw(st.integers(1, 4)),
        "clock": {"core_mhz": 1000},
        "core": core | {"indirect_latency": 3 * (core["barrier_latency"] % 4), "exit_latency": 5 * (core["source_read"] % 3)},
        "pipes": ports,
        "units": draw(units(ports)),
        "fetch": with_ports({name: draw(st.sampled_from(values)) for name, values in FETCH.items()}),
        "constants": with_port({name: draw(st.sampled_from(values)) for name, values in CONSTANTS.items()}),
        "blocks": {
            "start_interval": draw(st.sampled_from((0, 0, 0.3, 1, 2.7, 7))),
            "sm_interval": draw(st.sampled_from((0, 0, 2, 11))),
            "retire_interval": draw(st.sampled_from((0, 0, 0.6, 2.7, 9))),
            "start_latency": draw(st.sampled_from((0, 0, 1, 9))),
            "awaits_stores": draw(st.booleans()),
            "retire_latency": draw(st.sampled_from((0, 0, 1, 13))),
            "launch_overhead": draw(st.sampled_from((0, 100))),
        },
        "limits": LIMITS
        | {
            "threads_per_block": 32 * warps_per_block,
            "warps": draw(st.integers(least, max(least, 16))),
            "blocks": draw(st.integers(1, 4)),
        },
        "source": {},
        **draw(fixed_memories() if fixed else hierarchies()),
    }
    return table if fixed else draw(with_latencies(table))
