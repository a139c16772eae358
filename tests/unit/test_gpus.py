"""Presets, users' GPU files and overrides: what loads, what is refused, and in which words."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from isa.errors import UserError
from isa.vocabulary import Unit
from sim.gpus import loader
from sim.gpus.assumed import shipped
from sim.gpus.fields import nearest
from sim.gpus.loader import FOLDER, load, names
from sim.gpus.model import Gpu, Source

# Every preset, and published figures that follow from several of its fields: peak FP32 in Tflop/s, DRAM bytes per ALU cycle and SM,
# FP32 warp instructions per ALU cycle and SM when all lanes are busy.
PRESETS = {
    "textbook": (2.56, 100, 4),
    "g80": (0.346, 4.0, 0.25),
    "g84": (0.093, 5.5, 0.25),
    "g92": (0.429, 2.6, 0.25),
    "gt200": (0.622, 3.6, 0.25),
    "gtx480": (1.345, 8.4, 1),
    "gtx460": (0.907, 12.2, 1.5),
    "k20c": (3.52, 22.7, 6),
    "m2200": (2.13, 10.6, 4),
    "gtx980": (4.98, 11.5, 4),
    "gtx1080": (8.87, 9.2, 4),
    "p100": (10.6, 8.8, 2),
    "v100": (15.7, 7.4, 2),
    "rtx2080ti": (13.45, 5.9, 2),
    "t4": (8.14, 5.0, 2),
    "a100": (19.5, 13.4, 2),
    "a6000": (38.7, 5.1, 4),
    "rtx4090": (82.6, 3.1, 4),
    "h100": (66.9, 12.8, 4),
    "h200": (66.9, 18.4, 4),
}


def numbers(table: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the dotted names of the numbers in a table; a dictionary of numbers and a list count as one."""
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and all(isinstance(inner, str) for inner in value):
            yield from numbers(value, name + ".")
        elif isinstance(value, int | float | list | tuple | Mapping):
            yield name


def test_the_presets_are_these() -> None:
    assert names() == tuple(sorted(PRESETS))


@pytest.mark.parametrize("name", names())
def test_every_number_of_a_preset_has_a_source(name: str) -> None:
    gpu = load(name)
    for number in numbers(gpu.model_dump(exclude={"source"})):
        text = source(gpu, number).text
        assert text
        assert "gives no source" not in text, f"{number} is set without a source of its own"


@pytest.mark.parametrize("name", names())
def test_a_preset_begins_with_a_picture_of_its_sm(name: str) -> None:
    header = (FOLDER / f"{name}.toml").read_text(encoding="utf-8").split("\n\n")[0].splitlines()
    assert all(line.startswith("#") for line in header)
    assert any("[ scheduler" in line for line in header)


FITTED = {
    "gtx480": {
        *("core.policy", "core.wake_rule", "core.in_flight_cap"),
        *("dram.efficiency", "blocks.retire_latency", "lsu.depth"),
    },
    "h100": {
        *("blocks", "core.source_read", "fetch.first", "blocks.launch_us", "dram.efficiency"),
        *("dram.turnaround", "dram.write_batch", "dram.channel_depth"),
        *("lsu.store_line_cycles", "interconnect.store_mask"),
        *("warpgroup.start_shared", "warpgroup.port_backlog", "clusters.barrier_latency", "dram.activate_cycles"),
    },
    "h200": {"fetch.first", "blocks.launch_us"},
} | {name: {"blocks"} for name in ("v100", "a100", "a6000", "rtx4090")}


@pytest.mark.parametrize("name", names())
def test_what_is_fitted_says_so(name: str) -> None:
    assert {field for field, origin in load(name).source.items() if origin.kind == "fitted"} == FITTED.get(name, set())


@pytest.mark.parametrize("name", PRESETS)
def test_published_figures(name: str) -> None:
    gpu, (tflops, bytes_per_cycle, warps_per_cycle) = load(name), PRESETS[name]
    assert gpu.peak_fp32_flops / 1e12 == pytest.approx(tflops, rel=0.005)
    assert gpu.dram_bytes_per_cycle == pytest.approx(bytes_per_cycle, abs=0.06)
    issue = gpu.core.schedulers * gpu.core.issue_width / gpu.core.issue_interval
    assert gpu.lanes(Unit.FP32) / 32 == warps_per_cycle <= issue


@pytest.mark.parametrize("name", PRESETS)
def test_replacing_nothing_changes_nothing(name: str) -> None:
    assert load(name).replace({}) == load(name)


def test_gpus_of_one_capability_have_one_set_of_limits() -> None:
    by_capability: dict[str, list[Gpu]] = {}
    for name in PRESETS:
        by_capability.setdefault(load(name).compute_capability, []).append(load(name))
    assert all(gpu.limits == group[0].limits for group in by_capability.values() for gpu in group)


