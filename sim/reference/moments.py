"""Moments: what happened when, and what it had to wait for last.

Whatever takes time leaves a moment behind when it ends, and knows the moment from which it could begin: the latest of those that it
needed. Followed backwards from the end of a run, moments lead without a gap to cycle 0: that is the run's critical path, and from any
issue it is the chain of reasons why the warp did not issue before. A machine that does not record forgets each moment's past.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from sim.result.causes import SlotCause, StallCause


class Work(NamedTuple):
    """Whose work it was."""

    block: int  # in launch order
    warp: int = -1  # within the block; -1: of no warp
    step: int = -1  # of the warp's path


NOBODY = Work(-1)
ISSUE_SLOT = "issue, one instruction per cycle"


class Moment:
    """Something ends in cycle `cycle`. From `before` on, `resource` was busy with it: a field of the GPU, or "" when no time passes."""

    __slots__ = ("before", "cause", "cycle", "kept", "note", "resource", "work")

    def __init__(self, cycle: int, before: Moment | None, resource: str, work: Work, note: str, kept: bool) -> None:
        self.cycle, self.before, self.resource, self.work, self.note, self.kept = cycle, before, resource, work, note, kept
        self.cause: StallCause | SlotCause | None = None  # of an issue, and of an end: what the warp waited for, in the account's words

    def then(self, cycle: int, resource: str = "", work: Work | None = None, note: str = "") -> Moment:
        """Return the moment in which `resource` will have done its part of the same work, or of another, begun now."""
        return Moment(cycle, self if self.kept else None, resource, work or self.work, note, self.kept)


class SetTime(Moment):
    """The end of what began in cycle `since` by itself, whatever the run did: what led to this moment after `since` cost no time."""

    __slots__ = ("since",)

    def __init__(self, since: int, end: Moment) -> None:
        super().__init__(end.cycle, end.before, end.resource, end.work, end.note, end.kept)
        self.since = max(since, 0)


def back(moment: Moment) -> Iterator[tuple[Moment, int, int]]:
    """Yield what led to a moment, the nearest first, each with the cycles [begin, end) that it cost: none if the end is not later."""
    end = moment.cycle
    while moment.before is not None:
        begin = moment.since if isinstance(moment, SetTime) else moment.before.cycle
        yield moment, begin, end
        moment, end = moment.before, min(begin, end)
    yield moment, end, end


def latest(first: Moment, *others: Moment) -> Moment:
    """Return the moment that comes last; of several in one cycle the one named first."""
    return max((first, *others), key=lambda moment: moment.cycle)


class Record:
    """The moments from which chains start. recording: whether moments keep their past."""

    def __init__(self, recording: bool) -> None:
        self.recording = recording
        self.origin = Moment(0, None, "", NOBODY, "", recording)
        self.end = self.origin  # of the block that ended last
        self.issues: defaultdict[tuple[int, int], list[Moment]] = defaultdict(list)  # by (block, warp)
        self.waits: defaultdict[tuple[int, int], list[Moment]] = defaultdict(list)  # the same: a wait for one cause ends, none issues yet
        self.starts: dict[int, Moment] = {}  # by block
        self.ends: dict[tuple[int, int], Moment] = {}  # by (block, warp): its results are back

    def issue(self, moment: Moment) -> None:
        """Note an issue."""
        if self.recording:
            self.issues[moment.work[:2]].append(moment)

    def wait(self, moment: Moment, cause: StallCause) -> None:
        """Note that a warp waits no longer for one cause, but cannot issue yet."""
        moment.cause = cause
        self.waits[moment.work[:2]].append(moment)

    def start(self, moment: Moment) -> None:
        """Note the start of a block."""
        if self.recording:
            self.starts[moment.work.block] = moment

    def finish(self, moment: Moment) -> None:
        """Note the end of a warp."""
        if self.recording:
            self.ends[moment.work[:2]] = moment
