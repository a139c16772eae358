"""Every listing under programs/ runs, gives what its launch file expects, and its account closes. A new program is found here by itself."""

import functools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import isa
from isa.semantics.rounding import fma
from sim.analysis.prior_bounds import bounds, is_arithmetic
from sim.functional import execute
from sim.gpus.loader import load
from sim.launch.expectation import check
from sim.launch.file import load_launch
from sim.launch.launch import Launch
from sim.result.result import Result
from sim.timing import simulate
from sim.traces.trace import Trace
from tests.listings import FOLDER, PROGRAMS

GPUS = ("gtx480", "gtx460", "textbook")  # one issue per scheduler, two, and a dispatch port that narrow pipes hold
COMPILED_FOR = {".sm_52": "gtx980", ".sm_75": "t4", ".sm_80": "a100", ".sm_90": "h100"}
PAIRS = [(p, gpu) for p in PROGRAMS for gpu in ((COMPILED_FOR[Path(p).suffix],) if Path(p).suffix in COMPILED_FOR else GPUS)]


@functools.cache
def executed(program: str) -> Trace:
    file = load_launch(FOLDER / f"{program}.sass")
    assert file.expectation, "a program's launch file says what should come out, under [expect]"
    trace = execute(file.launch)
    assert check(file.launch, file.expectation) == []
    return trace


@functools.cache
def timed(program: str, gpu: str) -> Result:
    return simulate(executed(program), load(gpu))


def test_there_are_programs() -> None:
    assert {"saxpy", "volkov/ffma_ilp8", "intervals/actual_loop"} <= set(PROGRAMS)


@pytest.mark.parametrize("program", PROGRAMS)
def test_results_are_those_of_the_launch_file(program: str) -> None:
    executed(program)


@pytest.mark.parametrize(("program", "gpu"), PAIRS)
def test_every_cycle_is_accounted_for(program: str, gpu: str) -> None:
    trace, machine, result = executed(program), load(gpu), timed(program, gpu)
    assert sum(result.stalls.values()) == result.counters["warp_cycles"] == result.stalls_by_instruction.sum()
    assert sum(result.issue_slots.values()) == result.counters["issue_slots"]
    assert result.counters["warp_instructions"] == trace.warp_instructions
    if machine.core.issue_width == 1:  # else one warp-cycle may issue two
        assert result.stalls["selected"] == trace.warp_instructions
    assert np.array_equal(result.issues_by_instruction, trace.executed)


@pytest.mark.parametrize(("program", "gpu"), PAIRS)
def test_arithmetic_is_never_faster_than_its_bounds(program: str, gpu: str) -> None:
    trace = executed(program)
    if is_arithmetic(trace):
        bound, cycles = bounds(trace, load(gpu))[0], timed(program, gpu).cycles
        print(f"{program} on {gpu}: {cycles} cycles, {100 * (cycles / bound.cycles - 1):.1f}% above {bound.name}")
        assert cycles >= bound.cycles


@pytest.mark.parametrize("ilp", range(1, 9))
def test_volkov_chains_are_fused_multiply_adds(ilp: int) -> None:
    """b and c that round at every step: the sum of chains of two lanes against the exact fma, one pass through the loop."""
    launch = load_launch(FOLDER / f"volkov/ffma_ilp{ilp}.sass").launch
    b, c, passes = np.float32(0.9), np.float32(0.3), np.uint32(1)
    launch = replace(launch, block=(32,), args=(np.zeros(32, np.float32), b, c, passes))
    execute(launch)
    for lane in (1, 31):
        values = [np.float32(lane + chain) for chain in range(ilp)]
        for _ in range(1680 // ilp):
            values = [fma(value, b, c) for value in values]
        total = values[0]
        for value in values[1:]:
            total = np.float32(total + value)
        assert launch.args[0][lane] == total


def test_volkov_loops_cost_the_same_work_at_every_ilp() -> None:
    """1680 multiply-adds in the body and 3 other instructions, so that curves of different ILP compare."""
    for ilp in range(1, 9):
        program = isa.load(FOLDER / f"volkov/ffma_ilp{ilp}.sass")
        opcodes = [instruction.opcode for instruction in program.instructions]
        first, last = program.labels[".Loop"], opcodes.index("BRA")
        body = opcodes[first : last + 1]
        assert (body.count("FFMA"), len(body)) == (1680, 1683)


def test_a_wrong_result_would_be_seen() -> None:
    file = load_launch(FOLDER / "volkov/ffma_ilp1.sass")
    out: np.ndarray = file.launch.args[0]
    launch: Launch = file.launch
    assert len(check(launch, file.expectation)) > 0  # before the run
    assert not out.any()
