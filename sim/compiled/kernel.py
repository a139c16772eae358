"""Compile kernels: allocation-free, lock-free, kept on disk. Only this room knows Numba.

Why these flags (each measured; a toy scheduler of this shape): small functions that take arrays, compiled the ordinary way,
run 15-80 times slower than one large function, because every helper call increments and decrements reference counts
atomically. `_nrt=False` turns that off and makes an allocation inside a kernel a compile error. It is a private option of
Numba; the same kernels run on NumPy records, at the same speed, if it ever goes. `forceinline=True` saves a call at each
helper: both halves run half as fast without it, though NamedTuples are handed on by address.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload, register_jitable

import isa.semantics
from isa.semantics import doubles, integers, rounding
from sim.compiled.cache import Kernel, KernelCache
from sim.compiled.digest import REPLACED

try:
    from sim.compiled.inlining import ApartCompiler, KernelCompiler, PartCompiler

    PIPELINE: dict[str, Any] = {"pipeline_class": PartCompiler}
    OF_KERNELS: dict[str, Any] = {"pipeline_class": KernelCompiler}
    OF_PARTS_APART: dict[str, Any] = {"pipeline_class": ApartCompiler}
except ImportError:  # a Numba without the classes that it rests on: kernels are compiled the ordinary way, which takes longer
    PIPELINE, OF_KERNELS, OF_PARTS_APART = {}, {}, {}

F = TypeVar("F", bound=Callable[..., Any])
FLAGS = {"nogil": True, "error_model": "numpy", "_nrt": False, "forceinline": True}
PART = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True} | PIPELINE
NO_COUNTS: Any = {"_nrt": False} | PART
njit: Any = numba.njit  # its type stubs know nothing of private options
settings: Any = numba.config


def is_compiled() -> bool:
    """Return whether kernels are machine code, which threads may run at once, and not Python."""
    return not settings.DISABLE_JIT


def kernel(function: F) -> F:
    """Compile `function` for the engines, and keep it (`sim.compiled.cache`); the user's own Numba settings stay untouched."""
    if settings.DISABLE_JIT:
        return function
    made: Any = Kernel(function, targetoptions=FLAGS | {"nopython": True, "boundscheck": None}, **OF_KERNELS)
    made._cache = KernelCache(made)
    return made


def inner(function: F) -> F:
    """Compile `function` for other kernels only: nothing of it is left but what they inline. Python cannot call it."""
    return njit(**FLAGS, **PART)(function)


def outlined(function: F) -> F:
    """Compile `function` for other kernels, once, not at each call: for large, rare work."""
    return njit(**(FLAGS | PART | {"forceinline": False}))(function)


@inner
def bit(position: int) -> np.uint64:
    """Return the uint64 with only that bit set (0..63)."""
    return np.uint64(1) << np.uint64(position)


def first_bit(mask: int) -> int:
    """Return the position of the lowest bit set in `mask` (64 bits, not zero)."""
    mask = int(mask)
    return (mask & -mask).bit_length() - 1


@intrinsic
def _cttz(typingctx, mask):  # type: ignore[no-untyped-def]
    """Count trailing zeros of a 64-bit integer: one instruction."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen


def prefetch(array: np.ndarray, index: int) -> None:
    """Ask for the cache line of element `index`, counted flat, of a contiguous array: it will be needed soon. Never fails."""


@intrinsic
def _prefetch(typingctx, array, index):  # type: ignore[no-untyped-def]
    """LLVM's hint: for reading, to be kept in all levels, data."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, word, word, word])
        hint = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(hint, [place, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.none(array, types.int64), codegen


@overload(prefetch, jit_options=NO_COUNTS)
def _overloaded_prefetch(array, index):  # type: ignore[no-untyped-def]
    return lambda array, index: _prefetch(array, np.int64(index))


@overload(first_bit, jit_options=NO_COUNTS)
def _first_bit(mask):  # type: ignore[no-untyped-def]
    return lambda mask: _cttz(np.uint64(mask))


def _fused_intrinsic(floating):  # type: ignore[no-untyped-def]
    @intrinsic
    def fused(typingctx, a, b, c):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            return builder.fma(*args)

        return floating(floating, floating, floating), codegen

    return fused


_fma32, _fma64 = _fused_intrinsic(types.float32), _fused_intrinsic(types.float64)


@overload(rounding.fma, jit_options=NO_COUNTS)
def _fma(a, b, c):  # type: ignore[no-untyped-def]
    """One rounding, as the hardware does: `a * b + c` with two differs in 23 % of random cases."""
    return lambda a, b, c: _fma32(a, b, c)  # noqa: PLW0108  Numba takes the parameter names from a function


@overload(doubles.dfma, jit_options=NO_COUNTS)
def _dfma(a, b, c):  # type: ignore[no-untyped-def]
    return lambda a, b, c: _fma64(a, b, c)  # noqa: PLW0108  Numba takes the parameter names from a function


@intrinsic
def _ctpop(typingctx, word):  # type: ignore[no-untyped-def]
    """Count the bits set in a 64-bit integer: one instruction."""
    return types.int64(types.int64), lambda context, builder, signature, args: builder.ctpop(args[0])


@overload(integers.popc, jit_options=NO_COUNTS)
def _popc(a):  # type: ignore[no-untyped-def]
    return lambda a: _ctpop(np.int64(a) & 0xFFFFFFFF)


OVERLOADED = (rounding.fma, doubles.dfma, integers.popc)
REPLACED.update(OVERLOADED)
for _module in [importlib.import_module(f"isa.semantics.{found.name}") for found in pkgutil.iter_modules(isa.semantics.__path__)]:
    for _function in vars(_module).values():
        if inspect.isfunction(_function) and _function.__module__ == _module.__name__ and _function not in OVERLOADED:
            register_jitable(**NO_COUNTS, error_model="numpy")(_function)
