"""What lint says: one place of a listing, what is wrong there, what to do."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from isa.dependences import name
from isa.program import Program
from sim.control_words.hazards import Hazard
from sim.control_words.latency import MOST_STALL

HAZARD, INFORMATION = "hazard", "information"


@dataclass(frozen=True)
class Finding:
    """One remark on one instruction."""

    level: str  # HAZARD: the program may compute something else; INFORMATION: it may lose cycles
    kind: str  # "stall", "order", "RAW", "WAW", "WAR", "early"; "slack", "unset"
    index: int  # of the instruction
    line: int  # 1-based line of the listing
    instruction: str
    message: str
    remedy: str
    cycles: int = 0  # that "slack" loses each time

    def text(self, path: str) -> str:
        """Return the finding as a compiler would print it."""
        return f"{path or 'listing'}:{self.line}: {self.level}: {self.instruction}\n    {self.message}\n    {self.remedy}"


def from_hazards(program: Program, hazards: Sequence[Hazard]) -> list[Finding]:
    """Return hazards in words; those of one pair of instructions, such as both words of an address, together."""
    found = []
    for (consumer, _, kind), group in groupby(hazards, key=lambda hazard: (hazard.consumer, hazard.producer, hazard.kind)):
        several = list(group)
        worst = max(several, key=lambda hazard: hazard.needed - hazard.found)
        names = ", ".join(name(hazard.dependence) for hazard in several if hazard.dependence >= 0)
        what = program.instructions[consumer]
        message, remedy = _words(program, worst, names)
        found.append(Finding(HAZARD, kind, consumer, what.line, what.text, message, remedy))
    return found


def _words(program: Program, hazard: Hazard, names: str) -> tuple[str, str]:
    """Return what is wrong, and the remedy."""
    assert program.control is not None
    producer = program.instructions[hazard.producer]
    there = f"line {producer.line} ({producer.text.rstrip(';')})"
    stall = int(program.control.stall[hazard.producer]) + hazard.needed - hazard.found
    if hazard.kind == "stall":
        message = f"reads {names} {_cycles(hazard.found)} after {there} issues; its result takes {hazard.needed}: a wrong answer"
        return message, _more(stall, producer.line, hazard.needed - hazard.found)
    if hazard.kind == "order":
        message = f"overwrites {names} {_cycles(hazard.found)} after {there} issues; it must be {hazard.needed}, or the older result stays"
        return message, _more(stall, producer.line, hazard.needed - hazard.found)
    if hazard.kind == "early":
        message = f"waits on a counter {_cycles(hazard.found)} after {there} adds to it, which shows after {hazard.needed}"
        return message, _more(stall, producer.line, hazard.needed - hazard.found)
    verb = {"RAW": "reads", "WAW": "overwrites", "WAR": "overwrites"}[hazard.kind]
    until = {"RAW": "has written", "WAW": "has written", "WAR": "has read"}[hazard.kind]
    message = f"{verb} {names} before {there} {until} it on every path: a race ({hazard.kind})"
    if hazard.needed >= 0:
        return message, f"wait on SB{hazard.needed} here, or on the way here"
    counter = "read" if hazard.kind == "WAR" else "write"
    return message, f"give line {producer.line} a {counter} counter and wait on it here"


def _cycles(count: int) -> str:
    return f"{count} cycle{'s' * (count != 1)}"


def _more(stall: int, line: int, missing: int) -> str:
    if stall <= MOST_STALL:
        return f"raise the stall of line {line} to {stall}, or let {_cycles(missing)} more pass between them"
    return f"let {_cycles(missing)} more pass between them"
