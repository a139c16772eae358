"""Code on an H200: how fast it comes to warps that run straight code at places of their own, and what branches, calls and returns cost."""

from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from programs.measurements.population.score import H200
from programs.published import rows
from tests.unit.packed import unpacked

PORTS = {
    (row["places"], int(row["kb"]), int(row["warps"]), int(row["sms"])): float(row["median"])
    for row in rows(H200 / "code_ports.csv")
    if row["sms_of"] == "chip"
}
FUNCTIONS = {
    (int(row["length"]), int(row["blocks"]), int(row["warps"])): float(row["mean"])
    for row in rows(H200 / "functions.csv")
    if row["calls"] == "8"
}
BRANCHES = {(row["kernel"], int(row["threads"])): float(row["cycles"]) for row in rows(H200 / "branches.csv")}
LOOP = 64  # rounds of branches.cu
IN_TURN = "who has the next turn after a branch: D7"
IN_TURN_OF = {("loop_1", 512), ("taken_1", 512), ("table_none", 512)}
ROWS = [pytest.param(one, marks=pytest.mark.xfail(strict=True, reason=IN_TURN)) if one in IN_TURN_OF else one for one in sorted(BRANCHES)]
CATCH_UP = "warps that follow each other through code slightly larger than the cache catch up there: D21"
THROUGH_L2 = "of code that no cache holds L2 sends each line once to all SMs of a GPC in step here, several times there: D21"
SIZES = ((33, 4), (33, 8), (66, 4), (132, 1), (132, 4), (132, 8))  # blocks, warps of each
PORTS_OF_THE_SM = "an SM's own port takes a line in some 4 cycles there; here only the GPC's port has a rate: D21"


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked(H200 / "functions.cubins.tar.xz", tmp_path_factory.mktemp("functions"))


@pytest.fixture(scope="module")
def cubins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked(H200 / "code.cubins.tar.xz", tmp_path_factory.mktemp("cubins"))


def cycles_of(cubins: Path, places: str, kb: int, warps: int, sms: int, rounds: int) -> np.ndarray:
    """Return cycles from the first clock of each block to its last."""
    warp = np.arange(32)
    begins, ends = (warp * kb // warps, (warp + 1) * kb // warps) if places == "own" else (0 * warp, 0 * warp + kb)
    starts = 0 * warp if places == "same" else warp * kb // warps % kb
    program = isa.load(cubins / "code_ports.sm_90.cubin", "_Z4linePKiS0_S0_PKcPifi")
    tables = tuple(table.astype(np.int32) for table in (begins, ends, starts))
    args = (*tables, np.ones(132, np.int8), np.zeros(132 * 65, np.int32), np.float32(0.5), np.int32(rounds))
    clocks = sim.run(sim.Launch(program, (sms,), (32 * warps,), args), sim.gpu("h200")).clock_reads
    return np.array([np.ptp(clocks[clocks[:, 1] == block, 0]) for block in range(sms)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("places", "kb", "warps", "sms", "within"),
    [
        *(("same", kb, 1, 1, 0.08) for kb in (16, 32, 48, 64, 192)),
        ("same", 64, 4, 1, 0.10),
        ("same", 64, 8, 1, 0.13),
        *(("apart", 64, warps, 1, 0.10) for warps in (2, 4, 8)),
        *(("own", kb, warps, 1, 0.12) for kb in (16, 48, 64) for warps in (2, 4)),
        pytest.param("own", 64, 8, 1, 0.12, marks=pytest.mark.xfail(strict=True, reason=PORTS_OF_THE_SM)),
        ("own", 16, 4, 132, 0.08),
        *(("own", kb, warps, 132, 0.05) for kb in (48, 64) for warps in (2, 4, 8)),
        pytest.param("apart", 48, 4, 132, 0.9, marks=pytest.mark.xfail(strict=True, reason=CATCH_UP)),
        pytest.param("own", 192, 4, 132, 0.12, marks=pytest.mark.xfail(strict=True, reason=THROUGH_L2)),
    ],
)
def test_straight_code_comes_as_fast(cubins: Path, places: str, kb: int, warps: int, sms: int, within: float) -> None:
    few, many = (np.median(cycles_of(cubins, places, kb, warps, sms, rounds)) for rounds in (2, 8))
    assert (many - few) / 6 == pytest.approx(PORTS[places, kb, warps, sms], rel=within)


def numbers(count: int, seed: int = 12345) -> np.ndarray:
    """Return what functions.cu draws."""
    drawn = []
    for _ in range(count):
        seed = (seed * 1664525 + 1013904223) % 2**32
        drawn.append(seed >> 8)
    return np.array(drawn, np.int32)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("length", "blocks", "warps", "within"),
    [
        *((400, blocks, warps, 0.09) for blocks in (1, 33, 66, 132) for warps in (1, 4, 8)),
        *((length, blocks, warps, 0.08) for length in (600, 800, 1000, 1200) for blocks, warps in SIZES),
    ],
)
def test_functions_at_random_take_as_long(functions: Path, length: int, blocks: int, warps: int, within: float) -> None:
    """Code of 64, 95, 126, 157, 188 KB that all SMs of a launch want, each warp at a place of its own; nothing is fitted to it."""
    program = isa.load(functions / "functions.sm_90.cubin", f"_Z3funILi{length}EEvPKfPfPKiiPi")
    args = (np.zeros(1 << 14, np.float32), np.zeros(blocks * warps * 32, np.float32), numbers(8192), np.int32(8))
    launch = sim.Launch(program, (blocks,), (32 * warps,), (*args, np.zeros(blocks * warps * 2, np.int32)))
    clocks = sim.run(launch, sim.gpu("h200").replace({"l2.start": "dirty"})).clock_reads
    took = [np.ptp(clocks[(clocks[:, 1] == block) & (clocks[:, 2] == warp), 0]) for block in range(blocks) for warp in range(warps)]
    assert np.mean(took) == pytest.approx(FUNCTIONS[length, blocks, warps], rel=within)


@pytest.mark.parametrize("row", ROWS)
def test_branches_calls_and_returns_take_as_long(cubins: Path, row: tuple[str, int]) -> None:
    kernel, threads = row
    program = isa.load(cubins / "branches.sm_90.cubin", kernel)
    args = (np.zeros(64, np.int32), np.zeros(16, np.float32), np.int32(LOOP), np.int32(0))
    clocks = sim.run(sim.Launch(program, (1,), (threads,), args), sim.gpu("h200")).clock_reads
    first = clocks[clocks[:, 2] == 0, 0]
    assert (first[-1] - first[-2]) / LOOP == pytest.approx(BRANCHES[row], rel=0.1)
