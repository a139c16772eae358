"""Which of the six dependence counters each access of variable latency gets.

In the order of the listing, an access holds a counter from its issue to the first instruction that needs its end. An access that ends
where others of its pipe end shares theirs, for a counter waits for all that use it; else it takes a free one; else the one whose users end
nearest.
"""

from typing import NamedTuple

import numpy as np

from isa.vocabulary import COUNTERS, Operation
from sim.control_words.hazards import Analysis

OTHER_PIPE = 1000  # how much farther an end counts when it is of another pipe, instructions


class Use(NamedTuple):
    """One access that holds a counter."""

    counter: int
    end: int  # the instruction that needs the end of the access
    queue: str


class Ends:
    """Where the results, and the sources, of accesses are first wanted again, in the order of the listing."""

    def __init__(self, analysis: Analysis) -> None:
        self.count = len(analysis.program)
        touched: dict[int, list[int]] = {}
        written: dict[int, list[int]] = {}
        for i in range(self.count):
            for dependence in {*analysis.reads[i], *analysis.writes[i]}:
                touched.setdefault(dependence, []).append(i)
            for dependence in analysis.writes[i]:
                written.setdefault(dependence, []).append(i)
        self.touched = {dependence: np.array(places) for dependence, places in touched.items()}
        self.written = {dependence: np.array(places) for dependence, places in written.items()}
        encoded = analysis.encoded
        back = np.flatnonzero((encoded.operation == Operation.BRA) & (encoded.target >= 0) & (encoded.target <= np.arange(self.count)))
        self.loops = [(int(encoded.target[i]), int(i)) for i in back]
        self.analysis = analysis

    def of_writes(self, i: int) -> int:
        """Return the first later instruction that reads or overwrites what instruction i writes; the end of its loop; or n."""
        return self._first(i, self.touched, self.analysis.writes[i])

    def of_reads(self, i: int) -> int:
        """Return the first later instruction that overwrites what instruction i reads; the end of its loop; or n."""
        return self._first(i, self.written, self.analysis.reads[i])

    def _first(self, i: int, places: dict[int, np.ndarray], dependences: list[int]) -> int:
        later = [
            found[at] for d in dependences if d in places for found in (places[d],) if (at := np.searchsorted(found, i + 1)) < len(found)
        ]
        inner = [last for first, last in self.loops if first <= i <= last]
        return int(min(later, default=min(inner, default=self.count)))


def assign(analysis: Analysis, readers: set[int]) -> None:
    """Write the counters of a program: a write counter for each result of variable latency, a read counter for each of `readers`."""
    ends, active = Ends(analysis), list[Use]()
    for i in sorted(analysis.variable | readers):
        active = [use for use in active if use.end > i]
        for column, end, is_wanted in (
            (analysis.control.write_barrier, ends.of_writes, i in analysis.variable and bool(analysis.writes[i])),
            (analysis.control.read_barrier, ends.of_reads, i in readers),
        ):
            column[i] = -1
            if is_wanted:
                queue = analysis.queues[i] + ("" if column is analysis.control.write_barrier else " sources")
                use = _choose(active, end(i), queue)
                active.append(use)
                column[i] = use.counter


def _choose(active: list[Use], end: int, queue: str) -> Use:
    """Return the counter for an access that ends at an instruction."""
    for use in active:
        if use.end == end and use.queue == queue:
            return use
    free = [counter for counter in range(COUNTERS) if all(use.counter != counter for use in active)]
    if free:
        return Use(free[0], end, queue)
    nearest = min(active, key=lambda use: (abs(use.end - end) + OTHER_PIPE * (use.queue != queue), use.counter))
    return Use(nearest.counter, end, queue)
