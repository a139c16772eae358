"""Compare two `Result`s and say where they first differ, in one line that a person can act on."""

from collections.abc import Iterator

import numpy as np

from sim.result.causes import CAUSE_NAMES
from sim.result.result import Result, Timeline

PLACE = ("cycle", "sm", "scheduler", "block", "warp", "instruction")


def first_difference(a: Result, b: Result) -> str | None:
    """Return one line about the first difference of two runs of one program, None when they are equal but for their engines.

    First in time where both have a timeline: the first issue that differs. Then cycles, counters and accounts.
    """
    return next(differences(a, b), None)


def differences(a: Result, b: Result) -> Iterator[str]:
    """Yield one line per kind of difference."""
    names = (a.engine, b.engine) if a.engine != b.engine else ("first", "second")
    if a.timeline is not None and b.timeline is not None:
        yield from _timelines(a, b, names)
    for field in ("cycles", "elapsed_cycles", "occupancy"):
        yield from _pair(field, getattr(a, field), getattr(b, field), names)
    for field in ("counters", "issue_slots"):
        yield from _tables(field, getattr(a, field), getattr(b, field), names)
    yield from _instructions(a, b, names)
    yield from _tables("stalls", a.stalls, b.stalls, names)
    if not np.array_equal(a.clock_reads, b.clock_reads):
        yield from _rows("clock read", a.clock_reads, b.clock_reads, names)
    yield from _moments("start", a.block_starts, b.block_starts, names)
    yield from _moments("end", a.block_ends, b.block_ends, names)
    if a.phases is not None and b.phases is not None:
        for phase, (one, other) in enumerate(zip(np.transpose(a.phases).tolist(), np.transpose(b.phases).tolist(), strict=True)):
            yield from _pair(f"phase {phase} (block, barrier, begun, over)", one, other, names)


def _pair(field: str, a: object, b: object, names: tuple[str, str]) -> Iterator[str]:
    if a != b:
        yield f"{field}: {names[0]} {a}, {names[1]} {b}"


def _tables(field: str, a: dict, b: dict, names: tuple[str, str]) -> Iterator[str]:
    for key in dict.fromkeys([*a, *b]):
        yield from _pair(f"{field}['{key}']", a.get(key, 0), b.get(key, 0), names)


def _instructions(a: Result, b: Result, names: tuple[str, str]) -> Iterator[str]:
    """Yield the instructions whose issues or causes differ."""
    if a.stalls_by_instruction.shape != b.stalls_by_instruction.shape:
        yield f"instructions: {names[0]} {len(a.stalls_by_instruction)}, {names[1]} {len(b.stalls_by_instruction)}"
        return
    for instruction in a.program.instructions:
        i = instruction.index
        where = f"instruction {i} ({instruction.text})"
        yield from _pair(f"{where}, issues", a.issues_by_instruction[i], b.issues_by_instruction[i], names)
        for cause in np.flatnonzero(a.stalls_by_instruction[i] != b.stalls_by_instruction[i]):
            values = a.stalls_by_instruction[i, cause], b.stalls_by_instruction[i, cause]
            yield from _pair(f"{where}, warp-cycles of {CAUSE_NAMES[cause]}", *values, names)


def _moments(what: str, a: np.ndarray, b: np.ndarray, names: tuple[str, str]) -> Iterator[str]:
    """Yield the first block that starts, or ends, in another cycle."""
    yield from _pair("blocks", len(a), len(b), names)
    for block, (ours, theirs) in enumerate(zip(a.tolist(), b.tolist(), strict=False)):
        if ours != theirs:
            yield f"{what} of block {block}: {names[0]} cycle {ours}, {names[1]} cycle {theirs}"
            return


def _timelines(a: Result, b: Result, names: tuple[str, str]) -> Iterator[str]:
    """Yield the first issue that differs: a warp in another cycle, or the same issue with another field."""
    assert a.timeline is not None
    assert b.timeline is not None
    ours, theirs = np.stack(a.timeline, axis=1), np.stack(b.timeline, axis=1)
    common = min(len(ours), len(theirs))
    differ = np.flatnonzero((ours[:common] != theirs[:common]).any(axis=1))
    row = int(differ[0]) if len(differ) else common
    if row == max(len(ours), len(theirs)):
        return
    if row == common:
        longer, name, other = (ours, *names) if len(ours) > common else (theirs, *names[::-1])
        yield f"{_place(longer[row], a)}: {name} issued this, {other} ended before"
    elif (ours[row, : len(PLACE)] != theirs[row, : len(PLACE)]).any():
        yield f"{names[0]} issued {_place(ours[row], a)}; {names[1]} issued {_place(theirs[row], a)}"
    else:
        column = int(np.flatnonzero(ours[row] != theirs[row])[0])
        field, values = Timeline._fields[column], (ours[row, column], theirs[row, column])
        if field == "cause":
            values = tuple(CAUSE_NAMES[value] for value in values)
        yield f"{_place(ours[row], a)}, field {field}: {names[0]} {values[0]}, {names[1]} {values[1]}"


def _place(row: np.ndarray, result: Result) -> str:
    cycle, sm, scheduler, block, warp, instruction = (int(value) for value in row[: len(PLACE)])
    text = result.program.instructions[instruction].text
    return f"cycle {cycle}, SM {sm}, scheduler {scheduler}, block {block}, warp {warp}, instruction {instruction} ({text})"


def _rows(what: str, a: np.ndarray, b: np.ndarray, names: tuple[str, str]) -> Iterator[str]:
    for row in range(max(len(a), len(b))):
        values = [table[row].tolist() if row < len(table) else "none" for table in (a, b)]
        if values[0] != values[1]:
            yield f"{what} {row} (cycle, block, warp, instruction): {names[0]} {values[0]}, {names[1]} {values[1]}"
            return
