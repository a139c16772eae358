"""What a sweep varies: names and values -> points. A point changes the GPU, the launch, or both; all names are checked before any work.

A mapping of names to lists is a grid (every combination); a list of mappings is taken point by point.
"""

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Any, NamedTuple

from isa.errors import UserError
from sim.gpus.fields import ContradictionError, meaning, nearest
from sim.gpus.loader import load
from sim.gpus.model import OPTIONAL, Gpu
from sim.launch.launch import Launch
from sim.policies.blocks import OwnBlockPolicy
from sim.policies.user import OwnPolicy

Over = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]

SHAPE = {
    "grid": "blocks in the grid, a number or up to three sizes",
    "block": "threads in a block, a number or up to three sizes",
    "registers": "32-bit registers per thread; an integer from 1",
    "shared_static": "static shared memory per block, bytes; an integer from 0",
    "shared_dynamic": "dynamic shared memory per block, bytes; an integer from 0",
}
WARP_SIZE, LANES = "core.warp_size", 32  # a field that says what a launch executes, where it is not this
MACHINE = {"gpu": "a preset or a GPU file", "policy": "short for core.policy"}


class Family(NamedTuple):
    """Launches by what distinguishes them. names: what `build` takes, each with its meaning; build: values -> launch, or why not."""

    names: Mapping[str, str]
    build: Callable[[Mapping[str, Any]], Any]


class Point(NamedTuple):
    """One variant. shape: what distinguishes its launch; gpu: a name in `Space.gpus`; changes: fields of that GPU, by dotted name."""

    values: dict[str, Any]  # by axis, as a table shows them: numbers and texts
    shape: tuple[tuple[str, Any], ...]
    gpu: str
    changes: dict[str, Any]


class Space(NamedTuple):
    """All points of a sweep, in order, and the GPUs that they change."""

    axes: tuple[str, ...]
    points: list[Point]
    gpus: dict[str, Gpu]


def family(launch: Launch | Callable[..., Launch] | Family, gpu: Gpu, over: Over) -> Family:
    """Return the launches that a sweep can ask for: variants of one by its shape, or what a function makes of its parameters.

    One that takes any keyword (`**configuration`) is given every name of `over` that the machine does not have.
    """
    if isinstance(launch, Family):
        return launch
    if isinstance(launch, Launch):
        return Family(SHAPE, lambda shape: dataclasses.replace(launch, **shape))
    parameters = inspect.signature(launch).parameters.values()
    names = [one.name for one in parameters if one.kind is not one.VAR_KEYWORD]
    if len(names) < len(parameters):
        names += [
            name for row in points_of(over) for name in row if name.isidentifier() and name not in {*MACHINE, *gpu.names(), *OPTIONAL}
        ]
    return Family(dict.fromkeys(names, "a parameter of the function"), lambda shape: launch(**shape))


def space(launches: Family, gpu: Gpu, over: Over) -> Space:
    """Return the points of `over`. Raises UserError for a name that nothing has, and for a value that its field cannot have."""
    rows = points_of(over)
    axes = tuple(dict.fromkeys(name for row in rows for name in row))
    gpus = _gpus(gpu, [row["gpu"] for row in rows if "gpu" in row])
    _check_names(axes, launches, gpus)
    _check_values(rows, launches, gpus)
    points = [_point(row, launches, gpus) for row in rows]
    for name in axes:
        if len({isinstance(point.values[name], str) for point in points if name in point.values}) > 1:  # a column has one type
            points = [p._replace(values=p.values | {name: str(p.values[name])}) if name in p.values else p for p in points]
    return Space(axes, points, gpus)


def shown(value: Any) -> Any:
    """Return a value as a table shows it: a number or a text; sizes as 16x16, a GPU by its name."""
    if isinstance(value, Gpu):
        return value.name
    if isinstance(value, list | tuple):
        return "x".join(str(part) for part in value)
    return value


def points_of(over: Over) -> list[Mapping[str, Any]]:
    """Return one mapping per point."""
    if not isinstance(over, Mapping):
        rows = list(over)
    elif empty := [name for name, values in over.items() if isinstance(values, str) or not isinstance(values, Iterable) or not len(values)]:
        raise UserError(f"{empty[0]} has no values to sweep over", hint=f'give a list: over={{"{empty[0]}": [...]}}')
    else:
        rows = [dict(zip(over, values, strict=True)) for values in product(*over.values())]
    rows = [{name: value.item() if hasattr(value, "item") else value for name, value in row.items()} for row in rows]  # of NumPy
    if not rows or not all(rows):
        raise UserError("there is nothing to sweep over", hint='give names and values: over={"l2.latency": [200, 300]}')
    return rows


def _gpus(gpu: Gpu, named: list[Any]) -> dict[str, Gpu]:
    """Return the GPUs that points name; "" is the sweep's own."""
    found = {"": gpu}
    for value in named:
        name, one = shown(value), value if isinstance(value, Gpu) else load(value)
        if found.setdefault(name, one) != one:
            raise UserError(f"two GPUs are called {name}", hint='give one another name: gpu.replace({"name": "mine"})')
    return found if len(found) == 1 or len(named) == 0 else {name: one for name, one in found.items() if name}


def _check_names(axes: Iterable[str], launches: Family, gpus: Mapping[str, Gpu]) -> None:
    some = next(iter(gpus.values()))
    fields = set(some.names())
    for name in axes:
        if name in launches.names or name in MACHINE or name in fields or name in OPTIONAL:
            continue
        known = [*launches.names, *MACHINE, *fields]
        near = nearest(name, known)
        told = launches.names.get(near) or MACHINE.get(near) or meaning(Gpu, near)
        others = f"names: {', '.join([*launches.names, *MACHINE])}, and the fields of `simtlab gpus show`"
        raise UserError(f"nothing is called '{name}'; " + (f"did you mean {near}? {told}" if near else others))


def _check_values(rows: Iterable[Mapping[str, Any]], launches: Family, gpus: Mapping[str, Gpu]) -> None:
    """Refuse a value that its field cannot have; one that only contradicts another field may be right beside others."""
    checked = set()
    for gpu in gpus.values():
        _check_policy(gpu.core.policy)
        _check_policy(gpu.blocks.policy)
    for row in rows:
        for name, value in _changes(row, launches).items():
            _check_policy(value)
            for key, gpu in gpus.items():
                if (key, name, repr(value)) in checked:
                    continue
                checked.add((key, name, repr(value)))
                with suppress(ContradictionError):
                    gpu.replace({name: value})


def _check_policy(value: Any) -> None:
    """Refuse a policy of the user's: a function has no name by which stored results could be told apart."""
    if callable(value) or isinstance(value, OwnPolicy | OwnBlockPolicy):
        raise UserError("a sweep takes policies by name, not a function", hint="call sim.simulate(trace, gpu) for it, point by point")


def _changes(row: Mapping[str, Any], launches: Family) -> dict[str, Any]:
    """Return what a point changes of its GPU."""
    return {
        "core.policy" if name == "policy" else name: value for name, value in row.items() if name not in launches.names and name != "gpu"
    }


def _point(row: Mapping[str, Any], launches: Family, gpus: Mapping[str, Gpu]) -> Point:
    shape = tuple((name, value) for name, value in row.items() if name in launches.names)
    name, changes = shown(row["gpu"]) if "gpu" in row else "", _changes(row, launches)
    size = changes.get(WARP_SIZE, gpus[name].core.warp_size)
    shape += ((WARP_SIZE, size),) if size != LANES else ()
    return Point({name: shown(value) for name, value in row.items()}, shape, name, changes)
