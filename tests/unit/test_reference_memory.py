"""What one can see of the reference engine's memory hierarchy, and its queues against queues that are stepped."""

from collections import deque
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import isa
import sim
import sim.reference
import sim.timing
from isa.errors import UserError
from sim.reference import Session
from sim.reference.memory.queues import Queue
from sim.reference.moments import NOBODY, Moment
from sim.traces.trace import Trace

COPY = """
.kernel copy
.param ptr x
.param ptr y
    S2R R0, SR_TID.X
    SHL R0, R0, 2
    IADD R1, R0, c[0x0][x]
    IADD R2, R0, c[0x0][y]
    LDG R3, [R1]
    LDG R4, [R1+0x400]
    FADD R3, R3, R4
    STG [R2], R3
    EXIT
"""


@pytest.fixture(scope="module")
def trace() -> Trace:
    """Return the trace of two blocks of 256 threads, each of which loads two words."""
    args = (np.ones(512, np.float32), np.zeros(256, np.float32))
    return sim.execute(sim.Launch(isa.parse(COPY), grid=(2,), block=(256,), args=args))


SPREAD = """
.kernel spread
.param ptr y
    S2R R0, SR_TID.X
    SHL R0, R0, 7
    IADD R1, R0, c[0x0][y]
    STG [R1], R0
    STG [R1+0x4], R0
    EXIT
"""


def test_a_store_waits_for_the_lines_of_another_when_nothing_else_is_due() -> None:
    launch = sim.Launch(isa.parse(SPREAD), grid=(1,), block=(32,), args=(np.zeros(1024, np.float32),))
    stores, gpu = sim.execute(launch), sim.gpu("h200").replace({"lsu.store_line_cycles": 64.0})
    found = {engine: sim.simulate(stores, gpu, engine=engine).cycles for engine in ("simpy", "numba")}
    assert found["simpy"] == found["numba"] > 32 * 64


def test_bytes_in_flight_add_up_to_the_counter(trace: Trace) -> None:
    session, total, most = Session(trace, sim.gpu("v100").replace({"sms": 2})), 0, 0
    while not session.finished:
        session.step()
        total += session.memory().bytes_in_flight
        most = max(most, session.memory().bytes_in_flight)
    result = session.result()
    assert total == pytest.approx(result.counters["bytes_in_flight"] * result.cycles)
    assert most == 2 * 256 * 2 * 4  # all loads of both blocks, before the first of them is back
    assert session.memory().bytes_in_flight == 0


def test_queues_fill_and_empty(trace: Trace) -> None:
    narrow = {"sms": 1, "l2.start": "cold", "dram.channels": 1, "dram.depth": 3}
    session = Session(trace, sim.gpu("v100").replace(narrow))
    seen = []
    while not session.finished:
        session.step()
        seen.append(session.memory())
    (first, *_), last = seen, seen[-1]
    assert first.sms[0].queues == (0,) * len(first.sms[0].queues)
    assert max(sum(view.sms[0].queues) for view in seen) > 1
    assert max(view.sms[0].pending for view in seen) == session.result().counters["pending_requests_peak"]
    assert max(view.slices[0].requests for view in seen) == 3
    assert max(view.slices[0].transfers for view in seen) == 3
    assert any(view.sms[0].busy for view in seen)
    assert last.sms[0].pending == 0


def test_fixed_latencies_have_nothing_to_look_at(trace: Trace) -> None:
    with pytest.raises(UserError, match="no queues to look at"):
        Session(trace, sim.gpu("textbook")).memory()


def stepped(depth: int, jobs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return (admission, end) of each job (arrival, ticks) in a queue that is stepped tick by tick."""
    found: list[list[int]] = [[-1, -1] for _ in jobs]
    inside: deque[list[int]] = deque()  # number, ticks left
    waiting, now = deque(range(len(jobs))), 0
    while waiting or inside:
        if inside and inside[0][1] == 0:
            found[inside.popleft()[0]][1] = now
        while waiting and len(inside) < depth and jobs[waiting[0]][0] <= now:
            number = waiting.popleft()
            found[number][0] = now
            inside.append([number, jobs[number][1]])
        if inside:
            inside[0][1] -= 1
        now += 1
    return [(admitted, end) for admitted, end in found]


@given(st.integers(1, 4), st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), max_size=30))
def test_a_computed_queue_is_a_queue(depth: int, gaps: list[tuple[int, int]]) -> None:
    arrivals = np.cumsum([gap for gap, _ in gaps]).tolist()
    jobs = [(int(at), ticks) for at, (_, ticks) in zip(arrivals, gaps, strict=True)]
    queue, start = Queue(depth, "queue", "rate"), Moment(0, None, "", NOBODY, "", kept=False)
    assert [(queue.join(at, ticks, start)[0], queue.end) for at, ticks in jobs] == stepped(depth, jobs)


WARM = """
.kernel warm
.param ptr x
    LDL R2, [RZ]
    LOP.AND R2, R2, 0
    IADD R3, R2, c[0x0][x]
    LDG R4, [R3]
    EXIT
"""


@pytest.mark.parametrize("engine", [sim.timing, sim.reference], ids=["numba", "simpy"])
def test_lines_that_are_warm_stay_while_places_are_free(engine: ModuleType) -> None:
    trace = sim.execute(sim.Launch(isa.parse(WARM), grid=(1,), block=(32,), args=(np.zeros(8, np.float32),)))
    two_lines = {"sms": 1, "dram.channels": 1, "l2.bytes": 256, "l2.ways": 2, "l2.start": "warm"}
    counters = engine.simulate(trace, sim.gpu("v100").replace(two_lines)).counters
    assert counters["dram_bytes_read"] == 128  # a word of local memory for each lane
