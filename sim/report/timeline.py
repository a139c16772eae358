"""Warps by cycles in text, drawn as lecture notes on interval analysis draw them, and a table of issue and ready times.

    # Cycles:  0   1   2   3   ..  400 401
    wp0:      [I0           ]      I1

A cell is a cycle. `[I0   ]` holds its port or its scheduler for as many cells; `.` is a warp that is ready but must wait for its
turn or for a port; a blank waits for a result. More than GAP cycles in which nothing issues or holds become one cell `..`.
"""

from typing import NamedTuple

import numpy as np

from isa.dependences import name as dependence_name
from isa.errors import UserError
from isa.program import Program
from sim.report.tracks import dependences, producers, recorded
from sim.report.words import count
from sim.result.causes import CAUSE_NAMES, RESULT_CAUSE
from sim.result.result import Result, Timeline

GAP = 5  # idle cycles that are still drawn one by one
NAME = "# Cycles: "
LEGEND = "[I2  ] issues and holds its port; . is ready, waits for its turn or a port; blank: waits; .. nothing issues"
OF_RESULTS = {cause.name.lower() for cause in RESULT_CAUSE.values()}  # waits that a result ends


class Issue(NamedTuple):
    """One issue. Times are cycles."""

    instruction: int  # static
    cycle: int
    end: int  # first cycle after its port was held
    ready: int  # first cycle in which a dependent may issue
    since: int  # first cycle of the wait before it
    eligible: int  # first cycle in which only its turn or its port was missing
    cause: str  # of [since, eligible)
    lanes: int  # that executed it


class Warp(NamedTuple):
    """What one warp issued inside the window, in order."""

    block: int
    warp: int
    sm: int
    issues: list[Issue]


def warps(result: Result, show: tuple[int, ...] | None = None) -> list[Warp]:
    """Return the warps of the recorded window by block and number; show: which, counted in that order, None = all.

    Raises UserError when the run recorded no timeline, or nothing of what is asked for.
    """
    timeline = recorded(result)
    order = np.lexsort((np.arange(len(timeline.cycle)), timeline.warp, timeline.block))
    found: dict[tuple[int, int], Warp] = {}
    for row in order.tolist():
        key = (int(timeline.block[row]), int(timeline.warp[row]))
        found.setdefault(key, Warp(*key, int(timeline.sm[row]), [])).issues.append(_issue(timeline, row))
    everything = list(found.values())
    if show is None:
        return everything
    chosen = [everything[n] for n in show if n < len(everything)]
    if not chosen:
        raise UserError(f"the window has {count(len(everything), 'warp')}, numbered from 0; none of those asked for")
    return chosen


def first_and_others(result: Result, most: int = 8) -> tuple[int, ...]:
    """Return the numbers of the first `most` warps, and of further ones of their blocks that issue what none before them does.

    Where warps have roles (one that only copies, others that multiply) the copying one is often the last. No more than twice `most`.
    """
    everything = warps(result)
    blocks = {warp.block for warp in everything[:most]}
    seen = {issue.instruction for warp in everything[:most] for issue in warp.issues}
    chosen = list(range(min(most, len(everything))))
    for number, warp in enumerate(everything[most:], most):
        own = {issue.instruction for issue in warp.issues}
        if warp.block in blocks and own - seen and len(chosen) < 2 * most:
            chosen.append(number)
            seen |= own
    return tuple(chosen)


def text(result: Result, show: tuple[int, ...] | None = None, width: int = 120) -> str:
    """Return the drawing of the recorded window, in panels of at most `width` columns."""
    return drawing(warps(result, show), width)


