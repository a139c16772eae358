"""The memory chart: its numbers are the counters, its arrows lead where the bytes went."""

import re
from pathlib import Path

import sim
from sim.gpus.path import SECTOR
from sim.launchfile import load_launch
from sim.report import memory
from sim.result import Result
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


def test_no_access_and_fixed_latencies_have_no_chart() -> None:
    assert memory.chart(chain_on(sim.gpu("gtx480"), 1, 6)) == ""
    assert memory.chart(add_one(sim.gpu("textbook"), 4)) == ""


def test_atomics_are_a_kind_of_their_own() -> None:
    assert "global atomics" in {row.kind for row in memory.accesses(on("atomics/histogram_global", "h100"))}
