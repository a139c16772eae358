"""Interval analysis: one warp's schedule against the engine and the notes, regions and bytes, closed forms, the notes' worked numbers."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import isa
import sim
from isa.errors import UserError
from isa.loops import loops
from isa.vocabulary import Operation, Unit
from programs.intervals import level, worked
from programs.intervals.kernels import launch, part_of
from programs.intervals.loops import device
from programs.published import published
from sim.analysis.curve import curve, why_none
from sim.analysis.interval import Analysis, Hits, analyse
from sim.analysis.locality import locality
from sim.analysis.mwp_cwp import opinion
from sim.analysis.region import find
from sim.analysis.roofline import flops_of, roofline
from sim.analysis.schedule import schedule
from sim.launch.file import load_launch
from sim.traces.trace import SCATTERED, Trace

PROGRAMS = Path(__file__).parents[2] / "programs"
INTERVALS = PROGRAMS / "intervals"


def executed(path: str) -> Trace:
    return sim.execute(load_launch(PROGRAMS / path).launch)


def analysed(kernel: str, gpu: str, hits: Hits | None = None) -> Analysis:
    return analyse(executed(f"intervals/{kernel}.toml"), sim.gpu(gpu), hits)


@pytest.mark.parametrize(("name", "to_last", "latency"), [("simple_loop", 410, 411), ("actual_loop", 416, 417)])
def test_every_time_of_the_notes(name: str, to_last: int, latency: int) -> None:
    found = analyse(executed(f"intervals/{name}.toml"), device())
    rows = published(INTERVALS)[name]["instructions"]
    assert [step.issue for step in found.steps] == [row["issue"] for row in rows]
    assert all(step.ready == row["ready"] for step, row in zip(found.steps, rows, strict=True) if "ready" in row)
    assert (found.to_last, found.latency) == (to_last, latency)


MACHINES = st.fixed_dictionaries(
    {
        "units.fp32.latency": st.integers(1, 30),
        "units.int32.latency": st.integers(1, 30),
        "units.branch.pipe": st.sampled_from(["branch", "fp32"]),
        "pipes.fp32.lanes": st.sampled_from([8, 16, 32]),
        "pipes.fp32.owner": st.sampled_from(["sm", "scheduler"]),
        "pipes.ldst.lanes": st.sampled_from([4, 8, 32]),
        "core.issue_width": st.integers(1, 2),
        "core.issue_interval": st.integers(1, 2),
        "core.reissue_distance": st.integers(1, 6),
        "core.branch_latency": st.integers(1, 12),
        "core.dispatch": st.sampled_from(["pipe", "scheduler"]),
        "memory.global_load": st.integers(5, 400),
    }
)
ALONE = [
    load_launch(INTERVALS / "actual_loop.toml").launch,
    launch("add_one", 1, 1, 3),
    launch("mxv_wide_rows", 1, 1, 2),
    launch("mxv_per_thd", 1, 1, 2),
]
TRACES = [sim.execute(one) for one in ALONE]


@settings(max_examples=40, deadline=None)
@given(MACHINES, st.sampled_from(range(len(TRACES))))
def test_one_warp_is_scheduled_as_the_engine_issues_it(fields: dict, number: int) -> None:
    trace, gpu = TRACES[number], sim.gpu("textbook").replace({"sms": 1, **fields})
    timeline = sim.simulate(trace, gpu, timeline=(0, 100_000)).timeline
    assert timeline is not None
    steps = schedule(gpu, trace.program, trace.arrays.instruction.tolist())
    assert [step.issue for step in steps] == timeline.cycle.tolist()


def test_every_worked_number_of_the_notes() -> None:
    found = {check.what: check for check in worked.checks()}
    assert [check.what for check in found.values() if check.passed is False] == []
    assert sum(check.passed is True for check in found.values()) == 45
    corrected = {what: check.simulated for what, check in found.items() if check.note.startswith("slip")}
    assert corrected == {
        "L(K0) in the remark on units": "L_M + MN + 4M = 720, not 672",
        "GTX 1080, 4N stores: L; ns; P; per SM": "720; 416.2; 1041.4; 52.1",
        "GTX 1080: Q with theta_IM = 32 per SM": "224; with 4N stores 240",
        "K20 at 706 MHz: ns; P; per SM; with 4N stores": "951.8; 1546.7; 119.0; 126.8",
        "K20: Q with an SMX's 192 FP32 and 32 load/store lanes": "288.0",
        "K20: the same, loads and stores counted once; with Kepler's lanes": "260.9; 284.1",
        "mxv_lc_s: P with 320.3 GB/s": "5600.6",
        "mxv_lc_s: warps per SM": "8.76: 9",
        "mxv_per_thd: P as its formula prints it, 320.8 GB/s": "11520.1",
    }


def test_a_number_that_does_not_come_out_fails() -> None:
    assert worked.number("truncated", 4341, 4341.9).passed
    assert not worked.number("off by one", 4341, 4342.5).passed


@pytest.mark.parametrize(
    ("kernel", "gpu", "asked", "loaded", "stored", "dram"),
    [
        ("add_one", "gtx1080", 8, 4, 4, 8),
        ("mxv_lcs", "gtx1080", 1024, 512, 512, 128),  # every 4-byte access moves a sector
        ("mxv_lcs", "h100", 1024, 64, 512, 128),  # whose L1 keeps what its warp loaded
        ("mxv_per_thd", "gtx1080", 36, 32, 4, 8),
    ],
)
def test_bytes_per_thread_from_the_addresses(kernel: str, gpu: str, asked: int, loaded: int, stored: int, dram: int) -> None:
    assert analysed(kernel, gpu).traffic == (asked, loaded, stored, dram)


def test_assumed_hits_take_the_place_of_the_addresses() -> None:
    missed, mixed = analysed("mxv_lc_s", "gtx1080", Hits()), analysed("mxv_lc_s", "gtx1080", Hits(l2=7 / 8, kept=7 / 8))
    addresses = analysed("mxv_lc_s", "gtx1080")
    assert missed.latency - mixed.latency == pytest.approx(14 * (482 - 216), abs=16)  # each latency is rounded
    assert mixed.latency == pytest.approx(addresses.latency, abs=16)
    assert (missed.traffic.dram, mixed.traffic.dram) == (1024, 128)


def test_scattered_loads_are_counted_sector_by_sector() -> None:
    """Against a count access by access, in launch order, of a kernel that gathers."""
    trace = executed("cuda/gather.sm_90.sass")
    arrays, operation = trace.arrays, trace.program.encoded.operation
    asked, first, seen = 0, 0, set()
    for warp, path in enumerate(arrays.warp_path.tolist()):
        at = int(arrays.access_start[warp])
        for entry in range(int(arrays.path_start[path]), int(arrays.path_start[path + 1])):
            i = int(arrays.instruction[entry])
            if operation[i] not in (Operation.LOAD, Operation.STORE):
                continue
            base, stride = int(arrays.access_base[at]), int(arrays.access_stride[at])
            row = arrays.scattered[base].tolist() if stride == SCATTERED else [base + stride * lane for lane in range(32)]
            mask, at = int(arrays.mask[entry]), at + 1
            sectors = {(address // 32, int(operation[i])) for lane, address in enumerate(row) if mask >> lane & 1}
            asked, first = asked + len(sectors), first + len(sectors - seen)
            seen |= sectors
    where = locality(trace, sim.gpu("h100"))
    assert (arrays.access_stride == SCATTERED).any()
    assert (int(where.asked.sum()), int(where.first.sum())) == (asked, first)
    assert (where.to_dram <= where.to_l2).all()
    assert (where.to_l2 <= where.accesses).all()


NESTED = """
.kernel nested
.shared 128
    MOV R0, 4
