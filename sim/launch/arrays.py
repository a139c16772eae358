"""Array arguments of launch files: made from a rule, a seed or a .npy file."""

from collections.abc import Mapping, Sequence
from math import isfinite, isinf, prod
from pathlib import Path
from typing import Any, Literal
from zipfile import BadZipFile

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from isa.errors import UserError
from sim.launch.placement import BASE, LIMIT, place


class Array(BaseModel):
    """An array argument. `none`: zeros that the program must not rely on.

    `addresses`: element k is the address (32 bits: the low word) of element (start + k * step) % size of `of`.
    """

    model_config = ConfigDict(extra="forbid")
    name: str
    dtype: str = "float32"
    shape: int | list[int] = []
    init: Literal["zeros", "ones", "arange", "random", "addresses", "none"] = "zeros"
    file: str | None = None
    start: int | float = 0
    step: int | float = 1
    seed: int = Field(0, ge=0)
    low: float = 0.0
    high: float = 1.0
    of: str | None = None


def build_arrays(rules: Sequence[Array], given: Mapping[str, Any], file: Path) -> dict[str, np.ndarray]:
    """Return the arrays by name; those in `given` replace the file's. Raises UserError for a rule that cannot be followed."""
    arrays = {rule.name: np.asarray(given[rule.name]) if rule.name in given else make(rule, file) for rule in rules}
    addresses = {item.name: item for item in place(list(arrays.items()))}
    for rule in rules:
        if rule.init != "addresses" or rule.name in given or rule.file is not None:
            continue
        if (rule.of or rule.name) not in addresses:
            raise UserError(f"args: {rule.name} holds addresses of {rule.of}, which is not an array here", path=str(file))
        target, array = addresses[rule.of or rule.name], arrays[rule.name]
        element = (int(rule.start) + int(rule.step) * np.arange(array.size)) % target.array.size
        array.reshape(-1)[:] = (target.address + element * target.array.itemsize).astype(f"u{array.itemsize}").view(array.dtype)
    return arrays


def make(rule: Array, file: Path) -> np.ndarray:
    """Return one array; one of addresses is filled when all arrays are there."""
    if rule.file is not None:
        return _load(file.parent / rule.file, rule, file)
    dtype, shape = _dtype(rule, file), (rule.shape,) if isinstance(rule.shape, int) else tuple(rule.shape)
    if not shape or any(size < 1 for size in shape):
        raise UserError(
            f"args: {rule.name} needs a shape of at least 1",
            path=str(file),
            hint="shape = 1024, or [rows, columns]; of a number: value = 3",
        )
    if rule.init == "addresses" and dtype.itemsize not in (4, 8):
        message = f"args: {rule.name} holds addresses, of 32 or 64 bits; its dtype is {dtype}"
        raise UserError(message, path=str(file), hint='dtype = "uint64", or "uint32" for low words')
    if dtype.itemsize * prod(shape) > LIMIT - BASE:
        raise UserError(f"args: {rule.name} has {prod(shape):,} elements; device memory here holds {LIMIT - BASE:,} bytes", path=str(file))
    if rule.init in ("arange", "addresses", "random"):
        _check_range(rule, dtype, file)
    if rule.init == "ones":
        return np.ones(shape, dtype)
    if rule.init == "arange":
        return (rule.start + rule.step * np.arange(int(np.prod(shape)))).astype(dtype).reshape(shape)
    if rule.init == "random":
        random = np.random.default_rng(rule.seed)
        if dtype.kind in "iu":
            return random.integers(int(rule.low), int(rule.high), shape, dtype)
        return random.uniform(rule.low, rule.high, shape).astype(dtype)
    return np.zeros(shape, dtype)


def _check_range(rule: Array, dtype: np.dtype, file: Path) -> None:
    """Raise UserError for numbers that the dtype cannot hold or that leave nothing to draw from."""
    limits = np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(dtype) if dtype.kind == "f" else None
    numbers = {"low": rule.low, "high": rule.high} if rule.init == "random" else {"start": rule.start, "step": rule.step}
    for name, number in numbers.items():
        if not isfinite(number) or (limits is not None and not float(limits.min) <= number <= float(limits.max) + 1):
            raise UserError(f"args: {rule.name} has {name} = {number}, which a {dtype} cannot hold", path=str(file))
    whole = dtype.kind in "iu"
    if rule.init == "random" and (not (int(rule.low) < int(rule.high) if whole else rule.low < rule.high) or isinf(rule.high - rule.low)):
        message = f"args: {rule.name} draws from low = {rule.low} to high = {rule.high}"
        raise UserError(message, path=str(file), hint="low must be less than high" + " as whole numbers" * whole)


def _dtype(rule: Array, file: Path) -> np.dtype:
    try:
        dtype = np.dtype(rule.dtype)
    except (TypeError, ValueError, SyntaxError):  # NumPy parses it as Python
        dtype = np.dtype(object)
    if dtype.kind not in "iufb":
        hint = "one of float32, float64, float16, int8 to int64, uint8 to uint64"
        raise UserError(f"args: {rule.name} has dtype {rule.dtype!r}, which is not a number type of NumPy", path=str(file), hint=hint)
    return dtype


def _load(path: Path, rule: Array, file: Path) -> np.ndarray:
    try:
        return np.ascontiguousarray(read(path))
    except (OSError, ValueError) as error:
        raise UserError(f"args: {rule.name}: cannot read {path}: {error}", path=str(file)) from None


# What NumPy says of a file, in part: what it is.
UNREADABLE = {
    "mmap length": "it is shorter than its header claims",
    "pickled": "it is not a .npy file: save an array by numpy.save",
    "Python objects": "it holds Python objects: save an array of numbers",
}


def read(path: Path) -> np.ndarray:
    """Return the array in a .npy file. Raises OSError, and ValueError for a file that is none or shorter than its header claims."""
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)  # mapped: no memory is taken for what a header claims and the file lacks
    except (EOFError, OverflowError, BadZipFile) as error:
        raise ValueError(f"it is not a .npy file: {error}") from None
    except ValueError as error:
        raise ValueError(next((says for part, says in UNREADABLE.items() if part in str(error)), str(error))) from None
    if not isinstance(found, np.ndarray):
        raise ValueError("it holds several arrays; save one by numpy.save")
    return np.array(found)
