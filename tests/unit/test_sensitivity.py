"""What `sensitivity` names as binding is what a reader of the kernel expects; no run beats its bounds; idealised traces stay traces."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from programs.steady import shared_for
from sim.analysis.bounds import bounds
from sim.bench import chain
from sim.causes.sensitivity import Bar, ideal, sensitivity
from sim.causes.sensitivity.limits import LIMITS, least_latencies
from sim.causes.sensitivity.steps import SKIPPED, Step, _legal, neighbours, steps
from sim.cli.options import assignments
from sim.gpus.model import Gpu
from sim.launch.file import load_launch
from sim.launch.launch import Launch
from sim.report import sensitivity as views
from sim.report.gpus import value
from sim.traces.trace import Trace

PROGRAMS = Path(__file__).parents[2] / "programs"
GTX480 = sim.gpu("gtx480")
COPY = """
.kernel copy
.param ptr dst
.param ptr src
.param u32 passes
.param u32 step
        S2R R0, SR_TID.X
        S2R R1, SR_CTAID.X
        S2R R2, SR_NTID.X
        IMAD R0, R1, R2, R0
        SHL R0, R0, 2
        IADD R2, R0, c[0x0][src]
        IADD R4, R0, c[0x0][dst]
        MOV R3, RZ
        MOV R5, RZ
        MOV R8, c[0x0][passes]
.Loop:  LD.E R6, [R2]
        IADD32I R8, R8, -1
        ISETP.NE.AND P0, PT, R8, RZ, PT
        ST.E [R4], R6
        IADD R2, R2, c[0x0][step]
        IADD R4, R4, c[0x0][step]
   @P0  BRA .Loop
        EXIT
