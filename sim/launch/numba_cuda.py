"""Kernels of numba-cuda -> launches: compiled for an architecture without a device: `sim.numba(kernel, "sm_90")(grid, block, *args)`.

What Numba's own launcher does is done here: an array is a pointer to its owner and to its parent, both null, its elements, bytes of one,
its data, then its shape and its strides; a tuple is its parts, a complex number its two. Arrays are NumPy's.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import isa
from isa.errors import UserError
from isa.program import Program
from sim.compiled import device
from sim.launch.launch import Launch

PYTHON = {bool: np.bool_, int: np.int64, float: np.float64}  # as Numba takes them
PARTS = {"complex64": np.float32, "complex128": np.float64}


@dataclass
class NumbaKernel:
    """A kernel of Numba for an architecture; called as a launch is written: sizes, then arguments."""

    function: Any
    architecture: str
    made: dict[tuple[Any, ...], Program] = field(default_factory=dict, repr=False)

    def __call__(self, grid: int | tuple[int, ...], block: int | tuple[int, ...], *args: Any, **options: Any) -> Launch:
        """Return the launch; arrays are updated in place by a run. options: of `sim.Launch`, as shared_dynamic=4096. Raises UserError."""
        name = self.function.py_func.__name__
        try:
            types = device.types_of(args)
        except ValueError as error:
            raise UserError(f"kernel {name}: {error}", hint="pass NumPy arrays, numbers and tuples of these") from None
        if types not in self.made:
            cubin = device.compiled(self.function, types, self.architecture)
            self.made[types] = replace(isa.load_cubin(cubin, path=f"{name} (Numba)"), name=name)
        given = tuple(part for value in args for part in _parts(value, name))
        return Launch(self.made[types], grid, block, given, name=name, **options)  # type: ignore[arg-type]


def numba(function: Any, architecture: str) -> NumbaKernel:
    """Return a `@numba.cuda.jit` kernel, compiled for an architecture when it is called: grid, block, then its arguments. No GPU.

    Needs the extra `numba-cuda`. Raises UserError, for a kernel that Numba refuses in its own words.

    >>> import sim
    >>> try:
    ...     kernel = sim.numba(object(), "sm_90")
    ... except sim.UserError as error:
    ...     print("a kernel is a function of numba.cuda.jit" in str(error) or "numba-cuda is not installed" in str(error))
    True
    """
    if not device.is_installed():
        raise UserError("numba-cuda is not installed", hint=device.INSTALL)
    if not hasattr(function, "py_func") or not hasattr(function, "targetoptions"):
        raise UserError(f"{type(function).__name__}: a kernel is a function of numba.cuda.jit")
    return NumbaKernel(function, architecture)


def _parts(value: Any, kernel: str) -> Iterator[Any]:
    """Yield the parameters that an argument is."""
    if isinstance(value, tuple):
        for part in value:
            yield from _parts(part, kernel)
    elif isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise UserError(f"kernel {kernel}: an array that is not C-contiguous", hint="pass a copy: numpy.ascontiguousarray(x)")
        yield from (None, None, np.int64(value.size), np.int64(value.itemsize), value)
        yield from (np.int64(number) for number in (*value.shape, *value.strides))
    else:
        try:
            number = PYTHON[type(value)](value) if type(value) in PYTHON else np.asarray(value)[()]
        except OverflowError:
            raise UserError(f"kernel {kernel}: {value} does not fit into 64 bits", hint="pass numpy.uint64(...), or less") from None
        if number.dtype.kind not in "biufc":
            raise UserError(
                f"kernel {kernel}: an argument is {type(value).__name__}", hint="pass NumPy arrays, numbers and tuples of these"
            )
        yield from (PARTS[number.dtype.name](part) for part in (number.real, number.imag)) if number.dtype.kind == "c" else (number,)
