"""Call a user's policy from kernels, by its address: to compile the policy takes a second, once; to compile the engine with it a minute."""

import ctypes
import inspect
import math
import re
import types as python
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import NumbaError
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, overload, register_jitable

from isa.errors import UserError
from sim.compiled.cache import callback
from sim.compiled.generated import generated, switch

SIGNATURE = types.int64(types.uint64, types.int64, types.CPointer(types.int64))  # eligible, last, age of the 64 slots; the slot chosen
PLAIN = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, ctypes.c_int64, ctypes.POINTER(ctypes.c_int64))
NUMBERS, ROWS = 5, 3  # of a hook: which it is, three that it is told, the cycle; pointers to the rows of its scheduler, of its warps, ages
HOOK = types.int64(*[types.int64] * NUMBERS, *[types.CPointer(types.int64)] * ROWS)
PLAIN_HOOK = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * NUMBERS, *[ctypes.POINTER(ctypes.c_int64)] * ROWS)
FAILED = -(2**62)  # what a hook answers that raised an exception
PARTLY = "does not always return a number"
SLOTS = 64  # warps of a scheduler
COMMON = ("age", "now", "own", "warps")
CHECKED: dict[str, Any] = {"boundscheck": True, "error_model": "python"}  # a user's hooks write arrays of the engine
BUILT_IN = 64  # numbers of policies below this are those of `sim.policies.Policy`, others addresses
NO_COUNTS: Any = {"_nrt": False}
settings: Any = numba.config


class Callback(NamedTuple):
    """Machine code, and what must live as long as it is called."""

    address: Any
    owner: Any


def compiled(score: Callable[..., Any], choose: Callable[..., int]) -> Callback:
    """Return the choice of the highest score as machine code. choose: the same in Python, where Numba is switched off."""
    if settings.DISABLE_JIT:
        plain = PLAIN(choose)
        return Callback(ctypes.cast(plain, ctypes.c_void_p).value or 0, plain)
    inlined = numba.njit(score)

    def highest(eligible, last, age):  # type: ignore[no-untyped-def]
        best, found = np.float64(0.0), np.int64(-1)
        place = last if last >= 0 else ~last
        for slot in range(64):
            if eligible >> np.uint64(slot) & np.uint64(1):
                value = np.float64(inlined(np.int64(slot), age[slot], place, slot == last))
                if found < 0 or value > best:
                    best, found = value, np.int64(slot)
        return found

    try:
        code = callback(score.__name__, highest, SIGNATURE, {"error_model": "numpy"})
    except NumbaError as error:
        raise _refused(score.__name__, score, error, PARTLY) from None
    return Callback(code.address, code)


def compiled_block_policy(made: Callable[..., float], choose: Callable[..., int]) -> Callback:
    """Return the choice of the SM with the highest score as machine code, for `ring`. choose: the same in Python, without Numba."""
    if settings.DISABLE_JIT:

        def plain(*given: Any) -> int:
            try:
                return choose(np.ctypeslib.as_array(given[NUMBERS], (given[3],)), *given[1:3])
            except UserError:
                return FAILED

        pointed = PLAIN_HOOK(plain)
        return Callback(ctypes.cast(pointed, ctypes.c_void_p).value or 0, pointed)
    scored = numba.njit(**CHECKED)(made)

    def highest(hook, last, block, sms, now, free_at, unused, unused_too):  # type: ignore[no-untyped-def]
        free, best, found = numba.carray(free_at, (sms,)), np.float64(0.0), np.int64(-1)
        try:
            for sm in range(sms):
                if free[sm] > 0:
                    value = np.float64(scored(np.int64(sm), free[sm], last, block, sms))
                    if math.isnan(value):
                        return np.int64(FAILED)
                    if found < 0 or value > best:
                        best, found = value, np.int64(sm)
        except Exception:  # a failure is an answer
            found = np.int64(FAILED)
        return found

    try:
        code = callback(made.__name__, highest, HOOK, CHECKED)
    except NumbaError as error:
        raise _refused(made.__name__, made, error, PARTLY) from None
    return Callback(code.address, code)


def _refused(name: str, made: Any, error: NumbaError, partly: str) -> UserError:
    """Return what Numba says against a policy: its first line that is no heading, and the line of the file in which `made` is.

    partly: what to say when it does not always return a number.
    """
    text = re.sub(r"\x1b\[\d*m", "", str(error))
    lines = [line.strip() for line in text.splitlines()]
    said = [line for line in lines if line and not line.startswith("Failed in nopython mode")]
    ends = next((k for k, line in enumerate(said) if not line.endswith((":", ","))), len(said) - 1)  # a line that announces the next
    reason = " ".join(said[: ends + 1])
    if "OptionalType" in reason + text.split("raised from")[0]:
        reason = partly
    elif "Function(<class 'float'>)" in reason or "Function(float64)" in reason:
        reason = "its score is no number"
    file = Path(inspect.getsourcefile(made) or "").name
    if place := re.search(rf'File "(?:[^"]*/)?{re.escape(file)}", line (\d+)', text):
        reason += f" ({file}, line {place[1]})"
    return UserError(
        f"Numba cannot compile the policy {name}: {reason}", hint="use numbers, if and for only; or run it with engine='simpy'"
    )


class Hooks(NamedTuple):
    """The hooks of a policy with state, by number; 0 chooses. told: the parameters of each, up to three numbers and of `COMMON`."""

    name: str
    functions: Mapping[int, Any]
    told: Mapping[int, tuple[str, ...]]
    words: tuple[int, int]  # int64 of the row of a scheduler, of that of a warp


