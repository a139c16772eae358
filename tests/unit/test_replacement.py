"""Which line of a set goes: each policy by itself, and in both engines."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

import sim
from isa.errors import UserError
from sim import reference, timing
from sim.policies import Replacement
from sim.reference.memory.replacement import Ways
from sim.result.result import Result
from tests.fields import REUSE, launch

POLICIES = ("lru", "random", "plru", "srrip")


def gone(policy: Replacement, ways: int, lines: list[int], salt: int = 0) -> list[int | None]:
    """Return which line goes for each of `lines` that is not there, in a set of so many ways."""
    made, found = Ways(policy, ways, salt), []
    for line in lines:
        if line in made.lines:
            made.use(line)
        else:
            found.append(made.fill(line, ()))
    return found


def test_the_tree_points_away_from_what_was_used() -> None:
    assert gone(Replacement.PLRU, 4, [0, 1, 2, 3, 4]) == [None] * 4 + [0]
    assert gone(Replacement.PLRU, 4, [0, 1, 2, 3, 0, 4]) == [None] * 4 + [2]  # 1 was used before 2: not the least recently used one
    assert gone(Replacement.PLRU, 3, [0, 1, 2, 3, 4, 5]) == [None] * 3 + [0, 1, 3]


def test_lines_that_hit_outlive_a_scan() -> None:
    scan = list(range(10, 20))
    assert not {0, 1} & set(gone(Replacement.SRRIP, 4, [0, 1, 0, 1, *scan[:4]]))
    assert {0, 1} <= set(gone(Replacement.SRRIP, 4, [0, 1, *scan]))
    assert {0, 1} <= set(gone(Replacement.PLRU, 4, [0, 1, 0, 1, *scan]))


def test_random_draws_every_way_alike_and_every_run_the_same() -> None:
    lines = list(range(4008))
    first, other = (gone(Replacement.RANDOM, 8, lines, salt) for salt in (0, 8))
    assert first == gone(Replacement.RANDOM, 8, lines)
    assert first != other
    ages = Counter(line - old for line, old in zip(lines, first, strict=True) if old is not None)
    assert ages[1] / 4000 == pytest.approx(1 / 8, abs=0.02)  # a line goes at once with a chance of one in eight
    assert sum(age * count for age, count in ages.items()) / 4000 == pytest.approx(8, rel=0.1)


@pytest.mark.parametrize("policy", [Replacement.RANDOM, Replacement.PLRU, Replacement.SRRIP])
def test_a_line_that_must_stay_stays_and_an_invalid_one_goes_first(policy: Replacement) -> None:
    made = Ways(policy, 4, 0)
    for line in range(4):
        made.fill(line, ())
    for line in range(4, 12):
        assert made.fill(line, {0, 2}) not in (0, 2)
    made.rename(2, -1)
    assert made.fill(20, {-1}) != -1
    assert made.fill(21, ()) == -1


def run(engine: Any, trace: Any, **changes: Any) -> Result:
    small = {"sms": 3, "l1.bytes": 2048, "l1.ways": 4, "l2.bytes": 3 << 14, "l2.ways": 6}
    found: Result = engine.simulate(
        trace, sim.gpu("gtx480").replace(small | {name.replace("__", "."): value for name, value in changes.items()})
    )
    return found


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "more",
    [
        *({"l1__stores": "evict", "l2__start": "dirty"}, {"l1__stores": "allocate", "l2__start": "warm"}),
        *({"l1__sets": 2, "l1__bytes": 768, "l1__stores": "allocate"}, {"l1__sets": 8, "l1__bytes": 1280, "l1__stores": "evict"}),
    ],
)
def test_both_engines_are_equal(policy: str, more: dict[str, Any]) -> None:
    trace = sim.execute(launch(REUSE, 5, 128, np.zeros(1 << 14, np.float32)))
    fast, read = (run(engine, trace, l1__replacement=policy, l2__replacement=policy, **more) for engine in (timing, reference))
    assert (fast.cycles, fast.counters, fast.stalls) == (read.cycles, read.counters, read.stalls)


def test_each_policy_makes_a_difference_in_each_cache() -> None:
    trace = sim.execute(launch(REUSE, 16, 128, np.zeros(1 << 14, np.float32)))
    for cache, counter in (("l1", "l1_hit_rate"), ("l2", "l2_hit_rate")):
        rates = {run(timing, trace, **{f"{cache}__replacement": policy, f"{other}__replacement": "lru"}).counters[counter]
                 for policy in POLICIES for other in ({"l1", "l2"} - {cache})}  # fmt: skip
        assert len(rates) >= 3


def test_an_unknown_policy_is_named() -> None:
    with pytest.raises(UserError, match="one of lru, random, plru, srrip"):
        sim.gpu("h100").replace({"l2.replacement": "fifo"})
