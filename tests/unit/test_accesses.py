"""What the loads and stores of an executed listing move: against an enumeration warp by warp, and an H100's counters."""

import csv
from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from sim.analysis.accesses import global_sites, shared_sites
from sim.gpus.path import LINE, SECTOR
from sim.traces.trace import Trace

ROOT = Path(__file__).parents[2]
COUNTERS = list(csv.DictReader((ROOT / "programs" / "coalescing" / "h100_sectors.csv").open()))
STRIDED = """
.kernel strided
.param ptr out
.param ptr in
.param u32 stride
.param u32 offset
    S2R R0, SR_CTAID.X
    S2R R1, SR_NTID.X
    S2R R2, SR_TID.X
    IMAD R0, R0, R1, R2
    MOV R3, c[0x0][offset]
    IMAD R0, R0, c[0x0][stride], R3
    SHL R0, R0, 2
    IADD R4, R0, c[0x0][in]
    IADD R6, R0, c[0x0][out]
    LDG R8, [R4]
    STG [R6], R8
    EXIT
"""
MIXED = """
.kernel mixed
.shared 4096
.param ptr index
.param ptr data
.param ptr none
    S2R R0, SR_TID.X
    SHL R1, R0, 2
    IADD R2, R1, c[0x0][index]
    LDG R3, [R2]
    ISETP.LT.AND P0, PT, R0, 0x28, PT
    SHL R4, R3, 2
    IADD R4, R4, c[0x0][data]
@P0 LDG R5, [R4]
@!PT STG [R4], R5
    LOP.AND R6, R0, 0x1f
    SHL R6, R6, 4
    STS [R6], R3
    LDS.64 R8, [R6]
    EXIT
"""


def strided(stride: int, offset: int, blocks: int, threads: int) -> Trace:
    size = blocks * threads * stride + offset
    arrays = np.zeros(size, np.float32), np.zeros(size, np.float32)
    arguments = (*arrays, np.uint32(stride), np.uint32(offset))
    return sim.execute(sim.Launch(isa.parse(STRIDED), grid=(blocks,), block=(threads,), args=arguments))


def mixed() -> tuple[Trace, np.ndarray]:
    index = np.random.default_rng(3).integers(0, 4096, 64).astype(np.uint32)
    arguments = (index, np.zeros(4096, np.float32), np.zeros(1, np.float32))
    return sim.execute(sim.Launch(isa.parse(MIXED), grid=(2,), block=(64,), args=arguments)), index


@pytest.mark.parametrize("row", COUNTERS, ids=lambda row: f"stride {row['stride']} offset {row['offset']}")
def test_requests_and_sectors_of_a_listing_are_those_that_an_h100_counted(row: dict[str, str]) -> None:
    """A sixteenth of the measured grid: each block moves as much as any other."""
    trace = strided(int(row["stride"]), int(row["offset"]), blocks=128, threads=256)
    found = {site.instruction.text.split()[0]: site for site in global_sites(trace, "sectors")}
    for opcode, kind in (("LDG", "load"), ("STG", "store")):
        assert 16 * found[opcode].requests == int(row[f"{kind}_requests"])
        assert 16 * found[opcode].sectors == int(row[f"{kind}_sectors"])


def test_scattered_and_guarded_accesses_are_counted_warp_by_warp() -> None:
    trace, index = mixed()
    direct, gathered = sorted(global_sites(trace, "sectors"), key=lambda site: site.instruction.index)
    assert (direct.requests, direct.sectors, direct.lines, direct.efficiency) == (4, 16, 4, 1.0)
    warps = [index[:32], index[32:40]]  # lanes 0 to 39 of each block
    assert gathered.requests == 4
    assert gathered.sectors == 2 * sum(len(set(4 * warp.astype(int) // SECTOR)) for warp in warps)
    assert gathered.lines == 2 * sum(len(set(4 * warp.astype(int) // LINE)) for warp in warps)
    assert gathered.asked == 2 * 40 * 4
    assert gathered.useful == 2 * 4 * sum(len(set(warp)) for warp in warps)
    assert gathered.wasted == gathered.sectors * SECTOR - gathered.useful > 0


def test_what_wastes_most_comes_first_and_shows_its_worst_request() -> None:
    trace, _ = mixed()
    first, last = global_sites(trace, "sectors")
    assert first.wasted > last.wasted == 0
    assert first.worst.efficiency <= first.efficiency
    assert len(first.worst.lanes) in (8, 32)


def test_an_instruction_that_no_lane_executes_is_no_request() -> None:
    texts = [site.instruction.text for site in global_sites(mixed()[0], "sectors")]
    assert not [text for text in texts if "STG" in text]


def test_shared_memory_is_counted_in_wavefronts() -> None:
    load, store = sorted(shared_sites(mixed()[0], "fermi"), key=lambda site: site.instruction.text)
    assert (store.requests, store.wavefronts, store.fewest, store.conflicts) == (4, 16, 4, 12)  # a stride of four words
    assert (load.requests, load.wavefronts, load.fewest, load.conflicts) == (4, 16, 8, 8)  # 64 bits: two half-warps, two ways each


def test_the_older_rules_count_transactions() -> None:
    trace = strided(1, 1, blocks=2, threads=64)
    assert [site.transactions for site in global_sites(trace, "cc10")] == [128, 128]
    assert [site.moved for site in global_sites(trace, "cc12")] == [4 * (128 + 64 + 32)] * 2


def test_atomics_between_loads_do_not_shift_their_addresses() -> None:
    """They are in the trace too: a load after one must be given its own address."""
    listing = """
.kernel after
.param ptr bins
.param ptr data
    S2R R0, SR_TID.X
    SHL R1, R0, 2
    IADD R2, RZ, c[0x0][bins]
    IADD R4, R1, c[0x0][data]
    RED.ADD [R2], R0
    LDG R3, [R4]
    EXIT
"""
    arguments = (np.zeros(1, np.uint32), np.zeros(64, np.uint32))
    trace = sim.execute(sim.Launch(isa.parse(listing), grid=(1,), block=(64,), args=arguments))
    (load,) = global_sites(trace, "sectors")
    assert (load.requests, load.sectors) == (2, 8)
