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

    end: the cycle in which it issues, of a warp after its last instruction the cycle in which it has ended. cause: a stall cause, or
    "no_warp" before its block starts. line: of the instruction that waits; text: that instruction.
    links: the nearest reason first; the last one begins in or before cycle `begin`.
    """

    block: int
    warp: int
    cycle: int
    begin: int
    end: int
    cause: str
    line: int
    instruction: int  # static index
    text: str
    links: tuple[Link, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        """Return the chain in words, a line per link."""
        waits = (
            f"{self.end - self.begin} cycles, {self.begin} to {self.end - 1}: {self.cause}" if self.end > self.begin else "it did not wait"
        )
        lines = [f"warp {self.warp} of block {self.block}, line {self.line}, {self.text} {waits}"]
        return "\n".join([*lines, *(f"  {link.begin:>6}-{link.end:<6} {link.text}" for link in self.links)])
