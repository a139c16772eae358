"""Parts of a dependence counter: which of its increments are undone, for a DEPBAR that leaves some, and for LDGSTS.

The last `kept` - 1 increments and the one that is open have a place each, in turn; all before share one more place. An increment has the
number of increments before it; what joins without an increment of its own takes the number of the next. Results return in order: a
DEPBAR that leaves `most` waits for every holder of all increments but the last `most`.
"""

import numpy as np

from sim.compiled.kernel import inner
from sim.lowering.core import Code
from sim.timing.state import NEVER, Machine


@inner
def clear_groups(m: int, s: int, sm: Machine) -> None:
    """Begin a warp without increments."""
    for number in range(sm.raised.shape[2]):
        sm.raised[m, s, number] = 0
        for place in range(sm.group_unknown.shape[3]):
            clear_place(m, s, np.int64(number), np.int64(place), sm)


@inner
def clear_place(m: int, s: int, number: int, place: int, sm: Machine) -> None:
    """Forget the holders of a place."""
    sm.group_unknown[m, s, number, place] = 0
    sm.group_released[m, s, number, place] = 0
    sm.group_cause[m, s, number, place] = 0


@inner
def join(m: int, s: int, number: int, until: int, cause: int, closes: bool, code: Code, sm: Machine) -> None:
    """Hold the open increment of a counter until a cycle, NEVER while that is not known; closes: the next holder makes another."""
    kept, ticket = code.kept, sm.raised[m, s, number]
    if until == NEVER:
        sm.group_unknown[m, s, number, ticket % kept] += 1
        sm.latest_cause[m, s, number] = cause
    else:
        note(m, s, number, ticket % kept, until, cause, sm)
    if not closes:
        return
    sm.raised[m, s, number] = ticket + 1
    oldest = (ticket + 1) % kept  # its place is taken now: what it holds goes to those before
    sm.group_unknown[m, s, number, kept] += sm.group_unknown[m, s, number, oldest]
    note(m, s, number, kept, sm.group_released[m, s, number, oldest], np.int64(sm.group_cause[m, s, number, oldest]), sm)
    clear_place(m, s, number, oldest, sm)


@inner
def note(m: int, s: int, number: int, place: int, cycle: int, cause: int, sm: Machine) -> None:
    """One holder of a place releases it in that cycle."""
    last = sm.group_released[m, s, number, place]
    if cycle > last or (cycle == last and cause < sm.group_cause[m, s, number, place]):
        sm.group_released[m, s, number, place] = cycle
        sm.group_cause[m, s, number, place] = cause


@inner
def release(m: int, s: int, number: int, ticket: int, cycle: int, cause: int, code: Code, sm: Machine) -> None:
    """It is known now when a holder of increment `ticket` releases it."""
    place = ticket % code.kept if ticket > sm.raised[m, s, number] - code.kept else code.kept
    sm.group_unknown[m, s, number, place] -= 1
    note(m, s, number, place, cycle, cause, sm)


@inner
def part_ready(m: int, s: int, number: int, most: int, code: Code, sm: Machine) -> tuple[int, int]:
    """Return (first cycle in which all increments but the last `most` are undone, NEVER while it is not known; the StallCause)."""
    kept, raised = code.kept, sm.raised[m, s, number]
    when, why, unknown = np.int64(0), np.int64(0), np.int64(sm.group_unknown[m, s, number, kept])
    when, why = later(m, s, number, kept, when, why, sm)
    for back in range(most + 1, kept):
        if raised - back >= 0:
            place = (raised - back) % kept
            unknown += sm.group_unknown[m, s, number, place]
            when, why = later(m, s, number, place, when, why, sm)
    if unknown:
        return np.int64(NEVER), np.int64(sm.latest_cause[m, s, number])
    return when, why


@inner
def later(m: int, s: int, number: int, place: int, when: int, why: int, sm: Machine) -> tuple[int, int]:
    """Return the later of a cycle and that of a place, and its cause: of equal ones the smaller."""
    released, cause = sm.group_released[m, s, number, place], np.int64(sm.group_cause[m, s, number, place])
    if released > when or (released == when and cause < why):
        return released, cause
    return when, why
