"""Bulk copies into shared memory (UBLKCP, PTX `cp.async.bulk`): what they move, when it is there, and a product that lives on them."""

import statistics
from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from programs.cuda.references import FOLDER
from programs.measurements.copies import H100
from programs.measurements.population.score import H200
from programs.published import rows
from sim.launch.launch import Launch
from sim.lowering.phases import lines_of_copy
from sim.reference import simulate as simulate_simpy
from sim.traces import ensemble
from sim.traces.trace import BYTES, SOURCE, bulk_copies
from tests.unit.mbarrier_programs import bulk_copy

PRODUCT = FOLDER / "matvec_bulk.sm_90.sass"


def product(grid: int, rows: int, n: int, stages: int) -> Launch:
    rng = np.random.default_rng(3)
    arrays = rng.random((grid * rows, n), np.float32), rng.random(n, np.float32), np.zeros(grid * rows, np.float32)
    sizes = np.int32(n), np.int32(rows), np.int32(stages)
    return Launch(isa.load(PRODUCT), (grid,), (160,), (*arrays, *sizes), shared_dynamic=128 + 4 * n * (1 + 4 * stages))


def test_bytes_are_there_when_the_barrier_says_so_in_both_engines() -> None:
    given = bulk_copy(size=464, at=48)
    trace = sim.execute(given)
    data, out = given.args[:2]
    assert np.array_equal(out[:116], data[12:128])
    gpu = sim.gpu("h100").replace({"sms": 1})
    mine, theirs = sim.simulate(trace, gpu), simulate_simpy(trace, gpu)
    assert (mine.cycles, mine.stalls, mine.counters) == (theirs.cycles, theirs.stalls, theirs.counters)
    quiet = gpu.replace({"dram.refresh": 0})
    later = sim.simulate(trace, quiet.replace({"shared.copy_latency": gpu.shared.copy_latency + 1000}))
    assert later.cycles - sim.simulate(trace, quiet).cycles == 1000


def test_a_copy_of_nothing_does_nothing_in_both_engines() -> None:
    given = bulk_copy(size=0, at=16)
    trace = sim.execute(given)
    gpu = sim.gpu("h100").replace({"sms": 1})
    mine, theirs = sim.simulate(trace, gpu), simulate_simpy(trace, gpu)
    assert (mine.cycles, mine.stalls, mine.counters) == (theirs.cycles, theirs.stalls, theirs.counters)


@pytest.mark.parametrize(
    ("source", "size", "lines"),
    [(0, 128, [(0, 15)]), (48, 16, [(0, 2)]), (96, 64, [(0, 8), (1, 1)]), (160, 384, [(1, 14), (2, 15), (3, 15), (4, 1)])],
)
def test_lines_of_a_copy_and_their_sectors(source: int, size: int, lines: list[tuple[int, int]]) -> None:
    assert lines_of_copy(source, size) == lines


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (bulk_copy(size=64, at=4), "misaligned bulk copy at 0x10000004"),
        (bulk_copy(size=4096, at=0), "bulk copy at 0x10000000 is outside every array"),
        (bulk_copy(size=64, at=0, to=4096), "outside shared memory"),
    ],
)
def test_bytes_that_cannot_be_copied_are_named(given: Launch, message: str) -> None:
    with pytest.raises(UserError, match=message):
        sim.execute(given)


STORES = """.kernel back
.param ptr out
.shared 4096
S2R R0, SR_TID.X
ISETP.NE P0, PT, R0, RZ, PT
SHL R1, R0, 2
next:
STS [R1], R1
IADD R1, R1, 128
ISETP.LT P1, PT, R1, 0x800, PT
@P1 BRA `(next)
MOV R2, c[0x0][out]
MOV R3, RZ
IADD R10, R2, 0x400
MOV R4, RZ
MOV R5, 0x400
MOV R6, 0x40
{guard}UBLKCP.G.S [R2], [R4], R6
UTMACMDFLUSH
R2UR UR8, R10
R2UR UR9, RZ
{guard}UBLKCP.G.S [UR8], [R5], R6
UTMACMDFLUSH
DEPBAR.LE SB0, {left}
CS2R R20, SR_CLOCKLO
DEPBAR.LE SB0, 0x0
STG [R2], R20
EXIT
"""


def stores(left: int, guard: str = "@!P0 ") -> Launch:
    return Launch(isa.parse(STORES.format(left=left, guard=guard)), (1,), (32,), (np.zeros(512, np.uint32),))


def test_bulk_stores_are_waited_for_group_by_group_in_both_engines() -> None:
    gpu, ended = sim.gpu("h100").replace({"sms": 1}), []
    for left in (1, 0):
        given = stores(left)
        trace = sim.execute(given)
        assert np.array_equal(given.args[0][1:], np.arange(512, dtype=np.uint32)[1:] * 4)
        mine, theirs = sim.simulate(trace, gpu), simulate_simpy(trace, gpu)
        assert (mine.cycles, mine.stalls, mine.counters) == (theirs.cycles, theirs.stalls, theirs.counters)
        ended.append(int(mine.clock_reads[0, 0]))
    assert ended[1] - ended[0] == pytest.approx(1024 / 32.4, abs=3)  # a kilobyte more, through a port of 34.4 bytes per cycle


