"""Random programs, launches and GPUs: both engines say the same, to the last cycle and cause; so do two threads where two SMs are used.

`pytest tests/differential --examples 20000` runs more cases than CI does, and others each time. A failing case shrinks to a
listing and a machine that a person can read; the message is the first difference in time. Chains of causes are checked with them.
"""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from sim import timing
from sim.compare import first_difference
from sim.explain import Recording
from sim.reference.issue import Scheduler
from sim.vocabulary import StallCause
from tests.differential.cases import EVERYTHING, Case, cases, check_account, check_chains
from tests.differential.features import features

IN_CI = 2000  # these are the same in every run
ENOUGH = 1000  # cases that reach every rule


@pytest.fixture
def second_slots(monkeypatch: pytest.MonkeyPatch) -> set[StallCause]:
    """Return a set that collects what became of second issue slots in the reference engine."""
    seen: set[StallCause] = set()
    original = Scheduler._second

    def watched(*arguments: object) -> StallCause:
        cause = original(*arguments)  # type: ignore[arg-type]
        seen.add(cause)
        return cause

    monkeypatch.setattr(Scheduler, "_second", watched)
    return seen


def test_engines_agree(pytestconfig: pytest.Config, exercised: Counter[str], second_slots: set[StallCause]) -> None:
    examples = pytestconfig.getoption("--examples")

    @settings(max_examples=examples, derandomize=examples == IN_CI, database=None, suppress_health_check=list(HealthCheck))
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
    unreached = [name for name, cases_that_did in exercised.items() if not cases_that_did]
    assert examples < ENOUGH or not unreached
