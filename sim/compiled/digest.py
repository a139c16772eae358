"""A digest of all that a kernel's machine code depends on: another digest, another place in the cache, so stale code cannot be used.

Numba freezes what a function names when it compiles it: the code of the functions that it calls, and the values of its constants. This
follows the same names, from function to function, and takes in what stands there: bytecode, so that a comment changes nothing; numbers,
arrays, members of enumerations and fields of named tuples by value, wherever they came from. Of this room, which says how Numba
compiles, whole files are taken. Where somebody's `overload` or `register_jitable` says what a function becomes, that is followed, too.
What is none of these is refused, in words for whoever wrote the kernel. Left out: what a file adds to Numba beyond these two
(`overload_method`, `lower_builtin`, types of its own).
"""

import functools
import hashlib
import importlib.metadata
import sys
from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple, cast

import numba
import numpy as np
from numba import types
from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher
from numba.core.typing.templates import builtin_registry
from numba.extending import _Intrinsic

LIBRARIES = {"numpy", "math", "builtins", "numba", "llvmlite", "operator", "typing"}  # of which the versions are taken
# Of this room these files; its others only where a kernel names something of them.
ALWAYS = ("kernel.py", "inlining.py", "tuples.py", "digest.py", "apart.py")
ROOM = Path(__file__).resolve().parent
DISPATCHER: Any = Dispatcher  # its type stubs know nothing of what is read here
NAMED, TUPLE, NAMED_TUPLE = cast(Any, types.BaseNamedTuple), cast(Any, types.BaseTuple), cast(Any, tuple)
REPLACED: set[Any] = set()  # functions of which kernels get another body, written in this room: their own is not followed
SETTINGS = (  # of Numba, that reach machine code; the processor is named beside the digest
    *("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE", "USING_SVML", "LLVM_REFPRUNE_PASS", "LLVM_REFPRUNE_FLAGS"),
    *("DEBUG", "DEBUGINFO_DEFAULT", "EXTEND_VARIABLE_LIFETIMES", "ENABLE_PROFILING", "NRT_STATS"),
)


class Dependences(NamedTuple):
    """What a kernel depends on."""

    digest: str
    parts: int  # compiled functions, the kernel included
    names: frozenset[str]  # functions, classes and constants, by module


def dependences(kernel: Any) -> Dependences:
    """Return what the machine code of a kernel (a Numba dispatcher) depends on, its argument types and the processor excepted.

    Raises TypeError for a name whose value could enter machine code in a way that is not known here.
    """
    walk = _Walk()
    walk.feed(_versions(), *(f"{key}={getattr(numba.config, key, None)!r}" for key in SETTINGS))
    for file in ALWAYS:
        walk.feed(_text(str(ROOM / file)))
    walk.all_from(kernel)
    return Dependences(walk.hash.hexdigest(), walk.parts, frozenset(walk.names))


@functools.cache
def _versions() -> str:
    return f"{sys.version} {np.__version__} {numba.__version__} {importlib.metadata.version('llvmlite')}"


@functools.cache
def _text(file: str) -> bytes:
    return Path(file).read_bytes()


