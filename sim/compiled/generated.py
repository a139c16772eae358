"""Functions whose source is put together from a table at import: one case per row, so that no row can lack its case."""

import inspect
import linecache
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def generated(name: str, parameters: str, body: Iterable[str], names: Mapping[str, Any], decorate: Callable[[Any], Any]) -> Any:
    """Return a function of these lines, which see `names`, as `decorate` (kernel, inner, outlined) makes it. Tracebacks show its source."""
    source = "\n".join([f"def {name}({parameters}):", *(f"    {line}" for line in body)]) + "\n"
    file = f"<generated {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace = {**names, "__name__": __name__}
    exec(compile(source, file, "exec"), namespace)
    return decorate(namespace[name])


def switch(subject: str, cases: Mapping[int, Iterable[str]]) -> list[str]:
    """Return the lines that do what belongs to the value of `subject`, an integer; LLVM makes a jump table of them. Equal cases are one."""
    alike: dict[tuple[str, ...], list[int]] = {}
    for number, case in cases.items():
        alike.setdefault(tuple(case), []).append(int(number))
    lines: list[str] = []
    for case, numbers in alike.items():
        condition = " or ".join(f"{subject} == {number}" for number in numbers)
        lines += [f"{'elif' if lines else 'if'} {condition}:", *(f"    {line}" for line in case)]
    return lines


def calling(kernel: Any, given: Iterable[str]) -> str:
    """Return the call of a kernel with the parameters that it names. Raises ValueError for one that is not given."""
    function = getattr(kernel, "py_func", kernel)
    wanted = list(inspect.signature(function).parameters)
    if unknown := set(wanted) - set(given):
        raise ValueError(f"the kernel {function.__name__} wants {', '.join(sorted(unknown))}, which its form does not give")
    return f"{function.__name__}({', '.join(wanted)})"


def returns_nothing(kernel: Any) -> bool:
    """Return whether a kernel is declared to return None."""
    return inspect.signature(getattr(kernel, "py_func", kernel)).return_annotation is None
