"""Loads of the same lines by several SMs: one read of L2 serves some of them, as measured on an H100."""

from functools import cache

import numpy as np
import pytest

import isa
import sim
from programs.measurements.copies import H100
from programs.published import rows
from sim.result.result import Result

CUBIN = H100 / "shared_reads.sm_90.cubin"
SMS, SECTORS, ROUNDS = 132, 2048, 16  # of shared_reads.cu: SMs, sectors of the 64 KB that each reads in a round, rounds
LOADS = """
.kernel loads
.param ptr x
.param s32 turns
.param s32 first
        S2R R6, SR_TID.X
        S2R R8, SR_CTAID.X
        IADD R6, R6, c[0x0][first]
        MOV R7, 4
        IMAD R2, R6, R7, c[0x0][x]
        MOV R3, c[0x0][x+4]
        ISETP.EQ.AND P0, PT, R8, 1, PT
        IMAD R9, R8, c[0x0][turns], 1
wait:   IADD R9, R9, -1
        ISETP.GT.AND P1, PT, R9, 0, PT
   @P1  BRA wait
   @P0  {of_the_second}
  @!P0  LD.E.CG R4, [R2]
        EXIT
"""
LOAD = "LD.E.CG R4, [R2]"


def reads_of_l2(engine: str, loading: int, turns: int = 0, threads: int = 32, of_the_second: str = LOAD, **changes: object) -> int:
    """Return the sectors that L2 reads for so many SMs, each of which loads a word per thread, some turns of a loop after the SM before."""
    few = {"sms": loading, "l2.far": 0, "dram.latency": 800}  # whose slices are slow: what DRAM sends takes long to write
    gpu = sim.gpu("h100").replace(few | {f"l2.{name}": value for name, value in changes.items()})
    args = np.zeros(32, np.float32), np.int32(turns), np.int32(0)
    launch = sim.Launch(isa.parse(LOADS.format(of_the_second=of_the_second)), (loading,), (threads,), args)
    return int(sim.run(launch, gpu, engine=engine).counters["l2_sectors_read"])


@pytest.mark.parametrize("engine", ["numba", "simpy"])
@pytest.mark.parametrize(("loading", "reads"), [(1, 1), (2, 1), (4, 1), (5, 2), (8, 2), (9, 3), (12, 3)])
def test_a_read_serves_four_loads_of_a_whole_line(engine: str, loading: int, reads: int) -> None:
    assert reads_of_l2(engine, loading, gpcs=()) == 4 * reads


@pytest.mark.parametrize("engine", ["numba", "simpy"])
@pytest.mark.parametrize(("loading", "reads"), [(8, 2), (9, 3), (10, 4), (16, 10)])
def test_a_load_joins_those_of_its_own_gpc(engine: str, loading: int, reads: int) -> None:
    # the first eight SMs are of one GPC, the next ones of as many others, the sixteenth of the first again, whose reads are full
    assert reads_of_l2(engine, loading, gpcs=(16,) * 8) == 4 * reads


@pytest.mark.parametrize("engine", ["numba", "simpy"])
def test_one_load_a_read_where_nothing_is_coalesced(engine: str) -> None:
    assert reads_of_l2(engine, 5, coalesced=1) == 4 * 5


@pytest.mark.parametrize("engine", ["numba", "simpy"])
def test_loads_of_a_part_of_a_line_do_not_join(engine: str) -> None:
    assert reads_of_l2(engine, 5, threads=8) == 5  # a sector each
    assert reads_of_l2(engine, 5, threads=24) == 15


@pytest.mark.parametrize("engine", ["numba", "simpy"])
@pytest.mark.parametrize("start", ["cold", "warm"])
@pytest.mark.parametrize(("turns", "latency", "reads"), [(24, 281, 1), (28, 281, 2), (28, 500, 1), (46, 500, 2)])
def test_a_load_that_comes_l2_latency_after_the_read_does_not_join(engine: str, start: str, turns: int, latency: int, reads: int) -> None:
    # turns of 18 cycles; a read is open as long while DRAM is asked
    assert reads_of_l2(engine, 2, turns=turns, start=start, latency=latency) == 4 * reads


@pytest.mark.parametrize("engine", ["numba", "simpy"])
@pytest.mark.parametrize(("far", "reads"), [(400, {1, 2}), (1, {2})])
def test_a_read_is_open_longer_while_the_line_comes_from_the_other_part(engine: str, far: int, reads: set[int]) -> None:
    found = set()
    for page in range(8):  # of 4 KB, which one of the parts keeps
        gpu = sim.gpu("h100").replace({"sms": 2, "l2.far": far})
        args = np.zeros(8 << 10, np.float32), np.int32(36), np.int32(page << 10)
        launch = sim.Launch(isa.parse(LOADS.format(of_the_second=LOAD)), (2,), (32,), args)
        found.add(int(sim.run(launch, gpu, engine=engine).counters["l2_sectors_read"]) // 4)
    assert found == reads


@pytest.mark.parametrize("engine", ["numba", "simpy"])
@pytest.mark.parametrize(("of_the_second", "reads"), [("ST.E [R2], R6", 2), ("MOV R4, R6", 1)])
def test_a_store_ends_what_loads_may_join(engine: str, of_the_second: str, reads: int) -> None:
    # the second SM stores between the loads of the first and the third, all while DRAM is asked
    assert reads_of_l2(engine, 3, turns=6, of_the_second=of_the_second) == 4 * reads


MEASURED = {int(row["together"]): row for row in rows(H100 / "shared_reads.csv") if (row["way"], row["apart"]) == ("copies", "0")}


DRIFT = "D25: groups of four drift apart on the chip, so that 36 % of what they ask comes to L2, here 26"
ASKED = SMS * SECTORS * ROUNDS


@cache
def copied(together: int) -> Result:
    """Return a run in which so many neighbours copy the same 64 KB again and again."""
    args = np.ones(SMS << 14, np.int32), np.int32(together), np.int32(0), np.int32(ROUNDS), np.zeros(1 << 14, np.int32)
    kernel = isa.load(CUBIN, "_Z6copiesPK5uint4iiiPS_")
    return sim.run(sim.Launch(kernel, (SMS,), (256,), args, shared_dynamic=66 << 10), sim.gpu("h100").replace({"l2.start": "warm"}))


@pytest.mark.slow
@pytest.mark.parametrize("together", [1, 2, 4, pytest.param(8, marks=pytest.mark.xfail(strict=True, reason=DRIFT)), 132])
def test_bulk_copies_of_the_same_lines_take_as_long_as_on_an_h100(together: int) -> None:
    assert copied(together).cycles == pytest.approx(int(MEASURED[together]["cycles"]), rel=0.12)


@pytest.mark.slow
@pytest.mark.parametrize("together", [1, 2, pytest.param(4, marks=pytest.mark.xfail(reason=DRIFT, strict=True)), 8, 132])
def test_as_much_of_bulk_copies_of_the_same_lines_comes_to_l2_as_on_an_h100(together: int) -> None:
    assert int(MEASURED[together]["asked"]) == ASKED
    share = int(MEASURED[together]["served"]) / ASKED
    assert copied(together).counters["l2_sectors_read"] / ASKED == pytest.approx(share, abs=0.08)
