"""The published experiments come out, and a check can fail."""

import functools
import re
from pathlib import Path

import numpy as np
import pytest

from isa.errors import UserError
from programs.coalescing.lecture import lecture_row
from programs.copy import sweep as copy_sweep
from programs.copy import volkov_copy
from programs.littles_law import needed
from programs.published import published
from programs.reproductions import REPRODUCTIONS, Reproduction, reproduce
from programs.sgemm import sgemm_ladder
from programs.steady import steady
from programs.volkov.checks import littles_law, published_checks
from programs.volkov.sweep import Sweep, chains, narrowed, resized, sweep
from sim.functional import execute
from sim.gpus.loader import load, names
from sim.report import curves
from sim.timing import simulate


@functools.cache
def volkov(gpu: str) -> Reproduction:
    return reproduce("volkov-tlp-ilp", gpu)


@pytest.mark.parametrize(("gpu", "judged"), [("gtx480", 8), ("g80", 2), ("gtx460", 2)])
def test_volkov_thresholds_are_those_of_the_slides(gpu: str, judged: int) -> None:
    checks = [check for check in volkov(gpu).checks if check.passed is not None]
    assert len(checks) == judged
    assert not [check for check in checks if not check.passed]


def test_a_perfect_scoreboard_misses_ilp_3_and_the_end_of_the_gain() -> None:
    shown = [check.simulated for check in volkov("gtx480").checks if check.what.startswith("perfect scoreboard")]
    assert shown == ["576", "320", "192", "192", "128", "128", "128", "128"]
    assert [str(littles_law(load("gtx480"), ilp)) for ilp in range(1, 9)] == shown


def test_a_narrowed_trace_is_that_of_the_smaller_block() -> None:
    gpu, launch = load("gtx480"), chains(2)
    part, whole = narrowed(execute(resized(launch, 512, gpu)), 96), execute(resized(launch, 96, gpu))
    for got, wanted in zip(part.arrays, whole.arrays, strict=True):
        assert np.array_equal(got, wanted)
    for name in ("executed", "active_lanes", "true_lanes"):
        assert np.array_equal(getattr(part, name), getattr(whole, name))
    assert simulate(part, gpu).cycles == simulate(whole, gpu).cycles


def test_the_fit_is_called_a_fit() -> None:
    preset = volkov("gtx480")
    assert sum("FITTED" in check.note for check in preset.checks) == 4
    assert any("FITTED" in note for note in preset.notes)
    assert any("FITTED" in curve.panel for curve in preset.curves)
    assert not any("FITTED" in note for note in volkov("g80").notes)


def test_every_time_of_the_notes_comes_out() -> None:
    found = reproduce("notes-loops")
    assert not [check for check in found.checks if check.passed is False]
    latencies = [check.simulated for check in found.checks if "latency" in check.what]
    assert latencies == ["410", "411", "416", "417"]


def test_a_missed_threshold_fails() -> None:
    flat = Sweep((32, 64, 96), dict.fromkeys(range(1, 9), (50.0, 99.0, 99.5)))
    published = {"threshold": [{"ilp": 1, "threads": 64, "slide": ""}, {"ilp": 2, "threads": 96, "slide": ""}]}
    published |= {"ceiling": [{"ilp": 1, "at_most": 67, "slide": ""}]}
    assert [check.passed for check in published_checks(published, flat)] == [True, False, False]


def test_a_gpu_with_a_shorter_latency_needs_fewer_threads() -> None:
    quick = load("gtx480").replace({"units.fp32.latency": 10, "limits.threads_per_block": 384})
    assert sweep([quick])[0].threshold(1) == littles_law(quick, 1) == 320


def test_the_figure_is_drawn(tmp_path: Path) -> None:
    found = volkov("g80")
    curves.save(found.curves, tmp_path / "g80.png", title=found.title, x_label=found.x_label, y_label=found.y_label)
    assert (tmp_path / "g80.png").stat().st_size > 10_000
    with pytest.raises(UserError, match="which kind of figure"):
        curves.save(found.curves, tmp_path / "g80")


def test_an_unknown_name_says_what_there_is() -> None:
    with pytest.raises(UserError, match=", ".join(REPRODUCTIONS)):
        reproduce("zzz")
    with pytest.raises(UserError, match="did you mean volkov-copy or volkov-demmel or volkov-tlp-ilp"):
        reproduce("volkov")


def test_the_lectures_coalescing_rows_come_out_in_the_reading_that_each_is_about() -> None:
    checks = {check.what: check for check in reproduce("coalescing").checks}
    assert all(check.passed for check in checks.values())
    above = checks["L2 stride above 32"]
    assert above.simulated == "32 sectors, 12.5%; 32 lines, 3.125%"
    assert "the slide errs" in above.note
    assert checks["L2 offset"].simulated == "5 sectors, 80%; 2 lines, 50%"


