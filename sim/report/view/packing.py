"""Issues as one compressed text: columns of small numbers instead of times, for the page's script to undo (`assets/data.js`).

Each column is int32, split into four planes of bytes of equal significance: nearly all upper bytes are zero, so that deflate leaves
some four bytes of an issue. Base64, because the page is a text.
"""

import base64
import zlib

import numpy as np

from sim.report.tracks import Tracks

COLUMNS = ("cycle", "hold", "latency", "since", "wait", "cause", "lanes", "instruction", "producer", "dependence")


def columns(tracks: Tracks) -> dict[str, np.ndarray]:
    """Return the numbers of each column, int64 [rows].

    cycle: since the issue before, of the same warp (the warp's first: the cycle itself). hold, latency: from the issue to
    `dispatched` and `ready`. since: after the cycle that follows the issue before. wait: `eligible` - `since`. producer: how
    many rows above this one, 0 = none. dependence: + 1, 0 = none.
    """
    rows, first = tracks.rows, tracks.first[:-1]
    before = np.concatenate([[0], rows.cycle[:-1]])
    after = before + 1
    before[first], after[first] = 0, 0
    place = np.arange(len(rows.cycle))
    return {
        "cycle": rows.cycle - before,
        "hold": rows.dispatched - rows.cycle,
        "latency": rows.ready - rows.cycle,
        "since": rows.since - after,
        "wait": rows.eligible - rows.since,
        "cause": rows.cause,
        "lanes": rows.lanes,
        "instruction": rows.instruction,
        "producer": np.where(tracks.producer >= 0, place - tracks.producer, 0),
        "dependence": tracks.dependence + 1,
    }


def pack(tracks: Tracks) -> str:
    """Return the columns, in the order of COLUMNS, as base64 of deflated byte planes."""
    found = columns(tracks)
    planes = [found[name].astype("<i4").view(np.uint8).reshape(-1, 4).T for name in COLUMNS]
    return base64.b64encode(zlib.compress(np.ascontiguousarray(np.concatenate(planes)).tobytes(), 9)).decode("ascii")