def drawing(drawn: list[Warp], width: int = 120) -> str:
    """Return the drawing of these warps, in panels of at most `width` columns."""
    first = min(warp.issues[0].cycle for warp in drawn)
    columns, cells = _columns(drawn, first)
    size = _cell_width(drawn, cells)
    names = _names(drawn)
    left = max(len(NAME), *(len(name) + 2 for name in names))
    rows = [_draw(warp.issues, columns, first, size, len(cells)) for warp in drawn]
    step = max((width - left) // size, 1)
    panels = []
    for start in range(0, len(cells), step):
        header = "".join(f" {cell}".ljust(size) for cell in cells[start : start + step])
        lines = [NAME.ljust(left) + header]
        lines += [f"{name}:".ljust(left) + row[start * size : (start + step) * size] for name, row in zip(names, rows, strict=True)]
        panels.append("\n".join(line.rstrip() for line in lines))
    return "\n\n".join(panels)


def table(program: Program, warp: Warp, rows: int = 60) -> str:
    """Return the issue times (t_is) and ready times (t_re) of one warp, and what each issue waited for."""
    blockers = blocking(program, warp.issues)
    lines = [("", "t_is", "t_re", "waited (cycles)", "instruction")]
    for issue, blocker in list(zip(warp.issues, blockers, strict=True))[:rows]:
        wait = "; ".join(_waits(issue, blocker))
        lines.append(
            (f"I{issue.instruction}", str(issue.cycle), _ready(program, issue), wait, program.instructions[issue.instruction].text)
        )
    size = [max(len(line[column]) for line in lines) for column in range(4)]
    body = "\n".join(f"{a:<{size[0]}}  {b:>{size[1]}}  {c:>{size[2]}}  {d:<{size[3]}}  {e}".rstrip() for a, b, c, d, e in lines)
    more = len(warp.issues) - rows
    return body + (f"\n... {count(more, 'more issue')} in the window" if more > 0 else "")


def heading(warp: Warp) -> str:
    """Return which warp it is, in words."""
    return f"warp {warp.warp} of block {warp.block}, on SM {warp.sm}"


def blocking(program: Program, issues: list[Issue]) -> list[str]:
    """Return per issue the dependence whose result came last and kept it waiting, as "R2 of I0"; "" when none did."""
    found = producers(dependences(program), [i.instruction for i in issues], [i.ready for i in issues], [i.since for i in issues])
    return [f"{dependence_name(name)} of I{issues[row].instruction}" if row >= 0 else "" for row, name in found]


def _issue(timeline: Timeline, row: int) -> Issue:
    return Issue(
        instruction=int(timeline.instruction[row]),
        cycle=int(timeline.cycle[row]),
        end=int(timeline.dispatched[row]),
        ready=int(timeline.ready[row]),
        since=int(timeline.since[row]),
        eligible=int(timeline.eligible[row]),
        cause=CAUSE_NAMES[int(timeline.cause[row])],
        lanes=int(timeline.lanes[row]),
    )


def _columns(drawn: list[Warp], first: int) -> tuple[np.ndarray, list[str]]:
    """Return the cell of each cycle from `first`, and the cells' headings."""
    last = max(issue.end for warp in drawn for issue in warp.issues)
    busy = np.zeros(last - first, bool)
    for warp in drawn:
        for issue in warp.issues:
            busy[issue.cycle - first : issue.end - first] = True
    columns, cycle = np.zeros(last - first, np.int64), 0
    cells: list[str] = []
    while cycle < len(busy):
        run = 1 if busy[cycle] else int(np.argmax(busy[cycle:]))  # the last cycle is busy, so a busy one follows
        columns[cycle : cycle + run] = len(cells) if run > GAP else np.arange(len(cells), len(cells) + run)
        cells += [".."] if run > GAP else [str(first + cycle + i) for i in range(run)]
        cycle += run
    return columns, cells


def _cell_width(drawn: list[Warp], cells: list[str]) -> int:
    labels = max(len(label) for warp in drawn for label, _, _ in _marks(warp.issues))
    return max(4, labels + 2, max(len(cell) for cell in cells) + 1)


def _marks(issues: list[Issue]) -> list[tuple[str, int, int]]:
    """Return (label, first cycle, end) per drawn mark: instructions issued together share one, a later issue ends an earlier one."""
    marks: list[tuple[str, int, int]] = []
    for issue in issues:
        label, begin, end = f"I{issue.instruction}", issue.cycle, issue.end
        if marks and marks[-1][1] == begin:
            before = marks.pop()
            label, end = f"{before[0]}+{label}", max(end, before[2])
        elif marks and marks[-1][2] > begin:
            marks[-1] = (*marks[-1][:2], begin)
        marks.append((label, begin, end))
    return marks


def _draw(issues: list[Issue], columns: np.ndarray, first: int, size: int, cells: int) -> str:
    """Return one warp's row, `cells` cells of `size` characters."""
    row = [" "] * (cells * size)
    for issue in issues:
        for cycle in range(max(issue.eligible, first), issue.cycle):
            row[int(columns[cycle - first]) * size + 1] = "."
    for label, begin, end in _marks(issues):
        start, stop = int(columns[begin - first]) * size, (int(columns[end - 1 - first]) + 1) * size
        mark = f"[{label}".ljust(stop - start - 2) + "]" if end - begin > 1 else f" {label}"
        row[start : start + len(mark)] = mark
    return "".join(row)


def _names(drawn: list[Warp]) -> list[str]:
    """Return "wp0", or "b1.wp0" when the window has several blocks."""
    several = len({warp.block for warp in drawn}) > 1
    return [f"b{warp.block}.wp{warp.warp}" if several else f"wp{warp.warp}" for warp in drawn]


def _ready(program: Program, issue: Issue) -> str:
    """Return t_re, "" for an instruction that returns nothing."""
    return str(issue.ready) if (program.encoded.writes[issue.instruction] >= 0).any() else ""


def _waits(issue: Issue, blocker: str) -> list[str]:
    """Return what the issue waited for, and how many cycles each."""
    waits = []
    if issue.eligible > issue.since:
        what = f"{blocker} ({issue.cause})" if blocker and issue.cause in OF_RESULTS else issue.cause
        waits.append(f"{issue.eligible - issue.since} for {what}")
    if issue.cycle > max(issue.eligible, issue.since):
        waits.append(f"{issue.cycle - max(issue.eligible, issue.since)} for its turn or a port")
    return waits
