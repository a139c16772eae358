"""Hand out the points of a sweep: per launch one execution, then chunks of points that take about CHUNK_SECONDS each.

A chunk is what an interrupt loses: its rows are written when it is done. Where the work is done is a `Backend`'s business.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from sim.gpus.model import Gpu
from sim.launch.launch import Launch
from sim.sweeps.work import Failure, Job, Row, evaluated, executed

CHUNK_SECONDS = 0.3
MOST = 64  # points in a chunk
AHEAD = 96  # chunks under way, from which they become longer: one process hands them out and writes them, in some 3 ms each


class Group:
    """The points of one launch. kernels: of `sim.warming.EVERY`, that they run; handle: whatever the backend knows its trace by."""

    def __init__(self, build: Callable[[], Launch | Failure], jobs: Sequence[Job], kernels: frozenset[str]) -> None:
        self.build, self.kernels = build, kernels
        self.jobs = deque(jobs)
        self.running = 0  # chunks
        self.handle: Any = None

    def take(self, count: int) -> list[Job]:
        """Take the next points."""
        return [self.jobs.popleft() for _ in range(min(count, len(self.jobs)))]


class Backend(Protocol):
    """Where points are simulated. `begin` executes the launch too; a future's result is (rows, seconds that they took)."""

    depth: int  # chunks to hand out ahead

    def begin(self, group: Group, jobs: list[Job]) -> Any: ...
    def go_on(self, group: Group, jobs: list[Job]) -> Any: ...
    def wait(self, futures: Iterable[Any]) -> Iterable[Any]:
        """Return those that are done, at least one."""

    def result(self, future: Any) -> tuple[list[Row], float]: ...
    def end(self, group: Group) -> None:
        """Forget the trace."""


def serial(groups: Iterable[Group], gpus: Mapping[str, Gpu]) -> Iterator[list[Row]]:
    """Yield the rows of all points, one by one, without another process."""
    for group in groups:
        trace = executed(group.build())
        while jobs := group.take(1):
            yield evaluated(trace, gpus, jobs)[0]


def drive(backend: Backend, groups: Iterable[Group]) -> Iterator[list[Row]]:
    """Yield the rows of each chunk as it is done."""
    fresh, started, running = iter(groups), deque[Group](), dict[Any, Group]()
    size, longer = 1, max(1.0, backend.depth / AHEAD)
    while True:
        while len(running) < backend.depth:
            if started:
                group = started[0]
                future = backend.go_on(group, group.take(min(size, -(-len(group.jobs) // backend.depth))))
                if not group.jobs:
                    started.popleft()
            elif (following := next(fresh, None)) is not None:
                group = following
                future = backend.begin(group, group.take(1))
            else:
                break
            group.running += 1
            running[future] = group
        if not running:
            return
        for future in list(backend.wait(running)):
            group, (rows, seconds) = running.pop(future), backend.result(future)
            size = max(1, int(longer * min(MOST, CHUNK_SECONDS * len(rows) / max(seconds, 1e-6))))
            group.running -= 1
            if group.jobs and group not in started:
                started.append(group)
            elif not group.jobs and not group.running:
                backend.end(group)
            yield rows