"""


def copy(threads: int, blocks: int, passes: int) -> Trace:
    """Return a copy that goes over its arrays in steps of the grid, with so many blocks on each SM of a GTX 480."""
    grid = GTX480.sms * blocks
    arrays = [np.zeros(grid * threads * passes, np.float32) for _ in range(2)]
    args = (*arrays, np.uint32(passes), np.uint32(4 * grid * threads))
    shared = shared_for(GTX480, blocks) if blocks < GTX480.limits.blocks else 0
    return sim.execute(Launch(isa.parse(COPY), grid=(grid,), block=(threads,), args=args, shared_dynamic=shared))


def listing(name: str, **changes: object) -> Trace:
    return sim.execute(load_launch(PROGRAMS / name, **changes).launch)


DIRTY = GTX480.replace({"l2.start": "dirty"})  # as in the middle of a long run
KERNELS = {
    "FFMA chain, 4 warps": (lambda: sim.execute(chain(1, 4, 2)), GTX480, "arithmetic latency"),
    "FFMA chain, 48 warps": (lambda: sim.execute(chain(2, 24, 1)), GTX480.replace({"sms": 1}), "issue"),
    "copy at 4 %": (lambda: copy(64, 1, 20), DIRTY, "bytes in flight"),
    "copy at 100 %": (lambda: copy(192, 8, 4), DIRTY, "DRAM bandwidth"),
    "stride 32": (lambda: listing("access/strided.toml", grid=[40], args={"stride": 32}), GTX480, "sectors"),
    "SGEMM, 1 output": (lambda: listing("sgemm/sgemm_1.toml"), GTX480, "shared memory"),
}


@pytest.mark.parametrize("name", KERNELS)
def test_the_limit_named_is_the_one_a_reader_expects(name: str) -> None:
    make, gpu, expected = KERNELS[name]
    trace = make()
    found = sensitivity(trace, gpu, parameters=False)
    assert found.binding is not None
    assert found.binding.limit.name == expected, [(one.limit.name, round(one.speed_up, 3)) for one in found.removed]
    assert found.binding.speed_up > 1.05
    assert all(bound.cycles <= found.result.cycles for bound in found.bounds), found.bounds
    single = sim.simulate(*found.binding.limit.remove(trace, gpu, found.result))
    assert single.cycles == found.binding.cycles


def test_parameters_move_the_run_as_far_as_they_should() -> None:
    found = sensitivity(sim.execute(chain(1, 4, 1)), GTX480)
    assert found.bars[0].step[:4] == ("units.fp32.latency", 18, 16, 20)
    assert found.bars[0].lower == pytest.approx(18 / 16, rel=0.02)
    assert found.bars[0].higher == pytest.approx(18 / 20, rel=0.02)
    assert not [bar for bar in found.bars if bar.step.field.startswith(("units.fp64", "units.mufu", "pipes.sfu"))]  # not used


def test_two_limits_that_only_together_bind_are_named() -> None:
    gpu = GTX480.replace({"sms": 1, "core.schedulers": 8})  # each issues every other cycle, and has a pipe that takes as long
    found = sensitivity(sim.execute(chain(2, 24, 1)), gpu.replace({"units.fp32.latency": 4}), parameters=False)
    assert found.binding is None
    assert found.pair is not None
    assert {one.limit.name for one in found.pair[:2]} == {"pipes", "issue"}
    assert found.pair[2] > 1.5


def test_an_idealised_trace_takes_the_same_time_in_both_engines() -> None:
    trace = listing("shared/transpose_tile.toml", grid=[1, 1])
    result = sim.simulate(trace, GTX480)
    tried = 0
    for limit in LIMITS:
        if limit.name in ("sectors", "bank conflicts", "shared memory", "barriers", "bytes in flight", "perfect L1"):
            machine = limit.remove(trace, GTX480, result)
            if machine is not None:
                tried += 1
                assert sim.simulate(*machine).cycles == sim.simulate(*machine, engine="simpy").cycles, limit.name
    assert tried >= 3


def test_ideal_traces_have_what_their_names_say() -> None:
    trace = listing("access/strided.toml", grid=[2], args={"stride": 32})
    before, after = (sim.simulate(one, GTX480).counters for one in (trace, ideal.coalesced(trace)))
    assert (before["global_load_sectors"], after["global_load_sectors"]) == (16 * 32, 16 * 4)
    assert after["global_load_requests"] == before["global_load_requests"]
    shared = listing("shared/lds_stride_32.toml")
    before, after = (sim.simulate(one, GTX480).counters for one in (shared, ideal.without_conflicts(shared, "fermi")))
    assert before["shared_bank_conflicts"] > 0
    assert after["shared_bank_conflicts"] == 0
    assert after["shared_requests"] == before["shared_requests"]


@pytest.mark.parametrize("gpu", ["gtx480", "gt200", "h100", "textbook"])
def test_no_run_beats_its_bounds(gpu: str) -> None:
    files = [file.with_suffix(".toml") for file in sorted(PROGRAMS.glob("*/*.sass")) if file.parent.name not in ("cuda", "sgemm")]
    found = 0
    for file in files[::2]:
        trace, machine = sim.execute(load_launch(file).launch), sim.gpu(gpu)
        try:
            result = sim.simulate(trace, machine)
        except sim.UserError:  # a block does not fit
            continue
        found += 1
        assert not [bound for bound in bounds(trace, result) if bound.cycles > result.cycles], file
    assert found > 5


def test_no_run_under_control_words_beats_its_bounds() -> None:
    for name in ("reduce", "histogram", "mandelbrot"):
        program = isa.load(PROGRAMS / "cuda" / f"{name}.sm_90.sass")
        trace = sim.execute(load_launch(PROGRAMS / "cuda" / f"{name}.toml", program).launch)
        result = sim.simulate(trace, sim.gpu("h100"))
        found = bounds(trace, result)
        assert max(bound.cycles for bound in found) <= result.cycles
        chain_of = next(bound for bound in found if bound.kind == "latency")
        waited = result.cycles - sim.gpu("h100").fetch.first
        assert chain_of.cycles > 0.45 * waited  # all three wait for chains of results


@pytest.mark.parametrize("gpu", sim.gpus())
def test_every_preset_has_machines_without_latency_and_a_step_off(gpu: str) -> None:
    machine: Gpu = sim.gpu(gpu)
    trace = sim.execute(chain(1, 1, 1))
    assert len(list(steps(trace, machine))) > 8
    if machine.memory.kind == "hierarchy":
        assert least_latencies(machine).dram.latency < machine.dram.latency
    result = sim.simulate(trace, machine)
    for limit in LIMITS:
        limit.remove(trace, machine, result)


def test_a_step_is_ten_percent_or_what_makes_a_difference() -> None:
    assert neighbours("l2.latency", 300) == (270, 330)
    assert neighbours("core.schedulers", 2) == (1, 3)
    assert neighbours("pipes.fp32.lanes", 16) == (11, 32)
    assert neighbours("limits.registers", 65536) == (57344, 73728)
    assert neighbours("dram.bandwidth", 110.0) == pytest.approx((100.0, 121.0))


def test_a_trace_with_free_instructions_keeps_its_data_accesses_in_step() -> None:
    trace = listing("reduce_shared.toml")
    free = ideal.free(trace, ideal.touches(trace.program, (isa.vocabulary.Space.SHARED,)))
    result = sim.simulate(free, GTX480)
    assert result.counters["shared_requests"] == 0
    assert result.counters["global_load_sectors"] == sim.simulate(trace, GTX480).counters["global_load_sectors"]
    assert dataclasses.replace(free, launch=trace.launch, arrays=trace.arrays) == dataclasses.replace(trace)


def test_steps_of_caches_of_code_are_whole_sets_and_clocks_have_none() -> None:
    found = {step.field: step for step in steps(listing("saxpy.toml", grid=[1]), sim.gpu("h100"))}
    assert found["fetch.near_bytes"][1:] == (32768, 29696, 35840)
    assert found["fetch.bytes"][1:] == (131072, 118784, 143360)
    assert not [field for field in found if field.startswith("clock.") or field.endswith("fp32.wide_passes")]


def test_the_sentence_contradicts_no_row_of_the_table() -> None:
    """What gains more than the limit that is named stands in brackets; a limit that gains as much is said to."""
    found = sensitivity(listing("access/strided.toml", grid=[40], args={"stride": 32}), GTX480, parameters=False)
    assert found.binding
    best = found.removed[0]._replace(limit=found.removed[0].limit._replace(binds=False), speed_up=2 * found.binding.speed_up)
    alike = found.binding._replace(limit=found.binding.limit._replace(name="its twin"), speed_up=1.01 * found.binding.speed_up)
    again = found._replace(removed=[best, alike, found.binding])
    limits = views.tables(again)[0]
    names = [str(cell) for cell in limits.columns[0].cells]
    assert names == [f"({best.limit.name})", "its twin", f"{found.binding.limit.name} (binds)"]
    assert "in brackets: several limits at once, or a remedy" in str(limits.title)
    said = " ".join(views.verdict(again).split())
    assert f"without its twin alone it would gain as much ({alike.speed_up:.2f})" in said
    next_ = alike._replace(speed_up=0.9 * found.binding.speed_up, noise=1.0)
    said = " ".join(views.verdict(found._replace(removed=[best, found.binding, next_])).split())
    assert f"the next limit is its twin, {next_.speed_up:.2f}." in said


@pytest.mark.parametrize("gpu", sim.gpus())
def test_every_step_that_is_printed_can_be_set_as_it_stands(gpu: str) -> None:
    machine, numbers = sim.gpu(gpu), 0
    for name in machine.names():
        now = value(machine, name)
        if isinstance(now, bool) or not isinstance(now, int | float) or not now or name in SKIPPED:
            continue
        for candidate in neighbours(name, now, machine.core.warp_size):
            if _legal(machine, name, candidate) is not None:
                made = views.options(machine, name, candidate)
                changed = machine.replace(assignments(made, "--set"))
                assert value(changed, name) == pytest.approx(candidate, rel=1e-3)
                numbers += 1
    assert numbers > 30


def test_pipes_of_which_one_lies_in_the_other_are_one_step() -> None:
    trace, h100 = sim.execute(load_launch(PROGRAMS / "cuda" / "sgemm.sm_90.sass", grid=[1, 1]).launch), sim.gpu("h100")
    found = [step.field for step in steps(trace, h100)]
    assert "pipes.fp32.lanes" in found
    assert "pipes.imad.lanes" not in found


def test_a_step_of_tensor_lanes_is_printed_with_the_lanes_that_it_takes() -> None:
    h100 = sim.gpu("h100")
    found = sensitivity(listing("saxpy.toml", grid=[1]), h100, parameters=False)
    bar = Bar(Step("pipes.tensor.lanes", 16, 11, 32), 0.9, 1.1)
    assert "\n  --set pipes.tensor.lanes=11 --set pipes.fp64.lanes=11\n" in views.coupled(found._replace(bars=[bar]))
    with pytest.raises(UserError, match=r"pipes\.fp64"):
        h100.replace({"pipes.tensor.lanes": 11})
    assert views.as_dict(found._replace(bars=[bar]))["parameters"][0]["set_higher"] == ["pipes.tensor.lanes=32", "pipes.fp64.lanes=32"]
    assert not views.coupled(found._replace(bars=[bar._replace(step=Step("l2.latency", 300, 270, 330))]))
