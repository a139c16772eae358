"""Clusters on random machines: the engines agree in all, and chains of causes have no gap."""

from typing import Any

import numpy as np
import pytest

import isa
import sim
from programs.measurements.reductions import CODE, NEAR_ROOM
from sim.launch.file import load_launch
from sim.launch.launch import Launch
from tests.differential.cases import check_engines
from tests.listings import FOLDER
from tests.unit.cluster_programs import measured, tiles

ACCESSES = ("loads_4", "loads_16", "stores_4", "stores_16", "reds_4")


def near(name: str, size: int, count: int) -> Launch:
    """Return a launch of two blocks, one of which reduces pieces into shared memory of the other."""
    arguments = np.zeros(1024, np.uint32), np.ones(1024, np.uint32), np.zeros(64, np.int32), np.int32(size), np.int32(count), np.int32(size)
    return Launch(isa.load(CODE, f"near_{name}"), (2,), (32,), arguments, shared_dynamic=NEAR_ROOM)


def drawn(rng: np.random.Generator) -> tuple[Launch, dict[str, Any]]:
    """Return a launch, and what its H100 is changed to."""
    ranks, warps = int(rng.integers(1, 5)), int(rng.integers(1, 7))
    few = 1 << ranks % 3
    given = [
        lambda: measured(str(rng.choice(ACCESSES)), ranks, warps, ranks, int(rng.integers(-2, ranks)), 16, int(rng.choice([0, 16, 48]))),
        lambda: measured("barriers_release", ranks, warps, 3, blocks=ranks * int(rng.integers(1, 9))),
        lambda: measured(str(rng.choice(["tokens_arrive", "tokens_async"])), 2, 1, int(rng.integers(1, 9))),
        lambda: near(str(rng.choice(["add_u32", "add_u64", "xor_b32"])), 16 * int(rng.integers(1, 60)), int(rng.integers(1, 9))),
        lambda: measured("copies", 2, 1, 16 * int(rng.integers(1, 60)), int(rng.integers(1, 9))),
        lambda: tiles("tiles_all", few, int(rng.integers(1, 5)), 64 // few)[0],
        lambda: load_launch(FOLDER / "cuda" / "histogram_cluster.sm_90.sass").launch,
    ][rng.integers(7)]()
    changes = {
        "sms": int(rng.integers(6, 8)),
        "core.kind": str(rng.choice(["control", "scoreboard"])),
        "clusters.groups": [(4, 2), (2, 4), (1, 1, 4)][rng.integers(3)],
        "clusters.latency": int(rng.integers(1, 300)),
        "clusters.one_way_latency": int(rng.integers(1, 300)),
        "clusters.bytes_per_cycle": float(rng.choice([3, 21.2, 200])),
        "clusters.multicast_latency": int(rng.integers(1, 90)),
        "clusters.multicast_bytes_per_cycle": float(rng.choice([5, 41.4, 300])),
        "clusters.barrier_latency": int(rng.integers(16, 200)) - 15,
        "clusters.arrival_cycles": int(rng.integers(0, 9)),
        "lsu.fence_latency": int(rng.choice([0, 3, 700])),
        "shared.barrier_latency": int(rng.integers(0, 60)),
        "lsu.depth": int(rng.choice([1, 3, 10])),
    }
    return given, changes


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_engines_agree(seed: int) -> None:
    given, changes = drawn(np.random.default_rng(seed))
    check_engines(sim.execute(given), sim.gpu("h100").replace(changes))
