"""`--over` texts: `NAME=2,4,8`, `NAME=200:400:50` (from, to, step; both ends), `NAME=1:64:x2` (a factor)."""

from collections.abc import Mapping
from itertools import product
from typing import Any

from isa.errors import UserError
from sim.cli.options import value_of

MOST_VALUES = 1_000_000
EXAMPLE = "write --over l2.latency=200,300 or --over l2.latency=200:400:50 or --over core.schedulers=1:8:x2"
TEXTS = ("gpu", "policy", "listing")  # whose values may hold colons


def axes(texts: list[str]) -> dict[str, list[Any]]:
    """Return the values by name. Raises UserError for a text of another form, and for a name given twice."""
    found: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, values = (part.strip() for part in text.partition("="))
        if not equals or not name or not values:
            raise UserError(f"--over {text}: not of the form name=values", hint=EXAMPLE)
        if name in found:
            raise UserError(f"--over {name} is given twice", hint="separate values by commas")
        found[name] = [value for part in values.split(",") for value in _part(name, part.strip(), text)]
    return found


def combined(names: Mapping[str, list[Any]], zipped: bool) -> list[dict[str, Any]]:
    """Return one mapping per point: every combination, or the values side by side."""
    if not zipped:
        return [dict(zip(names, values, strict=True)) for values in product(*names.values())]
    if len({len(values) for values in names.values()}) > 1:
        counts = ", ".join(f"{name} {len(values)}" for name, values in names.items())
        raise UserError(f"--zip needs as many values for each name: {counts}")
    return [dict(zip(names, values, strict=True)) for values in zip(*names.values(), strict=True)]


def _part(name: str, part: str, text: str) -> list[Any]:
    """Return the values of a part between commas."""
    ends = part.split(":")
    if name in TEXTS or not part or len(ends) == 1:
        if not part:
            raise UserError(f"--over {text}: a value is missing", hint=EXAMPLE)
        return [part if name in TEXTS else value_of(part)]
    factor = len(ends) == 3 and ends[2].startswith("x")
    numbers = [value_of(end.removeprefix("x") if place == 2 else end) for place, end in enumerate(ends)]
    if len(ends) > 3 or any(isinstance(number, bool) or not isinstance(number, int | float) for number in numbers):
        raise UserError(f"--over {text}: {part} is not a range", hint=EXAMPLE)
    first, last, step = (*numbers, 1)[:3]
    if first > last or step <= factor or (factor and first <= 0):
        raise UserError(f"--over {text}: {part} does not go up", hint=EXAMPLE)
    return _range(first, last, step, factor, text)


def _range(first: float, last: float, step: float, factor: bool, text: str) -> list[Any]:
    """Return first, ..., up to last inclusive."""
    values, value, k = [], first, 0
    while value <= last * (1 + 1e-12):
        values.append(value)
        k += 1
        if k > MOST_VALUES:
            raise UserError(f"--over {text}: over {MOST_VALUES:,} values")
        value = first * step**k if factor else first + k * step
    return values
