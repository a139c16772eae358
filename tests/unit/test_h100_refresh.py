"""Which lines of DRAM are refreshed together, here and on an H100 and an H200: how far apart the turns of two lines of a piece are."""

from pathlib import Path

import numpy as np
import pytest

import sim
from programs.measurements.copies import H100
from programs.measurements.population.score import H200
from programs.published import rows
from sim.lowering.refresh import GROUPS, away

INTERVAL, LINES = int(sim.gpu("h100").dram.refresh_interval), 16384
PAIRS = np.random.default_rng(1).integers(0, LINES, (2, 20_000))


@pytest.fixture(scope="module")
def turns() -> np.ndarray:
    """Parts of the interval after which each line of 2 MB has its turn, as a bank away for all of the interval shows."""
    return np.array([away(line, 0, INTERVAL, INTERVAL) for line in range(1 << 20, (1 << 20) + LINES)]) / INTERVAL


@pytest.mark.parametrize(
    ("folder", "size"),
    [
        *((H100, size) for size in (1024, 4096, 65536, 131072, 262144, 524288, 2097152)),
        *((H200, size) for size in (1024, 4096, 65536, 131072, 262144, 524288, 2097152)),
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


def test_groups_of_banks_are_those_of_the_table() -> None:
    """Each 64 KB of the second twelve of 2 MB: nine of ten kilobytes come back within an eighth of the interval around its two groups."""
    pieces = np.array([[int(row["even"]), int(row["odd"])] for row in rows(H200 / "turns.csv")]).reshape(-1, 128) / 1000
    for piece, groups in zip(pieces[12:24], GROUPS / 8, strict=True):
        apart = np.abs((piece[:, None] - groups[None, :] + 0.5) % 1 - 0.5).min(axis=1)
        assert (apart < 1 / 8).mean() > 0.9
        assert np.median(apart) < 1 / 24


@pytest.mark.parametrize("lines", [8, 32, 128, 512, 1024])
def test_the_last_of_several_lines_waits_as_long_for_a_refresh(lines: int) -> None:
    """Mean over places and times, in cycles of a bank away for 512 of 3,812; lines from any on."""
    kilobytes = np.array([[int(row["even"]), int(row["odd"])] for row in rows(H200 / "turns.csv")]) / 1000
    measured = kilobytes[np.arange(LINES) // 8, np.arange(LINES) // 2 % 2]
    first, now = np.random.default_rng(2).integers(0, LINES - lines, 1000), np.random.default_rng(3).random(1000)
    chosen = first[:, None] + np.arange(lines)
    there = np.maximum(512 - (now[:, None] + measured[chosen]) % 1 * 3812, 0).max(axis=1).mean()
    here = [
        max(away(line, at, 512, 3812) for line in places[::2]) for places, at in zip(chosen, (now * 3812).astype(int).tolist(), strict=True)
    ]
    assert np.mean(here) == pytest.approx(there, rel=0.08)
