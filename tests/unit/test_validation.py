"""`simtlab validate`: errors and correlation by family, of points that are given."""

from pathlib import Path

import pytest

from isa.errors import UserError
from programs.measurements import validation
from programs.measurements.validation import Point, correlation, families, scatter

POINTS = (
    Point("chain", "1", 100, 110),
    Point("chain", "2", 200, 190),
    Point("copy 1 float", "1 block", 2.0, 1.0),
)


def test_errors_are_of_the_measured_duration() -> None:
    chain, copy = families(POINTS)
    assert chain.launches == 2
    assert chain.mean == pytest.approx(7.5)
    assert chain.worst.what == "1"
    assert copy.worst.error == pytest.approx(-50)
    assert copy.fitted.startswith("blocks.start_interval")


def test_the_correlation_is_that_of_the_logarithms() -> None:
    powers = [Point("p", "", 10.0**k, 5 * 10.0**k) for k in range(4)]
    assert correlation(powers) == pytest.approx(1)
    assert correlation([Point("p", "", 10.0, 5.0), Point("p", "", 10.0, 7.0)]) is None
    assert correlation(powers[:1]) is None


def test_a_gpu_that_was_not_measured_is_refused() -> None:
    with pytest.raises(UserError, match="no measurements of 'v100'"):
        validation.validate("v100")


def test_the_scatter_plot_has_both_units(tmp_path: Path) -> None:
    scatter(POINTS, tmp_path / "s.png")
    assert (tmp_path / "s.png").stat().st_size > 10_000


def test_one_family_of_the_h100_as_the_command_counts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    few = [launch for launch in validation.core.measured() if launch.family == "shfl"][:3]
    monkeypatch.setattr(validation.core, "measured", lambda: iter(few))
    monkeypatch.setattr(validation.strides, "shared_loads", lambda: iter(()))
    monkeypatch.setattr(validation.profiled, "kernels", lambda: iter(()))
    (shfl,) = families(validation.validate(copying=False))
    assert shfl.launches == 3
    assert shfl.mean < 1