def clocks(kernel: str, *args: object, shared: int = 0) -> np.ndarray:
    """Return the clocks that warp 0 of one block reads, on an H200 that has its code from launches before, as the one measured had."""
    program, gpu = isa.load(H200 / "asynchronous.sm_90.cubin", kernel), sim.gpu("h200").replace({"fetch.jump": 0})
    reads = sim.run(Launch(program, (1,), (128,), (np.zeros(64, np.int32), *args), shared_dynamic=shared), gpu).clock_reads
    return reads[reads[:, 2] == 0, 0]


def test_a_look_at_a_barrier_takes_as_long_as_on_an_h200() -> None:
    row = next(row for row in rows(H200 / "asynchronous.csv") if row["what"] == "barriers")
    assert np.diff(clocks("_Z8barriersPi"))[:4].tolist() == [int(row[f"cycles_{k}"]) for k in range(1, 5)]


@pytest.mark.parametrize(("size", "count"), [(8192, 4), (16384, 1), (65536, 1)])
def test_bulk_stores_leave_as_fast_as_on_an_h200(size: int, count: int) -> None:
    found = [
        row for row in rows(H200 / "asynchronous.csv") if (row["what"], row["size"], row["count"]) == ("bulk_stores", str(size), str(count))
    ]
    read = clocks("_Z6storesPiPcii", np.zeros(1 << 17, np.uint8), np.int32(size), np.int32(count), shared=size * count)
    assert read[2] - read[0] == pytest.approx(statistics.median(int(row["cycles_2"]) for row in found), rel=0.05)


def test_a_bulk_store_that_no_lane_executes_is_over_at_once_in_both_engines() -> None:
    trace = sim.execute(stores(0, "@!PT "))
    gpu = sim.gpu("h100").replace({"sms": 1})
    mine, theirs = sim.simulate(trace, gpu), simulate_simpy(trace, gpu)
    assert (mine.cycles, mine.stalls, mine.counters) == (theirs.cycles, theirs.stalls, theirs.counters)


def test_a_bulk_store_to_a_read_only_array_is_named() -> None:
    given = stores(0)
    given.args[0].flags.writeable = False
    with pytest.raises(UserError, match="read-only"):
        sim.execute(given)


def test_a_product_fed_by_bulk_copies_is_right_and_races_with_nothing() -> None:
    given = product(2, 12, 256, 2)
    trace = sim.execute(given, check=("race", "init"))
    a, x, y = given.args[:3]
    assert np.allclose(y, a @ x, rtol=1e-5)
    assert not trace.hazards


def test_an_ensemble_moves_what_is_copied_and_a_trace_file_has_no_place_for_it(tmp_path: Path) -> None:
    trace = sim.execute(bulk_copy(size=64, at=0))
    moved = ensemble.moved(trace, 1)
    before, after = (one.arrays.scattered[one.arrays.access_base[bulk_copies(one)], SOURCE] for one in (trace, moved))
    assert (after != before).all()
    assert (moved.arrays.scattered[:, BYTES] == trace.arrays.scattered[:, BYTES]).all()
    with pytest.raises(UserError, match="no place for barriers in shared memory and of clusters"):
        sim.write_traces([trace], tmp_path)


def test_engines_agree_on_a_product_fed_by_bulk_copies() -> None:
    trace = sim.execute(product(4, 12, 256, 2))
    gpu = sim.gpu("h100").replace({"sms": 2})
    mine, theirs = sim.simulate(trace, gpu), simulate_simpy(trace, gpu)
    assert (mine.cycles, mine.stalls, mine.counters) == (theirs.cycles, theirs.stalls, theirs.counters)


def error(row: dict[str, str]) -> float:
    """Return the percent of cycles that a product takes more than on an H100, whose largest stall is the same and whose counts are near."""
    result = sim.run(product(*(int(row[name]) for name in ("grid", "rows", "n", "stages"))), sim.gpu("h100"))
    assert result.counters["warp_instructions"] == pytest.approx(int(row["instructions"]), rel=0.004)
    assert max((cause for cause in result.stalls if cause != "selected"), key=result.stalls.__getitem__) == row["stall"]
    return 100 * (result.counters["sm_active_cycles_max"] / statistics.median(float(row[f"cycles_{k}"]) for k in range(1, 6)) - 1)


def test_a_product_takes_as_long_as_on_an_h100() -> None:
    assert max(abs(error(row)) for row in list(rows(H100 / "matvec_bulk.csv"))[:3]) < 5


@pytest.mark.slow
def test_products_of_all_sizes_and_stages_take_as_long_as_on_an_h100() -> None:
    errors = [abs(error(row)) for row in rows(H100 / "matvec_bulk.csv")]
    assert len(errors) == 18
    assert statistics.mean(errors) < 9
    assert max(errors) < 19
