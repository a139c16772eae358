"""The roofline of a run: numbers that follow from its counters, no run above a roof, words, figure and command."""

import json
from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from sim.analysis.bounds import bounds
from sim.analysis.roofline import DRAM, L1, L2, PEAK, SHARED, of_run
from sim.launch.file import load_launch
from sim.report.roofline import figure, text_of
from sim.report.view.page import page
from sim.report.view.roofline import BOTTOM, LEFT, RIGHT, TOP, rooflines
from sim.result.result import Result
from tests.unit.test_cli import PROGRAMS, refused, simtlab

ALL = ("saxpy", "copy/copy_8_float4", "sgemm/sgemm_4", "reduce_shared", "shared/transpose_naive", "access/random", "volkov/ffma_ilp4")


def on(program: str, gpu: str) -> Result:
    return sim.run(load_launch(PROGRAMS / f"{program}.sass").launch, sim.gpu(gpu))


def test_the_numbers_are_those_of_the_run() -> None:
    result = on("saxpy", "gtx480")
    roof, threads = of_run(result), 256 * result.grid[0]
    assert list(roof.levels) == [L1, L2, DRAM]
    assert roof.flops == 2 * threads
    assert roof.levels[DRAM].bytes == result.counters["dram_bytes_read"] + result.counters["dram_bytes_written"]
    assert roof.levels[L2].bytes == roof.levels[L1].bytes == 12 * threads  # two loads and a store, none twice
    assert roof.achieved == pytest.approx(roof.flops * 1401e6 / result.cycles)
    assert roof.used(DRAM) == pytest.approx(result.counters["dram_throughput"] / result.gpu.dram.efficiency)
    assert roof.limit == DRAM
    assert roof.achieved == pytest.approx(roof.used(DRAM) * roof.levels[DRAM].attainable)


COPY = """.kernel copy
.param ptr x
S2R R0, SR_TID.X
S2R R1, SR_CTAID.X
LOP.AND R1, R1, 0x3f
SHL R2, R1, 14
IMAD R2, R0, 16, R2
IADD R2, R2, c[0x0][x]
LDG.128 R4, [R2]
LDG.128 R8, [R2+0x1000]
LDG.128 R12, [R2+0x2000]
LDG.128 R16, [R2+0x3000]
STG.128 [R2], R4
STG.128 [R2+0x1000], R8
STG.128 [R2+0x2000], R12
STG.128 [R2+0x3000], R16
EXIT"""


@pytest.mark.parametrize("write_port", [True, False])
def test_a_copy_within_l2_is_not_above_its_roof(write_port: bool) -> None:
    part = sim.gpu("h100").replace({"sms": 4, "l2.start": "warm", "l2.write_port": write_port, "l2.far": 0, "l1.global_loads": False})
    trace = sim.execute(sim.Launch(isa.parse(COPY), (1024,), (256,), (np.zeros(1 << 18, np.float32),)))
    result = sim.simulate(trace, part)
    assert 0.9 < of_run(result).shares[L2] <= 1
    assert max(one.cycles for one in bounds(trace, result)) <= result.cycles


@pytest.mark.parametrize("gpu", ["gtx480", "k20c", "h100"])
@pytest.mark.parametrize("program", ALL)
def test_no_run_is_above_a_roof(program: str, gpu: str) -> None:
    roof = of_run(on(program, gpu))
    assert 0 < max(roof.shares.values()) <= 1.0
    assert all(roof.achieved <= level.attainable * (1 + 1e-9) for level in roof.levels.values())


def test_conflicts_lower_the_intensity_of_shared_memory() -> None:
    result = on("sgemm/sgemm_4", "gtx480")
    assert of_run(result).levels[SHARED].bytes == 128 * result.counters["shared_wavefronts"]
    assert of_run(result).limit == SHARED


def test_without_a_hierarchy_there_is_the_peak_alone() -> None:
    roof = of_run(on("volkov/ffma_ilp4", "textbook"))
    assert (dict(roof.levels), roof.limit) == ({}, PEAK)
    assert "of FP32 peak" in text_of(roof)
    assert figure(roof).axes[0].get_xscale() == "log"


