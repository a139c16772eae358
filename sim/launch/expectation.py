"""Expected results of a launch file: NumPy expressions over the arguments, evaluated without Python's `eval`."""

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from isa.errors import UserError
from sim.launch import arrays, tensor_maps
from sim.launch.launch import Launch

MOST_SHOWN = 8


def power(base: Any, exponent: Any) -> Any:
    """Return base ** exponent. Raises ValueError for whole numbers that would not end: 9**9**9 has 369 million digits."""
    if isinstance(base, int) and isinstance(exponent, int) and abs(exponent) > 64:
        raise ValueError(f"{base}**{exponent}: the exponent of a whole number is at most 64")
    return operator.pow(base, exponent)


def shifted(base: Any, by: Any) -> Any:
    """Return base << by. Raises ValueError for whole numbers that would not end: 1 << 99999999999 has twelve gigabytes."""
    if isinstance(base, int) and isinstance(by, int) and by > 64:
        raise ValueError(f"{base} << {by}: a whole number is shifted by at most 64")
    return operator.lshift(base, by)


OPERATORS: dict[type, Callable[..., Any]] = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv},
    **{ast.Mod: operator.mod, ast.Pow: power, ast.MatMult: operator.matmul},
    **{ast.LShift: shifted, ast.RShift: operator.rshift},
    **{ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.Invert: operator.invert},
    **{ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt},
    **{ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne},
}
NUMPY = (
    "abs arange bincount ceil concatenate convolve cos cumsum dot exp exp2 flip float32 float64 floor full int32 int64 log log2 "
    "max maximum mean min minimum ones outer repeat reshape roll rint sin sort sqrt sum tanh tile transpose trunc uint32 uint64 "
    "where zeros"
)


def fma(a: Any, b: Any, c: Any) -> np.ndarray:
    """Return a * b + c in float32 with one rounding, element by element: `isa.semantics.rounding.fma` on arrays."""
    product, addend = np.broadcast_arrays(np.multiply(a, b, dtype=np.float64), np.asarray(c, np.float64))
    total = product + addend
    back = total - product
    error = (product - (total - back)) + (addend - back)
    bits = total.view(np.int64)
    even = ((error < 0) | (error > 0)) & (bits & 1 == 0)
    odd = bits + np.where(even, np.where((error > 0) == (total > 0), 1, -1), 0)
    return odd.view(np.float64).astype(np.float32)


def fft(points: Any) -> np.ndarray:
    """Return `numpy.fft.fft` over the axis before the last; the last one holds (real, imaginary)."""
    transformed = np.fft.fft(points[..., 0] + 1j * points[..., 1])
    return np.stack((transformed.real, transformed.imag), axis=-1)


FUNCTIONS: dict[str, Callable[..., Any]] = {name: getattr(np, name) for name in NUMPY.split()} | {"fft": fft, "fma": fma}


class Expected(BaseModel):
    """What one array should hold, and how far off it may be: relative * |expected| + absolute; 0 = equal bit for bit, NaN equal to NaN."""

    model_config = ConfigDict(extra="forbid")
    expression: str | None = None
    values: list[int | float] | None = None
    file: str | None = None
    relative: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    absolute: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0


@dataclass(frozen=True)
class Mismatch:
    """One element that is not as expected."""

    array: str
    index: tuple[int, ...]
    got: Any
    expected: Any


class Rule(NamedTuple):
    """Expected contents of one array."""

    values: np.ndarray
    relative: float
    absolute: float


Expectation = dict[str, Rule]  # array name -> what it should hold after the run


