"""Tables of a sweep: the fastest points, what the sweep took, and its rows as plain values."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from isa.errors import UserError
from sim.gpus.fields import nearest
from sim.report.words import count, seconds

if TYPE_CHECKING:
    from pandas import DataFrame
    from rich.table import Table

ROWS = 20
WORK = ("listing", "grid", "block", "warps")  # launches that differ in these do different work: cycles alone do not compare them
SMALLER = ("cycles", "elapsed_cycles", "seconds")  # is better


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


def fastest(frame: "DataFrame", axes: Sequence[str], column: str) -> "Table":
    """Return the best points by `column`, at most ROWS, with what their warps waited for most."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    good = frame[frame["error"].isna()].sort_values(column, ascending=column in SMALLER, kind="stable")
    table = Table(box=box.SIMPLE_HEAD, title=f"The best of {count(len(frame), 'point')} by {column}", title_justify="left")
    band = ["cycles_low", "cycles_high"] if "cycles_low" in frame else []
    shown = [*axes, *dict.fromkeys([column, "cycles", *band, "ipc", "achieved_occupancy"])]
    for name in shown:
        table.add_column(name, justify="right", overflow="fold")
    table.add_column("most waited for", overflow="fold")
    waits = [name for name in frame.columns if name.startswith("stall_") and name != "stall_selected"]
    for _, row in good.head(ROWS).iterrows():
        cause = max(waits, key=lambda name: row[name])
        share = row[cause] / row["warp_cycles"] if row["warp_cycles"] else 0.0
        table.add_row(*(_cell(name, row[name]) for name in shown), Text(f"{cause.removeprefix('stall_')} {share:.0%}"))
    return table


def summary(frame: "DataFrame", took: float) -> str:
    """Return how many points there are, how long they took, which could not be simulated, and what a band of cycles is."""
    wrong = frame["error"].dropna()
    text = f"{count(len(frame), 'point')} in {took:.1f} s"
    if len(wrong):
        first = wrong.iloc[0].splitlines()[0]
        text += f"; {len(wrong)} cannot be simulated, the first because {first}"
    if "cycles_low" in frame:
        text += "\ncycles_low, cycles_high: of runs that differ in where arrays lie and which of neighbouring blocks starts first"
    unread = frame["not_read"].dropna().unique() if "not_read" in frame else ()
    return text + "".join(f"\n{line}" for line in [*_words(frame), *unread])


def _words(frame: "DataFrame") -> list[str]:
    """Return, where all points have control words laid down here, what the unchanged GPU takes by these and by the compiler's."""
    bases = frame.attrs.get("base", [])
    if not bases:
        return []
    lines = ["control words hold what is varied: laid down again for every point. The GPU unchanged takes"]
    for compiler, own in zip(bases[::2], bases[1::2], strict=True):
        what = ", ".join(str(value) for name, value in own.items() if name not in ("control_words", "cycles", "error"))
        if own["error"] is None and compiler["error"] is None:
            lines.append(f"  {compiler['cycles']:,} cycles by the compiler's words, {own['cycles']:,} by such ({what})")
    return lines


def plain(frame: "DataFrame") -> list[dict[str, Any]]:
    """Return the rows as plain values, what a row lacks left out."""
    return [row.dropna().to_dict() for _, row in frame.astype(object).iterrows()]


def _cell(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if name == "seconds":
        return seconds(value)
    if name == "achieved_occupancy":
        return f"{value:.1%}"
    return f"{int(value):,}" if float(value).is_integer() else f"{value:.4g}"
