"""Ask Numba once for each call of a built-in function with the same types: it tries every definition of `[]` anew at each place of each
function, which took half of the time of its type inference.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


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
