"""Clocks: a change of one changes what belongs to it, and nothing else."""

from pathlib import Path
from typing import Any

import pytest

from isa.errors import UserError
from sim.gpus.loader import FOLDER, load
from sim.gpus.model import Gpu

CLOCKS = {"core_mhz": 2000, "l2_mhz": 1600, "dram_mhz": 2500}


def clocked(**changes: Any) -> Gpu:
    """Return an H100 of these clocks, and these cycles at them."""
    table = load("h100").model_dump()
    table["clock"] = CLOCKS
    table["l2"] |= {"latency": 300, "core_cycles": 100, "far": 160, "bytes_per_cycle": 30.0}
    table["dram"] |= {"latency": 600, "turnaround": 100}
    table["interconnect"]["latency"] = 60
    return Gpu.from_table(table).replace(changes)


def test_half_the_core_clock_halves_the_core_cycles_of_what_has_its_own_clock() -> None:
    gpu = clocked(**{"clock.core_mhz": 1000})
    assert (gpu.l2.latency, gpu.l2.core_cycles, gpu.l2.far, gpu.l2.bytes_per_cycle) == (100 + 200 / 2, 100, 80, 60)
    assert (gpu.dram.latency, gpu.dram.turnaround, gpu.dram.bandwidth) == (200 + 300 / 2, 50, load("h100").dram.bandwidth)
    assert gpu.interconnect.latency == 30
    assert (gpu.l1, gpu.lsu, gpu.memory) == (clocked().l1, clocked().lsu, clocked().memory)


def test_half_the_clock_of_l2_doubles_its_cycles_and_leaves_dram_its_own() -> None:
    gpu = clocked(**{"clock.l2_mhz": 800})
    assert (gpu.l2.latency, gpu.l2.bytes_per_cycle) == (100 + 200 * 2, 15)
    assert gpu.dram.latency - gpu.l2.latency == 300
    assert gpu.dram.turnaround == 100


def test_dram_at_half_its_clock_has_half_its_bandwidth() -> None:
    gpu = clocked(**{"clock.dram_mhz": 1250})
    assert gpu.dram.bandwidth == load("h100").dram.bandwidth / 2
    assert gpu.dram.latency == 300 + 300 * 2
    assert gpu.l2 == clocked().l2


def test_all_clocks_together_change_nothing_in_cycles() -> None:
    assert clocked(**{f"clock.{name}": value / 2 for name, value in CLOCKS.items()}).l2 == clocked().l2


def test_there_and_back_is_the_same_gpu() -> None:
    gpu = clocked(**{"clock.core_mhz": 1000}).replace({"clock.core_mhz": 2000})
    assert (gpu.dram, gpu.interconnect) == (clocked().dram, clocked().interconnect)
    assert (gpu.l2.latency, gpu.l2.far, gpu.l2.bytes_per_cycle) == (300, 160, 30.0)


def test_an_explicit_number_is_in_cycles_of_the_new_clock() -> None:
    gpu = clocked(**{"l2.latency": 250, "clock.core_mhz": 1000})
    assert gpu.l2.latency == 250


def test_the_source_of_a_rescaled_number_says_so() -> None:
    assert clocked(**{"clock.core_mhz": 1000}).source["l2.latency"].text == f"300 in {load('h100').name}, at the clocks set now"


def test_without_clocks_of_their_own_l2_and_dram_go_with_the_core() -> None:
    before, after = load("a6000"), load("a6000").replace({"clock.core_mhz": 900})
    assert (before.l2, before.dram, before.interconnect) == (after.l2, after.dram, after.interconnect)


@pytest.mark.parametrize("name", ["l2_mhz", "dram_mhz"])
def test_a_clock_that_the_preset_does_not_know_cannot_be_changed(name: str) -> None:
    with pytest.raises(UserError, match=f"clock.{name}: this GPU's preset does not know that clock.*change"):
        load("a6000").replace({f"clock.{name}": 1000})


