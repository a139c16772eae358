"""`simtlab validate`: errors and correlation by family, of points that are given."""

from pathlib import Path

import pytest

import sim
from isa.errors import UserError
from programs.measurements import validation
from programs.measurements.profiled import Profiled
from programs.measurements.validation import Point, correlation, families, scatter
from sim.cli import validate as command

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
    assert copy.fitted.startswith("dram.channel_depth")


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


def test_the_ordinary_kernels_one_by_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    few = [one for one in validation.profiled.kernels() if one.name in ("sha256", "haxpy")]
    monkeypatch.setattr(validation.profiled, "kernels", lambda: iter(few))
    points = tuple(validation._kernels(sim.gpu("h100")))
    command._each_kernel(points)
    command._print(families(points), points)
    shown = capsys.readouterr().out
    better, worse = sorted((point for point in points if point.family == "kernels"), key=lambda point: abs(point.error))
    assert shown.index(worse.what) < shown.index(better.what)
    assert "33.3% | 33.3%" in shown  # haxpy's hits in L1, on the H100 and here
    assert "L1 hit rate: 0.0 percentage points apart in the mean, under 1 apart in 2 of 2 kernels" in shown


def test_shares_of_stalls_count_the_issue_itself() -> None:
    one = Profiled("one", Path(), None, Path(), {}, {"stall_wait": 2.0, "stall_not_selected": 1.0})
    assert one.share("wait") == 50
