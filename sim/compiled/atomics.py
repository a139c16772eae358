"""Words of memory that threads share: what one writes before it publishes, another reads after it has seen that.

Each works on element `index`, counted flat, of a contiguous int64 array. Without Numba they are the plain operations, for one thread.
"""

import os
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

NO_COUNTS: Any = {"_nrt": False}
YIELD = "SwitchToThread" if os.name == "nt" else "sched_yield"
BYTES = 8  # of a word


def seen(words: np.ndarray, index: int) -> int:
    """Return a word; all that was written before it was published is there."""
    return words.flat[index]


def publish(words: np.ndarray, index: int, value: int) -> None:
    """Set a word, after all that was written before."""
    words.flat[index] = value


def add_one(words: np.ndarray, index: int) -> None:
    """Add one to a word, after all that was written before."""
    words.flat[index] += 1


def take_turn(words: np.ndarray, index: int, value: int) -> bool:
    """Add one to a word if it still has that value; return whether it had. Of several threads one gets True."""
    same = bool(words.flat[index] == value)
    words.flat[index] += same
    return same


def give_way() -> None:
    """Let another thread have the core, if one waits for it."""


def _place(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    return builder.gep(context.make_array(kind)(context, builder, array).data, [index])


@intrinsic
def _seen(typingctx, words, index):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.load_atomic(_place(context, builder, signature.args[0], *args), "acquire", BYTES)

    return types.int64(words, types.int64), codegen


@intrinsic
def _publish(typingctx, words, index, value):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        builder.store_atomic(args[2], _place(context, builder, signature.args[0], *args[:2]), "release", BYTES)
        return context.get_dummy_value()

    return types.none(words, types.int64, types.int64), codegen


@intrinsic
def _add_one(typingctx, words, index):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        builder.atomic_rmw("add", _place(context, builder, signature.args[0], *args), ir.Constant(ir.IntType(64), 1), "release")
        return context.get_dummy_value()

    return types.none(words, types.int64), codegen


@intrinsic
def _take_turn(typingctx, words, index, value):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        place, following = _place(context, builder, signature.args[0], *args[:2]), builder.add(args[2], ir.Constant(ir.IntType(64), 1))
        return builder.extract_value(builder.cmpxchg(place, args[2], following, "acq_rel", "acquire"), 1)

    return types.boolean(words, types.int64, types.int64), codegen


@intrinsic
def _give_way(typingctx):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, YIELD), [])
        return context.get_dummy_value()

    return types.none(), codegen


@overload(seen, jit_options=NO_COUNTS)
def _overloaded_seen(words, index):  # type: ignore[no-untyped-def]
    return lambda words, index: _seen(words, np.int64(index))


@overload(publish, jit_options=NO_COUNTS)
def _overloaded_publish(words, index, value):  # type: ignore[no-untyped-def]
    return lambda words, index, value: _publish(words, np.int64(index), np.int64(value))


@overload(add_one, jit_options=NO_COUNTS)
def _overloaded_add_one(words, index):  # type: ignore[no-untyped-def]
    return lambda words, index: _add_one(words, np.int64(index))


@overload(take_turn, jit_options=NO_COUNTS)
def _overloaded_take_turn(words, index, value):  # type: ignore[no-untyped-def]
    return lambda words, index, value: _take_turn(words, np.int64(index), np.int64(value))


@overload(give_way, jit_options=NO_COUNTS)
def _overloaded_give_way():  # type: ignore[no-untyped-def]
    return lambda: _give_way()  # noqa: PLW0108  an overload returns a function
