"""Picks one function of a listing or cubin by its name, mangled or as it stands in the source."""

import re
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from isa.diagnostics import nearest
from isa.errors import UserError


class Named(Protocol):
    """Anything with a name and an architecture."""

    @property
    def name(self) -> str: ...
    @property
    def architecture(self) -> str: ...


T = TypeVar("T", bound=Named)


def choose(functions: Sequence[T], name: str | None = None, *, path: str = "", architecture: str | None = None) -> T:
    """Return the only function, or the one named. Raises UserError with the names to choose from.

    name may be mangled (`_Z5copyNI6float4Li4EEvPT_PKS1_`), the name in the source (`copyN`, `ns::scan`), or the start of either.
    """
    candidates = [function for function in functions if architecture in (None, function.architecture)]
    if not candidates:
        found = _joined(function.architecture for function in functions)
        raise UserError(f"no function for {architecture} in this file", path=path, hint=f"it holds code for {found}")
    if name is not None:
        candidates = _matching(candidates, name, path)
    if len(candidates) == 1:
        return candidates[0]
    if len({function.name for function in candidates}) == 1:
        found = _joined(function.architecture for function in candidates)
        raise UserError(f"{candidates[0].name} is there for several architectures", path=path, hint=f"choose one of {found}")
    what = f"{len(candidates)} functions" if name is None else f"{len(candidates)} functions that {name} may mean"
    names = _joined(function.name for function in candidates)
    raise UserError(f"this file has {what}", path=path, hint=f"choose one by its name (--kernel): {names}")


def source_name(symbol: str) -> str:
    """Return the qualified name that a symbol has in the source: `_ZN2ns4scanIfEEvPT_` and `void ns::scan<float>(float*)` -> `ns::scan`.

    The part of the Itanium C++ ABI, section 5.1.2, that says <nested-name> ::= N <length><identifier>... [<template-args>] E.
    """
    if not symbol.startswith("_Z"):
        return re.split(r"[<(]", symbol)[0].rsplit(" ")[-1]
    parts, rest = [], re.sub(r"^_ZL?(N[rVK]*)?", "", symbol)
    while match := re.match(r"L?(\d+)", rest):
        end = match.end() + int(match[1])
        parts.append(rest[match.end() : end])
        rest = rest[end:]
        if not symbol.startswith("_ZN"):
            break
    return "::".join("(anonymous namespace)" if part.startswith("_GLOBAL__N_") else part for part in parts) or symbol


def _matching(functions: Sequence[T], name: str, path: str) -> list[T]:
    """Return the functions of that very name, else of that name in the source, else those that start so."""
    exact = [function for function in functions if function.name == name]
    in_source = [function for function in functions if name in (source_name(function.name), source_name(function.name).rsplit("::")[-1])]
    starting = [function for function in functions if function.name.startswith(name) or source_name(function.name).startswith(name)]
    if found := exact or in_source or starting:
        return found
    names = [function.name for function in functions]
    raise UserError(f"no function {name} in this file", path=path, hint=nearest(name, names) or f"it has {_joined(names)}")


def _joined(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))
