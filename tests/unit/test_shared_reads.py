"""Loads of the same lines by several SMs: one read of L2 serves some of them, as measured on an H100."""

import numpy as np
import pytest

import isa
import sim
from programs.measurements.copies import H100
from programs.published import rows

CUBIN = H100 / "shared_reads.sm_90.cubin"
SMS, SECTORS, ROUNDS = 132, 2048, 16  # of shared_reads.cu: SMs, sectors of the 64 KB that each reads in a round, rounds
LOADS = """
.kernel loads
.param ptr x
        MOV R2, c[0x0][x]
        MOV R3, c[0x0][x+4]
        LD.E R4, [R2]
        EXIT
"""


def sectors_read(engine: str, loading: int, coalesced: int = 4) -> int:
    """Return the sectors that L2 reads for so many SMs that load one word."""
    gpu = sim.gpu("h100").replace({"sms": loading, "l2.coalesced": coalesced, "l2.far": 0})
    launch = sim.Launch(isa.parse(LOADS), (loading,), (1,), (np.zeros(32, np.float32),))
    return int(sim.run(launch, gpu, engine=engine).counters["l2_sectors_read"])


@pytest.mark.parametrize("engine", ["numba", "simpy"])
@pytest.mark.parametrize(("loading", "reads"), [(1, 1), (2, 1), (4, 1), (5, 2), (8, 2), (9, 3)])
def test_a_read_under_way_serves_four_loads(engine: str, loading: int, reads: int) -> None:
    assert sectors_read(engine, loading) == reads


@pytest.mark.parametrize("engine", ["numba", "simpy"])
def test_one_load_a_read_where_nothing_is_coalesced(engine: str) -> None:
    assert sectors_read(engine, 5, coalesced=1) == 5


AFTER_A_STORE = """
.kernel loads
.param ptr x
        S2R R6, SR_CTAID.X
        ISETP.EQ.AND P0, PT, R6, 1, PT
        MOV R2, c[0x0][x]
        MOV R3, c[0x0][x+4]
        IMAD R7, R6, 6, 1
wait:   IADD R7, R7, -1
        ISETP.GT.AND P1, PT, R7, 0, PT
   @P1  BRA wait
   @P0  {store}
  @!P0  LD.E R4, [R2]
        EXIT
"""


@pytest.mark.parametrize("engine", ["numba", "simpy"])
@pytest.mark.parametrize(("store", "reads"), [("ST.E [R2], R6", 2), ("MOV R4, R6", 1)])
def test_a_store_ends_what_loads_may_join(engine: str, store: str, reads: int) -> None:
    # the second SM stores between the loads of the first and the third, all while DRAM is asked
    gpu = sim.gpu("h100").replace({"sms": 3, "l2.far": 0})
    launch = sim.Launch(isa.parse(AFTER_A_STORE.format(store=store)), (3,), (1,), (np.zeros(32, np.float32),))
    assert int(sim.run(launch, gpu, engine=engine).counters["l2_sectors_read"]) == reads


MEASURED = {int(row["together"]): row for row in rows(H100 / "shared_reads.csv") if (row["way"], row["apart"]) == ("copies", "0")}


@pytest.mark.slow
@pytest.mark.parametrize("together", [1, 2, 4, 8, 132])
def test_bulk_copies_of_the_same_lines_as_on_an_h100(together: int) -> None:
    args = np.ones(SMS << 14, np.int32), np.int32(together), np.int32(0), np.int32(ROUNDS), np.zeros(1 << 14, np.int32)
    kernel = isa.load(CUBIN, "_Z6copiesPK5uint4iiiPS_")
    result = sim.run(sim.Launch(kernel, (SMS,), (256,), args, shared_dynamic=66 << 10), sim.gpu("h100").replace({"l2.start": "warm"}))
    row = MEASURED[together]
    assert result.cycles == pytest.approx(int(row["cycles"]), rel=0.16)
    asked = SMS * SECTORS * ROUNDS
    assert int(row["asked"]) == asked
    assert result.counters["l2_sectors_read"] / asked == pytest.approx(int(row["served"]) / asked, abs=0.1)
