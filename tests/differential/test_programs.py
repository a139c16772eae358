"""Every listing under programs/, small: both engines say the same, and the critical path is as long as the run."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from isa.errors import UserError
from isa.vocabulary import MATRIX_UNITS
from sim import reference, timing
from sim.causes.explain import Recording, critical_path
from sim.functional import execute
from sim.gpus.loader import load
from sim.launch.file import load_launch
from sim.traces.trace import Trace
from tests.compare import first_difference
from tests.differential.cases import EVERYTHING, check_account, check_chains
from tests.listings import FOLDER, PROGRAMS

GPUS = ("gtx480", "gtx460", "textbook", "h100")  # all-outstanding wake-up, dual issue, dispatch held, one issue per cycle
SIZES = ((3, None), (1, None), (1, 64), (1, 32))  # blocks, threads per block (None: the program's own)
COMPILED_FOR = (".sm_52", ".sm_75", ".sm_80", ".sm_90")  # of a kernel's four listings each runs on one of the GPUs
ENOUGH = 6_000  # warp instructions, of which the SimPy engine does thousands a second: the first size that stays below is taken
FEW = 3_000  # warp instructions that run on each of the GPUs; more of them on one
SMALLER = {"iterations": 1, "passes": 1, "vectors": 256}  # parameters that only say how much there is to do


def small(program: str) -> Trace:
    """Execute a program with a few blocks and little to do."""
    launch = load_launch(FOLDER / f"{program}.sass").launch
    less = SMALLER | ({"n": 32} if program.startswith("sgemm/") else {})  # two or four tiles
    names = [parameter.name for parameter in launch.program.parameters]
    args = tuple(np.uint32(less.get(name, arg)) if name in less else arg for name, arg in zip(names, launch.args, strict=True))
    trace = None
    for blocks, threads in SIZES:
        block = launch.block if threads is None else (threads,)
        grid = (min(launch.grid[0], max(blocks, *launch.cluster, 0)), *(1 for _ in launch.grid[1:]))
        try:
            trace = execute(replace(launch, grid=grid, block=block, args=args))
        except UserError:  # a kernel that needs its own number of threads
            break
        if trace.warp_instructions <= ENOUGH:
            break
    assert trace is not None
    return trace


@pytest.mark.parametrize("program", PROGRAMS)
def test_engines_agree(program: str) -> None:
    trace = small(program)
    names = GPUS if trace.warp_instructions <= FEW else (GPUS[PROGRAMS.index(program) % len(GPUS)],)
    if Path(program).suffix in COMPILED_FOR:
        names = (GPUS[COMPILED_FOR.index(Path(program).suffix)],)
    if np.isin(trace.program.encoded.unit, MATRIX_UNITS).any():  # of these GPUs only the last has tensor cores
        names = ("a100" if Path(program).suffix == ".sm_80" else "h100",)
    recorded = names[PROGRAMS.index(program) % len(names)]  # on one GPU: recording takes a fifth longer
    for name in names:
        gpu = load(name).replace({"sms": 2, "limits.registers_per_thread": 255})  # compiled kernels use what their GPU has
        numba = timing.simulate(trace, gpu, EVERYTHING)
        recording = Recording(trace, gpu, EVERYTHING) if name == recorded else None
        difference = first_difference(numba, recording.result if recording else reference.simulate(trace, gpu, EVERYTHING))
        assert difference is None, f"{name}: {difference}"
        check_account(numba, trace)
        if recording:
            check_chains(recording)
            assert critical_path(recording).cycles == numba.cycles