def test_a_run_without_flops_has_bandwidths_and_no_point() -> None:
    roof = of_run(on("copy/copy_8_float4", "gtx480"))
    assert "no FP32 operations" in text_of(roof)
    drawn = figure(roof).axes[0].get_lines()
    assert [line.get_marker() for line in drawn if line.get_marker() != "None"] == []
    assert json.loads(json.dumps(roof.as_dict()))["levels"][L2]["intensity"] == 0


def test_the_figure_has_a_roof_and_a_point_for_each_level() -> None:
    roof = of_run(on("sgemm/sgemm_4", "gtx480"))
    axes = figure(roof).axes[0]
    points = {tuple(line.get_xydata()[0]) for line in axes.get_lines() if line.get_marker() != "None"}
    assert points == {(level.intensity, roof.achieved / 1e9) for level in roof.levels.values()}
    assert [text.get_text().split(",")[0] for text in axes.get_legend().get_texts()] == list(roof.levels)


def test_the_command_prints_draws_and_writes_it(tmp_path: Path) -> None:
    drawn, plain = tmp_path / "roof.svg", tmp_path / "r.json"
    result = simtlab("run", PROGRAMS / "saxpy.sass", "--roofline", "--roofline-figure", drawn, "--json", plain)
    assert result.exit_code == 0, result.output
    assert "The lowest roof is that of DRAM" in result.stdout
    assert drawn.read_text().startswith("<?xml")
    assert json.loads(plain.read_text())["roofline"]["limit"] == DRAM
    assert ".png, .svg, .pdf" in refused("run", PROGRAMS / "saxpy.sass", "--roofline-figure", "roof.jpg")


def test_the_page_draws_each_run_where_its_numbers_are_on_axes_that_both_share() -> None:
    results = [on("saxpy", "gtx480"), on("saxpy", "h100")]
    drawings = [found["drawing"] for found in rooflines(results)]
    assert drawings[0]["across"] == drawings[1]["across"]
    assert drawings[0]["up"] == drawings[1]["up"]
    (x, ten), (y, gigaflops) = drawings[0]["across"][-1], drawings[0]["up"][0]
    assert (ten, gigaflops) == ("10", "10")
    decade_across, decade_up = x - drawings[0]["across"][-2][0], drawings[0]["up"][1][0] - y
    for result, drawn in zip(results, drawings, strict=True):
        roof = of_run(result)
        for level, (name, found) in zip(drawn["levels"], roof.levels.items(), strict=True):
            assert level["says"].startswith(f"{name}: {found.intensity:.3g} flop/B")
            across, up, allowed, _ = level["point"]
            assert across == pytest.approx(x + np.log10(found.intensity / 10) * decade_across, abs=0.5)
            assert up == pytest.approx(y + np.log10(roof.achieved / 1e10) * decade_up, abs=0.5)
            assert TOP < allowed < up < BOTTOM  # below its roof
            assert LEFT < across < RIGHT


def test_the_page_says_it_in_words_and_the_lab_shows_the_same() -> None:
    result = sim.run(load_launch(PROGRAMS / "sgemm/sgemm_4.sass").launch, sim.gpu("gtx480"), timeline=(0, 100))
    for embedded in (False, True):
        text = page([result], embedded=embedded)
        assert text_of(of_run(result)).splitlines()[-1] in text
        assert text.count('class="mark"') == len(of_run(result).levels)
        assert ("<noscript>" in text) != embedded  # a frame gets it by script: the word would be seen although scripts run


def test_the_page_draws_no_points_without_flops_and_nothing_without_levels() -> None:
    copy, chain = rooflines([on("copy/copy_8_float4", "gtx480"), on("volkov/ffma_ilp4", "textbook")])
    assert [level["point"] for level in copy["drawing"]["levels"]] == [None] * 3
    assert "no FP32 operations" in copy["says"]
    assert (chain["drawing"], chain["rows"]) == (None, [])
    assert chain["limit"].startswith("The lowest roof is that of FP32 peak")


def test_neither_arithmetic_nor_memory_is_said_in_one_line() -> None:
    result = sim.run(sim.Launch(isa.parse("EXIT"), (1,), (32,), ()), sim.gpu("textbook"))
    assert text_of(of_run(result)) == "Roofline: no FP32 operations, so the run has no place under the roof"
