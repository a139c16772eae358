"""`Chain` and `Link`: why a warp waited, as values. Words are made when a chain is; nothing here computes."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Link:
    """One reason: what some hardware was busy with during [begin, end), cycles. Links of a chain go backwards in time without a gap.

    cause: the stall cause of the wait that it belongs to. resource: what was busy, by the field of the GPU that would shorten it
    ("units.fp32.latency", "dram.bandwidth"), or a sentence where there is none. block, warp, line: whose work it was, and the line in the
    listing of the instruction that the work was for; None where it was no warp's (a block that starts).
    """

    begin: int
    end: int
    cause: str
    resource: str
    text: str  # one sentence
    block: int | None = None  # in launch order
    warp: int | None = None  # within the block
    line: int | None = None  # of the instruction that waited here
    producer_line: int | None = None  # of the instruction that the hardware was busy with

    @property
    def cycles(self) -> int:
        """How long it took."""
        return self.end - self.begin


@dataclass(frozen=True)
class Chain:
    """Why warp `warp` of block `block` did not issue in cycle `cycle`: its wait [begin, end), and the links that explain all of it.

    cause: of that wait, a stall cause, or "no_warp" before its block starts. issue: the cycle in which it issues, which may be later
    than `end`, for another cause; of a warp after its last instruction the cycle in which it has ended. line, instruction, text: what
    waits. lanes: how many of its lanes execute that. parted_at: the line of the branch that parted them from the others, None when all go
    together. links: the nearest reason first; the last one begins in or before cycle `begin`.
    """

    block: int
    warp: int
    cycle: int
    begin: int
    end: int
    issue: int
    cause: str
    line: int
    instruction: int  # static index
    text: str
    lanes: int
    parted_at: int | None
    links: tuple[Link, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        """Return the chain in words, a line per link."""
        waited = self.end - self.begin
        lines = [f"warp {self.warp} of block {self.block}, line {self.line}: {self.text}"]
        if self.cause == "drain":
            lines.append(f"issued it in cycle {self.begin - 1}, its last, and has ended in cycle {self.end}: drain")
        elif not waited:
            lines.append(f"issues it in cycle {self.end} without a wait")
        else:
            lines.append(f"{self.cause}: waits {count(waited, 'cycle')}, {self.begin}-{self.end - 1}; issues it in cycle {self.issue}")
        if self.parted_at is not None:
            lines.append(f"{self.lanes} lanes execute it; the others wait since the branch in line {self.parted_at} parted them")
        return "\n".join([*lines, *(f"  {span(link):>15}  {link.text}" for link in self.links)])


def count(number: int, noun: str) -> str:
    """Return "1 cycle", "2 cycles"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def span(link: Link) -> str:
    """Return the cycles of a link: "12-15", one alone "12"."""
    return f"{link.begin}-{link.end - 1}" if link.cycles > 1 else str(link.begin)
