"""The reference engine's own doors: stepping, looking, what it refuses. That it is right, tests/timing and tests/differential show."""

import dataclasses
import doctest
import subprocess
import sys

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from sim import reference, timing
from sim.gpus.loader import load
from sim.reference import Session, session
from sim.reference.views import SchedulerView, dependence_name
from sim.traces.trace import Trace
from tests.compare import differences, first_difference

LISTING = """
.kernel two_warps_meet
.shared 256
.param ptr out
    LDS R2, [R0]
    MOV R4, c[0x0][out]
    FADD R3, R2, 1.0
    BAR.SYNC 0
    STG [R4], R3
    EXIT
"""
TOY = {"sms": 1, "core.schedulers": 2, "core.barrier_latency": 3, "memory.shared_load": 20, "memory.global_store": 9}


@pytest.fixture(scope="module")
def trace() -> Trace:
    """Return the trace of one block of two warps."""
    return sim.execute(sim.Launch(isa.parse(LISTING), grid=(1,), block=(64,), args=(np.zeros(1, np.float32),)))


@pytest.fixture
def machine(trace: Trace) -> Session:
    return Session(trace, load("textbook").replace(TOY))


def test_the_example_is_true() -> None:
    found = doctest.testmod(session)
    assert found.attempted > 0
    assert found.failed == 0


def test_stepping_goes_cycle_by_cycle_and_stops_at_the_end(machine: Session, trace: Trace) -> None:
    assert (machine.cycle, machine.warps()) == (0, [])
    assert [machine.step(), machine.step(3), machine.run_until(9), machine.run_until(5)] == [1, 4, 9, 9]
    assert not machine.finished
    length = machine.step(10_000)
    assert machine.finished
    assert machine.step() == machine.result().cycles == length
    assert machine.warps() == []
    assert first_difference(machine.result(), timing.simulate(trace, load("textbook").replace(TOY))) is None


def test_events_are_found_in_their_cycle(machine: Session) -> None:
    assert machine.run_until_event("block") == 0
    assert machine.run_until_event("issue") == 4  # the load holds the scheduler while its 32 threads go into 8 lanes
    released = machine.run_until_event("barrier")
    ended = machine.run_until_event("block")
    assert machine.run_until_event("issue") is None
    assert (released, ended) == (21, 33)  # FADD waits for the load until 20; the store issues at 24 and takes 9
    assert machine.result().cycles == 33


def test_events_have_names(machine: Session) -> None:
    with pytest.raises(UserError, match="no event is called 'warp'"):
        machine.run_until_event("warp")


def test_a_waiting_warp_says_why_and_until_when(machine: Session) -> None:
    machine.run_until(10)
    first, second = machine.warps()
    assert (first.sm, first.scheduler, first.block, first.warp) == (0, 0, 0, 0)
    assert (second.scheduler, second.warp) == (1, 1)
    assert (first.pc, first.text, first.state, first.why, first.until) == (2, "FADD R3, R2, 1.0;", "waiting", "short_scoreboard", 20)
    assert [(item.name, item.why, item.until) for item in machine.scoreboard(first)] == [("R2", "short_scoreboard", 20)]


def test_a_warp_at_a_barrier_waits_for_nobody_knows_how_long(trace: Trace) -> None:
    machine = Session(trace, load("textbook").replace(TOY | {"core.schedulers": 1}))
    machine.run_until_event("barrier")
    assert [(warp.why, warp.until) for warp in machine.warps()] == [("barrier", machine.cycle - 1 + 3)] * 2
    early = Session(trace, load("textbook").replace(TOY | {"core.schedulers": 1}))
    early.run_until(machine.cycle - 1)
    assert [(warp.why, warp.until) for warp in early.warps() if warp.why == "barrier"] == [("barrier", None)]


def test_ready_and_draining_warps(trace: Trace) -> None:
    machine = Session(trace, load("textbook").replace(TOY | {"core.schedulers": 1}))
    machine.step()
    states = [(warp.state, warp.why) for warp in machine.warps()]
    assert states == [("waiting", "wait"), ("ready", "")]
    assert machine.schedulers() == [SchedulerView(sm=0, scheduler=0, free=False, last=0, warps=2, ready=1)]
    while machine.warps()[0].state != "draining":
        machine.step()
    warp = machine.warps()[0]
    assert (warp.text, warp.why, warp.until) == ("EXIT;", "drain", machine.run_until_event("block"))
    with pytest.raises(UserError, match="block 0 is not resident"):
        machine.scoreboard(warp)


