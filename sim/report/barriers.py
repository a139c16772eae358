"""Barriers in shared memory over time: a lane per barrier, a span per phase, for the page and the exports."""

from typing import NamedTuple

import numpy as np

from sim.report.tracks import Tracks
from sim.result.result import Result


class Span(NamedTuple):
    """One phase of a barrier. Times are cycles."""

    number: int  # of the barrier's phases, from 0
    first: int  # when its first arrival or byte counts
    last: int  # when the last one that came does: if the phase is complete, those who wait for it go on


class Lane(NamedTuple):
    """One barrier of one block."""

    sm: int
    block: int
    barrier: int  # byte address in shared memory
    spans: list[Span]


def lanes(result: Result, tracks: Tracks) -> list[Lane]:
    """Return the barriers of the blocks that the tracks show, by SM, block and address; none where the program has no `mbarrier`."""
    if result.phases is None:
        return []
    first = tracks.first[:-1]
    sm_of = dict(zip(tracks.rows.block[first].tolist(), tracks.rows.sm[first].tolist(), strict=True))
    found: dict[tuple[int, int, int], list[Span]] = {}
    for block, barrier, first_came, last_came in np.transpose(result.phases).tolist():
        if block in sm_of:
            spans = found.setdefault((sm_of[block], block, barrier), [])
            spans.append(Span(len(spans), first_came, last_came))
    return [Lane(*key, spans) for key, spans in sorted(found.items())]