def source(gpu: Gpu, name: str) -> Source:
    """Return the source of a field that has one."""
    found = gpu.source_of(name)
    assert found, f"{name} has no source"
    return found


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_users_file_extends_a_preset(tmp_path: Path) -> None:
    mine = write(tmp_path / "mine.toml", 'extends = "gtx480"\nname = "Mine"\nsms = 30\n[pipes]\nfp32 = { count = 2 }\n')
    gpu, parent = load(mine), load("gtx480")
    assert (gpu.name, gpu.sms, gpu.pipes["fp32"].count) == ("Mine", 30, 2)
    assert gpu.pipes["fp32"].lanes == parent.pipes["fp32"].lanes
    assert gpu.memory == parent.memory
    assert source(gpu, "sms").kind == "assumed"
    assert "mine.toml" in source(gpu, "pipes.fp32.count").text
    assert gpu.source_of("pipes.fp32.lanes") == parent.source_of("pipes.fp32.lanes")


def test_a_users_file_extends_a_file_beside_it(tmp_path: Path) -> None:
    write(tmp_path / "base.toml", 'extends = "v100"\nsms = 10\n')
    mine = write(tmp_path / "mine.toml", 'extends = "base.toml"\n[source]\nsms = { kind = "paper", text = "a book" }\n')
    assert load(mine).sms == 10
    assert source(load(mine), "sms").text == "a book"


def test_a_whole_file_needs_no_parent(tmp_path: Path) -> None:
    copy = write(tmp_path / "copy.toml", (FOLDER / "v100.toml").read_text(encoding="utf-8"))
    assert load(copy) == load("v100")