def test_the_name_of_before_still_works() -> None:
    assert load("h100").replace({"clock.alu_mhz": 990}) == load("h100").replace({"clock.core_mhz": 990})
    table = load("gtx480").model_dump() | {"clock": {"alu_mhz": 1401, "core_mhz": 701}}
    assert Gpu.from_table(table).clock == load("gtx480").clock


def test_a_file_that_extends_a_preset_at_another_clock(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('extends = "h100"\n[clock]\ncore_mhz = 990\n', encoding="utf-8")
    assert load(path).l2 == load("h100").replace({"clock.core_mhz": 990}).l2


def test_a_scheduler_clock_given_with_it_does_not_keep_a_clock_from_its_effect() -> None:
    both = load("h100").replace({"clock.core_mhz": 990, "clock.scheduler_mhz": 495})
    assert (both.l2, both.dram) == (load("h100").replace({"clock.core_mhz": 990}).l2, load("h100").replace({"clock.core_mhz": 990}).dram)


@pytest.mark.parametrize("name", ["gtx480", "gtx1080", "rtx2080ti"])
def test_tied_clocks_change_no_number_in_its_last_digit(name: str) -> None:
    before = load(name)
    for share in (0.7, 0.9, 1.1):
        after = before.replace({"clock.core_mhz": round(share * before.clock.core_mhz)})
        assert (after.l2, after.dram, after.interconnect) == (before.l2, before.dram, before.interconnect)


@pytest.mark.parametrize("value", [0, -1, float("inf"), float("nan")])
@pytest.mark.parametrize(("name", "clock"), [("gtx480", "core_mhz"), ("h100", "core_mhz"), ("h100", "l2_mhz"), ("h100", "dram_mhz")])
def test_a_clock_that_is_none_is_refused_by_name(name: str, clock: str, value: float) -> None:
    with pytest.raises(UserError, match=f"^clock.{clock} = {value} is not legal; clock.{clock}: clock of .*a number above 0$"):
        load(name).replace({f"clock.{clock}": value})


def extended(tmp_path: Path, text: str) -> Gpu:
    """Return the GPU of a file that extends base.toml, an H100 with numbers of the user's, by a clock."""
    (tmp_path / "base.toml").write_text(text, encoding="utf-8")
    (tmp_path / "mine.toml").write_text('extends = "base.toml"\n[clock]\ncore_mhz = 1485\n', encoding="utf-8")
    return load(tmp_path / "mine.toml")


def test_a_file_at_another_clock_rescales_whole_numbers_as_replace_does(tmp_path: Path) -> None:
    gpu = extended(tmp_path, 'extends = "h100"\n[l2]\nbytes_per_cycle = 32\n')
    assert gpu.l2 == load(tmp_path / "base.toml").replace({"clock.core_mhz": 1485}).l2
    assert gpu.l2 is not None
    assert gpu.l2.bytes_per_cycle == pytest.approx(32 / 0.75)


def test_a_file_at_another_clock_rescales_what_its_parent_does_not_write(tmp_path: Path) -> None:
    lines = (FOLDER / "h100.toml").read_text(encoding="utf-8").splitlines()
    gpu = extended(tmp_path, "\n".join(line for line in lines if "atomic_cycles" not in line))  # 1 then
    assert gpu.l2 is not None
    assert gpu.l2.atomic_cycles == 0.75


def test_a_file_at_another_clock_says_so_of_every_number_that_it_changes(tmp_path: Path) -> None:
    gpu = extended(tmp_path, 'extends = "h100"\n')
    source = gpu.source_of("l2.latency")
    assert source is not None
    assert (source.kind, source.text) == ("derived", "283 in base.toml, at the clocks set in mine.toml")


def test_a_parent_that_says_alu_mhz(tmp_path: Path) -> None:
    text = (FOLDER / "gtx480.toml").read_text(encoding="utf-8")
    old = text.replace("core_mhz = 1401", "alu_mhz = 1401").replace("scheduler_mhz = 701", "core_mhz = 701").replace('"clock.', '"note.')
    clock = extended(tmp_path, old).clock
    assert (clock.core_mhz, clock.scheduler_mhz) == (1485, 701)
