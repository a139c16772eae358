"""What DRAM sends to L2 takes the port of its slice when it comes, in turn with what is stored, as does what the other part of L2 gets."""

import numpy as np
import pytest

import isa
import sim
from sim.gpus.model import Gpu

# One warp loads a word, then its first lanes store one each, to lines of their own; the clock is read when the load has its word.
PROGRAM = """
.kernel fills
.param ptr x
.param ptr y
.param s32 stores
        S2R R6, SR_TID.X
        SHL R7, R6, 7
        IADD R2, R7, c[0x0][y]
        MOV R3, c[0x0][y+4]
        MOV R8, c[0x0][x]
        MOV R9, c[0x0][x+4]
        ISETP.EQ.AND P0, PT, R6, 0, PT
        ISETP.LT.AND P1, PT, R6, c[0x0][stores], PT
   @P0  LD.E.CG R4, [R8]
   @P1  ST.E [R2], R6
        FADD R5, R4, R4
        CS2R R10, SR_CLOCKLO
        EXIT
"""
STORE = 20  # cycles that each takes of a port
ONE_SLICE = {"sms": 1, "dram.channels": 1, "dram.refresh": 0, "l2.start": "cold", "lsu.store_lines": 0, "l2.hash": "turns"}
GPU = sim.gpu("h100").replace(ONE_SLICE | {"l2.bytes_per_cycle": 4000, "l2.lookup_cycles": STORE, "l2.partial_cost": 1})


def loaded(gpu: Gpu, stores: int, engine: str, first: int = 0) -> int:
    """Return the cycle in which the load has its word, beside so many stores. first: line of the array that is loaded."""
    args = np.zeros(32 * (first + 1), np.float32)[32 * first :], np.zeros(32 * 32, np.float32), np.int32(stores)
    return int(sim.run(sim.Launch(isa.parse(PROGRAM), (1,), (32,), args), gpu, engine=engine).clock_reads[0, 0])


@pytest.mark.parametrize("engine", ["numba", "simpy"])
def test_a_load_waits_for_stores_that_reach_l2_before_its_data(engine: str) -> None:
    alone, few, many, more = (loaded(GPU, stores, engine) for stores in (0, 8, 31, 32))
    assert few == alone  # 160 cycles, which are over when the data come
    assert many > alone
    assert more - many == STORE


@pytest.mark.parametrize("engine", ["numba", "simpy"])
def test_with_one_port_nothing_that_comes_waits(engine: str) -> None:
    one = GPU.replace({"l2.write_port": False})
    assert loaded(one, 32, engine) == loaded(one, 0, engine)


@pytest.mark.parametrize("engine", ["numba", "simpy"])
def test_data_of_the_other_part_of_l2_wait_for_stores_to_the_own(engine: str) -> None:
    two = GPU.replace({"dram.channels": 2, "l2.far": 50})
    waits = set()
    for first in range(4):
        alone, beside = (loaded(two, stores, engine, first) for stores in (0, 32))
        waits.add(beside - alone)
    assert min(waits) > 0  # whichever part has the line, half the stores go to it, and all pass a slice of the own


@pytest.mark.parametrize("engine", ["numba", "simpy"])
@pytest.mark.parametrize("write_port", [True, False])
def test_data_that_dram_sends_to_the_other_part_of_l2_come_after_it_has_sent_them(engine: str, write_port: bool) -> None:
    two = GPU.replace({"dram.channels": 2, "l2.far": 50, "l2.write_port": write_port})
    later = two.replace({"dram.latency": two.dram.latency + 300})
    assert {loaded(later, 0, engine, 32 * block) - loaded(two, 0, engine, 32 * block) for block in range(8)} == {300}
