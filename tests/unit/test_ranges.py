"""Ranges of a GPU's fields that end where a structure ends; caches taken away; everything that is missing named at once."""

from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from sim.launch.file import load_launch
from tests.unit.test_cli import PROGRAMS, simtlab

H100 = sim.gpu("h100")


ROOMY = {"limits.warps": 256, "limits.blocks": 64, "limits.registers": 1 << 20, "limits.registers_per_block": 1 << 16}


def test_local_memory_of_more_than_64_warps_is_equal_in_both_engines() -> None:
    spilling = isa.parse("STL [RZ], R0\nLDL R1, [RZ]\nEXIT\n")
    trace = sim.execute(sim.Launch(spilling, (24,), (256,)))
    gpu = H100.replace({"sms": 2, "core.schedulers": 16} | ROOMY)
    fast, read = (sim.simulate(trace, gpu, engine=engine) for engine in ("numba", "simpy"))
    assert fast.occupancy.warps > 64
    assert (fast.cycles, fast.counters) == (read.cycles, read.counters)


def test_more_schedulers_and_warps_are_equal_in_both_engines() -> None:
    gpu = H100.replace({"sms": 1, "core.schedulers": 16, "l2": "none", "l1": "none"} | ROOMY)
    launch = load_launch(PROGRAMS / "saxpy.sass", grid=(24,), args={"n": 24 * 256}).launch
    trace = sim.execute(launch)
    fast, read = (sim.simulate(trace, gpu, engine=engine) for engine in ("numba", "simpy"))
    assert fast.occupancy.warps > 64
    assert fast.cycles == read.cycles
    assert fast.counters == read.counters


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"limits.warps": 257}, "mask of 64 bits"),
        ({"core.schedulers": 33}, "1 to 32"),
        ({"memory.kind": "fixed"}, "memory.global_load is missing"),
        ({"core.issue_width": 5}, "1 to 4"),
        ({"core.warp_size": 64}, "masks of lanes have 32 bits"),
        ({"l1.pending": 64}, "one load may need so many lines"),
        ({"dram.latency": 100}, r"contains the way to DRAM and back \(l2.latency = 283\)"),
        ({"core.barrier_latency": 0}, "other schedulers have had this cycle's turn"),
        ({"interconnect.latency": 0}, "leaves at the end of a cycle"),
        ({"l1.latency": 0}, r"l1.latency = 0 must exceed lsu.latency = 10, which it contains"),
        ({"l2.latency": 0}, "contains lsu.latency, interconnect.latency twice"),
        ({"core.reissue_distance": 0}, "a scheduler has one turn in a cycle"),
        ({"core.issue_interval": 0}, "one turn in a cycle: issue_width says"),
        ({"shared.copy_latency": 0}, "it has had this cycle's turn"),
        ({"clusters.barrier_latency": 0}, "what other SMs do is seen in a later one"),
        ({"lsu.latency": 0}, "the shared unit may take it; it has had this cycle's turn"),
    ],
)
def test_a_refused_range_says_what_ends_there(changes: dict[str, object], says: str) -> None:
    with pytest.raises(UserError, match=says):
        H100.replace(changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"core.issue_width": 4, "units.fp32.latency": 0, "units.int32.latency": 0, "core.branch_latency": 0},
        {"l1.sector": 64, "l2.sector": 64, "l1.pending": 0},
        {"l1.sector": 32, "l2.sector": 128},
    ],
)
def test_machines_at_the_ends_of_the_ranges_are_equal_in_both_engines(changes: dict[str, object]) -> None:
    trace = sim.execute(load_launch(PROGRAMS / "saxpy.sass", grid=(24,), args={"n": 24 * 256}).launch)
    gpu = H100.replace({"sms": 2} | changes)
    fast, read = (sim.simulate(trace, gpu, engine=engine) for engine in ("numba", "simpy"))
    assert (fast.cycles, fast.counters) == (read.cycles, read.counters)


def test_larger_sectors_fetch_what_lies_beside() -> None:
    """One word of each 128 bytes: every miss brings a sector whole."""
    listing = ".param ptr x\nS2R R0, SR_TID.X\nIMAD R2, R0, 128, c[0x0][x]\nLDG R4, [R2]\nFADD R4, R4, R4\nEXIT\n"
    trace = sim.execute(sim.Launch(isa.parse(listing), (4,), (64,), (np.zeros(1 << 13, np.float32),)))
    gpu = H100.replace({"dram.access_bytes": 32, "l2.coalesced": 1})  # whole lines would join
    for level, counter, unit in (("l1", "l2_sectors_read", 1), ("l2", "dram_bytes_read", 32)):
        found = [sim.simulate(trace, gpu.replace({f"{level}.sector": size})).counters[counter] for size in (32, 64, 128)]
        assert found == [64 * unit * k for k in (1, 2, 4)] or found == [256 * unit * k for k in (1, 2, 4)], (level, found)


def test_without_limit_no_load_waits_for_an_entry() -> None:
    trace = sim.execute(load_launch(PROGRAMS / "access" / "random.sass").launch)
    gpu = H100.replace({"sms": 1, "limits.blocks": 32})
    few, most, free = (sim.simulate(trace, gpu.replace({"l1.pending": entries})) for entries in (128, 65536, 0))
    assert few.counters["pending_requests_peak"] == 128 < free.counters["pending_requests_peak"]
    assert free.cycles == most.cycles


def test_a_cache_is_taken_away_and_a_number_unset() -> None:
    without = H100.replace({"l1": "none"})
    assert without.l1 is None
    assert "none" in without.source["l1"].text
    assert H100.replace({"l1": None}) == without
    textbook = sim.gpu("textbook").replace({"memory.kind": "hierarchy", "memory.global_load": "none"})
    assert textbook.memory.global_load is None
    fixed = H100.replace({"memory.kind": "fixed", "memory.global_load": 400})
    assert fixed.source["memory.global_load"].text.endswith("has none")
    with pytest.raises(UserError, match="is a section"):
        H100.replace({"lsu": "none"})


def test_everything_that_a_file_lacks_is_named_at_once(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[clock]\ncore_mhz = 1000\n")
    with pytest.raises(UserError) as caught:
        sim.gpu(file)
    for field in ("core.schedulers", "memory.shared_load", "limits.registers", "dram.latency", "units", "name"):
        assert f"{field} is missing" in str(caught.value)


@pytest.mark.slow
def test_loads_that_go_through_l1_all_the_same_are_named() -> None:
    options = (PROGRAMS / "cuda" / "matvec.sm_90.sass", "--gpu", "h100", "--set")
    assert "go through L1 all the same" in simtlab("run", *options, "l1.global_loads=false").stdout
    assert "go through L1 all the same" not in simtlab("run", *options, "l1=none").stdout