class _Walk:
    """Follows names breadth first; every definition enters the digest once."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.seen: set[int] = set()
        self.waiting: list[Any] = []  # functions: what they name is not followed yet
        self.names: set[str] = set()
        self.parts = 0
        self.overloads: dict[int, list[Any]] = {}  # by the identity of the function, what `overload` says of it
        for function, kind in builtin_registry.globals:
            found = [one for one in getattr(kind, "templates", ()) if hasattr(one, "_overload_func")]
            self.overloads.setdefault(id(function), []).extend(found)

    def feed(self, *values: object) -> None:
        for value in values:
            data = value if isinstance(value, bytes) else str(value).encode()
            self.hash.update(b"%d:" % len(data))
            self.hash.update(data)

    def all_from(self, kernel: Any) -> None:
        self.value(kernel, "", kernel.py_func.__code__)
        while self.waiting:
            self.function(self.waiting.pop(0))

    def function(self, function: FunctionType) -> None:
        self.feed(*_code(function.__code__, function.__doc__))
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        for name, value in [*_globals(function, function.__code__), *((name, cell.cell_contents) for name, cell in cells)]:
            self.feed(name)
            self.value(value, f"{function.__module__}.{name}", function.__code__)
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self.value(value, f"{function.__module__}.{function.__qualname__}", function.__code__)

    def value(self, value: Any, name: str, user: CodeType) -> None:
        """Take in a value under that name, of which `user` reads attributes."""
        if isinstance(value, DISPATCHER):
            if self.seen and not isinstance(value._cache, NullCache):  # of what is kept of it nothing can be linked in
                raise TypeError(f"{name} is a kernel: others call what is `inner` or `outlined`")
            self.feed(_options(value.targetoptions), value._compiler.pipeline_class.__qualname__)
            self.parts += id(value.py_func) not in self.seen
            self.later(value.py_func)
        elif isinstance(value, ModuleType):
            self.module(value, user)
        elif isinstance(value, FunctionType) and value in REPLACED:
            self.names.add(f"{value.__module__}.{value.__qualname__}")
            self.feed(value.__module__, value.__qualname__)
        elif isinstance(value, _Intrinsic | FunctionType) and _file(value).parent == ROOM:
            self.feed(_text(str(_file(value))))  # how it compiles is written there
        elif isinstance(value, _Intrinsic):
            raise TypeError(f"{name} is an intrinsic: what writes its LLVM code is followed in sim.compiled alone")
        elif isinstance(value, FunctionType | BuiltinFunctionType | np.ufunc | type) and _is_of_library(value):
            self.feed(getattr(value, "__module__", ""), value.__name__)
            self.overloaded(value)
        elif isinstance(value, FunctionType):
            self.later(value)
            self.overloaded(value)
        elif isinstance(value, type):
            self.of_class(value, name, user)
        else:
            self.constant(value, name)

    def later(self, function: FunctionType) -> None:
        self.feed(function.__module__, function.__qualname__)
        self.names.add(f"{function.__module__}.{function.__qualname__}")
        if id(function) not in self.seen:
            self.seen.add(id(function))
            self.waiting.append(function)

    def overloaded(self, function: Any) -> None:
        """Take in what is compiled in place of a function, and how; what Numba itself has in place of one goes with its version."""
        found: dict[tuple[str, Any], None] = {}  # in their order; a function that several policies share is registered for each
        for one in self.overloads.pop(id(function), ()):  # so once
            is_numbas = _is_of_library(one._overload_func)
            if not is_numbas or one._overload_func.__qualname__.startswith("register_jitable."):  # then the function itself is compiled
                found[str(_options(one._jit_options)), None if is_numbas else one._overload_func] = None
        for options, made in found:
            self.feed(options)
            if made:
                self.later(made)

    def module(self, module: ModuleType, user: CodeType) -> None:
        self.feed(module.__name__)
        is_library = module.__name__.partition(".")[0] in LIBRARIES and sys.modules.get(module.__name__) is module
        for name in _names(user):
            if name in vars(module):
                if is_library:
                    self.overloaded(vars(module)[name])
                else:
                    self.value(vars(module)[name], f"{module.__name__}.{name}", user)

    def of_class(self, value: type, name: str, user: CodeType) -> None:
        self.names.add(f"{value.__module__}.{value.__qualname__}")
        if issubclass(value, IntEnum):
            self.feed(
                value.__qualname__,
                *(f"{member}={value.__members__[member].value}" for member in _names(user) if member in value.__members__),
            )
        elif issubclass(value, NAMED_TUPLE) and hasattr(value, "_fields"):
            self.feed(fields_of(value), vars(value).get("_field_defaults"))
        else:
            raise TypeError(f"{name} is a class that kernels cannot name: only enumerations of integers and named tuples are followed")

    def constant(self, value: Any, name: str) -> None:
        self.names.add(name)
        if isinstance(value, np.ndarray):
            self.feed(value.dtype.descr, value.shape, np.ascontiguousarray(value).tobytes())
        elif isinstance(value, tuple):
            self.feed(fields_of(type(value)) if hasattr(value, "_fields") else type(value).__qualname__, len(value))
            for item in value:
                self.constant(item, name)
        elif value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic | np.dtype):
            self.feed(type(value).__qualname__, repr(int(value) if isinstance(value, IntEnum) else value))
        else:
            raise TypeError(f"{name} is of {type(value)}: how it enters machine code is not known to sim.compiled.digest")


def fields_of(kind: type) -> str:
    """Return the name and the fields of a named tuple, in order."""
    return f"{kind.__module__}.{kind.__qualname__}({', '.join(kind._fields)})"  # type: ignore[attr-defined]


def describe(kind: Any) -> str:
    """Return all that a Numba type says of an argument: of named tuples the fields too, which their name does not."""
    if isinstance(kind, NAMED):
        return f"{fields_of(kind.instance_class)}[{', '.join(describe(one) for one in kind.types)}]"
    if isinstance(kind, TUPLE):
        return f"({', '.join(describe(one) for one in kind.types)})"
    return str(kind)


def _is_of_library(value: Any) -> bool:
    """Return whether a function or a class is a library's, and not of a file that is only called as one is."""
    name = getattr(value, "__module__", None) or "numpy"  # ufuncs have no module
    root = name.partition(".")[0]
    if root not in LIBRARIES:
        return False
    if isinstance(value, FunctionType):
        home = _resolved(getattr(sys.modules[root], "__file__", ""))
        return _file(value).is_relative_to(home.parent if home.name == "__init__.py" else home)
    return not isinstance(value, type) or getattr(sys.modules.get(name), value.__name__, None) is value


def _options(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    return sorted((key, str(option)) for key, option in options.items())


def _file(value: Any) -> Path:
    function = value._defn if isinstance(value, _Intrinsic) else value
    return _resolved(function.__code__.co_filename)


@functools.cache
def _resolved(file: str) -> Path:
    return Path(file).resolve()


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names of globals and attributes that code reads, code within it included."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _globals(function: Callable[..., Any], code: CodeType) -> Iterator[tuple[str, Any]]:
    """Yield names and values of a module that a function of it reads; an attribute of the same name counts as read, too."""
    known = function.__globals__
    yield from ((name, known[name]) for name in _names(code) if name in known)


def _code(code: CodeType, doc: str | None) -> Iterator[object]:
    """Yield what the bytecode of a function consists of, but its docstring and the numbers of its lines."""
    yield from (code.co_code, code.co_exceptiontable, code.co_flags, code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount)
    yield from (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant, None)
        elif constant is not doc:
            yield f"{type(constant).__name__} {sorted(map(repr, constant)) if isinstance(constant, frozenset) else repr(constant)}"
