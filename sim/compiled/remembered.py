"""What saves time while Numba compiles a kernel.

It is asked once for each call of a built-in function with the same types: it tries every definition of `[]` anew at each place of each
function, which took half of the time of its type inference. And Python's collector, which looks at millions of objects that live until
the kernel is there, comes less often: a tenth of the time.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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
        yield
    finally:
        del context.resolve_function_type
