"""Programs with control words that tests write or change."""

import dataclasses
import functools
from pathlib import Path

import numpy as np

import isa
from isa.program import Control, Program

ROOT = Path(__file__).parents[2]
CUDA = sorted(path.name for path in (ROOT / "programs" / "cuda").glob("*.sass"))
HELD_OUT = sorted(f"heldout/{path.name}" for path in (ROOT / "programs" / "cuda" / "heldout").glob("*.sass"))


@functools.cache
def compiled(name: str, function: str | None = None) -> Program:
    """Return a listing of programs/cuda."""
    return isa.load(ROOT / "programs" / "cuda" / name, function)


def changed(program: Program, **fields: tuple[int, int]) -> Program:
    """Return a program with other control fields: name = (instruction, value)."""
    assert program.control is not None
    columns = {name: column.copy() for name, column in program.control._asdict().items()}
    for name, (index, value) in fields.items():
        columns[name][index] = value
    return dataclasses.replace(program, control=Control(**columns))


def written(text: str, stalls: list[int], architecture: str = "sm_80") -> Program:
    """Return mini-SASS with stall counts and no counters."""
    program = isa.parse(f".target {architecture}\n{text}")
    n = len(program)
    none, zeros = np.full(n, -1, np.int8), np.zeros(n, np.uint8)
    control = Control(np.array(stalls, np.int8), zeros, none, none.copy(), zeros.copy(), zeros.copy(), zeros.copy())
    return dataclasses.replace(program, control=control)


def index_of(program: Program, text: str) -> int:
    """Return the first instruction whose text begins so."""
    return next(i.index for i in program.instructions if i.text.startswith(text))
