"""Ranges of a GPU's fields that end where a structure ends; caches taken away; everything that is missing named at once."""

from pathlib import Path

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
    ],
)
def test_a_refused_range_says_what_ends_there(changes: dict[str, object], says: str) -> None:
    with pytest.raises(UserError, match=says):
        H100.replace(changes)


def test_a_cache_is_taken_away_and_a_number_unset() -> None:
    without = H100.replace({"l1": "none"})
    assert without.l1 is None
    assert "none" in without.source["l1"].text
    assert H100.replace({"l1": None}) == without
    textbook = sim.gpu("textbook").replace({"memory.kind": "hierarchy", "memory.global_load": "none"})
    assert textbook.memory.global_load is None
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
