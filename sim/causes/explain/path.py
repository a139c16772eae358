"""The critical path of a run: what was busy, without a gap, from cycle 0 to the end. Only what shortens a part of it shortens the run."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

from sim.causes.explain.chain import Link
from sim.causes.explain.recording import Recording
from sim.causes.explain.segments import merged, segments
from sim.causes.explain.wait import link
from sim.result.causes import StallCause


class Part(NamedTuple):
    """A share of the path."""

    name: str
    cycles: int
    times: int  # how often the path goes through it


@dataclass(frozen=True)
class CriticalPath:
    """What the length of a run is made of. Each of the three divisions sums to `cycles`, which is that of the run.

    causes: by stall cause; the cycle of an issue is "selected". lines: by line of the listing (None: no instruction's) of the instruction
    that hardware was busy with. resources: by what was busy, where there is one by the field of the GPU that would shorten it.
    links: the whole path, the end of the run first.
    """

    cycles: int
    causes: tuple[Part, ...]
    lines: tuple[tuple[int | None, Part], ...]
    resources: tuple[Part, ...]
    links: tuple[Link, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values without the links, ready for JSON."""
        lines = [{"line": line} | part._asdict() for line, part in self.lines]
        return {
            "cycles": self.cycles,
            "causes": [part._asdict() for part in self.causes],
            "lines": lines,
            "resources": [part._asdict() for part in self.resources],
        }


def critical_path(recording: Recording) -> CriticalPath:
    """Return the critical path of a recorded run."""
    found = list(segments(recording.moments.end))
    causes, lines, resources = Counter[str](), Counter[int | None](), Counter[str]()
    visits: Counter[Any] = Counter()
    texts: dict[int | None, str] = {None: "a block starts or ends"}
    for one in found:
        cause, issuing = one.cause.name.lower(), int(one.issued)
        causes[StallCause.SELECTED.name.lower()] += issuing
        causes[cause] += one.cycles - issuing
        instruction = recording.instruction(one.work)
        line = instruction.line if instruction else None
        if instruction:
            texts[line] = instruction.text
        lines[line] += one.cycles
        resources[one.resource] += one.cycles
        visits.update([("cause", cause), ("line", line), ("resource", one.resource)] + [("cause", "selected")] * issuing)
    return CriticalPath(
        cycles=sum(one.cycles for one in found),
        causes=tuple(Part(name, cycles, visits["cause", name]) for name, cycles in causes.most_common() if cycles),
        lines=tuple((line, Part(texts[line], cycles, visits["line", line])) for line, cycles in lines.most_common()),
        resources=tuple(Part(name, cycles, visits["resource", name]) for name, cycles in resources.most_common()),
        links=tuple(link(recording, run) for run in merged(iter(found))),
    )
