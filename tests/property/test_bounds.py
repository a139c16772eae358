"""Lower bounds on machines that nobody built: no simulation is faster."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import isa
import sim
from programs.intervals.kernels import launch
from sim.analysis.prior_bounds import bounds
from sim.launch.file import load_launch
from sim.launch.launch import Launch
from tests.test_programs import FOLDER


def chains(ilp: int, warps: int) -> Launch:
    program = isa.load(FOLDER / f"volkov/ffma_ilp{ilp}.sass")
    return Launch(program, (3,), (32 * warps,), (np.zeros(96 * warps, np.float32), np.float32(1), np.float32(0), np.uint32(1)))


TRACES = [
    sim.execute(one)
    for one in (
        chains(1, 5),
        chains(3, 2),
        load_launch(FOLDER / "collatz.toml").launch,
        launch("mxv_per_thd", 4, 3, 3),
        launch("mxv_lcs", 4, 2, 2),
    )
]
MACHINES = {
    "gtx480": {"core.wake_rule": st.sampled_from(["per_register", "all_outstanding"]), "core.in_flight_cap": st.sampled_from([0, 1, 4])},
    "gtx1080": {"l1.global_loads": st.booleans(), "lsu.depth": st.integers(1, 16), "l1.stores": st.sampled_from(["allocate", "evict"])},
    "k20c": {"pipes.fp32.count": st.integers(1, 6), "lsu.interval": st.integers(1, 4)},
    "textbook": {"core.dispatch": st.sampled_from(["pipe", "scheduler"])},
}
EVERY = {
    "sms": st.integers(1, 4),
    "core.schedulers": st.sampled_from([1, 2, 4]),
    "core.issue_width": st.integers(1, 2),
    "core.policy": st.sampled_from(["lrr", "gto", "gtr", "gtyr", "two_level"]),
    "units.fp32.latency": st.integers(1, 40),
    "pipes.ldst.lanes": st.sampled_from([4, 16, 32]),
}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_run_beats_its_bounds(data: st.DataObject) -> None:
    name, trace = data.draw(st.sampled_from(sorted(MACHINES))), data.draw(st.sampled_from(TRACES))
    gpu = sim.gpu(name).replace(data.draw(st.fixed_dictionaries(EVERY | MACHINES[name])))
    found = bounds(trace, gpu)
    assert sim.simulate(trace, gpu).cycles >= found[0].cycles, found
