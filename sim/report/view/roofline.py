"""The roofline of each run, drawn without a script: lines, marks and words at places of a drawing of WIDTH x HEIGHT."""

import math
from collections.abc import Callable
from typing import Any

from sim.analysis.roofline import RunRoofline, of_run
from sim.report import roofline as words
from sim.report.words import rate
from sim.result.result import Result

WIDTH, HEIGHT = 560, 330
LEFT, RIGHT, TOP, BOTTOM = 78, 550, 12, 286  # of the area within the axes
LABELS = 6  # numbers at an axis at most
DASHES = {"--": "7 4", "-.": "8 3 2 3", ":": "2 3"}
# Marks of radius 1, for SVG: square, triangle, diamond, triangle upside down.
MARKS = {"s": "M-.9-.9H.9V.9H-.9z", "^": "M0-1L1 .9H-1z", "D": "M0-1.1L1.1 0L0 1.1L-1.1 0z", "v": "M0 1L1-.9H-1z"}

Range = tuple[float, float]


def rooflines(results: list[Result]) -> list[dict[str, Any]]:
    """Return words, table and drawing of each run's roofline; the drawings have the same axes, so that two can be compared."""
    found = [of_run(result) for result in results]
    reaches = [words.reach(roof) for roof in found if roof.levels]
    across, up = (_hull([reach[axis] for reach in reaches]) for axis in (0, 1))
    return [
        {
            "title": f"{result.name} on {result.gpu.name}",
            "says": f"{words.speed_sentence(roof)}.",
            "limit": " ".join(words.limit_sentences(roof)),
            "columns": words.COLUMNS,
            "rows": [row + style(row[0]) for row in words.rows(roof)],
            "drawing": drawing(roof, across, up) if roof.levels else None,
        }
        for result, roof in zip(results, found, strict=True)
    ]


def _hull(ranges: list[Range]) -> Range:
    return min((low for low, _ in ranges), default=1.0), max((high for _, high in ranges), default=1.0)


def style(level: str) -> tuple[str, str, str]:
    """Return colour, dashes and mark of a level."""
    colour, dash, marker = words.LEVEL_STYLES[level]
    return colour, DASHES.get(str(dash), ""), MARKS[marker]


def drawing(roof: RunRoofline, across: Range, up: Range) -> dict[str, Any]:
    """Return where to draw what. across: flop per byte, up: flop/s, each the range of its axis."""
    x, y = scale(across, (LEFT, RIGHT)), scale(up, (BOTTOM, TOP))
    levels = []
    for number, (name, level) in enumerate(roof.levels.items()):
        start = max(across[0], up[0] / level.bandwidth)
        colour, dash, mark = style(name)
        point = (x(level.intensity), y(roof.achieved), y(level.attainable), 7.5 - 1.3 * number) if roof.flops else None
        says = f"{name}: {level.intensity:.3g} flop/B, {roof.used(name):.1%} of {level.bandwidth / 1e9:,.0f} GB/s used"
        slope = (x(start), y(start * level.bandwidth), x(level.ridge), y(roof.peak))
        levels.append({"slope": slope, "point": point, "says": says, "colour": colour, "dash": dash, "mark": mark})
    ridge = min(level.ridge for level in roof.levels.values())
    return {
        "across": [(x(at), label(at)) for at in decades(*across)],
        "up": [(y(at), label(at / 1e9)) for at in decades(*up)],
        "peak": (x(ridge), y(roof.peak), f"FP32 peak, {rate(roof.peak)}"),
        "levels": levels,
        "says": f"roofline: {words.speed_sentence(roof)}. {' '.join(words.limit_sentences(roof))}",
    }


def scale(values: Range, places: Range) -> Callable[[float], float]:
    """Return the function from a value to its place, logarithmic."""
    low, high = (math.log10(value) for value in values)
    return lambda value: round(places[0] + (math.log10(value) - low) / (high - low) * (places[1] - places[0]), 1)


def decades(low: float, high: float) -> list[float]:
    """Return the powers of ten from `low` to `high`; every second or third one where there are many."""
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    return [10.0**power for power in range(first, last + 1, (last - first) // LABELS + 1)]


def label(value: float) -> str:
    """Return a number of an axis: 0.01, 1, 1,000, 1e7."""
    return f"{value:,.0f}" if 1 <= value < 1e6 else f"{value:.0e}".replace("e+0", "e") if value >= 1e6 else f"{value:g}"
