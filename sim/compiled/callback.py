"""Call a user's policy from kernels, by its address: to compile the policy takes a second, to compile the engine with it a minute."""

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import NumbaError
from numba.extending import intrinsic, overload

from isa.errors import UserError

SIGNATURE = types.int64(types.uint64, types.int64, types.CPointer(types.int64))  # eligible, last, age of the 64 slots; the slot chosen
PLAIN = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, ctypes.c_int64, ctypes.POINTER(ctypes.c_int64))
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
        code = numba.cfunc(SIGNATURE, error_model="numpy")(highest)
    except NumbaError as error:
        name = getattr(score, "__name__", "score")
        reason = str(error).strip().splitlines()[-1]
        raise UserError(
            f"Numba cannot compile the policy {name}: {reason}", hint="use numbers, if and for only; or run it with engine='simpy'"
        ) from None
    return Callback(code.address, code)


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
