"""Parts of kernels that few programs need: each is compiled and kept by itself, when a program needs it, and called by its address.

To compile such a part with the kernel takes seconds of everybody's first run. Called by address it costs a few nanoseconds a call. Named
tuples go to it as they go to all functions (`tuples`), so it sees the arrays of the kernel that calls it.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.ccallback import CFunc
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic, overload

from sim.compiled.cache import NUMBERED, KernelCache, numbered_by
from sim.compiled.kernel import FLAGS, NO_COUNTS, OF_PARTS_APART, is_compiled, njit
from sim.compiled.remembered import remembered, seldom_collected

PLAIN: list[Callable[..., int]] = []  # without Numba: an address is a place in this list


class Apart:
    """A function of numbers and named tuples that returns an int64, which kernels `call`.

    name: in the cache. The machine code is of one combination of argument types, that of the first `address`: kernels have only one.
    """

    def __init__(self, name: str, function: Callable[..., int]) -> None:
        self.name, self.function = name, function
        self._code: int | None = None  # its address
        self._owner: Any = None  # what must live as long as it is called
        if not is_compiled():
            PLAIN.append(function)
            self._code = len(PLAIN) - 1

    @cached_property
    def cache(self) -> KernelCache:
        """What is kept of it."""
        return KernelCache(njit(**FLAGS)(self.function), self.name)

    def is_kept(self) -> bool:
        """Return whether nothing has to be compiled."""
        return self._code is not None or self.cache.is_kept()

    def watched(self, report: Callable[[int, int], None]) -> AbstractContextManager[None]:
        """Meanwhile, report how many of its functions have been compiled, and of how many."""
        return self.cache.watched(report) if is_compiled() else nullcontext()

    def address(self, *examples: Any) -> int:
        """Return where the machine code lies, which is loaded or compiled first; examples: arguments, for their types."""
        if self._code is None:
            with global_compiler_lock:
                if self._code is None:
                    self._code = self._compiled(tuple(numba.typeof(one) for one in examples))
        return self._code

    def _compiled(self, kinds: tuple[Any, ...]) -> int:
        code: Any = CFunc(self.function, (kinds, types.int64), {}, FLAGS, **OF_PARTS_APART)
        code._cache = self.cache
        with global_compiler_lock, numbered_by(self.cache.dependences.digest) if NUMBERED else nullcontext():
            try:
                with remembered(self.cache.kernel.typingctx), seldom_collected():
                    code.compile()
            finally:
                self.cache.release()
        self._owner = code
        return int(code.address)


def call(address: int, *given: Any) -> int:
    """Return what the function at that address returns."""
    return PLAIN[address](*given)


@intrinsic
def _call(typingctx, address, given):  # type: ignore[no-untyped-def]
    """Call machine code with the C calling convention; large named tuples are addresses already."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        values = [builder.extract_value(args[1], place) for place in range(len(signature.args[1].types))]
        kind = ir.FunctionType(cgutils.intp_t, [one.type for one in values])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), values)

    return types.int64(types.int64, given), codegen


@overload(call, jit_options=NO_COUNTS)
def _overloaded(address, *given):  # type: ignore[no-untyped-def]
    return lambda address, *given: _call(address, given)
