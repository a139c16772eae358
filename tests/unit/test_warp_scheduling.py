"""The reproduction of papers on warp scheduling: what its kernels compute, and what is judged of a run."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from programs.reproductions import reproduce
from programs.scheduling import policies
from sim.functional import execute
from sim.gpus.loader import load


@pytest.mark.slow
def test_the_claims_come_out_in_direction() -> None:
    found = reproduce("warp-scheduling")
    judged = [check for check in found.checks if check.passed is not None]
    assert [check.what for check in judged if not check.passed] == []
    assert len(judged) == 3
    assert {curve.panel for curve in found.curves} == {policies.SENSITIVE, policies.PLAIN, policies.CHAINED}


def test_the_kernels_compute_what_they_say() -> None:
    gpu = load("gtx480").replace({"sms": 1})
    for name, launch in policies.launches(gpu).items():
        execute(launch)
        first, second, *rest = launch.args
        if name == policies.SENSITIVE:
            wanted, out = first @ second, rest[0]
        else:
            points, out = first.reshape(policies.PASSES, -1, second.size), second
            sums = np.zeros(points.shape[1:], np.float32)
            for row in points:
                for _ in range(policies.TERMS):
                    sums = sums * row + row
            wanted = sums.sum(axis=0)
        assert np.allclose(out, wanted, rtol=1e-4)


def run(cycles: int, missed: int, policy: str = "lrr") -> Any:
    gpu = SimpleNamespace(core=SimpleNamespace(group_size=6, policy=policy))
    return SimpleNamespace(cycles=cycles, counters={"l1_sectors": 1000, "l1_hit_rate": 1 - missed / 1000}, gpu=gpu)


def test_a_claim_that_does_not_come_out_fails() -> None:
    said = {"text": "", "source": "", "factor": 4}
    runs = {name: run(100, 500) for name in (*policies.POLICIES, *(policies.active(share) for share in policies.SHARES))}
    found = {policies.SENSITIVE: runs, policies.PLAIN: runs}
    assert [check.passed for check in policies._cache(found, said)] == [False, False, None]
    better = {policies.SENSITIVE: runs | {"ccws": run(99, 499)}, policies.PLAIN: runs}
    assert [check.passed for check in policies._cache(better, said)] == [True, True, None]
    slower = {policies.PLAIN: runs | {policies.active(4): run(106, 0)}, policies.CHAINED: runs | {policies.active(4): run(106, 0)}}
    assert [check.passed for check in policies._active(slower, said)] == [False, None]
    assert [check.passed for check in policies._active({policies.PLAIN: runs}, said)] == [True]
