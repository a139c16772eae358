"""The public API: its examples are true, it loads Numba only when it must, its mistakes have one message."""

import doctest
import subprocess
import sys

import pytest

import isa
import sim
from isa.errors import UserError

LAUNCH = sim.Launch(isa.parse(".kernel f\nFADD R0, R0, 1;\nEXIT"), grid=(1,), block=(32,))


def test_every_function_has_an_example_and_all_are_true() -> None:
    found = {test.name: test for test in doctest.DocTestFinder(exclude_empty=False).find(sim, "sim")}
    for name in set(sim.__all__) - {"Launch", "UserError"}:
        assert found[f"sim.{name}"].examples, name
    assert doctest.testmod(sim).failed == 0


def test_names_are_all_there() -> None:
    assert all(getattr(sim, name) for name in sim.__all__)
    with pytest.raises(AttributeError, match="no attribute 'launches'"):
        _ = sim.launches


@pytest.mark.parametrize("call", ["sim.gpus()", "sim.occupancy(sim.gpu('gtx480'), block=256, registers=20)", "sim.Launch"])
def test_numba_is_not_loaded_for(call: str) -> None:
    script = f"import sys, sim; {call}; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_the_function_gpus_survives_imports_of_the_package_of_that_name() -> None:
    script = "import sim, sim.gpus.loader; from sim.gpus.model import Gpu; assert 'g80' in sim.gpus()"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_an_unknown_engine_is_refused_with_those_there_are() -> None:
    with pytest.raises(UserError, match=r"(?s)no engine is called 'verilog'.*numba"):
        sim.run(LAUNCH, sim.gpu("gtx480"), engine="verilog")


def test_run_is_execute_then_simulate() -> None:
    gpu = sim.gpu("gtx480")
    assert sim.run(LAUNCH, gpu).as_dict() == sim.simulate(sim.execute(LAUNCH), gpu).as_dict()


def test_the_timeline_is_kept_when_asked_for() -> None:
    assert sim.run(LAUNCH, sim.gpu("gtx480")).timeline is None
    kept = sim.run(LAUNCH, sim.gpu("gtx480"), timeline=(0, 100)).timeline
    assert kept is not None
    assert len(kept.cycle) == 2


def test_occupancy_of_what_does_not_fit_is_zero_blocks() -> None:
    found = sim.occupancy(sim.gpu("gtx480"), block=256, registers=64)
    assert (found.blocks, found.limiters) == (0, ("registers",))
