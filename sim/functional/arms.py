"""The arms of operations, made from `isa.operations`: one case per row, so that none can be missing or fall to another's.

Forms by lanes call a function of `isa.semantics` for each lane: `by_lanes` says how its arguments are written. Forms by kernels call a
function of this room, which names by its parameters what it wants: `by_kernels`.
"""

from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from isa.operations import OPERATIONS, Call, Form, Semantics
from isa.semantics.doubles import as_bits, as_double
from isa.semantics.floats import flush
from isa.semantics.words import as_float
from isa.vocabulary import Flag
from sim.compiled.generated import calling, generated, returns_nothing, switch
from sim.compiled.kernel import inner, outlined
from sim.functional.state import Status

Table = Mapping[int, Semantics]
NAMES = {"as_bits": as_bits, "as_double": as_double, "as_float": as_float, "flush": flush, "uint32": np.uint32, "int64": np.int64}
NAMES |= {"float64": np.float64, "RUNNING": Status.RUNNING, "ERROR": Status.ERROR}
IN_ROWS = {
    **{name: f"{name}[k]" for name in "abcxyz"},
    "chosen": "((chosen >> k) & 1)",
}  # how the arguments of a function are written in a loop over lanes
FLUSHED = IN_ROWS | {name: f"flush({name}[k])" for name in "xyz"}
ROUNDED = IN_ROWS | {name: name for name in "xyz"}
OF_WORDS = {name: f"as_float({word})" for name, word in zip("xyz", "abc", strict=True)}
OF_PAIRS = {name: f"as_double({pair})" for name, pair in zip("xyz", "abc", strict=True)}
OF_TYPES = {"source": "(function & 15)", "target": "((function >> 4) & 15)"}


def rows_of(form: Form, table: Table) -> dict[int, Semantics]:
    """Return the operations of a form."""
    return {operation: row for operation, row in table.items() if row.form == form}


def written(call: Call | None, words: Mapping[str, str]) -> str:
    """Return the call of a semantic function; words: how its arguments are written, by themselves unless given."""
    assert call is not None
    arguments = [f"(flags & {int(Flag[word])})" if word in Flag.__members__ else words.get(word, word) for word in call.arguments]
    return f"{call.name}({', '.join(arguments)})"


def names_of(form: Form, table: Table) -> dict[str, Any]:
    """Return what the source of a form by lanes sees."""
    calls = [call for row in rows_of(form, table).values() for call in (row.call, row.directed) if call]
    return NAMES | {call.name: call.function for call in calls}


def loops(name: str, form: Form, parameters: str, words: Mapping[str, str] = IN_ROWS, table: Table = OPERATIONS) -> Any:
    """Return a kernel that writes the results of all lanes to the row `out`: a loop per operation, which vectorises."""
    cases = {
        operation: ["for k in range(lanes):", f"    out[k] = {written(row.call, words)}"] for operation, row in rows_of(form, table).items()
    }
    return generated(name, f"operation, {parameters}", switch("operation", cases), names_of(form, table), inner)


def directed(name: str, parameters: str, table: Table = OPERATIONS) -> Any:
    """Return the same for ARITHMETIC that is not rounded to nearest: one loop over lanes."""
    cases = {operation: [f"out[k] = {written(row.directed, ROUNDED)}"] for operation, row in rows_of(Form.ARITHMETIC, table).items()}
    body = ["for k in range(lanes):", "    x, y, z = a[k], b[k], c[k]", "    if ftz:", "        x, y, z = flush(x), flush(y), flush(z)"]
    body += [f"    {line}" for line in switch("operation", cases)]
    return generated(name, f"operation, {parameters}", body, names_of(Form.ARITHMETIC, table), inner)


def lane_function(name: str, form: Form, parameters: str, words: Mapping[str, str], zero: str, table: Table = OPERATIONS) -> Any:
    """Return the function of one lane of all operations of a form, compiled once. zero: of the result's type; no operation reaches it."""
    cases = {operation: [f"return {written(row.call, words | OF_TYPES)}"] for operation, row in rows_of(form, table).items()}
    return generated(name, f"operation, {parameters}", [*switch("operation", cases), f"return {zero}"], names_of(form, table), outlined)


def kernels(modules: Iterable[ModuleType]) -> dict[str, Any]:
    """Return what these modules define, by name."""
    return {name: value for module in modules for name, value in vars(module).items() if not name.startswith("_")}


def by_kernels(name: str, form: Form, parameters: str, known: Mapping[str, Any], otherwise: str, table: Table = OPERATIONS) -> Any:
    """Return a kernel that calls the kernel of each operation of a form. Raises ValueError naming an operation whose kernel is missing.

    otherwise: what is returned for a kernel that returns nothing.
    """
    cases: dict[int, list[str]] = {}
    names = dict(NAMES)
    for operation, row in rows_of(form, table).items():
        assert row.call is not None
        kernel = names[row.call.name] = known.get(row.call.name)
        if kernel is None:
            raise ValueError(f"operation {getattr(operation, 'name', operation)}: sim.functional has no kernel {row.call.name}")
        call = calling(kernel, parameters.split(", "))
        cases[operation] = [call, f"return {otherwise}"] if returns_nothing(kernel) else [f"return {call}"]
    return generated(name, f"operation, {parameters}", [*switch("operation", cases), f"return {otherwise}"], names, inner)


def by_forms(name: str, arms: Mapping[Form, Any], parameters: str, guards: Mapping[Form, str]) -> Any:
    """Return a kernel that calls the arm of each form and returns a Status. guards: a condition for an arm to be called at all."""
    cases = {}
    for form, arm in arms.items():
        call = "" if arm is None else calling(arm, parameters.split(", "))
        case = ["pass"] if arm is None else [call] if returns_nothing(arm) else [f"return {call}"]
        cases[form] = [f"if {guards[form]}:", *(f"    {line}" for line in case)] if form in guards else case
    names = NAMES | {getattr(arm, "__name__", ""): arm for arm in arms.values() if arm is not None}
    return generated(name, f"form, {parameters}", [*switch("form", cases), "return RUNNING"], names, inner)


def is_one_of(name: str, forms: Iterable[Form]) -> Any:
    """Return a kernel that returns whether a form is one of these."""
    return generated(name, "form", [*switch("form", {form: ["return True"] for form in forms}), "return False"], NAMES, inner)


def check_forms(*arms: Mapping[Form, Any]) -> None:
    """Raise ValueError unless each form has exactly one arm."""
    found = [form for some in arms for form in some]
    if wrong := sorted(form.name for form in Form if found.count(form) != 1):
        raise ValueError(f"forms without exactly one arm: {', '.join(wrong)}")
