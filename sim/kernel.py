"""Compile kernels: allocation-free, lock-free, cached per source digest. Only this file and `inlining` know Numba's flags.

Why these flags (each measured; a toy scheduler of this shape): small functions that take arrays, compiled the ordinary way,
run 15-80 times slower than one large function, because every helper call increments and decrements reference counts
atomically. `_nrt=False` turns that off and makes an allocation inside a kernel a compile error. It is a private option of
Numba; the same kernels run on NumPy records, at the same speed, if it ever goes. `forceinline=True` keeps the NamedTuples of
arrays, 140 machine words, from being copied at each helper call: the timing engine runs ten times faster
with it. `cache=True` alone keeps stale machine code when a *different* file changes, so the cache
lies in a folder named by a digest of every kernel source.
"""

import functools
import hashlib
import importlib
import inspect
import os
import pkgutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
import platformdirs
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload, register_jitable

import isa.semantics
from isa.semantics import doubles, rounding

try:
    from sim.inlining import PartCompiler

    PIPELINE: dict[str, Any] = {"pipeline_class": PartCompiler}
except ImportError:  # a Numba without the classes that it rests on: kernels are compiled the ordinary way, which takes longer
    PIPELINE = {}

F = TypeVar("F", bound=Callable[..., Any])
FLAGS = {"nogil": True, "error_model": "numpy", "_nrt": False, "forceinline": True}
PART = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True} | PIPELINE
NO_COUNTS: Any = {"_nrt": False} | PART
njit: Any = numba.njit  # its type stubs know nothing of private options
settings: Any = numba.config
ROOT = Path(__file__).resolve().parent
SOURCES = (
    "kernel.py",
    "inlining.py",
    "callback.py",
    "atomics.py",
    "policies.py",
    "vocabulary.py",
    "lower.py",
    "hierarchy.py",
    "trace.py",
    "gpus/path.py",
    "timing/**/*.py",
    "functional/*.py",
)  # whatever kernels read


@functools.cache
def cache_folder() -> Path:
    """Return the folder of compiled kernels for these sources, where they lie, and this Numba.

    Numba keeps machine code by the path of its source: a second copy of the same sources compiles anew, and must say so.
    """
    digest = hashlib.sha256(f"{ROOT} {numba.__version__} {np.__version__} {sys.version}".encode())
    sources = [path for pattern in SOURCES for path in ROOT.glob(pattern)]
    for source in sorted([*sources, *Path(isa.__file__).parent.glob("*.py"), *Path(isa.semantics.__file__).parent.glob("*.py")]):
        digest.update(source.read_bytes())
    base = os.environ.get("SIMTLAB_CACHE") or platformdirs.user_cache_dir("simtlab")
    return Path(base) / digest.hexdigest()[:16]


def is_cached() -> bool:
    """Return True when kernels were compiled before, so that no compilation needs to be announced."""
    return cache_folder().exists() and any(cache_folder().rglob("*.nbc"))


def is_compiled() -> bool:
    """Return whether kernels are machine code, which threads may run at once, and not Python."""
    return not settings.DISABLE_JIT


def kernel(function: F) -> F:
    """Compile `function` for the engines; the user's own Numba settings stay untouched."""
    saved, settings.CACHE_DIR = settings.CACHE_DIR, str(cache_folder())
    try:
        return njit(**FLAGS, cache=True)(function)
    finally:
        settings.CACHE_DIR = saved


def inner(function: F) -> F:
    """Compile `function` for other kernels only: nothing of it is left but what they inline. Python cannot call it."""
    return njit(**FLAGS, **PART)(function)


def outlined(function: F) -> F:
    """Compile `function` for other kernels, once, not at each call: for large, rare work. A call copies the tuples of arrays."""
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


OVERLOADED = (rounding.fma, doubles.dfma)
for _module in [importlib.import_module(f"isa.semantics.{found.name}") for found in pkgutil.iter_modules(isa.semantics.__path__)]:
    for _function in vars(_module).values():
        if inspect.isfunction(_function) and _function.__module__ == _module.__name__ and _function not in OVERLOADED:
            register_jitable(**NO_COUNTS, error_model="numpy")(_function)
