"""Why a warp waited in a cycle: from its next issue backwards to something that was busy when the wait began."""

from bisect import bisect_right
from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple

from isa.errors import UserError
from sim.causes.explain.chain import Chain, Link
from sim.causes.explain.recording import Recording
from sim.causes.explain.segments import Segment, merged, segments
from sim.causes.explain.words import sentence
from sim.reference.moments import Moment, Work, back
from sim.result.causes import SlotCause, StallCause


def why(recording: Recording, warp: int | tuple[int, int], cycle: int) -> Chain:
    """Return the chain of causes behind what a warp did in a cycle. Raises UserError for a warp or a cycle that is none."""
    block, number = recording.warp(warp)
    if not 0 <= cycle < recording.result.cycles:
        raise UserError(f"there is no cycle {cycle}", hint=f"the run has cycles 0 to {recording.result.cycles - 1}")
    started, end = recording.moments.starts[block], recording.moments.ends[block, number]
    if cycle < started.cycle:
        return _chain(recording, started, Work(block, number, 0), cycle, 0, recording.issues(block, number)[0].cycle)
    if cycle >= end.cycle:
        raise UserError(f"warp {number} of block {block} had ended in cycle {end.cycle}", hint="choose an earlier cycle")
    ends = recording.ends_of_waits(block, number)
    place = bisect_right(ends, cycle, key=itemgetter(1))
    moment, begin = ends[place][0], ends[place - 1][1] if place else started.cycle
    issue = next(one.cycle for one, after in (ends[k] for k in range(place, len(ends))) if after > one.cycle or one is end)
    return _chain(recording, moment, moment.work, cycle, min(begin, moment.cycle), issue)


def longest_wait(recording: Recording, warp: int | tuple[int, int] | None = None) -> Chain:
    """Return the longest wait of a warp, or, of None, on the critical path; that for its block's start only if there is no other."""
    issues = list(on_path(recording)) if warp is None else recording.issues(*recording.warp(warp))
    issues = issues or [one for found in recording.moments.issues.values() for one in found]  # none on a path that a refresh absorbs
    wanted: dict[tuple[int, int], set[int]] = {}
    for moment in issues:
        wanted.setdefault(moment.work[:2], set()).add(moment.cycle)
    waits = [(wait, whose) for whose, cycles in wanted.items() for wait in _waits(recording, *whose) if wait.issue in cycles]
    longest, whose = max(waits, key=lambda found: (found[0].cause is not StallCause.NO_INSTRUCTION, found[0].end - found[0].begin))
    return why(recording, whose, max(longest.end - 1, longest.begin))


class Wait(NamedTuple):
    """A wait of a warp for one cause, [begin, end), before it issued in cycle `issue`."""

    begin: int
    end: int
    issue: int
    cause: StallCause | SlotCause | None


def _waits(recording: Recording, block: int, warp: int) -> Iterator[Wait]:
    """Yield the waits of a warp before its issues."""
    begin, found = recording.moments.starts[block].cycle, []
    for moment, after in recording.ends_of_waits(block, warp)[:-1]:
        found.append((begin, max(begin, moment.cycle), moment.cause))
        if after > moment.cycle:
            yield from (Wait(first, last, moment.cycle, cause) for first, last, cause in found)
            found.clear()
        begin = after


def on_path(recording: Recording) -> Iterator[Moment]:
    """Yield the issues on the critical path, the last first."""
    for moment, _, end in back(recording.moments.end):
        if moment.cycle <= end and isinstance(moment.cause, StallCause) and moment.cause is not StallCause.DRAIN:
            yield moment


def link(recording: Recording, run: list[Segment]) -> Link:
    """Return neighbouring segments of one resource as a link."""
    last = run[0]
    waiter, worker = recording.instruction(last.waiter), recording.instruction(last.work)
    return Link(
        begin=run[-1].begin,
        end=last.end,
        cause=last.cause.name.lower(),
        resource=last.resource,
        text=sentence(recording, run),
        block=None if last.work.block < 0 else last.work.block,
        warp=None if last.work.warp < 0 else last.work.warp,
        line=waiter.line if waiter else None,
        producer_line=worker.line if worker else None,
    )


def _chain(recording: Recording, moment: Moment, work: Work, cycle: int, begin: int, issue: int) -> Chain:
    """Return the chain of a wait that began in cycle `begin` and ended at a moment. work: what waited, and issued in cycle `issue`."""
    instruction, branch = recording.instruction(work), recording.parted_at(work)
    assert instruction is not None
    return Chain(
        block=work.block,
        warp=work.warp,
        cycle=cycle,
        begin=begin,
        end=moment.cycle,
        issue=issue,
        cause=(moment.cause or SlotCause.NO_WARP).name.lower(),
        line=instruction.line,
        instruction=instruction.index,
        text=instruction.text,
        lanes=recording.mask(work).bit_count(),
        parted_at=branch.line if branch else None,
        links=tuple(link(recording, run) for run in merged(segments(moment, begin))),
    )
