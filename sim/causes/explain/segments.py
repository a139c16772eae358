"""From a moment backwards: which hardware was busy with what, without a gap."""

from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from sim.reference.moments import Moment, Work, back
from sim.result.causes import SlotCause, StallCause


class Segment(NamedTuple):
    """`resource` was busy with `work` during [begin, end), cycles, and `waiter` waited for that, with this cause."""

    begin: int
    end: int
    resource: str
    work: Work
    note: str
    waiter: Work
    cause: StallCause | SlotCause
    issued: bool  # it begins with the issue of `work`, in cycle `begin`

    @property
    def cycles(self) -> int:
        """How long it took."""
        return self.end - self.begin


def segments(moment: Moment, until: int = 0) -> Iterator[Segment]:
    """Yield what led to a moment, the nearest first, back to the first that begins in cycle `until` or before.

    The cause of a segment is that of the wait it belongs to: of the next issue, end of a warp or start of a block after it.
    """
    waiter, cause = moment.work, moment.cause or StallCause.DRAIN
    for one, begin, end in back(moment):
        if one.before is None or end <= until:
            return
        if one.cause is not None:
            waiter, cause = one.work, one.cause
        if end > begin:
            before = one.before
            issued = before.work.step >= 0 and before.cause not in (None, StallCause.DRAIN) and begin == before.cycle
            yield Segment(begin, end, one.resource, one.work, one.note, waiter, cause, issued)


def merged(found: Iterator[Segment]) -> Iterator[list[Segment]]:
    """Yield runs of neighbours in which the same hardware was busy."""
    return (list(run) for _, run in groupby(found, key=attrgetter("resource")))
