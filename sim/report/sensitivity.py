"""What binds a run, in words and tables; and the tornado chart of its parameters."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isa.errors import UserError
from sim.causes.sensitivity import ALIKE, Bar, Removed, Sensitivity
from sim.causes.sensitivity.steps import followers
from sim.gpus.model import Gpu
from sim.report.figures import check_path, write
from sim.report.heading import heading
from sim.report.tables import table_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from rich.table import Table

SMALL = 0.002  # of a parameter's effect, below which it is left out
ROWS = 15
LOWER, HIGHER, NOISE = "#E69F00", "#0072B2", "#DDDDDD"  # light and dark in grey; what a run moves by itself


def verdict(found: Sensitivity) -> str:
    """Return which limit binds, in one paragraph."""
    result, binding = found.result, found.binding
    if binding is None:
        text = f"No limit alone binds: without any one of them the run is less than {found.least:.2f} times as fast"
        if found.pair:
            first, second, speed = found.pair
            text += f". {first.limit.name} and {second.limit.name} bind together: without both it would be {speed:.2f} times as fast"
        text += "."
    else:
        text = f"What binds: {binding.limit.name}. With {binding.limit.words}, the run would be {binding.speed_up:.2f} times as fast"
        others = [one for one in found.removed if one.limit.binds and one is not binding and one.speed_up >= found.least]
        if not others:
            text += f"; no other limit alone gains {found.least - 1:.0%}."
        elif others[0].speed_up >= ALIKE * binding.speed_up:
            text += f"; without {others[0].limit.name} alone it would gain as much ({others[0].speed_up:.2f})."
        else:
            text += f"; the next limit is {others[0].limit.name}, {others[0].speed_up:.2f}."
    return f"{heading(result)}\n{result.cycles:,} cycles of the core clock; {noise(found)}\n\n{textwrap.fill(text, 100)}"


def noise(found: Sensitivity) -> str:
    """Return how far the run moves by what no user controls, as a clause."""
    runs = f"{found.members} runs with arrays elsewhere and neighbouring blocks in another order"
    return f"{runs} differ by {found.noise - 1:.1%}" if found.noise > 1 else f"{runs} take the same"


def tables(found: Sensitivity) -> "list[Table]":
    """Return the removed limits, the bounds, and the parameters that matter, as tables."""
    limits = [
        (_named(found, one), f"{_within(one.is_noise)}{one.speed_up:.2f}", f"{one.cycles:,}", one.limit.words) for one in found.removed
    ]
    cycles = found.result.cycles
    roofs = [(bound.kind, bound.resource, f"{bound.cycles:,.0f}", f"{bound.cycles / cycles:.0%}") for bound in found.bounds]
    columns = ("without", "speed-up", "cycles", "the machine has")
    shown = [table_of(columns, limits, f"Without one limit{_bracketed(found)}", words=("without", "the machine has"))]
    columns = ("kind", "resource", "cycles", "of the run")
    shown.append(table_of(columns, roofs, "Lower bounds, by closed forms", words=("kind", "resource")))
    rows = [
        (
            f"{bar.step.field}{' *' * bar.scheduled}",
            *(_number(value) for value in (bar.step.lower, bar.step.value, bar.step.higher)),
            _speed(bar, bar.lower, bar.lower_range),
            _speed(bar, bar.higher, bar.higher_range),
        )
        for bar in moving(found)[:ROWS]
    ]
    if rows:
        parameters = ("parameter", "a step down", "now", "a step up", "speed-up down", "speed-up up")
        title = "One parameter a step off (10 %, or the next value that counts)"
        if found.scheduled:
            title += (
                f"\n* control words hold it: rescheduled, with and without the step; the run takes {found.scheduled:,} cycles "
                f"by them, {cycles:,} by {_whose(found)}"
            )
        shown.append(table_of(parameters, rows, title, words=("parameter",)))
    return shown


def options(gpu: Gpu, field: str, value: float | None) -> list[str]:
    """Return what `--set` takes to make a step: FIELD=VALUE, and the same of the fields that must follow; none for no value."""
    if value is None:
        return []
    follow = {name: list(new) if isinstance(new, tuple) else new for name, new in followers(gpu, field, value).items()}
    return [f"{name}={new}" for name, new in {field: value, **follow}.items()]


def coupled(found: Sensitivity) -> str:
    """Return the options of steps that change several fields, "" for none: one field alone would be refused."""
    steps = [(bar.step.field, value) for bar in moving(found)[:ROWS] for value in (bar.step.lower, bar.step.higher)]
    several = [made for step in steps if len(made := options(found.result.gpu, *step)) > 1]
    lines = [" ".join(f"--set {_quoted(one)}" for one in made) for made in several]
    return "\n".join(["Steps that change other fields, too:", *(f"  {line}" for line in lines)]) if lines else ""


def _quoted(option: str) -> str:
    return f"'{option}'" if "[" in option else option


def _bracketed(found: Sensitivity) -> str:
    """Return what the names in brackets are, for a title."""
    return "" if all(one.limit.binds for one in found.removed) else " (in brackets: several limits at once, or a remedy)"


def _whose(found: Sensitivity) -> str:
    return "the compiler's" if found.result.words.kind != "scheduled" else "those it has here"


def moving(found: Sensitivity) -> list[Bar]:
    """Return the parameters that move the run's time, the largest first."""
    return [bar for bar in found.bars if bar.swing >= SMALL]