REFUSED = {
    "unknown name": ('extends = "gtx48"', ["no GPU is called 'gtx48'", "did you mean gtx480?"]),
    "missing parent file": ('extends = "base.toml"', ["no such GPU file", "base.toml"]),
    "parent is no name": ("extends = 3", ["extends = 3", "not the name of a GPU"]),
    "itself": ('extends = "mine.toml"', ["'extends' leads back to this file"]),
    "bad TOML": ('extends = "gtx480"\nsms = \n', ["not a TOML file", ":2:"]),
    "unknown section": ('extends = "gtx480"\n[memori]\nx = 1', ["unknown field memori"]),
    "unknown field": ('extends = "gtx480"\n[core]\nschedulars = 2', ["mine.toml:3", "unknown field core.schedulars", "core.schedulers"]),
    "unknown unit": ('extends = "gtx480"\n[units]\nfp31 = { pipe = "fp32", latency = 1 }', ["unit units.fp31", "did you mean fp32?"]),
    "no such pipe": ('extends = "gtx480"\n[units]\nfp32 = { pipe = "fp33" }', ["'fp33' is not a pipe", "sfu"]),
    "out of range": ('extends = "gtx480"\n[core]\nissue_width = 5', ["mine.toml:3", "core.issue_width = 5", "from 1 to 4"]),
    "not a choice": ('extends = "gtx480"\n[core]\npolicy = "fifo"', ["core.policy = 'fifo'", "gto"]),
    "not a number": ('extends = "gtx480"\nsms = "many"', ["sms = 'many'", "integer"]),
    "a number in quotes": ('extends = "gtx480"\nsms = "12"', ["mine.toml:2: sms = '12' is not legal", "a number has no quotes"]),
    "truth for a number": ('extends = "gtx480"\n[core]\nissue_width = true', ["mine.toml:3", "core.issue_width = True is not legal"]),
    "half a section": ('extends = "gtx480"\n[clusters]\nlatency = 9', ["a whole section clusters, or none", "clusters.groups", "h100"]),
    "latency given twice": ('extends = "gtx480"\n[units]\nshared = { latency = 9 }', ["units.shared.latency", "memory.shared_load"]),
    "inconsistent": ('extends = "gtx480"\n[limits]\nshared_per_block = 50000', ["limits.shared_per_block = 50000", "49152"]),
    "source of nothing": ('extends = "gtx480"\n[source]\nsmz = { kind = "paper", text = "x" }', ["source.'smz' names no field", "sms"]),
    "kind of source": ('extends = "gtx480"\n[source]\nsms = { kind = "rumour", text = "x" }', ["rumour", "measured"]),
    "incomplete": ('name = "Mine"', ["sms is missing", "streaming multiprocessors"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_file(case: str, tmp_path: Path) -> None:
    text, says = REFUSED[case]
    mine = write(tmp_path / "mine.toml", text)
    with pytest.raises(UserError) as error:
        load(mine)
    assert "mine.toml" in str(error.value)
    for words in says:
        assert words in str(error.value)


def test_circle_of_two_files(tmp_path: Path) -> None:
    write(tmp_path / "a.toml", 'extends = "b.toml"')
    write(tmp_path / "b.toml", 'extends = "a.toml"')
    with pytest.raises(UserError, match="leads back"):
        load(tmp_path / "a.toml")


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match=r"mine\.toml.*not a TOML file"):
        load(tmp_path / "mine.toml")


@pytest.mark.parametrize(
    ("name", "says"), [("h10", "did you mean h100?"), ("nothing/like/it", "textbook"), ("mine.toml", "no such GPU file")]
)
def test_unknown_gpu(name: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as error:
        load(name)
    assert says in str(error.value)


def test_replace_records_what_was_changed() -> None:
    gpu = load("gtx480").replace({"dram.latency": 700, "pipes.sfu.lanes": 8, "l1.bytes": 49152})
    assert gpu.dram.latency == 700
    assert gpu.pipes["sfu"].lanes == 8
    assert gpu.l1
    assert gpu.l1.bytes == 49152
    assert source(gpu, "dram.latency").text == "set by the user; GeForce GTX 480 has 600"
    assert gpu.source_of("memory.shared_load") == load("gtx480").source_of("memory.shared_load")
    assert load("gtx480").dram.latency == 600


def test_replace_fills_an_absent_section() -> None:
    assert load("g80").l2 is None
    filled = load("g80").replace({"l2.bytes": 65536, "l2.latency": 200}).l2
    assert filled
    assert filled.bytes == 65536


@pytest.mark.parametrize(
    ("override", "says"),
    [
        ({"core.schedulars": 2}, ["no field 'core.schedulars'", "did you mean core.schedulers?", "warp schedulers per SM"]),
        ({"latency": 2}, ["no field 'latency'", "latency"]),
        ({"core": 2}, ["'core' is a section", "core.policy"]),
        ({"core.schedulers": 0}, ["core.schedulers = 0", "from 1 to 32"]),
        ({"core.policy": "fifo"}, ["core.policy = 'fifo'", "one of lrr"]),
        ({"limits.warps": 16}, ["limits.threads_per_block = 1024 exceeds the 512 threads of limits.warps"]),
        ({"clock.scheduler_mhz": 2000}, ["clock.scheduler_mhz = 2000 exceeds clock.core_mhz"]),
    ],
    ids=lambda value: "" if isinstance(value, list) else str(value),
)
def test_replace_refuses(override: dict[str, Any], says: list[str]) -> None:
    with pytest.raises(UserError) as error:
        load("gtx480").replace(override)
    for words in says:
        assert words in str(error.value)


def test_a_gpu_cannot_be_changed_in_place() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load("gtx480").sms = 3


@pytest.mark.parametrize("name", ["rtx3090", "b200", "gtx580", "h800"])
def test_another_product_is_no_slip(name: str) -> None:
    with pytest.raises(UserError) as caught:
        load(name)
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        *(("dram.speed", ""), ("l2.size", ""), ("core.clock", ""), ("l1.banks", ""), ("fp32.latency", "units.fp32.latency")),
        *(("core.warps", "limits.warps"), ("l2.latancy", "l2.latency"), ("registers", "limits.registers")),
    ],
)
def test_a_field_is_named_that_somebody_may_have_meant_and_no_other(name: str, near: str) -> None:
    assert nearest(name, load("gtx480").names()) == near


def test_a_preset_is_a_callers_own() -> None:
    load("h100").units.pop("fp32")
    assert "fp32" in load("h100").units


def test_a_preset_follows_every_file_that_it_may_extend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The latest time of all files was its key: one that is put back from a copy is older than the one that it replaces."""
    for path in FOLDER.glob("*.toml"):
        shutil.copy2(path, tmp_path)
    monkeypatch.setattr(loader, "FOLDER", tmp_path)
    base, before = tmp_path / "v100.toml", load("t4").limits.registers
    text = base.read_text(encoding="utf-8")
    write(base, text.replace("registers = 65536", "registers = 32768"))
    os.utime(base, (0, 0))
    assert (before, load("t4").limits.registers) == (65536, 32768)


@pytest.mark.parametrize("name", names())
def test_a_preset_is_a_what_if_of_itself_and_so_is_what_extends_it(name: str, tmp_path: Path) -> None:
    gpu = load(name)
    mine = load(write(tmp_path / "mine.toml", f'extends = "{name}"\nname = "Mine"\nsms = 1\n[dram]\nlatency = 900\n'))
    assert shipped(gpu) == gpu
    assert (found := shipped(mine)) is not None
    assert found.units == gpu.units


@pytest.mark.parametrize("name", names())
def test_a_number_that_somebody_remembers_is_assumed(name: str) -> None:
    remembered = {field: origin for field, origin in load(name).source.items() if "from memory" in origin.text}
    assert {field for field, origin in remembered.items() if origin.kind != "assumed"} == set()
