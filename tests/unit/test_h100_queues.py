"""How many memory instructions warps issue before they wait for the load/store unit, and how often ULDC issues, as measured on an H100."""

import numpy as np
import pytest

import isa
import sim
from programs.measurements.copies import H100
from programs.published import rows
from sim.result.result import Result

CUBIN = H100 / "queues.sm_90.cubin"
KINDS = {"stg_16": 0, "stg_32": 1, "ldg_32": 2, "lds_32": 3, "sts_32": 4}  # of queues.cu
ACCESSES, WAITS = 32, 25  # cycles between two accesses, behind the first, from which on a warp has waited; a clock and a select take 4
PLACEMENTS = 6  # of a product: a refresh delays its constants in some; the table has the least of four launches
NEVER = np.int32(99)  # no lane's number: the compiler cannot know
MEASURED = [
    (row["access"], int(row["mask"], 16), int(row["warp"]), [int(c) for c in row["cycles"].split()]) for row in rows(H100 / "queues.csv")
]


def run(kernel: str, warps: int, last: int, placement: int = 0) -> Result:
    arrays = np.zeros(1 << 18, np.float32), np.zeros(2048, np.uint32)
    dynamic = 0 if kernel == "product" else 8192
    args, shape = (*arrays, np.int32(last), NEVER), ((1,), (32 * warps,))
    launch = sim.Launch(isa.load(CUBIN, kernel), *shape, args, shared_dynamic=dynamic, placement=placement)
    return sim.run(launch, sim.gpu("h100"))


PRODUCTS = {mask: cycles[0] for access, mask, _, cycles in MEASURED if access == "product"}


@pytest.mark.parametrize(("mask", "cycles"), PRODUCTS.items())
def test_constants_for_uniform_registers_take_an_issue_slot_and_no_pipe(mask: int, cycles: int) -> None:
    clocks = [run("product", mask.bit_count(), 200, placement).clock_reads[:, 0] for placement in range(PLACEMENTS)]
    assert min(np.ptp(one) for one in clocks) == pytest.approx(cycles, rel=0.015)


def issued(clocks: list[int]) -> int:
    """Return how many accesses a warp issued before it waited for the first time."""
    return next((k for k in range(1, ACCESSES) if clocks[k + 1] - clocks[k] > WAITS), ACCESSES)


def found(access: str, mask: int) -> int:
    """Return how many accesses the warps issue before each waits, simulated."""
    reads = run(f"_Z6acceptILi{KINDS[access]}EEvPfPjji", mask.bit_length(), mask).clock_reads
    return sum(issued(reads[reads[:, 2] == warp, 0][-ACCESSES - 1 :].tolist()) for warp in range(mask.bit_length()) if mask >> warp & 1)


def counted(access: str, mask: int) -> int:
    return sum(issued(clocks) for kind, those, _, clocks in MEASURED if (kind, those) == (access, mask))


@pytest.mark.parametrize(
    ("access", "mask", "most"),
    [("stg_32", 1, 1), ("stg_32", 3, 1), ("stg_32", 0xF, 2), ("stg_16", 0xF, 4), ("sts_32", 1, 1), ("sts_32", 0xF, 4)],
)
def test_stores_fill_the_queue_of_a_scheduler(access: str, mask: int, most: int) -> None:
    assert abs(found(access, mask) - counted(access, mask)) <= most


@pytest.mark.xfail(reason="some 24 loads more wait behind the queues of the schedulers, which is not modelled", strict=True)
@pytest.mark.parametrize(("access", "mask"), [("ldg_32", 3), ("ldg_32", 0xF), ("lds_32", 3), ("lds_32", 0xF)])
def test_loads_wait_in_a_queue_of_the_sm_too(access: str, mask: int) -> None:
    assert found(access, mask) == pytest.approx(counted(access, mask), rel=0.1)