@pytest.mark.parametrize(("name", "judged"), [("volkov-copy", 6), ("sgemm-ladder", 22), ("fft", 1), ("h100-core", 14)])
def test_experiments_come_out(name: str, judged: int) -> None:
    checks = [check for check in reproduce(name).checks if check.passed is not None]
    assert len(checks) == judged
    assert not [check for check in checks if not check.passed]


def test_the_talks_parallelism_is_that_of_the_presets() -> None:
    judged = list(needed.judged(published(needed.FOLDER), names()))
    assert len(judged) == 5
    assert not [check for check in judged if not check.passed]


def test_littles_law_stands_beside_a_simulated_copy() -> None:
    """On one preset: the copies on others take long, and nothing is judged by them."""
    checks = reproduce("littles-law", "gtx480").checks
    assert all(check.passed for check in checks if check.passed is not None)
    copy = next(check for check in checks if check.what == "gtx480: copy of 1 float per thread, saturated")
    law, counted = (float(re.search(r"(\d+) KB", text)[1]) for text in (copy.published, copy.simulated))  # type: ignore[index]
    assert counted == pytest.approx(law, rel=0.1)


COPIED = copy_sweep.Point(warps=4, occupancy=25.0, percent=80.0, gigabytes=142.0, in_flight=20e3, latency=600.0, resident=92160)


def test_a_copy_that_misses_its_published_points_fails() -> None:
    full = COPIED._replace(warps=48, occupancy=100.0, percent=85.0)
    copies = dict.fromkeys(("1_float", "4_float", "8_float4"), (COPIED, full))
    published = {
        "reaches": [{"copy": "8_float4", "warps": 4, "percent": 87, "within": 2}],
        "saturates": [{"copy": "4_float", "occupancy": 25, "within": 3}],
        "climbs": {"copy": "1_float", "occupancy": 25},
        "in_flight": {"kilobytes": 100, "within": 20},
    }
    assert [check.passed for check in volkov_copy.judged(published, copies, load("gtx480"))] == [False] * 4
    level = dict.fromkeys(copies, (COPIED._replace(percent=85.0, in_flight=45e3), full))
    assert [check.passed for check in volkov_copy.judged(published, level, load("gtx480"))] == [True] * 4


def test_a_copy_skips_occupancies_that_its_registers_forbid() -> None:
    gpu = copy_sweep.machine(load("gtx480"))
    assert copy_sweep.copying(gpu, "14_float4", 192, 3) is None


def test_an_ordinary_queue_binds_sgemm_before_shared_memory() -> None:
    """8 places of 20 cycles each cannot pass an instruction every 2 cycles: the reason for the preset's depth."""
    gpu = load("gtx480")
    traces = sgemm_ladder.slices(gpu, 1)
    deep, shallow = (sgemm_ladder.rung(gpu.replace({"lsu.depth": depth}), 1, traces) for depth in (16, 8))
    assert shallow.gigaflops < 0.9 * deep.gigaflops < 0.9 * deep.bound


def test_a_wrong_coalescing_statement_fails() -> None:
    row = {"what": "stride 2", "patterns": ["stride:2"], "reading": "sectors", "transactions": 8, "percent": 50.0}
    assert lecture_row(row).passed
    for wrong in ({"transactions": 7}, {"percent": 33.0}, {"reading": "lines"}, {"bytes": 128}, {"patterns": ["stride:2", "stride:3"]}):
        assert not lecture_row(row | wrong).passed


@pytest.mark.slow
def test_what_bounds_a_copy_is_what_helps_most() -> None:
    gpu = copy_sweep.machine(load("gtx480"))
    relief = {
        copy_sweep.PINS: {"dram.bandwidth": 2 * gpu.dram.bandwidth},
        copy_sweep.BLOCKS: {"blocks.retire_latency": 0},
        copy_sweep.LATENCY: {"dram.latency": 315},
    }
    for copy, threads, blocks in (("1_float", 192, 2), ("1_float", 192, 8), ("4_float", 64, 1), ("8_float2", 192, 1), ("14_float4", 64, 1)):
        traces = copy_sweep.copying(gpu, copy, threads, blocks)
        point = copy_sweep.point(gpu, copy, threads, blocks)
        assert traces is not None
        assert point is not None
        cycles = {name: steady(*traces, gpu.replace(fields)).cycles for name, fields in relief.items()}
        assert min(cycles, key=cycles.__getitem__) == point.bound, (copy, threads, blocks)
