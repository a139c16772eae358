"""Random programs, launches and GPUs: both engines say the same, to the last cycle and cause; so do two threads where two SMs are used.

`pytest tests/differential --examples 20000` runs more cases than CI does, and others each time. A failing case shrinks to a
listing and a machine that a person can read; the message is the first difference in time. Chains of causes are checked with them.
"""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, seed, settings

from sim import timing
from sim.causes.explain import Recording
from sim.reference.issue import Scheduler
from sim.result.causes import StallCause
from tests.compare import first_difference
from tests.differential.cases import EVERYTHING, Case, cases, check_account, check_chains
from tests.differential.features import features

FAST, SLOW = range(6), range(6, 26)  # shards, each with cases of its own, so that several workers share them
CASES = {False: 50, True: 100}  # of a fast, of a slow shard; the same in every run
SHARDS = [*FAST, *(pytest.param(shard, marks=pytest.mark.slow) for shard in SLOW)]


@pytest.fixture
def second_slots(monkeypatch: pytest.MonkeyPatch) -> set[StallCause]:
    """Return a set that collects what became of second issue slots in the reference engine."""
    seen: set[StallCause] = set()
    original = Scheduler._forbids

    def watched(*arguments: object) -> StallCause:
        cause = original(*arguments)  # type: ignore[arg-type]
        seen.add(cause)
        return cause

    monkeypatch.setattr(Scheduler, "_forbids", watched)
    return seen


@pytest.mark.parametrize("shard", SHARDS)
def test_engines_agree(shard: int, pytestconfig: pytest.Config, exercised: Counter[str], second_slots: set[StallCause]) -> None:
    wanted = pytestconfig.getoption("--examples")
    examples = CASES[shard in SLOW] if wanted is None else -(-wanted // len(SHARDS))

    @(seed(shard) if wanted is None else lambda test: test)
    @settings(max_examples=examples, derandomize=False, database=None, suppress_health_check=list(HealthCheck))
    @given(cases())
    def agree(case: Case) -> None:
        second_slots.clear()
        trace, gpu = case.trace(), case.gpu()
        numba = timing.simulate(trace, gpu, EVERYTHING)
        recording = Recording(trace, gpu, EVERYTHING)
        difference = first_difference(numba, recording.result)
        assert difference is None, difference
        shared = first_difference(replace(numba, timeline=None), timing.simulate(trace, gpu, threads=2))
        assert shared is None, f"two threads: {shared}"
        check_account(numba, trace)
        check_chains(recording)
        exercised.update({"cases": 1, "two threads": min(gpu.sms, trace.launch.blocks) > 1, **features(numba, trace, second_slots)})

    agree()
