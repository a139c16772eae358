"""A user's own scheduling policy: a score per warp, the same choice in both engines and in machine code."""

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import isa
import sim
from isa.errors import UserError
from sim import reference, timing
from sim.compiled import callback
from sim.policies.user import ScoredPolicy
from sim.traces.trace import Trace
from tests.compare import first_difference

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
OWN = "def youngest(slot, age, last, again):\n    return age\n"


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
    policy = sim.policies.user.scored(which)
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
    with pytest.raises(UserError, match="the policy <lambda> fails: KeyError: 0"):
        bad.choose(0b1110, ~63, np.arange(64))


def test_a_policy_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    found = sim.policies.user.of_file(tmp_path / "mine.py", "youngest")
    assert found.choose(0b1110, ~63, np.arange(64)) == 3
    trace = sim.execute(sim.Launch(isa.parse(LISTING), (4,), (128,)))
    assert sim.simulate(trace, sim.gpu("gtx480").replace({"core.policy": found})).cycles > 0


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (OWN, "oldest", "mine.py: no function oldest, and no StatefulPolicy\n  it has youngest"),
        (OWN + "raise SystemExit(3)\n", "youngest", "mine.py:3: the file of the policy fails: SystemExit: 3"),
        (OWN + "1 / 0\n", "youngest", "mine.py:3: the file of the policy fails: ZeroDivisionError"),
        ("def youngest(slot:\n", "youngest", "mine.py:1: the file of the policy fails: SyntaxError"),
        ("def youngest(slot):\n    return slot\n", "youngest", r"youngest takes \(slot\)"),
    ],
)
def test_files_that_have_no_policy(text: str, name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(UserError, match=message):
        sim.policies.user.of_file(tmp_path / "mine.py", name)
