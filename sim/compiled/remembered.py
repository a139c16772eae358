"""What saves time while Numba compiles a kernel.

It is asked once for each call of a built-in function with the same types: it tries every definition of `[]` anew at each place of each
function, which took half of the time of its type inference. The hash of a type, of a named tuple that of each of a hundred arrays, and its
name as LLVM may have it are found once. Which variables live where a block begins is not asked at all: after each of nine passes it was,
and only generators and Numba's object mode want it. And Python's collector, which looks at millions of objects that live until the kernel
is there, comes less often: a tenth of the time. None of this changes the machine code. Where Numba has other insides, what is not there is
left alone.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

from numba.core import itanium_mangler, postproc, transforms
from numba.core.types import Type

SELDOM = (50_000, 50, 100)  # allocations, and rounds, from one collection to the next


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Meanwhile, let the collector come less often than the user wants."""
    before = gc.get_threshold()
    if 0 < before[0] < SELDOM[0]:  # 0: the user wants none
        gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def remembered(context: Any) -> Iterator[None]:
    """Meanwhile, let a typing context remember what built-in functions are for the types of their arguments."""
    if "resolve_function_type" in vars(context):  # a kernel within a kernel
        yield
        return
    ask = context.resolve_function_type
    known: dict[Any, Any] = {}

    def answer(function: Any, args: Any, kws: Any) -> Any:
        key = function, tuple(args), tuple(sorted(dict(kws).items()))
        try:
            found = known.get(key)
        except TypeError:  # a slice cannot be a key
            return ask(function, args, kws)
        if found is None:
            found = ask(function, args, kws)
            known[key] = found
        return found

    context.resolve_function_type = answer
    try:
        with _hashes_of_types(), _names_of_types(), _no_entry_variables():
            yield
    finally:
        del context.resolve_function_type


@contextmanager
def _instead(owner: Any, name: str, other: Any) -> Iterator[None]:
    """Meanwhile, let something be called under another's name."""
    right = getattr(owner, name)
    setattr(owner, name, other)
    try:
        yield
    finally:
        setattr(owner, name, right)


def _hashes_of_types() -> Any:
    right, known = Type.__hash__, dict[int, tuple[Any, int]]()

    def found_once(self: Any) -> int:
        found = known.get(id(self))
        if found is None:
            found = known[id(self)] = self, right(self)  # alive: its number is no other's
        return found[1]

    return _instead(Type, "__hash__", found_once)


def _names_of_types() -> Any:
    right = getattr(itanium_mangler, "_escape_string", None)
    return _instead(itanium_mangler, "_escape_string", cache(right)) if right else nullcontext()


def _no_entry_variables() -> Any:
    processor = postproc.PostProcessor
    right, insert = processor.run, getattr(processor, "_insert_var_dels", None)
    if insert is None or not hasattr(postproc, "VariableLifetime"):
        return nullcontext()

    def run(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        code = self.func_ir
        if code.is_generator:
            return right(self, emit_dels, extend_lifetimes)
        code.blocks = transforms.canonicalize_cfg(code.blocks)
        code.variable_lifetime, code.generator_info = postproc.VariableLifetime(code.blocks), None
        if emit_dels:
            insert(self, extend_lifetimes=extend_lifetimes)
        return None

    return _instead(processor, "run", run)
