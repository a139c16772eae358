"""Rates of the simulator, reported and never asserted: `pytest tests/benchmarks/bench_rates.py` (not part of the default run).

pytest-benchmark prints seconds; warp instructions per second stand in the last columns as `extra_info` in --benchmark-json.
"""

from collections.abc import Callable

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from sim.bench import CHAINS, chain, stream
from sim.functional import execute
from sim.gpus.loader import load
from sim.launch.launch import Launch
from sim.timing import simulate

PROGRAMS: dict[str, Callable[[], Launch]] = {"ffma": lambda: chain(48, 32, 16), "memory": lambda: stream(132, 300)}


def report(benchmark: BenchmarkFixture, instructions: int, work: Callable[[], object]) -> None:
    """Time `work`, compiled beforehand, and note its rate."""
    work()
    benchmark.pedantic(work, rounds=5)
    if benchmark.stats:  # None under --benchmark-disable
        benchmark.extra_info["million_warp_instructions_per_second"] = instructions / benchmark.stats.stats.min / 1e6


@pytest.mark.parametrize(("name", "gpu", "blocks", "warps", "passes"), CHAINS, ids=[row[0] for row in CHAINS])
def test_timing(benchmark: BenchmarkFixture, name: str, gpu: str, blocks: int, warps: int, passes: int) -> None:
    trace, machine = execute(chain(blocks, warps, passes)), load(gpu).replace({} if blocks > 2 else {"sms": 1})
    report(benchmark, trace.warp_instructions, lambda: simulate(trace, machine))


@pytest.mark.parametrize("program", PROGRAMS)
def test_functional(benchmark: BenchmarkFixture, program: str) -> None:
    launch = PROGRAMS[program]()
    report(benchmark, execute(launch).warp_instructions, lambda: execute(launch))


@pytest.mark.parametrize("program", PROGRAMS)
def test_both(benchmark: BenchmarkFixture, program: str) -> None:
    launch, gpu = PROGRAMS[program](), load("h100")
    report(benchmark, execute(launch).warp_instructions, lambda: simulate(execute(launch), gpu))
