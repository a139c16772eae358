"""The reproductions on sizes of groups and on occupancy: what their kernels compute, and what is judged of a run."""

import numpy as np
import pytest

from programs.published import published
from programs.reproductions import reproduce
from programs.scheduling import groups, occupancy, policies
from programs.scheduling.groups import Times
from programs.scheduling.occupancy import Point
from sim.functional import execute
from sim.gpus.loader import load

SAID = published(occupancy.Path(occupancy.__file__).parent)


def test_the_size_of_a_group_comes_out_on_a_gpu_of_one_sm() -> None:
    launch = policies.launches(load("gtx480").replace({"sms": 1}))[policies.CHAINED]
    robin, found = groups.timed(launch, load("gtx480").replace({"sms": 1, "dram.bandwidth": 12}))
    for sizes in found.values():
        assert max(sizes) == 24
        assert sizes[24].cycles == robin.cycles  # a group of all warps is round robin
    active = found["two_level_active"]
    assert active[1].cycles > 4 * active[12].cycles


def test_a_size_that_is_not_in_between_fails() -> None:
    robin, slow, fast = (Times(cycles, 0.01, 0.9) for cycles in (100, 110, 90))

    def passed(**sizes: Times) -> list[bool | None]:
        found = {"kernel": (robin, {"two_level": {int(name[1:]): times for name, times in sizes.items()}})}
        return [check.passed for check in groups.judged(found, SAID["group"]) if check.passed is not None]

    assert passed(n1=slow, n2=fast, n4=robin) == [True]
    assert passed(n1=fast, n2=slow, n4=robin) == [False]
    assert passed(n1=slow, n2=robin, n4=fast) == [False]
    assert passed(n1=slow, n2=fast._replace(spread=0.2), n4=robin) == [False]  # not told from noise


def test_the_kernels_compute_what_they_say() -> None:
    matrix, vector, out, _ = (rows := occupancy.launch(occupancy.SENSITIVE, 2, 2, 0)).args
    execute(rows)
    assert np.allclose(out, matrix @ vector, rtol=1e-4)
    points, sums, _ = (plain := occupancy.launch(occupancy.PLAIN, 2, 2, 0)).args
    execute(plain)
    wanted = np.zeros_like(sums)
    for row in points.reshape(policies.PASSES, -1):
        for _ in range(policies.TERMS):
            wanted = wanted * row + row
    assert np.allclose(sums, wanted, rtol=1e-4)


def test_only_what_comes_out_in_direction_passes() -> None:
    def passed(lrr: Point, gto: Point, ccws: Point) -> list[bool | None]:
        best = {4: Point(1.04, 10.0)}
        found = {occupancy.SENSITIVE: {"lrr": best | {48: lrr}, "gto": best | {48: gto}, "ccws": best | {48: ccws}}}
        return [check.passed for check in occupancy.judged(found, SAID)]

    assert passed(Point(0.5, 90.0), Point(0.9, 40.0), Point(1.2, 20.0)) == [True] * 3
    assert passed(Point(1.0, 90.0), Point(0.9, 40.0), Point(1.2, 90.0)) == [False] * 3  # no peak; slower; no fewer misses
    assert passed(Point(1.0, 0.0), Point(0.9, 0.0), Point(1.2, 0.0)) == [None] * 3  # no L1


@pytest.mark.slow
@pytest.mark.parametrize(("name", "judged"), [("fetch-groups", 4), ("scheduling-occupancy", 3)])
def test_the_claims_come_out(name: str, judged: int) -> None:
    found = reproduce(name)
    assert [check.passed for check in found.checks if check.passed is not None] == [True] * judged
    assert found.curves
