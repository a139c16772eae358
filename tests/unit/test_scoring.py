"""A user's own scheduling policy: a score per warp, the same choice in both engines and in machine code."""

import pickle
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import isa
import sim
from isa.errors import UserError
from sim import callback, reference, timing
from sim.compare import first_difference
from sim.scoring import ScoredPolicy
from sim.trace import Trace

LISTING = """.kernel mixed
.shared 128
.rept 6
    FFMA R1, R1, R1, R1
    MUFU.RCP R2, R1
    LDS R3, [RZ]
    FADD R4, R3, R2
.endr
    EXIT
"""
EVERYTHING = (0, 10**6)


def round_robin(slot: int, age: int, last: int, again: bool) -> float:
    return -((slot - last - 1) % 64)


def greedy_then_oldest(slot: int, age: int, last: int, again: bool) -> float:
    return 1e9 if again else -age


def greedy_then_youngest(slot: int, age: int, last: int, again: bool) -> float:
    return 1e9 if again else age


def oldest(slot: int, age: int, last: int, again: bool) -> float:
    return -age


def odd_ones_first(slot: int, age: int, last: int, again: bool) -> float:
    return 2.5 if slot % 2 else 1.0


MINE = (round_robin, greedy_then_oldest, greedy_then_youngest, oldest, odd_ones_first)
SAME = {"lrr": round_robin, "gto": greedy_then_oldest, "gty": greedy_then_youngest, "oldest": oldest}


@pytest.fixture(scope="module")
def trace() -> Trace:
    return sim.execute(sim.Launch(isa.parse(LISTING), grid=(40,), block=(128,)))


@given(eligible=st.integers(1, 2**64 - 1), last=st.integers(-64, 63), age=st.permutations(range(64)), which=st.sampled_from(MINE))
def test_machine_code_chooses_as_python_does(eligible: int, last: int, age: list[int], which: Callable[..., float]) -> None:
    policy = sim.scoring.scored(which)
    order = np.array(age, np.int64)
    slot = policy.choose(eligible, last, order)
    assert eligible >> slot & 1
    assert callback.call(policy.address, eligible, last, order) == slot


@pytest.mark.parametrize("name", SAME)
def test_a_built_in_policy_written_as_a_score_gives_the_same_run(name: str, trace: Trace) -> None:
    gpu = sim.gpu("gtx480")
    runs = [timing.simulate(trace, gpu.replace({"core.policy": policy}), EVERYTHING) for policy in (name, SAME[name])]
    assert first_difference(*runs) is None


def test_a_policy_of_ones_own_is_the_same_in_both_engines_and_is_not_built_in(trace: Trace) -> None:
    gpu = sim.gpu("gtx480").replace({"core.policy": odd_ones_first, "sms": 2})
    runs = [engine.simulate(trace, gpu, EVERYTHING) for engine in (timing, reference)]
    assert first_difference(*runs) is None
    assert str(runs[0].gpu.core.policy) == "odd_ones_first"
    built_in = {
        sim.simulate(trace, gpu.replace({"core.policy": name})).cycles for name in ("lrr", "gto", "gty", "gtr", "oldest", "two_level")
    }
    assert runs[0].cycles not in built_in


def test_without_numba_the_address_is_that_of_a_python_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callback.settings, "DISABLE_JIT", 1)
    policy = ScoredPolicy(oldest)
    age = np.arange(64)[::-1].copy()
    assert callback.call(policy.address, 0b1011, 0, age) == policy.choose(0b1011, 0, age) == 3


def test_a_policy_travels_without_its_machine_code() -> None:
    policy = ScoredPolicy(oldest)
    assert policy.address
    assert "callback" not in vars(pickle.loads(pickle.dumps(policy)))


def test_mistakes_are_answered() -> None:
    gpu = sim.gpu("gtx480")
    with pytest.raises(UserError, match=r"policy <lambda> takes \(warp\)\n  write: def"):
        gpu.replace({"core.policy": lambda warp: warp})
    with pytest.raises(UserError, match=r"core.policy = 'fifo' is not legal.*one of lrr"):
        gpu.replace({"core.policy": "fifo"})
    bad = ScoredPolicy(lambda slot, age, last, again: {"a": slot}[0] + missing)  # type: ignore[name-defined]  # noqa: F821
    with pytest.raises(UserError, match=r"Numba cannot compile the policy <lambda>(?s:.*)engine='simpy'"):
        _ = bad.address
