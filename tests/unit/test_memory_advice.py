"""What binds in the memory system is named, on kernels that were made to show it, with the numbers of their counters."""

import functools
import re
from pathlib import Path
from typing import Any

import pytest

import sim
from sim.analysis import little
from sim.causes.advice import diagnose
from sim.causes.memory_advice import MEMORY_FULL, uses, waste
from sim.launch.file import load_launch
from sim.report.memory import chart
from sim.result.result import Result

PROGRAMS = Path(__file__).parents[2] / "programs"


@functools.cache
def trace(program: str) -> Any:
    return sim.execute(load_launch(PROGRAMS / f"{program}.sass").launch)


def on(program: str, gpu: str, **changes: Any) -> Result:
    """Run a program; changes: fields of the GPU, "__" for the dot. The GTX 480 has no block overhead here, so that one thing binds."""
    alone = {"blocks.retire_latency": 0, "lsu.depth": 8} if gpu == "gtx480" else {}
    wanted = alone | {name.replace("__", "."): value for name, value in changes.items()}
    return sim.simulate(trace(program), sim.gpu(gpu).replace(wanted))


def test_what_bulk_copies_moved_is_drawn_though_no_thread_loads() -> None:
    text = chart(on("cuda/hgemm_tma.sm_90", "h100"))
    assert "<-- 320 KiB --" in text
    assert "no load asks" in text


@pytest.mark.parametrize(
    ("program", "gpu", "changes", "kind", "says"),
    [
        ("copy/copy_1_float", "gtx480", {"dram__bandwidth": 40.0}, "dram", "fewer bytes from DRAM"),
        ("saxpy", "h100", {"dram__bandwidth": 1500.0}, "dram", "DRAM bandwidth binds"),
        ("copy/copy_1_float", "gtx480", {"limits__blocks": 1}, "bytes", "too few bytes in flight"),
        ("access/strided", "h100", {}, "uncoalesced", "touches 8 sectors of 32 bytes where neighbouring words would take 4"),
        ("shared/transpose_tile", "h100", {"sms": 4}, "conflicts", "takes 16.5 passes where 1 would do"),
        ("sgemm/sgemm_1", "gtx480", {"sms": 4}, "shared", "kept in registers"),
        ("atomics/histogram_global", "h100", {}, "l2_queue", "combine them in a warp or in shared memory"),
        ("cuda/hgemm_tma.sm_90", "h100", {}, "phases", "bulk copies that are asked for earlier (more stages)"),
        (
            "cuda/attention_wgmma.sm_90",
            "h100",
            {"warpgroup__column_cycles": 6},
            "barrier",
            "Warps wait for products of their group of four",
        ),
        (
            "cuda/attention_wgmma.sm_90",
            "h100",
            {"warpgroup__column_cycles": 7, "units__wgmma__pipe": "tensor", "dram__refresh": 0},
            "barrier",
            "the tensor pipe is only 88% used: products asked for earlier",
        ),
        ("copy/copy_1_float", "gtx480", {"blocks__start_interval": 20}, "blocks", "one each 20 cycles on the whole chip"),
        ("copy/copy_1_float", "gtx480", {"blocks__start_latency": 3000}, "blocks", "3000 go to starting and retiring it"),
        ("copy/copy_8_float", "gtx480", {"l2__bytes_per_cycle": 2.0}, "l2", "L2 bandwidth binds"),
        ("copy/copy_1_float", "gtx480", {"lsu__depth": 1, "lsu__interval": 60}, "queue", "1 instruction"),
        (
            "cuda/stencil.sm_90",
            "h100",
            {"fetch__first": 0, "dram__refresh": 0},
            "latency",
            "Caches bring most of it (17% of the bytes loaded",
        ),
    ],
)
def test_what_binds_is_named(program: str, gpu: str, changes: dict[str, Any], kind: str, says: str) -> None:
    verdict = diagnose(on(program, gpu, **changes))
    assert verdict.kind == kind, verdict.sentence
    assert says in verdict.sentence


def test_shared_memory_bounds_the_flops_as_it_was_published() -> None:
    """One output per thread: two loads per multiply-add, 336 Gflop/s (V. Volkov, GTC 2010); the stores of the tiles take 3 % of it."""
    found = re.search(r"no more than ([\d,]+) Gflop/s", diagnose(on("sgemm/sgemm_1", "gtx480", sms=4)).sentence)
    assert found
    assert int(found.group(1)) * 15 / 4 == pytest.approx(336, rel=0.04)


def test_padding_takes_the_conflicts_away() -> None:
    assert diagnose(on("shared/transpose_padded", "h100")).kind != "conflicts"


def test_more_bytes_in_flight_are_a_cure_where_they_were_said_to_be() -> None:
    few, more = (on("copy/copy_1_float", "gtx480", limits__blocks=blocks) for blocks in (1, 8))
    assert diagnose(few).kind == "bytes"
    assert more.cycles < few.cycles / 3


def test_little_asks_for_the_latency_times_the_bandwidth_that_streams_reach() -> None:
    gpu = sim.gpu("gtx480")
    need = little.streams(gpu)
    result = on("copy/copy_1_float", "gtx480", limits__blocks=1)
    assert f"{need.latency} cycles x {need.bandwidth:,.0f} GB/s = {need.bytes / 1024:,.1f} KiB" in diagnose(result).sentence


@pytest.mark.parametrize("program", ["copy/copy_1_float", "copy/copy_8_float2", "copy/copy_8_float4"])
def test_neighbouring_words_of_every_width_waste_nothing(program: str) -> None:
    assert waste(on(program, "gtx480")) == pytest.approx(1.0)


def test_a_stride_of_two_wastes_half() -> None:
    assert waste(on("access/strided", "h100")) == pytest.approx(2.0)


def test_what_is_used_is_a_share() -> None:
    full = uses(on("copy/copy_1_float", "gtx480", dram__bandwidth=40.0))
    assert MEMORY_FULL < full["dram"] < 1.1
    assert 0 < full["l2"] < 1
    assert full["shared"] == 0
