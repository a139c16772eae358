"""Which lines of DRAM are refreshed together, here and on an H100 and an H200: how far apart the turns of two lines of a piece are."""

from pathlib import Path

import numpy as np
import pytest

import sim
from programs.measurements.copies import H100
from programs.measurements.population.score import H200
from programs.published import rows
from sim.lowering.memory import away

INTERVAL, LINES = int(sim.gpu("h100").dram.refresh_interval), 16384
PAIRS = np.random.default_rng(1).integers(0, LINES, (2, 20_000))


@pytest.fixture(scope="module")
def turns() -> np.ndarray:
    """Parts of the interval after which each line of 2 MB has its turn, as a bank away for all of the interval shows."""
    return np.array([away(line, 0, INTERVAL, INTERVAL) for line in range(1 << 20, (1 << 20) + LINES)]) / INTERVAL


@pytest.mark.parametrize(
    ("folder", "size"),
    [
        pytest.param(H100, 4096, marks=pytest.mark.xfail(strict=True, reason="halves of a kilobyte have one turn here, D33")),
        *((H100, size) for size in (65536, 131072, 262144, 524288, 2097152)),
        *((H200, size) for size in (4096, 65536, 131072, 262144, 524288, 2097152)),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_turns_lie_as_far_apart_as_measured(turns: np.ndarray, folder: Path, size: int) -> None:
    """Percent of the pairs whose turns are an eighth of the interval apart at most, to a quarter and an eighth, and more."""
    (row,) = [row for row in rows(folder / "refresh.csv") if int(row["bytes"]) == size]
    measured = np.array([float(share) for name, share in row.items() if name != "bytes"])
    lines = size // 128
    first, second = PAIRS[0], PAIRS[0] // lines * lines + PAIRS[1] % lines
    apart = np.abs(turns[first] - turns[second])[first != second]
    here, _ = np.histogram(np.minimum(apart, 1 - apart), len(measured), (0, 0.5))
    shares = 100 * here / here.sum()
    for part in (slice(0, 5), slice(5, 15), slice(15, 20)):
        assert shares[part].sum() == pytest.approx(measured[part].sum(), abs=12)
    if size >= 65536:  # lines of 4 KB have one turn here, spread over some 200 cycles there
        assert shares[0] == pytest.approx(measured[0], abs=5)


def test_a_bank_is_away_once_an_interval_for_the_time_of_a_refresh() -> None:
    late = np.array([away(12345, at, 430, INTERVAL) for at in range(2 * INTERVAL)])
    assert (late > 0).sum() == 2 * 430
    assert late.max() == 430
    assert np.array_equal(late[:INTERVAL], late[INTERVAL:])