def compiled_hooks(hooks: Hooks, plain: Callable[..., int]) -> Callback:
    """Return all hooks as one function in machine code, with bounds checks. plain: the same in Python, where Numba is switched off."""
    if settings.DISABLE_JIT:
        pointed = PLAIN_HOOK(lambda *given: plain(*given[:NUMBERS], *_arrays(given[NUMBERS:], hooks.words)))
        return Callback(ctypes.cast(pointed, ctypes.c_void_p).value or 0, pointed)
    names: dict[str, Any] = {"carray": numba.carray, "to_read": _to_read, "int64": np.int64, "max": max}
    cases = {}
    for number, function in hooks.functions.items():
        _let_call(function, set())
        names[function.__name__] = numba.njit(**CHECKED)(function)
        numbers = iter("abc")
        called = f"{function.__name__}({', '.join(name if name in COMMON else next(numbers) for name in hooks.told[number])})"
        cases[number] = [f"answer = max(int64({called}), int64(-1))" if number == 0 else called]
    own, warps = hooks.words
    lines = [
        f"own, warps, age = carray(own_at, ({own},)), carray(warps_at, ({SLOTS}, {warps})), to_read(carray(age_at, ({SLOTS},)))",
        "answer = int64(0)",
        "try:",
        *(f"    {line}" for line in switch("hook", cases)),
        "except Exception:",
        f"    answer = int64({FAILED})",
        "return answer",
    ]
    try:
        made = generated("hooked", "hook, a, b, c, now, own_at, warps_at, age_at", lines, names, lambda function: function)
        code = callback(hooks.name, made, HOOK, CHECKED)
    except NumbaError as error:
        raise _refused(hooks.name, hooks.functions[0], error, f"choose {PARTLY}: end it with return -1") from None
    return Callback(code.address, code)


def _arrays(pointers: Any, words: tuple[int, int]) -> list[np.ndarray]:
    shapes = ((words[0],), (SLOTS, words[1]), (SLOTS,))
    return [np.ctypeslib.as_array(at, shape) for at, shape in zip(pointers, shapes, strict=True)]


def _let_call(function: Any, seen: set[Any]) -> None:
    """Let machine code call the functions of its own that a function of a user's calls, with bounds checks."""
    for name in function.__code__.co_names:
        called = function.__globals__.get(name)
        if isinstance(called, python.FunctionType) and called not in seen and called.__module__ == function.__module__:
            seen.add(called)
            register_jitable(**CHECKED)(called)
            _let_call(called, seen)


@intrinsic
def _to_read(typingctx, array):  # type: ignore[no-untyped-def]
    """Return an array to which nothing can be written: that would not compile."""
    return array.copy(readonly=True)(array), lambda context, builder, signature, args: impl_ret_borrowed(
        context, builder, signature.return_type, args[0]
    )


def call(address: int, eligible: int, last: int, age: np.ndarray) -> int:
    """Return what the policy at that address chooses."""
    return PLAIN(int(address))(int(eligible), int(last), age.ctypes.data_as(ctypes.POINTER(ctypes.c_int64)))


@intrinsic
def _call(typingctx, address, eligible, last, age):  # type: ignore[no-untyped-def]
    """Call machine code with the C calling convention; the array becomes a pointer."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        pointer = context.make_array(signature.args[3])(context, builder, args[3]).data
        kind = ir.FunctionType(cgutils.intp_t, [args[1].type, args[2].type, pointer.type])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), [args[1], args[2], pointer])

    return types.int64(types.int64, types.uint64, types.int64, age), codegen


@overload(call, jit_options=NO_COUNTS)
def _overloaded(address, eligible, last, age):  # type: ignore[no-untyped-def]
    return lambda address, eligible, last, age: _call(np.int64(address), np.uint64(eligible), np.int64(last), age)


def ring(address: int, hook: int, told: tuple[int, int, int], now: int, own: np.ndarray, warps: np.ndarray, age: np.ndarray) -> int:
    """Call a hook of the policy at that address; return its answer."""
    pointers = [array.ctypes.data_as(ctypes.POINTER(ctypes.c_int64)) for array in (own, warps, age)]
    return PLAIN_HOOK(int(address))(int(hook), *[int(number) for number in told], int(now), *pointers)


@intrinsic
def _ring(typingctx, address, numbers, own, warps, age):  # type: ignore[no-untyped-def]
    """Call machine code with the C calling convention; arrays become pointers."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        arrays = zip(signature.args[-ROWS:], args[-ROWS:], strict=True)
        given = [builder.extract_value(args[1], place) for place in range(NUMBERS)]
        given += [context.make_array(kind)(context, builder, array).data for kind, array in arrays]
        kind = ir.FunctionType(cgutils.intp_t, [one.type for one in given])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), given)

    return types.int64(types.int64, types.UniTuple(types.int64, NUMBERS), own, warps, age), codegen


@overload(ring, jit_options=NO_COUNTS)
def _overloaded_ring(address, hook, told, now, own, warps, age):  # type: ignore[no-untyped-def]
    def rung(address, hook, told, now, own, warps, age):  # type: ignore[no-untyped-def]
        numbers = (np.int64(hook), np.int64(told[0]), np.int64(told[1]), np.int64(told[2]), np.int64(now))
        return _ring(np.int64(address), numbers, own, warps, age)

    return rung
