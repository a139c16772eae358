"""Tables of a sweep: the fastest points, what the sweep took, and its rows as plain values."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from isa.errors import UserError
from sim.gpus.fields import nearest
from sim.report.tables import table_of
from sim.report.words import count, seconds
from sim.traces.ensemble import MEMBERS

if TYPE_CHECKING:
    from pandas import DataFrame, Series
    from rich.table import Table

ROWS = 20
NEXT = re.compile(r"; (?=[\w.]+ not read)")  # between two fields that a point does not read, and why
WORK = ("listing", "grid", "block", "warps")  # launches that differ in these do different work: cycles alone do not compare them
SMALLER = ("cycles", "elapsed_cycles", "seconds")  # is better
TIMES = (*SMALLER, "ipc")  # of which noise is known


def metric(frame: "DataFrame", name: str | None, axes: Iterable[str]) -> str:
    """Return the column that says how good a point is: the one asked for, else cycles, or IPC where launches do different work."""
    if name is None:
        different = any(axis in WORK or axis.startswith("arg.") for axis in axes)
        return "ipc" if different else "seconds" if "gpu" in axes else "cycles"
    numbers = [column for column in frame.columns if frame[column].dtype.kind in "if"]
    if name not in numbers:
        near = nearest(name, numbers)
        raise UserError(
            f"no column of numbers is called '{name}'", hint=f"did you mean {near}?" if near else f"columns: {', '.join(numbers)}"
        )
    return name


def why_by(column: str, axes: Iterable[str]) -> str:
    """Return in a line why points are compared by that column when nobody asked for one; "" for cycles, as one expects."""
    if column == "ipc":
        work = ", ".join(axis for axis in axes if axis in WORK or axis.startswith("arg."))
        why = f"points that differ in {work} may do different work; --metric cycles ranks by cycles anyway"
        return f"by instructions per cycle (ipc), not cycles: {why}"
    ours = "by seconds, not cycles: GPUs have clocks of their own; with launch overhead for those GPUs whose is known"
    return ours if column == "seconds" else ""


def best(frame: "DataFrame", column: str) -> "DataFrame":
    """Return the points that could be simulated, the best first."""
    return frame[frame["error"].isna()].sort_values(column, ascending=column in SMALLER, kind="stable")


def within_noise(frame: "DataFrame", column: str, noise: float | None) -> "Series | None":
    """Return for each point whether it is no different from the best; None where nothing says.

    By the bands of both, or by `noise`: how many times the slowest of some runs of one machine takes as long as the fastest.
    """
    if column not in TIMES or ("cycles_low" not in frame and noise is None):
        return None
    first = best(frame, column).iloc[0]
    time, fastest = (one[column] if column in SMALLER else 1 / one[column] for one in (frame, first))
    if "cycles_low" in frame:
        low, high = frame["cycles_low"] / frame["cycles"], first["cycles_high"] / first["cycles"]
        return (time * low <= fastest * high) & (frame.index != first.name)
    return (time <= fastest * noise) & (frame.index != first.name)


def fastest(frame: "DataFrame", axes: Sequence[str], column: str, noise: float | None = None, *, gpu: str = "") -> "Table":
    """Return the best points by `column`, at most ROWS, with what their warps waited for most.

    noise: as of `within_noise`. gpu: the product, for the title, where that is not varied.
    """
    good, alike = best(frame, column), within_noise(frame, column, noise)
    band = ["cycles_low", "cycles_high"] if "cycles_low" in frame else []
    shown = [*axes, *dict.fromkeys([column, "cycles", *band, "ipc", "achieved_occupancy"])]
    marked = alike is not None and bool(alike[good.index[:ROWS]].any())
    rows, waits = [], [name for name in frame.columns if name.startswith("stall_") and name != "stall_selected"]
    for place, row in good.head(ROWS).iterrows():
        cause = max(waits, key=lambda name: row[name])
        share = row[cause] / row["warp_cycles"] if row["warp_cycles"] else 0.0
        mark = ["within noise" if alike[place] else ""] if marked and alike is not None else []
        rows.append([*(_cell(name, row[name], name in axes) for name in shown), f"{cause.removeprefix('stall_')} {share:.0%}", *mark])
    said = ["most waited for", *["from the best"] * marked]
    on = f" on {gpu}" if gpu and "gpu" not in axes else ""
    return table_of([*shown, *said], rows, f"The best of {count(len(frame), 'point')}{on} by {column}", words=said)


def certainty(frame: "DataFrame", column: str, noise: float | None) -> str:
    """Return how far differences from the best point are certain, in a line."""
    how = f"--repeat {MEMBERS} gives every point a band"
    if len(best(frame, column)) < 2:
        return ""
    alike = within_noise(frame, column, noise)
    if alike is None:
        return f"no noise was measured: small differences may be accidents of where arrays lie and which block starts first; {how}"
    many = int(alike.sum())
    points = f"{count(many, 'other point')} {'is' if many == 1 else 'are'}" if many else "no other point is"
    if noise is None:
        return f"{points} within noise of the best, by their bands"
    runs = f"{MEMBERS} runs of the best point, arrays elsewhere and neighbouring blocks in another order,"
    moves = f"differ by {noise - 1:.1%}" if noise > 1 else "take the same"
    return f"{runs} {moves}: {points} within that noise; {how}"


def summary(frame: "DataFrame", took: float) -> str:
    """Return how many points there are, how long they took, which could not be simulated, and what a band of cycles is."""
    wrong = frame["error"].dropna()
    text = f"{count(len(frame), 'point')} in {took:.1f} s"
    if len(wrong):
        first = wrong.iloc[0].splitlines()[0]
        text += f"; {len(wrong)} cannot be simulated, the first because {first}"
    if "cycles_low" in frame:
        text += "\ncycles_low, cycles_high: of runs that differ in where arrays lie and which of neighbouring blocks starts first"
    return text + "".join(f"\n{line}" for line in [*_words(frame), *_unread(frame)])


def _unread(frame: "DataFrame") -> list[str]:
    """Return the fields that points do not read, and why, one line each; of how many points, where not of all that could be simulated."""
    if "not_read" not in frame:
        return []
    ran = len(frame) - len(frame["error"].dropna())
    found = Counter(one for said in frame["not_read"].dropna() for one in NEXT.split(said))
    return [line if points == ran else f"{line} (in {points} of {count(ran, 'point')})" for line, points in found.items()]


def _words(frame: "DataFrame") -> list[str]:
    """Return, where all points have control words scheduled here, what the unchanged GPU takes by these and by the compiler's."""
    bases = frame.attrs.get("base", [])
    if not bases:
        return []
    lines = ["control words hold what is varied: rescheduled for every point. The GPU unchanged takes"]
    for compiler, own in zip(bases[::2], bases[1::2], strict=True):
        what = ", ".join(str(value) for name, value in own.items() if name not in ("control_words", "cycles", "error"))
        if own["error"] is None and compiler["error"] is None:
            lines.append(f"  {compiler['cycles']:,} cycles by the compiler's words, {own['cycles']:,} by such ({what})")
    return lines


def plain(frame: "DataFrame", alike: "Series | None" = None) -> list[dict[str, Any]]:
    """Return the rows as plain values, what a row lacks left out. alike: of `within_noise`."""
    if alike is not None:
        frame = frame.assign(within_noise=alike)
    return [row.dropna().to_dict() for _, row in frame.astype(object).iterrows()]


def _cell(name: str, value: Any, as_given: bool = False) -> str:
    """Return a value as a person reads it. as_given: as --over takes it, to whom 3,000 are two values."""
    if isinstance(value, str):
        return value
    if name == "seconds":
        return seconds(value)
    if name == "achieved_occupancy":
        return f"{value:.1%}"
    if as_given:
        return str(int(value) if isinstance(value, float) and value.is_integer() else value)
    return f"{int(value):,}" if float(value).is_integer() else f"{value:.4g}"