def test_dependences_are_named_as_in_a_listing() -> None:
    assert [dependence_name(number) for number in (7, 258, 263, 265)] == ["R7", "P2", "CC", "B1"]


def test_a_block_that_does_not_fit_is_refused_by_both_engines(trace: Trace) -> None:
    small = load("textbook").replace({"limits.shared_bytes": 128, "limits.shared_per_block": 128})
    messages = []
    for engine in (timing, reference):
        with pytest.raises(UserError) as caught:
            engine.simulate(trace, small)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_without_simpy_the_message_says_what_to_install() -> None:
    script = "import sys; sys.modules['simpy'] = None; import sim.reference"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "pip install 'simtlab[reference]'" in done.stderr


def test_a_difference_is_one_line_first_in_time(trace: Trace) -> None:
    results = [reference.simulate(trace, load("textbook").replace(TOY | change), (0, 99)) for change in ({}, {"memory.shared_load": 21})]
    lines = list(differences(*results))
    where = "cycle 0, SM 0, scheduler 0, block 0, warp 0, instruction 0 (LDS R2, [R0];)"
    assert lines[0] == first_difference(*results) == f"{where}, field ready: first 20, second 21"
    assert "cycles: first 33, second 34" in lines
    assert "instruction 2 (FADD R3, R2, 1.0;), warp-cycles of short_scoreboard: first 30, second 32" in lines
    assert all("\n" not in line for line in lines)


def test_a_missing_issue_and_another_clock_read_are_differences() -> None:
    program = isa.parse(".kernel clock\nS2R R0, SR_CLOCKLO\nS2R R1, SR_CLOCKLO\nEXIT")
    trace = sim.execute(sim.Launch(program, grid=(1,), block=(32,)))
    gpu = load("textbook").replace({"sms": 1})
    whole, part = (reference.simulate(trace, gpu, window) for window in ((0, 99), (0, 0)))
    assert first_difference(whole, part) == (
        "cycle 1, SM 0, scheduler 0, block 0, warp 0, instruction 1 (S2R R1, SR_CLOCKLO;): first issued this, second ended before"
    )
    late = reference.simulate(trace, gpu.replace({"core.reissue_distance": 2}))
    assert "clock read 1 (cycle, block, warp, instruction): first [1, 0, 0, 1], second [2, 0, 0, 1]" in list(differences(whole, late))


def test_a_barrier_that_no_lane_executes_holds_nobody() -> None:
    text = ".kernel f\nS2R R0, SR_TID.X\nISETP.LT.AND P0, PT, R0, 32, PT\n@P0 BAR.SYNC 0\n@!P0 BAR.SYNC 0\nEXIT"
    trace = sim.execute(sim.Launch(isa.parse(text), grid=(1,), block=(64,)))
    gpu = load("textbook").replace(TOY | {"core.barrier_latency": 50})
    for engine in (timing, reference):
        rows = engine.simulate(trace, gpu, (0, 999)).timeline
        assert rows is not None
        issued = {(int(w), int(i)): int(c) for w, i, c in zip(rows.warp, rows.instruction, rows.cycle, strict=True)}
        assert issued[0, 3] == issued[1, 3] + 50  # warp 0 waits at 2 for warp 1, which passes it
        assert issued[1, 4] == issued[1, 3] + 50


def test_a_trace_whose_warps_wait_at_different_barriers_is_refused() -> None:
    """The executor lets no program come to this; a trace from elsewhere may."""
    program = isa.parse(".kernel apart\nBAR.SYNC 0\nBAR.SYNC 1\nEXIT")
    made = sim.execute(sim.Launch(program, grid=(1,), block=(64,)))
    paths = made.arrays._replace(
        path_start=np.array([0, 2, 4]),
        instruction=np.array([0, 2, 1, 2], np.int32),
        mask=np.full(4, 0xFFFFFFFF, np.uint32),
        warp_path=np.array([0, 1], np.int32),
    )
    trace = dataclasses.replace(made, arrays=paths)
    for engine in (timing, reference):
        with pytest.raises(UserError, match="block 0 makes no progress: its warps wait at different barriers"):
            engine.simulate(trace, load("textbook"))
