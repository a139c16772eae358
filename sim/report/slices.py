"""The closed account of the warps as slices of time: what each warp did from when to when, cut so that no two slices of a warp overlap.

A warp's cycle belongs to its issue (`selected`), to the cause of its wait, or to `not_selected` from when only its turn or its port was
missing. In a window that holds the whole run the slices of a cause add up to `Result.stalls`, but for what follows a warp's last issue
(`drain`), and for throttles, which a timeline does not tell from `not_selected`.
"""

from typing import NamedTuple

import numpy as np

from sim.report.tracks import Tracks
from sim.result.causes import StallCause

SELECTED, NOT_SELECTED = int(StallCause.SELECTED), int(StallCause.NOT_SELECTED)


class Slices(NamedTuple):
    """One row per slice, in order of warps and time. All int64 [slices]."""

    warp: np.ndarray  # number of the warp in the tracks
    row: np.ndarray  # of the issue that it is, or that ends the wait
    cause: np.ndarray
    begin: np.ndarray
    end: np.ndarray


def slices(tracks: Tracks) -> Slices:
    """Return the slices of all warps. Two instructions issued in one cycle share a slice: the row is the first's."""
    rows = tracks.rows
    place = np.arange(len(rows.cycle))
    warp = np.searchsorted(tracks.first, place, side="right") - 1
    ready = np.maximum(rows.eligible, rows.since)
    second = np.zeros(len(place), bool)  # the second of two issued together
    second[1:] = (rows.cycle[1:] == rows.cycle[:-1]) & (warp[1:] == warp[:-1])
    parts = [
        (rows.cause, rows.since, np.minimum(rows.eligible, rows.cycle)),
        (np.full(len(place), NOT_SELECTED), ready, rows.cycle),
        (np.full(len(place), SELECTED), rows.cycle, np.where(second, rows.cycle, rows.cycle + 1)),
    ]
    cause, begin, end = (np.stack(column, axis=1).ravel() for column in zip(*parts, strict=True))
    kept = end > begin
    return Slices(np.repeat(warp, 3)[kept], np.repeat(place, 3)[kept], cause[kept], begin[kept], end[kept])
