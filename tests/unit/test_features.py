"""The table of one-feature kernels of CUDA C++ (`tests/features.py`): right, or refused by name; never wrong."""

import pytest

from isa import compiler
from tests.features import REFUSED, RIGHT, WRONG, all_tried, features, is_named, tried

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not compiler.is_installed(), reason="needs the extra `cuda`")]


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_120"])
def test_features_are_right_or_refused_by_name(architecture: str) -> None:
    rows = features(architecture)
    found = all_tried(rows, architecture)
    assert {name: one.words for name, one in found.items() if one.how == WRONG} == {}
    wanted = [name for name, row in rows.items() if "refused" in row]
    assert [name for name in wanted if not is_named(rows[name], found[name])] == []
    assert all("kernel.cu" in one.words for one in found.values() if one.how == REFUSED)
    ordinary = [one.how for name, one in found.items() if name not in wanted]
    assert ordinary.count(RIGHT) >= 0.95 * len(ordinary)


def test_a_wrong_result_is_seen() -> None:
    row = features("sm_90")["branches"] | {"body": "out[t] = x[t];"}
    assert tried("branches", row, "sm_90").how == WRONG
