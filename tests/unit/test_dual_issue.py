"""The reproduction of dual issue: its arithmetic, its mixes, and what is judged of a run."""

import numpy as np
import pytest

from isa.vocabulary import Operation
from programs.published import published
from programs.reproductions import reproduce
from programs.scheduling import dual_issue
from programs.scheduling.dual_issue import allowed, full, judged, mixed, percent
from programs.volkov.sweep import ONE_SM, chains
from sim.gpus.loader import load

K20C = load("k20c")
SAID = published(dual_issue.Path(dual_issue.__file__).parent)


def test_slots_and_lanes_bound_what_chains_reach() -> None:
    assert allowed(K20C, 1, 4) == pytest.approx(200 / 3)
    assert allowed(K20C, 2, 1) == pytest.approx(200 / 3)
    assert allowed(K20C, 2, 2) == 100
    assert allowed(load("gtx980"), 1, 1) == 100
    assert allowed(load("gtx480"), 1, 1) == 100


def test_a_mix_has_a_load_after_each_so_many_multiply_adds() -> None:
    operations = mixed(4).encoded.operation
    loads = np.flatnonzero(operations == Operation.LOAD)
    assert set(np.diff(loads)) == {5}
    assert (operations == Operation.FFMA).sum() == 4 * len(loads)


def test_pairs_need_independent_instructions() -> None:
    gpu = K20C.replace(ONE_SM)
    reached = {ilp: percent(full(chains(ilp), 48), gpu) for ilp in (1, 2)}
    assert reached[1] == pytest.approx(200 / 3, abs=1)
    assert reached[2] > 98


def test_what_is_above_or_far_below_the_arithmetic_fails() -> None:
    def passed(**got: float) -> list[bool | None]:
        ilp_1, others = got["one"], got["others"]
        found = {ilp: {width: (ilp_1 if ilp == 1 or width == 1 else others,) for width in dual_issue.WIDTHS} for ilp in dual_issue.ILPS}
        return [check.passed for check in judged(K20C, found, SAID)]

    assert passed(one=66.5, others=99.5) == [True] * 6
    assert passed(one=66.5, others=80.0) == [True, False, False, False, True, False]
    assert passed(one=80.0, others=99.5) == [False] * 6


@pytest.mark.slow
def test_the_claims_come_out() -> None:
    found = reproduce("dual-issue")
    assert [check.passed for check in found.checks if check.passed is not None] == [True] * 10
    assert {curve.panel for curve in found.curves} == {f"ILP {ilp}" for ilp in dual_issue.ILPS}
