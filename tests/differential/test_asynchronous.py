"""Barriers in shared memory, bulk copies and tiles on random machines: the engines agree in all, and chains of causes have no gap."""

from typing import Any

import numpy as np
import pytest

import sim
from sim.launch.launch import Launch
from tests.differential.cases import check_engines
from tests.unit.mbarrier_programs import PING_PONG, bulk_copy, launch
from tests.unit.test_bulk_copies import product, stores
from tests.unit.tile_programs import two_rows_of_blocks


def drawn(rng: np.random.Generator) -> tuple[Launch, dict[str, Any]]:
    """Return a launch, and what its H100 is changed to."""
    given = [
        product(int(rng.integers(1, 4)), 4 * int(rng.integers(1, 5)), 32 * int(rng.integers(1, 9)), int(rng.integers(1, 5))),
        stores(int(rng.integers(0, 2))),
        bulk_copy(size=16 * int(rng.integers(1, 60)), at=16 * int(rng.integers(0, 4))),
        launch(PING_PONG)[0],
        two_rows_of_blocks((int(rng.integers(1, 5)), 1))[0],
    ][rng.choice(5, p=[0.5, 0.1, 0.1, 0.1, 0.2])]
    changes = {
        "sms": int(rng.integers(1, 4)),
        "core.kind": str(rng.choice(["control", "scoreboard"])),
        "core.schedulers": int(rng.choice([1, 2, 4])),
        "shared.copy_latency": int(rng.integers(1, 200)),
        "shared.copy_bytes_per_cycle": float(rng.choice([7, 33, 64, 98, 500])),
        "shared.tile_latency": int(rng.integers(1, 200)),
        "shared.tile_bytes_per_cycle": float(rng.choice([7, 33, 110, 500])),
        "shared.barrier_latency": int(rng.integers(0, 60)),
        "interconnect.depth": int(rng.choice([8, 16, 64])),
        "interconnect.request_bytes_per_cycle": float(rng.choice([4, 34.4, 200])),
        "interconnect.response_bytes_per_cycle": float(rng.choice([4, 64, 300])),
        "lsu.depth": int(rng.choice([1, 3, 10])),
        "l2.start": str(rng.choice(["cold", "warm", "dirty"])),
        "dram.depth": int(rng.choice([2, 16])),
    }
    return given, changes


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_engines_agree(seed: int) -> None:
    given, changes = drawn(np.random.default_rng(seed))
    check_engines(sim.execute(given), sim.gpu("h100").replace(changes))
