"""Random programs with warps of 16 on random machines: the engines agree to the last cycle and cause; chains of causes have no gap."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, seed, settings

from isa.errors import UserError
from tests.differential.cases import Case, cases, check_engines


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(2))
def test_engines_agree(shard: int, pytestconfig: pytest.Config) -> None:
    met, wanted = Counter[str](), pytestconfig.getoption("--examples")

    @(seed(shard) if wanted is None else lambda test: test)
    @settings(
        max_examples=100 if wanted is None else wanted // 2, derandomize=False, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(cases())
    def agree(case: Case) -> None:
        gpu = case.gpu()
        limits = {"limits.warps": 2 * gpu.limits.warps} if gpu.limits.warps <= 32 * gpu.core.schedulers else {}
        try:
            trace = case.trace(warp_size=16)
            half = gpu.replace({"core.warp_size": 16} | limits)
            check_engines(trace, half)
        except UserError as error:
            met["of 32 lanes" if "cannot run with warps of 16" in str(error) else "does not fit"] += 1
        else:
            met["agree"] += 1

    agree()
    assert met["agree"] > 3 * (met.total() - met["agree"]) / 2, met
