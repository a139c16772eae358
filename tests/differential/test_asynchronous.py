"""Barriers in shared memory, bulk copies and tiles on random machines: the engines agree in all, and chains of causes have no gap."""

from typing import Any

import numpy as np
import pytest

import sim
from sim.launch.launch import Launch
from tests.differential.cases import check_engines
from tests.unit.mbarrier_programs import PING_PONG, bulk_copy, launch
from tests.unit.test_bulk_copies import product, stores
from tests.unit.test_reductions import timed
from tests.unit.tile_programs import reduced_tile, two_rows_of_blocks


def reduced(rng: np.random.Generator) -> tuple[Launch, Launch]:
    """Return reductions by up to six blocks of pieces to one place or to several, and of a tile."""
    size, step, apart = (16 * int(rng.integers(*ends)) for ends in ((1, 70), (0, 9), (0, 9)))
    name = f"{rng.choice(['time', 'flood'])}_{rng.choice(['add_u32', 'add_f16', 'add_f64', 'min_s32', 'store'])}"
    array = np.zeros((2, 20, 40), np.float32)
    tile = np.ones((2, int(rng.integers(1, 9)), 8), np.float32)
    at = 4 * int(rng.integers(0, 9)), int(rng.integers(0, 16)), int(rng.integers(0, 2))
    pieces = timed(name, size, int(rng.integers(1, 9)), step, apart, blocks=int(rng.integers(1, 7)))
    return pieces, reduced_tile("ADD", sim.tensor_map(array, tile.shape), tile, at)


def drawn(rng: np.random.Generator) -> tuple[Launch, dict[str, Any]]:
    """Return a launch, and what its H100 is changed to."""
    given = [
        product(int(rng.integers(1, 4)), 4 * int(rng.integers(1, 5)), 32 * int(rng.integers(1, 9)), int(rng.integers(1, 5))),
        stores(int(rng.integers(0, 2))),
        bulk_copy(size=16 * int(rng.integers(1, 60)), at=16 * int(rng.integers(0, 4))),
        launch(PING_PONG)[0],
        two_rows_of_blocks((int(rng.integers(1, 5)), 1))[0],
        *reduced(rng),
    ][rng.choice(7, p=[0.3, 0.1, 0.1, 0.1, 0.1, 0.2, 0.1])]
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
        "l2.atomic_cycles": float(rng.choice([1, 4.3, 30])),
        "l2.write_port": bool(rng.integers(2)),
        "dram.depth": int(rng.choice([2, 16])),
    }
    return given, changes


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_engines_agree(seed: int) -> None:
    given, changes = drawn(np.random.default_rng(seed))
    check_engines(sim.execute(given), sim.gpu("h100").replace(changes))
