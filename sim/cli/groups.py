"""Options that go together as one parameter: a command takes a NamedTuple, and has an option for each of its fields."""

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints


def grouped(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command as Typer reads it: a parameter whose type is a NamedTuple of annotated options stands for its fields."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if isinstance(kind, type) and hasattr(kind, "_field_defaults")}
    options: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        options += _fields(groups[name]) if name in groups else [_option(name, parameter.default, hints[name])]

    def command(**values: Any) -> None:
        made = {name: kind(**{field: values.pop(field) for field in kind._fields}) for name, kind in groups.items()}
        function(**values, **made)

    command.__name__, command.__doc__, command.__module__ = function.__name__, function.__doc__, function.__module__
    command.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    command.__annotations__ = {option.name: option.annotation for option in options}
    return command


def _fields(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [_option(name, group._field_defaults.get(name, inspect.Parameter.empty), hints[name]) for name in group._fields]


def _option(name: str, default: Any, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