def as_dict(found: Sensitivity) -> dict[str, Any]:
    """Return everything as plain values."""
    return {
        "name": found.result.name,
        "gpu": found.result.gpu.name,
        "cycles": found.result.cycles,
        "binds": found.binding.limit.name if found.binding else None,
        "bind_together": [one.limit.name for one in found.pair[:2]] if found.pair else None,
        "limits": [
            {
                "name": one.limit.name,
                "machine": one.limit.words,
                "cycles": one.cycles,
                "speed_up": one.speed_up,
                "within_noise": one.is_noise,
            }
            for one in found.removed
        ],
        "noise": found.noise,
        "noise_runs": found.members,
        "bounds": [bound._asdict() for bound in found.bounds],
        "cycles_by_words_laid_down_again": found.scheduled,
        "parameters": [
            bar.step._asdict()
            | {"speed_up_lower": bar.lower, "speed_up_higher": bar.higher, "control_words_again": bar.scheduled}
            | {"set_lower": options(found.result.gpu, bar.step.field, bar.step.lower)}
            | {"set_higher": options(found.result.gpu, bar.step.field, bar.step.higher)}
            | {"lower_range": bar.lower_range, "higher_range": bar.higher_range, "within_noise": bar.is_noise}
            for bar in found.bars
        ],
    }


def save(found: Sensitivity, path: Path) -> None:
    """Write the tornado chart. Raises UserError when no parameter moves the run's time."""
    check_path(path)
    from matplotlib.figure import Figure

    bars = moving(found)[:ROWS]
    if not bars:
        raise UserError("no parameter a step off moves this run's time: there is nothing to draw", hint="leave --figure out")
    canvas = Figure(figsize=(8.4, 1.9 + 0.36 * len(bars)), layout="constrained")
    axes = canvas.subplots()
    _draw(axes, bars)
    result = found.result
    axes.set_title(f"{result.name} on {result.gpu.name}: one parameter a step off", fontsize="medium")
    write(canvas, path)


def _draw(axes: "Axes", bars: Sequence[Bar]) -> None:
    """Draw a pair of bars per parameter from 100 % outwards, the largest on top; two that point the same way lie one below the other."""
    ends = [speed for bar in bars for speed in (bar.lower, bar.higher, *(bar.lower_range or ()), *(bar.higher_range or ()))]
    reach = max(100 * abs(speed - 1) for speed in ends if speed is not None)
    for row, bar in enumerate(bars):
        for speed, span in ((bar.lower, bar.lower_range), (bar.higher, bar.higher_range)):
            if speed is not None and span is not None:
                axes.plot([100 * (end - 1) for end in span], [row, row], color="#000000", linewidth=1.2, marker="|", markersize=6, zorder=3)
        apart = 0.18 if bar.lower is not None and bar.higher is not None and (bar.lower - 1) * (bar.higher - 1) > 0 else 0.0
        sides = (bar.lower, bar.step.lower, bar.lower_range, True), (bar.higher, bar.step.higher, bar.higher_range, False)
        for speed, value, span, down in sides:
            if speed is not None:
                change, ends = 100 * (speed - 1), [100 * (end - 1) for end in span or (speed,)]
                _bar(axes, row - apart if down else row + apart, change, down, 0.7 - 2 * apart)
                _write(axes, row - apart if down else row + apart, max(ends) if change > 0 else min(ends), _number(value))
    axes.set_yticks(range(len(bars)), [_label(bar) for bar in bars], fontsize=8)
    axes.invert_yaxis()
    if noise := 100 * (bars[0].noise - 1) * (bars[0].lower_range is None and bars[0].higher_range is None):
        axes.axvspan(-noise, noise, color=NOISE, zorder=0)
    axes.axvline(0, color="#000000", linewidth=1)
    axes.set_xlim(-1.25 * reach, 1.25 * reach)
    axes.set_xlabel("speed of the run, percent more or less")
    _legend(axes, noise > 0)
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _label(bar: Bar) -> str:
    return f"{bar.step.field} = {_number(bar.step.value)}" + ("\nwithin noise" if bar.is_noise else "")


def _bar(axes: "Axes", place: float, change: float, down: bool, height: float) -> None:
    """Draw one bar."""
    style = {"color": LOWER, "hatch": "", "edgecolor": "#666666"} if down else {"color": HIGHER, "hatch": "//", "edgecolor": "white"}
    axes.barh(place, change, height=height, linewidth=0.5, **style)  # type: ignore[arg-type]


def _write(axes: "Axes", place: float, end: float, text: str) -> None:
    """Write a parameter's value at the end of its bar, or of its whisker, where it can be seen."""
    if abs(end) >= 0.05:
        side, sign = ("left", 1) if end > 0 else ("right", -1)
        axes.annotate(text, (end, place), xytext=(3 * sign, 0), textcoords="offset points", ha=side, va="center", fontsize=7)


def _legend(axes: "Axes", noise: bool) -> None:
    from matplotlib.patches import Patch

    kinds = [("a step down", LOWER, "", "#666666"), ("a step up", HIGHER, "//", "white"), *([("noise", NOISE, "", NOISE)] * noise)]
    axes.legend(
        handles=[Patch(facecolor=c, hatch=h, edgecolor=e, label=text) for text, c, h, e in kinds], loc="lower right", framealpha=1.0
    )


def _named(found: Sensitivity, one: Removed) -> str:
    if not one.limit.binds:
        return f"({one.limit.name})"
    return f"{one.limit.name} (binds)" if one is found.binding else one.limit.name


def _number(value: float | None) -> str:
    """Return a field's value, a fraction to four digits; of integers `--set` takes it as it is."""
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _speed(bar: Bar, speed: float | None, reach: tuple[float, float] | None) -> str:
    if speed is None:
        return "-"
    hidden = bar.hides(speed, reach)
    if reach is None:
        return f"{_within(hidden)}{speed:.3f}"
    return f"{speed:.3f} ({reach[0]:.3f} to {reach[1]:.3f}{', within noise' * hidden})"


def _within(noise: bool) -> str:
    return "within noise " if noise else ""
