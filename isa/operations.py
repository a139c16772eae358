"""The table of operations: loads `operations.toml` and checks every name in it against the vocabulary and the semantic functions.

The executor makes its arms from this table, so an operation that lacks a row, or a row whose function is missing, ends the import.
"""

import importlib
import inspect
import pkgutil
import tomllib
from collections.abc import Callable, Mapping
from enum import IntEnum
from importlib import resources
from typing import Any, NamedTuple

import isa.semantics
from isa.vocabulary import Flag, Operation


class Form(IntEnum):
    """How an operation's sources and results come and go: one arm of the executor each."""

    NOTHING = 0
    ARITHMETIC = 1  # by lanes: float32 with rounding, flushing and saturation
    MOVE = 2
    SUM = 3  # of words, with carries in and out; its functions return the lanes that carry
    PRODUCT = 4
    COMPARISON = 5  # of words to two predicates; its functions return the lanes in which it holds
    PREDICATES = 6  # two predicates of three
    SPECIAL = 7  # a special register
    WORD = 8  # by lanes: one word of up to three; a predicate says that it is not zero
    SINGLE = 9  # by lanes: one float32 of up to two, flushed and saturated
    LOAD = 10
    STORE = 11
    ATOM = 12
    CONSTANT = 13
    BRANCH = 14
    BARRIER = 15
    CONTROL = 16  # what runs next, whether a lane takes part or not
    JUMP = 17  # what runs next, where a lane takes part
    KERNEL = 18  # out of the loop: reads and writes rows and predicates by itself
    RARE_WORD = 19  # by lanes, out of the loop: one word of up to three
    PAIR = 20  # by lanes, out of the loop: 64 bits
    DOUBLE = 21  # by lanes, out of the loop: one float64 of up to three
    HALVES = 22  # by lanes, out of the loop: each half of a word by itself
    MBARRIER = 30  # may have to wait
    BULK_COPY = 31
    REGISTERS = 32  # may have to wait
    CLUSTER_BARRIER = 33  # may have to wait
    PRODUCT_OF_MATRICES = 23  # of all lanes together: writes its rows by itself
    PRODUCT_OF_WARPGROUP = 24  # of four warps together, each a quarter of the rows
    WARPGROUP_WAIT = 25  # may have to wait


class Numbers(IntEnum):
    """What a sign and a magnitude mean to an instruction's sources."""

    WORDS = 0
    FLOATS = 1
    HALVES = 2
    DOUBLES = 3
    BY_TYPE = 4  # the source's type says: one of the others


SOURCES = ("a", "b", "c", "x", "y", "z")
FIELDS = ("function", "compare", "combine", "rounding")
TYPES = ("source", "target")
BY_LANES = {
    Form.ARITHMETIC: ("x", "y", "z", "rounding"),
    Form.WORD: ("a", "b", "c", "chosen", "function", "combine"),
    Form.SINGLE: ("x", "y", "chosen", "function", "turns"),
    Form.RARE_WORD: (*SOURCES, "chosen", *FIELDS, *TYPES),
    Form.PAIR: ("a", "b", "c", "chosen", *FIELDS, *TYPES),
    Form.DOUBLE: ("x", "y", "z", "chosen", "rounding"),
    Form.HALVES: ("x", "y", "z", "chosen"),
}  # the arguments that each form of these gives
BY_KERNELS = (Form.SUM, Form.COMPARISON, Form.CONTROL, Form.JUMP, Form.KERNEL, Form.PRODUCT_OF_MATRICES, Form.PRODUCT_OF_WARPGROUP)
KEYS = {"form", "function", "directed", "numbers"}
Functions = dict[str, Callable[..., Any]]


class Call(NamedTuple):
    """A function of `isa.semantics`, or the name of a kernel, and what it is given."""

    name: str
    arguments: tuple[str, ...]
    function: Callable[..., Any] | None  # None: a kernel


class Semantics(NamedTuple):
    """One row of the table."""

    form: Form
    call: Call | None  # None: the form's arm is all there is
    directed: Call | None
    numbers: Numbers


def semantic_functions() -> Functions:
    """Return the functions of `isa.semantics` by name. Raises ValueError when two have one name."""
    found: Functions = {}
    for module in (importlib.import_module(f"isa.semantics.{item.name}") for item in pkgutil.iter_modules(isa.semantics.__path__)):
        for name, function in vars(module).items():
            if inspect.isfunction(function) and function.__module__ == module.__name__:
                if name in found:
                    raise ValueError(f"isa.semantics has two functions {name}")
                found[name] = function
    return found


def load(text: str, operations: Mapping[str, int] = Operation.__members__, functions: Functions | None = None) -> dict[int, Semantics]:
    """Return the rows of a table by operation. Raises ValueError naming the row that is missing, or wrong.

    functions: the semantic functions by name, those of `isa.semantics` unless given.
    """
    table, names = tomllib.loads(text), set(operations)
    functions = semantic_functions() if functions is None else functions
    if missing := sorted(names - set(table)):
        raise ValueError(f"operations without a row: {', '.join(missing)}")
    if unknown := sorted(set(table) - names):
        raise ValueError(f"rows without an operation: {', '.join(unknown)}")
    rows = {operations[name]: _row(name, row, functions) for name, row in table.items()}
    forms = {row.form for row in rows.values()}
    if unused := sorted(form.name for form in Form if form not in forms):
        raise ValueError(f"forms without an operation: {', '.join(unused)}")
    for form in set(Form) - set(BY_LANES) - set(BY_KERNELS):
        if len(shared := [name for name in table if rows[operations[name]].form == form]) > 1:
            raise ValueError(f"the form {form.name} is one operation, not {', '.join(shared)}")
    return rows


def _row(name: str, row: dict[str, str], functions: Functions) -> Semantics:
    if (unknown := set(row) - KEYS) or row.get("form") not in Form.__members__:
        problem = f"unknown keys {sorted(unknown)}" if unknown else f"no form {row.get('form')}"
        raise ValueError(f"operation {name}: {problem}")
    form, numbers = Form[row["form"]], row.get("numbers", "WORDS")
    if numbers not in Numbers.__members__:
        raise ValueError(f"operation {name}: no numbers {numbers}")
    if ("function" in row) != (form in BY_LANES or form in BY_KERNELS) or ("directed" in row) != (form == Form.ARITHMETIC):
        raise ValueError(f"operation {name}: the form {form.name} takes {'another' if 'function' in row else 'a'} function")
    calls = [_call(name, form, row[key], functions) if key in row else None for key in ("function", "directed")]
    return Semantics(form, calls[0], calls[1], Numbers[numbers])


def _call(name: str, form: Form, text: str, functions: Functions) -> Call:
    function, *arguments = text.split()
    if form not in BY_LANES:
        return Call(function, tuple(arguments), None)
    if function not in functions:
        raise ValueError(f"operation {name}: isa.semantics has no function {function}")
    if unknown := [word for word in arguments if word not in BY_LANES[form] and word not in Flag.__members__]:
        raise ValueError(f"operation {name}: the form {form.name} gives no {unknown[0]}")
    if len(arguments) != len(inspect.signature(functions[function]).parameters):
        raise ValueError(f"operation {name}: {function} does not take {len(arguments)} arguments")
    return Call(function, tuple(arguments), functions[function])


OPERATIONS = load(resources.files("isa").joinpath("operations.toml").read_text("utf-8"))
