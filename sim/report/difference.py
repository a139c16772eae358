"""Two runs side by side, for a person: which is faster, and the difference by cause, by instruction and by counter."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sim.analysis.difference import OVERHEAD, Difference
from sim.report.heading import heading
from sim.report.tables import table_of
from sim.report.words import seconds, slot_meaning
from sim.result.result import Result

if TYPE_CHECKING:
    from rich.table import Table

ROWS = 12
TOLD = 0.05  # difference of two speed-ups, with launch and end and without, from which both are told


def summary(a: Result, b: Result, found: Difference, own: Sequence[Result] = (), spread: Sequence[float] = ()) -> str:
    """Return what ran, and which of the two is faster.

    own: the runs by the control words that each has by itself, where others count. spread: speed-ups of B of an ensemble.
    """
    runs = [
        f"{name}  {heading(run)}\n   {run.cycles:,} cycles of the core clock, {seconds(run.seconds)} with the launch".replace("\n", "\n   ")
        for name, run in (("A", a), ("B", b))
    ]
    unknown = _of_overheads(a, b)
    if found.speed_up == 1:
        verdict = "Both take the same time."
    else:
        ratio, faster = max((found.speed_up, "B"), (1 / found.speed_up, "A"))
        alone = _without_launch(a, b, faster)
        also = f", launch and end included; {alone:.2f} times without them" if not unknown and abs(alone / ratio - 1) >= TOLD else ""
        verdict = f"{faster} is {ratio:.2f} times as fast{also}."
    verdict += unknown
    if spread:
        noise = "; within noise: nothing to act upon" if min(spread) <= 1 <= max(spread) and found.speed_up != 1 else ""
        verdict += f" Over {len(spread)} placements B is {min(spread):.3f} to {max(spread):.3f} times as fast{noise}."
    return "\n".join([*runs, "", *_of_words(a, b, own), verdict])


def _without_launch(a: Result, b: Result, faster: str) -> float:
    """Return how many times as fast one of two runs is, from its first block's start to its last block's end."""
    first, second = (run.cycles / run.gpu.clock.core_mhz for run in (a, b))
    return first / second if faster == "B" else second / first


def _of_overheads(a: Result, b: Result) -> str:
    """Return in a sentence that one GPU's launch overhead is not known, and what the comparison is without; "" when both or none are."""
    unknown = [run for run in (a, b) if not (run.gpu.blocks.launch_overhead or run.gpu.blocks.launch_us)]
    if len(unknown) != 1:
        return ""
    faster = "B" if _without_launch(a, b, "B") > 1 else "A"
    without = f"without both, {faster} is {_without_launch(a, b, faster):.2f} times as fast."
    return f" The launch overhead of {unknown[0].gpu.name} is not known and counts as 0; {without}"


def _of_words(a: Result, b: Result, own: Sequence[Result]) -> list[str]:
    """Return in a sentence that words of a compiler were not compared with ours, and what the words alone change."""
    lines = []
    for name, run, before in zip("AB", (a, b), own, strict=False):
        if before.words.kind != run.words.kind:
            lines.append(
                f"{name} takes {before.cycles:,} cycles by the compiler's control words, {run.cycles:,} by words scheduled here: "
                "the comparison is of the latter, as the other GPU needs new ones."
            )
    return lines


def tables(found: Difference) -> "list[Table]":
    """Return the difference by cause, by instruction and by counter, the largest changes first."""
    total = sum(share.change for share in found.causes)
    causes = [
        (share.cause, f"{share.first:,.0f}", f"{share.second:,.0f}", f"{share.change:+,.0f}", _meaning(share.cause))
        for share in found.causes
        if round(share.first) or round(share.second)
    ]
    both = (f"{sum(share.first for share in found.causes):,.0f}", f"{sum(share.second for share in found.causes):,.0f}")
    causes.append(("sum", *both, f"{total:+,.0f}", ""))
    rows = [
        (
            *(str(line or "-") for line in row.lines),
            row.text,
            *(f"{n:,}" for n in row.cycles),
            f"{row.change:+,}",
            f"{row.cause} {row.change_of_cause:+,}",
        )
        for row in found.rows[:ROWS]
        if row.change
    ]
    counters = [(one.name, _number(one.first), _number(one.second), _ratio(one.first, one.second)) for one in found.counters[:ROWS]]
    shown = [
        table_of(
            ("cause", "A", "B", "B - A", ""),
            causes,
            f"The difference by cause, {found.unit}: what the issue slots of a cycle did",
            words=("cause", ""),
        )
    ]
    if rows:
        columns = ("line A", "line B", "instruction", "A", "B", "B - A", "mostly")
        shown.append(table_of(columns, rows, "By instruction, warp-cycles waited and issued", words=("instruction", "mostly")))
    if counters:
        shown.append(table_of(("counter", "A", "B", "B / A"), counters, "Counters that differ", words=("counter",)))
    return shown


def _meaning(cause: str) -> str:
    return "before the first block starts, and until the last stores are done" if cause == OVERHEAD else slot_meaning(cause)


def _number(value: float) -> str:
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.4g}"


def _ratio(first: float, second: float) -> str:
    return f"{second / first:.3g}" if first else "-"
