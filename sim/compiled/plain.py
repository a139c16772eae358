"""Arrays of records whose fields can be named. Where kernels are not compiled they are of types of our own: NumPy's `record` looks each
field up by name, step by step in Python, which took half of the time of such a run."""

from functools import cache
from typing import Any

import numpy as np

from sim.compiled.kernel import is_compiled


class PlainRecords(np.ndarray):
    """What `np.recarray` is, as far as the engines need it."""

    def __getattr__(self, name: str) -> Any:
        if name not in (self.dtype.names or ()):
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in (self.dtype.names or ()):
            self[name] = value
        else:
            super().__setattr__(name, value)


FORM: type[np.ndarray] = np.recarray if is_compiled() else PlainRecords


@cache
def named(kind: np.dtype) -> np.dtype:
    """Return the type of records whose fields can be named."""
    form: Any = np.record
    if not is_compiled():
        form = type("PlainRecord", (np.void,), {name: _field(*kind.fields[name][:2]) for name in kind.names or ()})  # type: ignore[index]
    found: np.dtype = np.dtype((form, kind))
    return found


def _field(kind: np.dtype, offset: int) -> property:
    return property(lambda one: one.getfield(kind, offset), lambda one, value: one.setfield(value, kind, offset))


def records(array: np.ndarray) -> Any:
    """Return an array of records as one whose fields can be named."""
    return array.view(named(array.dtype), FORM)
