"""A timeline as a Kanata log, version 4, which the pipeline viewer Konata opens.

Each issue is an instruction of the log, its warp a thread. Lane 0: `W` while the warp waits for it, `X` from its issue until its result is
there. Lane 1: the stall, under the name of its cause. It retires with its result; an arrow (`W` command) leads to it from the instruction
whose result it waited for.

Format: docs/kanata-log-format.md of the Konata project. Cycles never go back, so the log is sorted by cycle; within one, what ends comes
before what begins.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sim.report.slices import NOT_SELECTED
from sim.report.tracks import Tracks, tracks
from sim.result.causes import CAUSE_NAMES
from sim.result.result import Result

ENDS, BEGINS, STARTS, ARROWS, RETIRES = range(5)  # the order within a cycle


class Issue(NamedTuple):
    """An issue as the log sees it. Times are cycles."""

    number: int  # in the log, in order of appearance
    row: int  # of the tracks
    since: int  # it appears: its warp begins to wait for it
    ready: int  # only its turn or its port is missing from here
    issue: int
    done: int  # its result is there, and its port free
    retired: int  # which to retire, from 0
    producer: int  # number of the one whose result it waited for, -1 = none


def text(result: Result) -> str:
    """Return the log. Raises UserError when the run recorded no timeline."""
    found = tracks(result)
    events = sorted(event for issue in _issues(found) for event in _events(result, found, issue))
    now = events[0][0]
    lines = ["Kanata\t0004", f"C=\t{now}"]
    for cycle, _, _, command in events:
        if cycle > now:
            lines.append(f"C\t{cycle - now}")
            now = cycle
        lines.append(command)
    return "\n".join(lines) + "\n"


def _issues(found: Tracks) -> Iterator[Issue]:
    rows = found.rows
    done = np.maximum(np.maximum(rows.ready, rows.dispatched), rows.cycle + 1)
    number, retired = _ranks(rows.since), _ranks(done)
    producer = np.where(found.producer >= 0, number[found.producer], -1)
    ready = np.minimum(np.maximum(rows.eligible, rows.since), rows.cycle)
    columns = (number, np.arange(len(done)), rows.since, ready, rows.cycle, done, retired, producer)
    return map(Issue._make, zip(*(column.tolist() for column in columns), strict=True))


def _ranks(times: np.ndarray) -> np.ndarray:
    """Return the place of each in order of time; equal ones keep their order."""
    ranks = np.empty(len(times), np.int64)
    ranks[np.argsort(times, kind="stable")] = np.arange(len(times))
    return ranks


def _events(result: Result, found: Tracks, issue: Issue) -> Iterator[tuple[int, int, int, str]]:
    """Yield (cycle, order within it, number, command)."""
    me = issue.number
    yield issue.since, BEGINS, me, _begin(result, found, issue)
    if issue.issue > issue.since:
        yield from _stage(issue, 0, "W", issue.since, issue.issue)
    cause = CAUSE_NAMES[int(found.rows.cause[issue.row])]
    for name, start, stop in ((cause, issue.since, issue.ready), (CAUSE_NAMES[NOT_SELECTED], issue.ready, issue.issue)):
        if stop > start:
            yield from _stage(issue, 1, name, start, stop)
    yield from _stage(issue, 0, "X", issue.issue, issue.done)
    if issue.producer >= 0:
        yield issue.issue, ARROWS, me, f"W\t{me}\t{issue.producer}\t0"
    yield issue.done, RETIRES, me, f"R\t{me}\t{issue.retired}\t0"


def _stage(issue: Issue, lane: int, name: str, start: int, stop: int) -> Iterator[tuple[int, int, int, str]]:
    yield start, STARTS, issue.number, f"S\t{issue.number}\t{lane}\t{name}"
    yield stop, ENDS, issue.number, f"E\t{issue.number}\t{lane}\t{name}"


def _begin(result: Result, found: Tracks, issue: Issue) -> str:
    """Return the commands that introduce an instruction: its thread, its label, what a reader finds on hovering."""
    rows, row = found.rows, issue.row
    warp = int(np.searchsorted(found.first, row, side="right")) - 1
    instruction = result.program.instructions[int(rows.instruction[row])]
    label = f"b{rows.block[row]} w{rows.warp[row]}  I{instruction.index} {instruction.text}"
    detail = f"line {instruction.line}, {rows.lanes[row]} lanes, SM {rows.sm[row]}, scheduler {rows.scheduler[row]}"
    return f"I\t{issue.number}\t{row}\t{warp}\nL\t{issue.number}\t0\t{label}\nL\t{issue.number}\t1\t{detail}"
