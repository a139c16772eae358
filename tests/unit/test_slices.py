"""How lines lie on the slices of L2, and how many requests a slice serves."""

import numpy as np
import pytest

import isa
import sim
from sim.lowering.memory import interleaved, place_of, slice_order

LOADS = """
.kernel loads
.param ptr x
        S2R R6, SR_TID.X
        MOV R7, 128
        IMAD R2, R6, R7, c[0x0][x]
        MOV R3, c[0x0][x+4]
        LD.E.CG R4, [R2]
        EXIT
"""


@pytest.mark.parametrize(("slices", "each"), [(80, 8), (6, 1), (5, 3)])
def test_each_run_gives_each_slice_as_many_lines(slices: int, each: int) -> None:
    order, lines = slice_order(slices, each), np.arange(7 * slices * each)
    numbers = interleaved(lines, place_of(lines, len(order)), order)
    assert sorted(numbers.tolist()) == lines.tolist()
    counts = np.array([np.bincount(run % slices, minlength=slices) for run in np.split(numbers, 7)])
    assert (counts == each).all()


@pytest.mark.parametrize("engine", ["numba", "simpy"])
def test_a_request_takes_a_slice_a_look_up_at_least(engine: str) -> None:
    cycles = []
    for threads in (8, 24):
        gpu = sim.gpu("h100").replace(
            {"sms": 1, "dram.channels": 1, "l2.far": 0, "l2.start": "warm", "l2.bytes_per_cycle": 400, "l2.lookup_cycles": 20}
        )
        launch = sim.Launch(isa.parse(LOADS), (1,), (threads,), (np.zeros(32 * 32, np.float32),))
        cycles.append(int(sim.run(launch, gpu, engine=engine).cycles))
    assert cycles[1] - cycles[0] == 16 * 20


STORES = """
.kernel stores
.param ptr x
.param s32 first
        S2R R6, SR_TID.X
        IADD R7, R6, c[0x0][first]
        SHL R7, R7, 7
        IADD R2, R7, c[0x0][x]
        MOV R3, c[0x0][x+4]
        ST.E [R2], R6
        LD.E.CG R4, [R2]
        EXIT
"""


@pytest.mark.parametrize("engine", ["numba", "simpy"])
def test_a_store_to_the_other_part_of_l2_passes_through_a_slice_of_the_own(engine: str) -> None:
    changes = {"sms": 1, "dram.channels": 2, "l2.far": 1, "l2.start": "warm", "l2.write_port": False, "lsu.store_lines": 0}
    gpu = sim.gpu("h100").replace(changes | {"l2.bytes_per_cycle": 4000, "l2.lookup_cycles": 20, "l2.partial_cost": 1})
    cycles = []
    for block in range(8):  # of 4 KB, which one part keeps: 16 lines on each of the two slices
        args = np.zeros(8 * 1024, np.float32), np.int32(32 * block)
        cycles.append(int(sim.run(sim.Launch(isa.parse(STORES), (1,), (32,), args), gpu, engine=engine).cycles))
    assert {(found - min(cycles)) // 20 for found in cycles} == {0, 16}


def test_local_memory_of_a_full_chip_meets_all_sets_alike() -> None:
    slices, sets = 80, 320
    words = np.arange(200)
    lines = (np.arange(132)[:, None, None] * 65536 + np.arange(8)[None, :, None] * 1024 + words + (1 << 33)).ravel()
    numbers = interleaved(lines, place_of(lines, slices * 8), slice_order(slices, 8))
    held = np.bincount(numbers % slices * sets + place_of(numbers // slices, sets), minlength=slices * sets)
    assert np.maximum(held - 16, 0).sum() < 0.05 * len(lines)  # of 16 ways; more than half were the set the quotient modulo the sets
