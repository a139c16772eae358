"""The memory chart: its numbers are the counters, its arrows lead where the bytes went."""

import re
from pathlib import Path

import pytest

import sim
from isa.errors import UserError
from sim.gpus.path import SECTOR
from sim.launch.file import load_launch
from sim.report import memory, memory_figure, words
from sim.report.heading import changes, unread
from sim.result.result import Result
from tests.unit.report_runs import add_one, chain_on

PROGRAMS = Path(__file__).parents[2] / "programs"


def on(program: str, gpu: str) -> Result:
    return sim.run(load_launch(PROGRAMS / f"{program}.sass").launch, sim.gpu(gpu))


def test_bytes_between_the_levels_are_those_that_were_counted() -> None:
    result = on("copy/copy_1_float", "gtx480")
    moved, counters = memory.flow(result), result.counters
    assert moved.l1_read == moved.l2_read == 4 * result.grid[0] * result.block[0]
    assert moved.written == SECTOR * counters["global_store_sectors"]
    assert (moved.dram_read, moved.dram_written) == (counters["dram_bytes_read"], counters["dram_bytes_written"])
    rows = {row.kind: row for row in memory.accesses(result)}
    assert rows["global loads"].each == 4
    assert set(rows) == {"global loads", "global stores"}


def test_the_chart_has_every_level_and_keeps_to_a_terminal() -> None:
    lines = memory.chart(on("shared/transpose_tile", "h100")).splitlines()
    assert any(re.search(r"registers +L1 +L2 +DRAM", line) for line in lines)
    assert any(re.search(r"<-+ 256 KiB -+ +hits 0.0% +<-+ 256 KiB", line) for line in lines)
    assert any(re.search(r"shared memory +4,096 +67,584 passes +16.50 +63,488", line) for line in lines)
    assert max(map(len, lines)) <= 130


def test_a_gpu_without_caches_has_none_in_its_chart() -> None:
    assert memory.chart(on("saxpy", "g80")).count("absent") == 2


def test_the_rate_beside_the_loads_is_that_of_the_loads() -> None:
    """An H100's L1 keeps what is stored, and a store to a line that is there counts as found in `l1_hit_rate`."""
    result = on("cuda/sgemm_naive.sm_90", "h100")
    counters = result.counters
    assert memory.flow(result).l1_hits == counters["l1_load_hit_rate"] > counters["l1_hit_rate"]
    assert counters["l1_sectors"] == counters["l1_load_sectors"] + counters["global_store_sectors"]
    assert counters["l1_load_sectors"] == counters["global_load_sectors"]


def test_what_goes_past_l1_is_named() -> None:
    copies = on("cuda/hgemm_async.sm_90", "h100")
    counters, chart = copies.counters, memory.chart(copies)
    assert "no load asks" in chart
    assert "past L1: 1.00 MiB of loads (LDGSTS.E.BYPASS.128)" in chart
    assert counters["l1_passed_sectors"] == counters["global_load_sectors"] == counters["l2_sectors_read"] + counters["l2_joined_sectors"]
    bulk = on("cuda/hgemm_packed.sm_90", "h100")
    assert "past L1 and the registers: 512 KiB of bulk loads" in memory.chart(bulk)
    assert "256 KiB were not read from L2 again" in memory.chart(bulk)
    assert bulk.counters["bulk_load_sectors"] == bulk.counters["l2_sectors_read"] + bulk.counters["l2_joined_sectors"]


def test_no_access_and_fixed_latencies_have_no_chart() -> None:
    assert memory.chart(chain_on(sim.gpu("gtx480"), 1, 6)) == ""
    assert memory.chart(add_one(sim.gpu("textbook"), 4)) == ""


def test_atomics_are_a_kind_of_their_own() -> None:
    assert "global atomics" in {row.kind for row in memory.accesses(on("atomics/histogram_global", "h100"))}


@pytest.mark.parametrize("program", ["copy/copy_1_float", "shared/transpose_tile"])
def test_the_figure_says_what_moved(program: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    result = on(program, "h100")
    memory_figure.save(result, tmp_path / "memory.svg")
    assert (tmp_path / "memory.svg").stat().st_size > 1000
    texts = [text.get_text() for text in memory_figure.figure(result).axes[0].texts]
    assert words.size(memory.flow(result).l1_read) in texts
    assert ("shared memory" in texts) == (program == "shared/transpose_tile")


def test_no_figure_without_a_hierarchy(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(UserError, match="fixed latency"):
        memory_figure.save(add_one(sim.gpu("textbook"), 4), tmp_path / "memory.png")


@pytest.mark.parametrize(
    ("number", "written"), [(0, "0 B"), (448, "448 B"), (45087, "44.0 KiB"), (8 << 20, "8.00 MiB"), (1023 << 10, "1,023 KiB")]
)
def test_bytes_have_three_digits_and_a_unit(number: int, written: str) -> None:
    assert words.size(number) == written


@pytest.mark.parametrize(
    ("gpu", "field", "value", "says"),
    [
        ("textbook", "l2.latency", 300, "one latency for every access"),
        ("g80", "l1.bytes", 16384, ""),
        ("gtx480", "core.group_size", 4, "no fetch groups"),
        ("gtx480", "l2.latency", 320, ""),
        ("gtx480", "memory.global_store", 9, "it has left the SM"),
        ("gtx480", "core.register_banks", 2, "obeys no control words"),
        ("h100", "core.read_window", 4, ""),
        ("h100", "clock.l2_mhz", 1500, ""),
        ("h100", "clock.dram_mhz", 2500, ""),
        ("gtx480", "fetch.ahead", 3, "code is always there"),
        ("h100", "fetch.ahead", 2, ""),
        ("h100", "units.fp32.wide_passes", 2, "only units.imad"),
        ("h100", "units.imad.wide_passes", 1, ""),
        ("h100", "units.mufu.reads", 2, ""),
        ("gtx480", "units.mufu.reads", 2, "without register banks"),
        ("gtx480", "lsu.store_wait", 9, "joins none"),
        ("h100", "lsu.store_wait", 9, ""),
        ("g80", "constants.cold", 9, "L2 does not start cold"),
        ("h100", "constants.cold", 9, ""),
    ],
)
def test_a_change_that_is_not_read_says_so(gpu: str, field: str, value: int, says: str) -> None:
    changed = sim.gpu(gpu).replace(
        {field: value} | ({"l1.latency": 100} if field == "l1.bytes" else {}) | ({"l2.bytes": 65536} if gpu == "textbook" else {})
    )
    (line,) = [change for change in changes(changed) if change.startswith(f"{field},")]
    assert says in line
    assert ("not read" in line) == bool(says)
    assert bool(unread(changed)) == bool(says)
