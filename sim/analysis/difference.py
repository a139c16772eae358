"""Two runs side by side: where the difference of their times comes from, by cause, by instruction, and by counter; largest first.

By cause the split is exact: a run's cycles are the cycles of its issue slots, each slot-cycle has one cause, and the launch overhead is the
rest. By instruction it is in warp-cycles, whose sum over causes and instructions is the time of all warps together.
"""

import difflib
import math
from typing import Any, NamedTuple

import numpy as np

from sim.result.causes import CAUSE_NAMES, SLOT_CAUSE_NAMES
from sim.result.result import Result

OVERHEAD = "launch and end"  # not of issue slots: before the first block starts, and until the last stores are done


class Share(NamedTuple):
    """What one cause has in both times. first, second: in `unit`s of `Difference`, of the whole run."""

    cause: str
    first: float
    second: float

    @property
    def change(self) -> float:
        return self.second - self.first


class Row(NamedTuple):
    """One instruction in both runs; the copies that .rept makes of a line count as one. line: 0 = not in that listing."""

    text: str
    lines: tuple[int, int]
    issues: tuple[int, int]
    cycles: tuple[int, int]  # warp-cycles
    cause: str  # whose warp-cycles change most
    change_of_cause: int

    @property
    def change(self) -> int:
        return self.cycles[1] - self.cycles[0]


class Counter(NamedTuple):
    """One counter in both runs."""

    name: str
    first: float
    second: float

    @property
    def swing(self) -> float:
        """How far apart they are: the logarithm of their ratio, infinite where one is zero."""
        if self.first == self.second:
            return 0.0
        return abs(math.log(self.second / self.first)) if self.first > 0 and self.second > 0 else math.inf


class Difference(NamedTuple):
    """unit: "cycles" where both GPUs have the same clock, else "ns". speed_up: of the second run over the first."""

    unit: str
    speed_up: float
    causes: list[Share]
    rows: list[Row]
    counters: list[Counter]


def difference(a: Result, b: Result) -> Difference:
    """Return where the runs differ. The changes of `causes` sum to the change of the whole time, launch and end included."""
    alike = a.gpu.clock.core_mhz == b.gpu.clock.core_mhz
    first, second = (_causes(result, 1.0 if alike else 1e3 / result.gpu.clock.core_mhz) for result in (a, b))
    shares = [Share(name, first.get(name, 0.0), second.get(name, 0.0)) for name in dict.fromkeys([*first, *second])]
    names = [name for name in a.counters if name in b.counters]
    counters = [Counter(name, a.counters[name], b.counters[name]) for name in names]
    return Difference(
        unit="cycles" if alike else "ns",
        speed_up=a.seconds / b.seconds,
        causes=sorted(shares, key=lambda share: -abs(share.change)),
        rows=sorted(_rows(a, b), key=lambda row: -abs(row.change)),
        counters=sorted((counter for counter in counters if counter.swing), key=lambda counter: -counter.swing),
    )


def _causes(result: Result, scale: float) -> dict[str, float]:
    """Return the time of a run by cause: issue slots per slot that a cycle has, and the launch overhead."""
    slots = result.counters["issue_slots"] / result.cycles if result.cycles else 1.0
    found = {name: scale * result.issue_slots[name] / slots for name in SLOT_CAUSE_NAMES if name in result.issue_slots}
    overhead = result.elapsed_cycles - result.cycles
    return found | ({OVERHEAD: scale * overhead} if overhead else {})


class _Line(NamedTuple):
    """The instructions of one line of a listing with one text."""

    text: str
    line: int
    issues: int
    stalls: np.ndarray  # int64 [CAUSES] warp-cycles


def _lines(result: Result) -> list[_Line]:
    found: dict[tuple[int, str], _Line] = {}
    for instruction in result.program.instructions:
        i, key = instruction.index, (instruction.line, instruction.text)
        issues, stalls = int(result.issues_by_instruction[i]), result.stalls_by_instruction[i]
        if key in found:
            issues, stalls = issues + found[key].issues, stalls + found[key].stalls
        found[key] = _Line(instruction.text, instruction.line, issues, stalls)
    return list(found.values())


def _rows(a: Result, b: Result) -> list[Row]:
    """Return the lines of both listings, those of equal text in equal order side by side."""
    ours, theirs = _lines(a), _lines(b)
    matcher = difflib.SequenceMatcher(None, [line.text for line in ours], [line.text for line in theirs], autojunk=False)
    rows = []
    for kind, start, end, other, last in matcher.get_opcodes():
        if kind == "equal":
            rows += [_row(one, two) for one, two in zip(ours[start:end], theirs[other:last], strict=True)]
        else:
            rows += [_row(one, None) for one in ours[start:end]] + [_row(None, two) for two in theirs[other:last]]
    return [row for row in rows if any(row.cycles)]


def _row(one: _Line | None, two: _Line | None) -> Row:
    nothing = _Line("", 0, 0, np.zeros(len(CAUSE_NAMES), np.int64))
    first, second = one or nothing, two or nothing
    change = second.stalls - first.stalls
    most = int(np.abs(change).argmax())
    return Row(
        text=first.text or second.text,
        lines=(first.line, second.line),
        issues=(first.issues, second.issues),
        cycles=(int(first.stalls.sum()), int(second.stalls.sum())),
        cause=CAUSE_NAMES[most],
        change_of_cause=int(change[most]),
    )


def as_dict(found: Difference) -> dict[str, Any]:
    """Return everything as plain values."""
    return {
        "unit": found.unit,
        "speed_up": found.speed_up,
        "causes": [share._asdict() | {"change": share.change} for share in found.causes],
        "instructions": [row._asdict() | {"change": row.change} for row in found.rows],
        "counters": [counter._asdict() for counter in found.counters],
    }
