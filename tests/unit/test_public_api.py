"""The public API: its examples are true, it loads Numba only when it must, its mistakes have one message."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

import isa
import sim
from isa.errors import UserError

ROOT = Path(__file__).resolve().parents[2]
LAUNCH = sim.Launch(isa.parse(".kernel f\nFADD R0, R0, 1;\nEXIT"), grid=(1,), block=(32,))


def test_every_function_has_an_example_and_all_are_true() -> None:
    finder, runner = doctest.DocTestFinder(exclude_empty=False), doctest.DocTestRunner()
    found = {test.name: test for test in finder.find(sim, "sim")}
    for name in ("cuda", "numba", "tensor_descriptor", "tensor_map", "triton"):  # loaded when they are asked for
        (found[f"sim.{name}"],) = finder.find(getattr(sim, name), f"sim.{name}")
        assert runner.run(found[f"sim.{name}"], clear_globs=False).failed == 0
    for name in set(sim.__all__) - {"Launch", "Pointer", "UserError"}:
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


def test_a_name_for_a_gpu_and_a_path_for_a_launch_are_refused_with_what_to_write() -> None:
    with pytest.raises(UserError, match=r"(?s)'h100' is not a GPU.*write sim\.gpu\('h100'\)"):
        sim.run(LAUNCH, "h100")  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"(?s)str is not a Launch.*load_launch"):
        sim.run("saxpy.sass", sim.gpu("gtx480"))  # type: ignore[arg-type]


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


QUIET = """
import isa, numpy as np, sim
from sim.report import figures, text
out = np.zeros(320, np.float32)
program = isa.load("programs/volkov/ffma_ilp2.sass")
launch = sim.Launch(program, grid=(1,), block=(320,), args=(out, np.float32(1.0), np.float32(0.5), np.uint32(1)))
result = sim.run(launch, sim.gpu("gtx480"))
text.report(result)
sim.sweep(launch, sim.gpu("gtx480"), {"units.fp32.latency": [10, 20]}, workers=1)
sim.lint(sim.schedule(program, "sm_90"))
"""


def test_nothing_warns() -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", QUIET], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_version_is_the_same_wherever_it_is_told() -> None:
    version = re.findall(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE) == version
    assert re.findall(r"^## (\d.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0] == version[0]
