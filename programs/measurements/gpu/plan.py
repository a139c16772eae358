"""Plans: which kernels are launched with which sizes. A plan is TOML:

[[launch]]
files = ["../../cuda/*.toml"]     # launch files, relative to the plan; each beside its CUDA source of the same name
[[launch]]
source = "memory.cu"              # where one source holds several kernels
kernels = ["read_1", "read_8"]    # with a launch file each, or one for all: files = ["read.toml"]
files = ["read.toml"]
clocks = "t"                      # the array of each thread's first and last clock
vary = { grid = [64, 128], n = [1, 2] }   # grid, block, or scalars by name; lists of one length are gone through together
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from isa.errors import UserError, read_toml

SHAPES = ("grid", "block")


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")
    files: list[str]
    source: str | None = None
    kernels: list[str | None] = [None]
    clocks: str | None = None
    vary: dict[str, list[Any]] = {}


class _Plan(BaseModel):
    model_config = ConfigDict(extra="forbid")
    launch: list[_Entry]


@dataclass(frozen=True)
class Job:
    """One launch to measure."""

    source: Path  # CUDA
    file: Path  # launch file
    kernel: str | None  # None: the only one of the source
    clocks: str = ""  # array of clocks, "" = none
    values: dict[str, Any] = field(default_factory=dict)  # what differs from the launch file

    @property
    def shape(self) -> dict[str, Any]:
        """Return grid and block as they differ from the launch file."""
        return {name: value for name, value in self.values.items() if name in SHAPES}

    @property
    def arguments(self) -> dict[str, Any]:
        """Return the scalar arguments that differ from the launch file."""
        return {name: value for name, value in self.values.items() if name not in SHAPES}


def read(path: Path) -> list[Job]:
    """Return the launches of a plan. Raises UserError for what is no plan, or names files that are not there."""
    try:
        plan = _Plan.model_validate(read_toml(path))
    except OSError as error:
        raise UserError(f"cannot read the plan: {error}", path=str(path)) from None
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", path=str(path)) from None
    return [job for entry in plan.launch for job in _jobs(entry, path)]


def _jobs(entry: _Entry, path: Path) -> Iterator[Job]:
    lengths = {len(values) for values in entry.vary.values()}
    if len(lengths) > 1:
        raise UserError(f"vary: lists of {sorted(lengths)} values; they are gone through together", path=str(path))
    rows = [dict(zip(entry.vary, row, strict=True)) for row in zip(*entry.vary.values(), strict=True)] or [{}]
    for pattern in entry.files:
        found = sorted(path.parent.glob(pattern))
        if not found:
            raise UserError(f"no launch file {pattern}", path=str(path))
        for file in found:
            source = path.parent / entry.source if entry.source else file.with_suffix(".cu")
            for kernel in entry.kernels:
                yield from (Job(source.resolve(), file.resolve(), kernel, entry.clocks or "", row) for row in rows)