def expectation(
    table: Mapping[str, str | Expected], arguments: Mapping[str, Any], file: Path, others: Mapping[str, np.ndarray] | None = None
) -> Expectation:
    """Return the expected arrays, worked out from the arguments as they are now. Raises UserError.

    others: arrays that are no arguments, whose names expressions may use.
    """
    rules, arguments = {}, {name: tensor_maps.array_of(value) for name, value in arguments.items()}
    for name, given in table.items():
        if not isinstance(arguments.get(name), np.ndarray):
            names = ", ".join(key for key, value in arguments.items() if isinstance(value, np.ndarray))
            raise UserError(f"expect.{name}: no array argument has that name", path=str(file), hint=f"arrays: {names or 'none'}")
        wanted = Expected(expression=given) if isinstance(given, str) else given
        array = arguments[name]
        try:
            with np.errstate(all="ignore"):  # NaN and infinity have no integer value; the comparison shows what came of them
                values = np.asarray(_wanted(wanted, {**(others or {}), **arguments}, file)).astype(array.dtype)
            rules[name] = Rule(_shaped(values, name, array.shape), wanted.relative, wanted.absolute)
        except (ValueError, TypeError, SyntaxError, ArithmeticError, IndexError, OSError, MemoryError, RecursionError) as error:
            shapes = ", ".join(f"{key} {value.shape}" for key, value in arguments.items() if isinstance(value, np.ndarray))
            hint = f"shapes: {shapes}" if "shape" in str(error) else ""
            raise UserError(f"expect.{name}: {str(error) or 'nested too deeply'}", path=str(file), hint=hint) from None
    return rules


def _shaped(values: np.ndarray, name: str, shape: tuple[int, ...]) -> np.ndarray:
    try:
        return np.broadcast_to(values, shape)
    except ValueError:
        raise ValueError(f"the expected values have shape {values.shape}, {name} has {shape}") from None


def _wanted(expected: Expected, arguments: Mapping[str, Any], file: Path) -> Any:
    if [expected.expression, expected.values, expected.file].count(None) != 2:
        raise ValueError("give one of expression, values and file")
    if expected.expression is not None:
        return np.array(evaluate(expected.expression, arguments))
    return expected.values if expected.values is not None else arrays.read(file.parent / str(expected.file))


def evaluate(expression: str, arguments: Mapping[str, Any]) -> Any:
    """Return the value of an expression of arguments, numbers, operators and the functions of `FUNCTIONS`. Raises ValueError."""
    return _node(ast.parse(expression, mode="eval").body, arguments)


def _node(node: ast.AST, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=int() | float() | None as value):
            return value
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Name(id=name):
            raise ValueError(f"{name} is neither an argument ({', '.join(names)}) nor a function used as one")
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return OPERATORS[type(op)](_node(left, names), _node(right, names))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
            return OPERATORS[type(op)](_node(operand, names))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPERATORS:
            return OPERATORS[type(op)](_node(left, names), _node(right, names))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if name in FUNCTIONS:
            options = {keyword.arg: _node(keyword.value, names) for keyword in keywords if keyword.arg}
            return FUNCTIONS[name](*(_node(arg, names) for arg in args), **options)
        case ast.Call(func=ast.Name(id=name)):
            raise ValueError(f"{name} is not a function here; there are {', '.join(sorted(FUNCTIONS))}")
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return tuple(_node(element, names) for element in elements)
        case ast.Subscript(value=value, slice=index):
            return _node(value, names)[_node(index, names)]
        case ast.Slice(lower=lower, upper=upper, step=step):
            return slice(*(None if part is None else _node(part, names) for part in (lower, upper, step)))
    raise ValueError(f"{ast.unparse(node)}: only arguments, numbers, operators and functions may be written here")


def check(launch: Launch, expectation: Expectation) -> list[Mismatch]:
    """Return where the launch's arrays differ from what is expected, at most 8 elements per array."""
    found = []
    named = zip(launch.program.parameters, launch.args, strict=True)
    values = {parameter.name: tensor_maps.array_of(value) for parameter, value in named} | launch.symbols
    values |= {f"memory {address:#x}": array for address, array in launch.memory.items()}
    for name, rule in expectation.items():
        got = values[name]
        for index in np.argwhere(_differs(got, rule))[:MOST_SHOWN]:
            where = tuple(int(k) for k in index)
            found.append(Mismatch(name, where, got[where], rule.values[where]))
    return found


def _differs(got: np.ndarray, rule: Rule) -> np.ndarray:
    with np.errstate(all="ignore"):
        same = got == rule.values
        if got.dtype.kind == "f":
            same |= np.isnan(got) & np.isnan(rule.values)
            if rule.relative or rule.absolute:
                same |= np.abs(got - rule.values) <= rule.relative * np.abs(rule.values) + rule.absolute
    return ~same