.Outer:
    MOV R1, 10
.Inner:
    IADD32I R1, R1, -1
    FFMA R2, R2, R2, R2
    ISETP.NE.AND P0, PT, R1, RZ, PT
    @P0 BRA .Inner
    BAR.SYNC 0x0
    STS [RZ], R2
    BAR.SYNC 0x0
    FADD R3, R3, 1
    IADD32I R0, R0, -1
    ISETP.NE.AND P0, PT, R0, RZ, PT
    @P0 BRA .Outer
    EXIT
"""


def nested() -> Trace:
    return sim.execute(sim.Launch(isa.parse(NESTED), (1,), (32,)))


def test_loops_are_found_by_themselves() -> None:
    trace = nested()
    outer, inner = loops(trace.program.encoded)
    assert (outer.header, inner.header) == (trace.program.labels[".Outer"], trace.program.labels[".Inner"])
    assert set(inner.instructions) < set(outer.instructions)
    hottest = find(trace)
    assert hottest.loop == inner
    assert (hottest.warps, len(hottest.path)) == (40, 4)
    assert len(find(trace, ".Outer").path) == 1 + 40 + 7
    with pytest.raises(UserError, match="no label is called"):
        find(trace, ".Else")


def test_barriers_divide_a_loop() -> None:
    found = analyse(nested(), sim.gpu("textbook"), label=".Outer")
    first, second = found.intervals
    assert [len(first.path), len(second.path)] == [46, 2]  # the last barrier's part goes on at the loop's head
    assert found.latency == first.latency + second.latency
    assert found.time(32, 32) == found.latency
    assert found.time(32, 64) == 2 * found.latency


def test_the_smallest_number_of_threads_binds() -> None:
    found = analysed("add_one", "gtx1080")
    assert found.binding.name == "data L2-DRAM"
    assert found.threads == min(one.threads(found.latency) for one in found.resources)
    full = found.threads
    assert found.time(full, 100 * full) == pytest.approx(100 * found.latency, rel=0.02)
    assert found.time(4 * full, 100 * full) == pytest.approx(100 * found.latency, rel=0.02)  # more do not help
    assert found.time(full / 2, 100 * full) == pytest.approx(200 * found.latency, rel=0.02)


def test_a_narrow_l1_binds_loads_that_many_lanes_share() -> None:
    """15.7 bytes per cycle: 9 cycles for each of 17 instructions."""
    found = analysed("mxv_per_thd", "gtx1080")
    assert found.binding.name == "data L1-registers"
    assert 32 * 20 * found.binding.cycles == pytest.approx(9 * 17)
    assert analyse(executed("intervals/mxv_per_thd.toml"), found.gpu.replace({"l1.bytes_per_cycle": 128})).binding.name == "data SM-L2"


def test_the_roof() -> None:
    found = analysed("mxv_lcs", "gtx1080")
    roof = roofline(found.gpu, flops_of(found.program, found.region.path), found.traffic.dram)
    assert roof.intensity == 512 / 128
    assert roof.attainable == pytest.approx(4 * 320e9 * 0.84)
    assert roofline(found.gpu, 1, 0).attainable == found.gpu.peak_fp32_flops


def test_hong_and_kim_in_each_case() -> None:
    found = analysed("add_one", "gtx1080")
    alone, many = opinion(found, 1), opinion(found, 64)
    assert (alone.warps, alone.binding, many.binding) == (1, "too few warps", "memory")
    assert alone.cycles == pytest.approx(found.latency, rel=0.05)
    assert many.mwp == pytest.approx(min(many.mwp_without_bandwidth, many.mwp_peak_bandwidth))
    assert many.cycles >= many.warps * 32 * found.gpu.sms * 4 * found.binding.cycles * 0.95
    assert opinion(analyse(executed("volkov/ffma_ilp1.sass"), sim.gpu("gtx480")), 40).binding == "computation"


def test_the_curve_stays_above_the_analysis() -> None:
    gpu = part_of(sim.gpu("gtx1080"), 4).replace({"l2.start": "cold"})
    one = launch("mxv_per_thd", gpu.sms, 8, 4)
    trace = sim.execute(one)
    found = analyse(trace, gpu)
    points = curve(found, one, lambda launch, gpu: ((run := sim.execute(launch)), sim.simulate(run, gpu)), (1, 4, 7, 128))
    assert [point.warps for point in points] == [1, 4, 7]
    assert all(point.simulated >= point.bound and point.iterations == 5 * 8 * 32 * 4 for point in points)
    tiled = load_launch(PROGRAMS / "cuda/transpose.sm_90.sass").launch
    assert "blocks of 8 warps" in why_none(analyse(sim.execute(tiled), sim.gpu("h100")), tiled)


def test_the_notes_figure_of_one_output_per_thread() -> None:
    found = level.series("mxv_per_thd", part_of(sim.gpu("gtx1080"), 4).replace({level.LINES: level.NOTES_RATE}), (8, 12, 16, 20))
    assert found.level == 16
    assert found.at(8) < 75


def test_units_can_be_singled_out() -> None:
    found = analyse(executed("intervals/mxv_lcs.toml"), worked.device(), only=(Unit.FP32, Unit.GLOBAL))
    assert found.classes == {"load/store": 32, "FP32": 256}
    assert found.latency == 720
